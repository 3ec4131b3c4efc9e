"""What is known about main, in one word."""

from enum import StrEnum

from paddock.core.merge.guards import main_is_verified
from paddock.core.merge.model import HaltCause, Queue


class MainHealth(StrEnum):
    GREEN = "green"
    UNTESTED = "untested"
    RED = "red"
    UNKNOWN = "unknown"


def health_of_main(queue: Queue) -> MainHealth:
    """UNKNOWN until the queue has seen main for the first time."""
    if queue.main is None:
        return MainHealth.UNKNOWN
    if queue.halted is not None and queue.halted.cause is HaltCause.MAIN_RED:
        return MainHealth.RED
    return MainHealth.GREEN if main_is_verified(queue.main) else MainHealth.UNTESTED

"""Whether the merge queue goes on, and which main it knows; all of a large queue takes long to decode."""

import msgspec

from paddock.core.merge.model import Halted, Main, Queue


class QueueSwitches(msgspec.Struct, frozen=True):
    """Those fields of `Queue` that stop it, and main as it knows it; decodes from a whole encoded queue.

    Of `entries` only the names are read.
    """

    frozen: bool = False
    paused: bool = False
    draining_since: float | None = None
    halted: Halted | None = None
    main: Main | None = None
    entries: dict[str, msgspec.Raw] = {}

    @property
    def state(self) -> str:
        if self.halted is not None:
            return "halted"
        if self.frozen:
            return "frozen"
        if self.paused:
            return "paused"
        return "draining" if self.draining_since is not None else "open"


def switches_of(queue: Queue) -> QueueSwitches:
    names = dict.fromkeys(queue.entries, msgspec.Raw())
    return QueueSwitches(queue.frozen, queue.paused, queue.draining_since, queue.halted, queue.main, names)

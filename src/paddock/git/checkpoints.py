"""The named points between two effects, at which a test may end the process."""

from collections.abc import Callable

Checkpoint = Callable[[str], None]


def no_checkpoint(name: str) -> None:
    """For who does not need them: nothing happens at the named points."""

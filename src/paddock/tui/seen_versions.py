"""Which version of a task a person has seen, when its patch on the screen may be replaced at any moment."""

import time
from collections.abc import Callable
from dataclasses import dataclass

MOMENT_SECONDS = 1.0
"""Nobody who presses a key has taken in what appeared later than this before."""


@dataclass(frozen=True, slots=True)
class _Sighting:
    head: str
    at: float
    before: str | None = None


class SeenVersions:
    """`clock` is monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sightings: dict[str, _Sighting] = {}

    def show(self, task: str, head: str) -> None:
        """Its patch is on the screen."""
        last = self._sightings.get(task)
        if last is None or last.head != head:
            self._sightings[task] = _Sighting(head, self._clock(), self.of(task))

    def of(self, task: str) -> str | None:
        """None where no patch of it was shown."""
        last = self._sightings.get(task)
        if last is None:
            return None
        is_fresh = self._clock() - last.at < MOMENT_SECONDS
        return last.before if is_fresh and last.before is not None else last.head

"""How many alerts there may be, and how long each stays."""

from dataclasses import dataclass

LONGEST_ABSENCE_SECONDS = 3600.0
LATELY_SECONDS = 86400.0
"""A cause that comes back within that time is the same one in another episode."""


@dataclass(frozen=True, slots=True)
class AlertPolicy:
    """At most `most_open` wait for somebody at the same time, the one about all others included, and at most `most_new`
    are raised in an hour. What was not seen for `gone_seconds` and in `gone_looks` looks is gone. What was seen again
    is told after `retold_seconds` at the soonest."""

    most_open: int = 20
    most_new: int = 12
    gone_seconds: float = 120.0
    gone_looks: int = 3
    retold_seconds: float = 600.0
    expires_seconds: float = 7 * 86400.0

    def absence_needed(self, episode: int) -> float:
        """Twice as long each time it came back, so that one that comes and goes is not told each time."""
        doubled = self.gone_seconds * 2.0 ** min(episode - 1, 20)
        return max(self.gone_seconds, min(LONGEST_ABSENCE_SECONDS, doubled))

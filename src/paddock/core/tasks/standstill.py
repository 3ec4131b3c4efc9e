"""Does a running agent look stuck? For people who look at many at once; nothing is ended because of it.

What ends a turn are its deadlines and the limits on loops (`deadlines`, `repetition`), which are far more patient.
"""

from paddock.core.durations import rough_duration
from paddock.core.tasks.repetition import ToolUse
from paddock.core.trace import RateLimited, TroubleKind

QUIET_SECONDS = 300.0
SAME_ERRORS = 3
SAME_CALLS = 6
_REFUSED = {
    TroubleKind.PER_MINUTE: "the provider limits its calls",
    TroubleKind.WINDOW: "its quota is used up",
    TroubleKind.OVERLOAD: "the provider is overloaded",
    TroubleKind.AUTH: "the provider refuses its login",
}


def why_stuck(use: ToolUse, trouble: RateLimited | None, quiet_seconds: float | None) -> str:
    """In a few words, or nothing. `quiet_seconds` is None while a tool runs, and where silence says nothing."""
    if trouble is not None:
        return _REFUSED[trouble.kind]
    if use.repeats >= SAME_ERRORS and use.failed:
        return f"same error {use.repeats}×"
    if use.repeats >= SAME_CALLS:
        return f"same call {use.repeats}×"
    if quiet_seconds is not None and quiet_seconds >= QUIET_SECONDS:
        return f"quiet for {rough_duration(quiet_seconds)}"
    return ""

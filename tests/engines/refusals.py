"""How a turn's refusal reads in a claim."""

from paddock.core.summary import TurnSummary
from paddock.core.trace import TroubleKind

_WORDS = {
    TroubleKind.PER_MINUTE: "throttled",
    TroubleKind.WINDOW: "throttled",
    TroubleKind.OVERLOAD: "overloaded",
    TroubleKind.AUTH: "auth",
}


def refusal_of(summary: TurnSummary) -> str:
    """The refusal that still stands, in a word."""
    return "none" if summary.trouble is None else _WORDS[summary.trouble.kind]


def pause_of(summary: TurnSummary) -> float | None:
    """The seconds that refusal asks for."""
    return None if summary.trouble is None else summary.trouble.retry_after

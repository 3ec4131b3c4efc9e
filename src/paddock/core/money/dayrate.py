"""What a day will have cost by its end, as far as its hours so far tell."""

from collections.abc import Sequence
from dataclasses import dataclass

LATELY_SECONDS = 3600.0
LEAST_SECONDS = 600.0
"""A rate over less than this says nothing about the hours to come."""

Spent = tuple[float, float]
"""When something was paid for, in epoch seconds, and how much it was, in US dollars."""


@dataclass(frozen=True, slots=True)
class DayForecast:
    """US dollars: `per_hour` lately, and by the end of the day if it goes on like that. `low` and `high` are what the
    last hour and the whole day so far would make of it."""

    per_hour: float
    expected: float
    low: float
    high: float


def forecast_day(spent: Sequence[Spent], total: float, now: float, ends: float) -> DayForecast | None:
    """`total` is what the day has cost so far; None before there is anything to go by."""
    if not spent or total <= 0.0 or ends <= now:
        return None
    first = min(at for at, _ in spent)
    span = max(LEAST_SECONDS, now - first)
    lately = min(LATELY_SECONDS, span)
    recent = sum(usd for at, usd in spent if at > now - lately) / lately
    whole = total / span
    left = ends - now
    low, high = sorted((total + recent * left, total + whole * left))
    return DayForecast(recent * 3600.0, (low + high) / 2, low, high)

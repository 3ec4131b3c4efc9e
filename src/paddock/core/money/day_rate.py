"""What a day will have cost by its end, as far as its hours so far tell."""

from collections.abc import Sequence
from dataclasses import dataclass

LATELY_SECONDS = 3600.0
LEAST_SECONDS = 600.0
"""Money is only foretold once this much time has been seen."""

Spent = tuple[float, float]
"""When something was paid for, in epoch seconds, and how much it was, in US dollars."""


@dataclass(frozen=True, slots=True)
class DayForecast:
    """US dollars: `per_hour` in the last hour, and `expected` by the end of the day if it goes on like that. `low` and
    `high` are what the last hour and all hours so far would make of it."""

    per_hour: float
    expected: float
    low: float
    high: float


def forecast_day(spent: Sequence[Spent], total: float, now: float, ends: float) -> DayForecast | None:
    """`spent` is in the order of time, `total` what the day has cost so far. None before that is worth something."""
    lately = _rate([one for one in spent if one[0] > now - LATELY_SECONDS], now)
    if lately is None:
        return None
    left = max(0.0, ends - now)
    expected = total + lately * left
    usual = total + (_rate(spent, now) or lately) * left
    return DayForecast(lately * 3600.0, expected, min(expected, usual), max(expected, usual))


def _rate(spent: Sequence[Spent], now: float) -> float | None:
    """Dollars a second since the first of these, which was for the time before it."""
    if not spent or (seen := now - spent[0][0]) < LEAST_SECONDS:
        return None
    return (sum(usd for _, usd in spent) - spent[0][1]) / seen

"""What a forecast says, in dollars and tokens."""

from collections.abc import Sequence
from statistics import fmean

import msgspec

from paddock.insight.forecast.sizes import quantile


class Range(msgspec.Struct, frozen=True):
    """Half of all days stay at or below `p50`, nine out of ten below `p90`. `mean` is of all but the dearest hundredth:
    where little is known, that may be anything."""

    p50: float = 0.0
    p90: float = 0.0
    mean: float = 0.0


class Figures(msgspec.Struct, frozen=True):
    """Of one day. Start-up and work have ranges of their own, which need not add up: the dearest tenth of days is not
    that of the longest start-ups."""

    usd: Range = Range()
    startup_usd: Range = Range()
    work_usd: Range = Range()
    tokens: Range = Range()
    startup_tokens: Range = Range()
    work_tokens: Range = Range()


class DayForecast(msgspec.Struct, frozen=True):
    """`day` is when it begins, in epoch seconds; `due` counts the times at which something is due on it, `firings`
    those that are not expected to be skipped because earlier tasks are still at work."""

    day: float
    due: int
    firings: int
    figures: Figures


class EvidenceFigures(msgspec.Struct, frozen=True):
    """On what the forecast of one task of a firing rests: `runs` past tasks of `circle`, with `attempts` attempts and
    reviews each. `assumed`: some of them have no price and count at a dear one. `split_known` says whether their
    start-up context is known; else it is taken to be the usual share."""

    engine: str
    agent: str
    model: str
    kind: str
    circle: str
    runs: int
    attempts: float
    assumed: bool
    split_known: bool


class ScheduleForecast(msgspec.Struct, frozen=True):
    """`fullest` is the day ahead on which it is due most often, None if it is never due again."""

    name: str
    fullest: DayForecast | None
    days: tuple[DayForecast, ...] = ()
    evidence: tuple[EvidenceFigures, ...] = ()

    @property
    def is_guess(self) -> bool:
        """No task of its own sort has been seen yet, for some of what it adds."""
        return any(one.circle not in ("series", "kind", "agent", "free") for one in self.evidence)


class Forecast(msgspec.Struct, frozen=True):
    """`total` is of all schedules together, day by day."""

    schedules: tuple[ScheduleForecast, ...] = ()
    total: tuple[DayForecast, ...] = ()


def range_of(values: Sequence[float]) -> Range:
    ordered = sorted(values)
    usual = ordered[: len(ordered) - len(ordered) // 100]
    return Range(quantile(ordered, 0.5), quantile(ordered, 0.9), fmean(usual))

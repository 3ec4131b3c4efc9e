"""One day, played many times: each run is drawn from what runs of its sort have used.

Whatever is not known of a sort is drawn once a day, so all runs of that day share it: a day of 24 runs is not surer
than what is known of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from random import Random
from typing import TypeAlias

from paddock.insight.forecast.evidence import Evidence
from paddock.insight.forecast.figures import Figures, range_of
from paddock.insight.forecast.past import PastWork
from paddock.insight.forecast.sizes import DaySizes, Sizes
from paddock.insight.forecast.starts import Plan, StartKey

DAYS_PLAYED = 4_000
LEAST_PLAYED = 250
MOST_DRAWS = 200_000
"""Fewer days are played where each has very many runs, which even out."""
STARTUP_SHARE, STARTUP_TOKENS_SHARE, WARM_SHARE = 0.30, 0.45, 0.15
"""Where nobody can tell: what start-up context is of cost and of input tokens, and what a warm cache saves of the cost,
as measured in 284 sessions of people with Claude Code."""


class _Sums:
    """By day played."""

    def __init__(self, days: int) -> None:
        self.usd, self.startup_usd, self.tokens, self.startup_tokens = ([0.0] * days for _ in range(4))

    def add(self, day: int, use: "Use") -> None:
        self.usd[day] += use[0]
        self.startup_usd[day] += use[1]
        self.tokens[day] += use[2]
        self.startup_tokens[day] += use[3]

    @property
    def figures(self) -> Figures:
        money = zip(self.usd, self.startup_usd, strict=True)
        tokens = zip(self.tokens, self.startup_tokens, strict=True)
        return Figures(
            range_of(self.usd),
            range_of(self.startup_usd),
            range_of([whole - part for whole, part in money]),
            range_of(self.tokens),
            range_of(self.startup_tokens),
            range_of([whole - part for whole, part in tokens]),
        )


Use: TypeAlias = tuple[float, float, float, float]
"""Dollars, those of them for start-up context, tokens, those of them that are start-up context."""


@dataclass(frozen=True, slots=True)
class Played:
    """The figures of each plan, and of all together."""

    plans: Mapping[str, Figures]
    total: Figures


def play(
    plans: Sequence[Plan], starts: Iterable[tuple[StartKey, int]], seed: int = 0, most_days: int = DAYS_PLAYED
) -> Played:
    counts = dict(starts)
    days = max(LEAST_PLAYED, min(most_days, MOST_DRAWS // max(1, sum(counts.values()))))
    sums, total = {plan.name: _Sums(days) for plan in plans}, _Sums(days)
    sorts = dict[int, list[tuple[DaySizes, float]]]()
    for key, count in counts.items():
        evidence = next(plan for plan in plans if plan.name == key.plan).tasks[key.task]
        # Schedules that rest on the same evidence have the same sort of day.
        if id(evidence) not in sorts:
            sorts[id(evidence)] = _draw_days(evidence, days, Random(f"{seed} {evidence.wanted.sort}"))
        # With chance of its own, so that one schedule's figures do not depend on which others there are.
        chance = Random(f"{seed} {key}")
        runs = Runs.of(evidence, is_warm=key.is_warm)
        for number, (day, idle) in enumerate(sorts[id(evidence)]):
            at_work = count if not idle else sum(chance.random() >= idle for _ in range(count))
            use = runs.draw(at_work, day, chance)
            sums[key.plan].add(number, use)
            total.add(number, use)
    return Played({name: one.figures for name, one in sums.items()}, total.figures)


def _draw_days(evidence: Evidence, days: int, chance: Random) -> list[tuple[DaySizes, float]]:
    return [(evidence.sizes.draw_day(chance), _draw_idle(evidence, chance)) for _ in range(days)]


def _draw_idle(evidence: Evidence, chance: Random) -> float:
    """The share of tasks that use nothing, such as those whose agent never ran."""
    return chance.betavariate(evidence.idle, len(evidence.runs) + 1.0) if evidence.idle else 0.0


@dataclass(frozen=True, slots=True)
class _Shares:
    """What a run that resembles a past one has for each dollar, or for each token where it costs nothing."""

    usd: float
    startup_usd: float
    tokens: float
    startup_tokens: float


@dataclass(frozen=True, slots=True)
class Runs:
    """Of one sort, each with a cold start or each with a warm one. `by_past` are in the order of the runs that were
    seen; where a size resembles none of them, any of them tells the shares."""

    sizes: Sizes
    most: float
    by_past: tuple[_Shares, ...]

    @classmethod
    def of(cls, evidence: Evidence, *, is_warm: bool) -> "Runs":
        wanted = evidence.wanted
        most = wanted.most_usd if wanted.most_usd is not None and not evidence.in_tokens else inf
        pasts = evidence.runs or (None,)
        return cls(evidence.sizes, most, tuple(_shares_of(evidence, past, is_warm=is_warm) for past in pasts))

    def draw(self, count: int, day: DaySizes, chance: Random) -> Use:
        """The sums of so many runs on that day."""
        usd, startup_usd, tokens, startup_tokens = 0.0, 0.0, 0.0, 0.0
        draw, shares, most = self.sizes.draw, self.by_past, self.most
        for _ in range(count):
            size, like = draw(day, chance)
            share = shares[like if like is not None else int(chance.random() * len(shares))]
            if size > most:
                size = most
            usd += size * share.usd
            startup_usd += size * share.startup_usd
            tokens += size * share.tokens
            startup_tokens += size * share.startup_tokens
        return usd, startup_usd, tokens, startup_tokens


def _shares_of(evidence: Evidence, past: PastWork | None, *, is_warm: bool) -> _Shares:
    startup, warm, read = _split_of(past)
    if evidence.in_tokens:
        return _Shares(0.0, 0.0, 1.0, read)
    saved = warm if is_warm else 0.0
    wanted = evidence.wanted
    if past is not None and past.usd:
        tokens = past.tokens / past.usd
    else:
        tokens = wanted.guess_tokens / wanted.guess_usd if wanted.guess_usd else 0.0
    return _Shares(1.0 - saved, startup - saved, tokens, tokens * read)


def _split_of(past: PastWork | None) -> tuple[float, float, float]:
    """Start-up's share of money, what a warm cache saves of it, and start-up's share of tokens."""
    if past is None:
        return STARTUP_SHARE, WARM_SHARE, STARTUP_TOKENS_SHARE
    startup = STARTUP_SHARE if past.startup_share is None else past.startup_share
    # Where nobody knows how warm its start was, it may have been as warm as the next one will be.
    warm = 0.0 if past.warm_share is None else min(past.warm_share, startup)
    if past.startup_tokens_share is not None:
        return startup, warm, past.startup_tokens_share
    return startup, warm, STARTUP_TOKENS_SHARE if past.startup_share is None else past.startup_share

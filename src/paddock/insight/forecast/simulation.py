"""One day, played many times: each run is drawn from what runs of its sort have used.

Whatever is not known of a sort is drawn once a day, so all runs of that day share it: a day of 24 runs is not surer
than what is known of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from paddock.insight.forecast.evidence import Evidence
from paddock.insight.forecast.figures import Figures, range_of
from paddock.insight.forecast.past import PastWork
from paddock.insight.forecast.sizes import DaySizes
from paddock.insight.forecast.starts import Plan, StartKey

DAYS_PLAYED = 4_000
LEAST_PLAYED = 250
MOST_DRAWS = 200_000
"""Fewer days are played where each has very many runs, which even out."""
STARTUP_SHARE, STARTUP_TOKENS_SHARE, WARM_SHARE = 0.30, 0.45, 0.15
"""Where nobody can tell: what start-up context is of cost and of input tokens, and what a warm cache saves of the cost,
as measured in 284 sessions of people with Claude Code."""


@dataclass(frozen=True, slots=True)
class Use:
    """Of one task."""

    usd: float = 0.0
    startup_usd: float = 0.0
    tokens: float = 0.0
    startup_tokens: float = 0.0


class _Sums:
    """By day played."""

    def __init__(self, days: int) -> None:
        self.usd, self.startup_usd, self.tokens, self.startup_tokens = ([0.0] * days for _ in range(4))

    def add(self, day: int, use: Use) -> None:
        self.usd[day] += use.usd
        self.startup_usd[day] += use.startup_usd
        self.tokens[day] += use.tokens
        self.startup_tokens[day] += use.startup_tokens

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
        for number, (day, idle) in enumerate(sorts[id(evidence)]):
            for _ in range(count):
                if idle and chance.random() < idle:
                    continue
                use = draw_use(evidence, day, is_warm=key.is_warm, chance=chance)
                sums[key.plan].add(number, use)
                total.add(number, use)
    return Played({name: one.figures for name, one in sums.items()}, total.figures)


def _draw_days(evidence: Evidence, days: int, chance: Random) -> list[tuple[DaySizes, float]]:
    return [(evidence.sizes.draw_day(chance), _draw_idle(evidence, chance)) for _ in range(days)]


def _draw_idle(evidence: Evidence, chance: Random) -> float:
    """The share of tasks that use nothing, such as those whose agent never ran."""
    return chance.betavariate(evidence.idle, len(evidence.runs) + 1.0) if evidence.idle else 0.0


def draw_use(evidence: Evidence, day: DaySizes, *, is_warm: bool, chance: Random) -> Use:
    size, like = evidence.sizes.draw(day, chance)
    runs = evidence.runs
    past = runs[like] if like is not None else runs[int(chance.random() * len(runs))] if runs else None
    usd, tokens = _money_and_tokens(evidence, size, past)
    startup, warm, read = _shares(past)
    saved = usd * warm if is_warm else 0.0
    return Use(usd - saved, max(0.0, usd * startup - saved), tokens, tokens * read)


def _money_and_tokens(evidence: Evidence, size: float, past: PastWork | None) -> tuple[float, float]:
    wanted = evidence.wanted
    if evidence.in_tokens:
        return 0.0, size
    usd = size if wanted.most_usd is None else min(size, wanted.most_usd)
    if past is not None and past.usd:
        return usd, usd * past.tokens / past.usd
    return usd, usd * wanted.guess_tokens / wanted.guess_usd if wanted.guess_usd else 0.0


def _shares(past: PastWork | None) -> tuple[float, float, float]:
    if past is None:
        return STARTUP_SHARE, WARM_SHARE, STARTUP_TOKENS_SHARE
    startup = STARTUP_SHARE if past.startup_share is None else past.startup_share
    # Where nobody knows how warm its start was, it may have been as warm as the next one will be.
    warm = 0.0 if past.warm_share is None else min(past.warm_share, startup)
    if past.startup_tokens_share is not None:
        return startup, warm, past.startup_tokens_share
    return startup, warm, STARTUP_TOKENS_SHARE if past.startup_share is None else past.startup_share

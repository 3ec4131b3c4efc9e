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
from paddock.insight.forecast.sizes import DaySizes, Urn
from paddock.insight.forecast.starts import Plan, StartKey

DAYS_PLAYED = 4_000
LEAST_PLAYED = 250
MOST_DRAWS = 200_000
"""Fewer days are played where each has very many runs, which even out."""
STARTUP_SHARE, STARTUP_TOKENS_SHARE, WARM_SHARE = 0.30, 0.45, 0.15
"""Where nobody can tell: what start-up context is of cost and of input tokens, and what a warm cache saves of the cost,
as measured in 284 sessions of people with Claude Code."""


NOTHING = DaySizes(0.0, 0.0)
"""Of what is not used at all."""


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
    tasks = {plan.name: plan.tasks for plan in plans}
    sorts = dict[int, list[_Day]]()
    for key, count in counts.items():
        evidence = tasks[key.plan][key.task]
        # Schedules that rest on the same evidence have the same sort of day.
        if id(evidence) not in sorts:
            sorts[id(evidence)] = _draw_days(evidence, days, f"{seed} {evidence.wanted.sort}")
        # With chance of its own, so that one schedule's figures do not depend on which others there are.
        chance, runs = Random(f"{seed} {key}"), Runs.of(evidence, is_warm=key.is_warm)
        for number, day in enumerate(sorts[id(evidence)]):
            at_work = count if not day.idle else sum(chance.random() >= day.idle for _ in range(count))
            use = runs.draw(at_work, day, chance)
            sums[key.plan].add(number, use)
            total.add(number, use)
    return Played({name: one.figures for name, one in sums.items()}, total.figures)


@dataclass(frozen=True, slots=True)
class _Day:
    """One day of a sort of work: how much its runs use, and the share of its tasks that use nothing, such as those
    whose agent never ran. `usd` and `tokens` are 0 with a spread of 0 where there is nothing to use."""

    usd: DaySizes
    tokens: DaySizes
    urn: Urn
    idle: float = 0.0


def _draw_days(evidence: Evidence, days: int, seed: str) -> list[_Day]:
    """A day that is dear is one of many tokens: both are drawn with the same luck."""
    lucks = Random(seed), Random(seed)
    idle, chance = evidence.idle, Random(f"{seed} idle")
    drawn = []
    for _ in range(days):
        usd, tokens = (
            NOTHING if sizes is None else sizes.draw_day(luck)
            for sizes, luck in zip((evidence.usd, evidence.tokens), lucks, strict=True)
        )
        share = chance.betavariate(idle, len(evidence.runs) + 1.0) if idle else 0.0
        drawn.append(_Day(usd, tokens, Urn(len(evidence.runs)), share))
    return drawn


@dataclass(frozen=True, slots=True)
class _Like:
    """A run that was seen: its places in the shapes of both sizes, and what shares of them are start-up context."""

    usd_above: float = 0.0
    tokens_above: float = 0.0
    startup_share: float = STARTUP_SHARE
    warm_share: float = WARM_SHARE
    tokens_share: float = STARTUP_TOKENS_SHARE


@dataclass(frozen=True, slots=True)
class Runs:
    """Of one sort, each with a cold start or each with a warm one. `seen` has one that stands for all if none was."""

    seen: tuple[_Like, ...]
    has_shape: bool
    usd_smooth: float
    tokens_smooth: float
    most_usd: float
    is_warm: bool

    @classmethod
    def of(cls, evidence: Evidence, *, is_warm: bool) -> "Runs":
        most = evidence.wanted.most_usd
        usd, tokens = evidence.usd, evidence.tokens
        likes = [_like(evidence, past) for past in evidence.runs]
        return cls(
            tuple(likes) or (_Like(),),
            bool(likes),
            0.0 if usd is None else usd.smooth,
            0.0 if tokens is None else tokens.smooth,
            inf if most is None else most,
            is_warm,
        )

    def draw(self, count: int, day: _Day, chance: Random) -> Use:
        """The sums of so many runs on that day."""
        usd, startup_usd, tokens, startup_tokens = 0.0, 0.0, 0.0, 0.0
        has_usd, has_tokens = day.usd is not NOTHING, day.tokens is not NOTHING
        for _ in range(count):
            luck = chance.gauss(0.0, 1.0)
            like = self.seen[day.urn.draw(chance) if self.has_shape else 0]
            whole = 1.0
            if has_usd:
                cost = day.usd.size(like.usd_above + self.usd_smooth * luck)
                if cost > self.most_usd:
                    # It is stopped there, and uses no more tokens either.
                    cost, whole = self.most_usd, self.most_usd / cost
                saved = like.warm_share if self.is_warm else 0.0
                usd += cost * (1.0 - saved)
                startup_usd += cost * (like.startup_share - saved)
            if has_tokens:
                used = whole * day.tokens.size(like.tokens_above + self.tokens_smooth * luck)
                tokens += used
                startup_tokens += used * like.tokens_share
        return usd, startup_usd, tokens, startup_tokens


def _like(evidence: Evidence, past: PastWork) -> _Like:
    startup = STARTUP_SHARE if past.startup_share is None else past.startup_share
    # Where nobody knows how warm its start was, it may have been as warm as the next one will be.
    warm = 0.0 if past.warm_share is None else min(past.warm_share, startup)
    tokens_share = past.startup_tokens_share
    if tokens_share is None:
        tokens_share = STARTUP_TOKENS_SHARE if past.startup_share is None else past.startup_share
    usd = 0.0 if evidence.usd is None else evidence.usd.place(past.usd)
    tokens = 0.0 if evidence.tokens is None else evidence.tokens.place(past.tokens)
    return _Like(usd, tokens, startup, warm, tokens_share)

"""One day, played many times: each run is drawn from what runs of its sort have used.

Whatever is not known of a sort is drawn once a day, so all runs of that day share it: a day of 24 runs is not surer
than what is known of them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from random import Random
from typing import TypeAlias

from paddock.insight.forecast.evidence import Evidence
from paddock.insight.forecast.figures import Figures, range_of
from paddock.insight.forecast.past import PastWork, SortOfWork
from paddock.insight.forecast.sizes import DaySizes, Urn
from paddock.insight.forecast.starts import Plan, StartKey

DAYS_PLAYED = 2_000
MOST_DRAWN = 144
"""Runs of a day that are drawn one by one; further ones are as those were, in their order. So many even out."""
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

    def add_all(self, other: "_Sums") -> None:
        for day, use in enumerate(zip(other.usd, other.startup_usd, other.tokens, other.startup_tokens, strict=True)):
            self.add(day, use)

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
    plans: Sequence[Plan], starts: Iterable[tuple[StartKey, int]], seed: int = 0, days: int = DAYS_PLAYED
) -> Played:
    """As `Player.play` of a new one."""
    return Player(seed, days).play(plans, starts)


@dataclass(frozen=True, slots=True)
class _Task:
    """How often it starts on the day, with a cold cache and with a warm one."""

    evidence: Evidence
    cold: int
    warm: int


def _tasks_of(plan: Plan, counts: Mapping[StartKey, int]) -> list[_Task]:
    return [
        _Task(task, *(counts.get(StartKey(plan.name, number, is_warm), 0) for is_warm in (False, True)))
        for number, task in enumerate(plan.tasks)
    ]


@dataclass
class Player:
    """Chance depends on the work that is played, and on nothing else: equal questions have equal answers whatever a
    schedule is called, and a day of more runs is a day of fewer with some on top. What was played once is kept, by
    evidence that is the very same."""

    seed: int = 0
    days: int = DAYS_PLAYED
    _played: dict[tuple[int, int, int, int], tuple[Evidence, _Sums]] = field(default_factory=dict)

    def play(self, plans: Sequence[Plan], starts: Iterable[tuple[StartKey, int]]) -> Played:
        """Each plan by itself, so that its figures do not depend on which others there are, and all together."""
        counts = dict(starts)
        tasks = {plan.name: _tasks_of(plan, counts) for plan in plans}
        total = self._figures([task for group in tasks.values() for task in group])
        return Played({name: self._figures(group) for name, group in tasks.items()}, total)

    def _figures(self, tasks: Iterable[_Task]) -> Figures:
        whole, copies = _Sums(self.days), Counter[SortOfWork]()
        for task in tasks:
            work = work_of(task.evidence)
            whole.add_all(self._play(task, work, copies[work]))
            copies[work] += 1
        return whole.figures

    def _play(self, task: _Task, work: SortOfWork, copy: int) -> _Sums:
        """`copy` numbers tasks of the same work, whose runs differ."""
        key = (id(task.evidence), copy, task.cold, task.warm)
        if key not in self._played:
            sums, runs = _Sums(self.days), Runs.of(task.evidence, task.cold, task.warm)
            luck, chance = Random(f"{self.seed} {work} {copy}"), Random()
            for number, day in enumerate(_draw_days(task.evidence, self.days, f"{self.seed} {work}")):
                chance.seed(luck.getrandbits(64))
                sums.add(number, runs.draw(day, chance))
            # With the evidence, so that no other gets its id.
            self._played[key] = task.evidence, sums
        return self._played[key][1]


def work_of(evidence: Evidence) -> SortOfWork:
    """What is run, whichever schedule runs it."""
    return replace(evidence.wanted.sort, series="")


@dataclass(frozen=True, slots=True)
class _Day:
    """One day of a sort of work: how much its runs use, and the share of its tasks that use nothing, such as those
    whose agent never ran. `usd` and `tokens` are 0 with a spread of 0 where there is nothing to use."""

    usd: DaySizes
    tokens: DaySizes
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
        drawn.append(_Day(usd, tokens, share))
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
    """Of one sort on one day. `seen` has one that stands for all if none was. `turns` are the runs that are drawn: for
    how many each stands, and how many of these have a warm start."""

    seen: tuple[_Like, ...]
    has_shape: bool
    usd_smooth: float
    tokens_smooth: float
    most_usd: float
    turns: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, evidence: Evidence, cold: int, warm: int) -> "Runs":
        most = evidence.wanted.most_usd
        usd, tokens = evidence.usd, evidence.tokens
        likes = [_like(evidence, past) for past in evidence.runs]
        return cls(
            tuple(likes) or (_Like(warm_share=WARM_SHARE * evidence.wanted.warmth),),
            bool(likes),
            0.0 if usd is None else usd.smooth,
            0.0 if tokens is None else tokens.smooth,
            inf if most is None else most,
            tuple(_turns(cold, warm)),
        )

    def draw(self, day: _Day, chance: Random) -> Use:
        """The sums of them on that day."""
        usd, startup_usd, tokens, startup_tokens = 0.0, 0.0, 0.0, 0.0
        has_usd, has_tokens = day.usd is not NOTHING, day.tokens is not NOTHING
        urn = Urn(len(self.seen))
        for times, warm in self.turns:
            if day.idle and chance.random() < day.idle:
                continue
            luck = chance.gauss(0.0, 1.0)
            like = self.seen[urn.draw(chance) if self.has_shape else 0]
            whole = 1.0
            if has_usd:
                cost = day.usd.size(like.usd_above + self.usd_smooth * luck)
                if cost > self.most_usd:
                    # It is stopped there, and uses no more tokens either.
                    cost, whole = self.most_usd, self.most_usd / cost
                saved = like.warm_share * warm
                usd += cost * (times - saved)
                startup_usd += cost * (like.startup_share * times - saved)
            if has_tokens:
                used = whole * day.tokens.size(like.tokens_above + self.tokens_smooth * luck) * times
                tokens += used
                startup_tokens += used * like.tokens_share
        return usd, startup_usd, tokens, startup_tokens


def _turns(cold: int, warm: int) -> Iterator[tuple[int, int]]:
    """Cold starts come first, so that a run stays the same one however many there are."""
    for first in range(min(cold + warm, MOST_DRAWN)):
        times, colds = (len(range(first, count, MOST_DRAWN)) for count in (cold + warm, cold))
        yield times, times - colds


def _like(evidence: Evidence, past: PastWork) -> _Like:
    startup = STARTUP_SHARE if past.startup_share is None else past.startup_share
    # Where nobody knows how warm its start was, it may have been as warm as the next one will be.
    warm = 0.0 if past.warm_share is None else min(past.warm_share, startup) * evidence.wanted.warmth
    tokens_share = past.startup_tokens_share
    if tokens_share is None:
        tokens_share = STARTUP_TOKENS_SHARE if past.startup_share is None else past.startup_share
    usd = 0.0 if evidence.usd is None else evidence.usd.place(past.usd)
    tokens = 0.0 if evidence.tokens is None else evidence.tokens.place(past.tokens)
    return _Like(usd, tokens, startup, warm, tokens_share)

"""On which past tasks the forecast of a task rests: those most like it, and behind them wider and wider circles.

The nearest circle with any task in it is what runs are drawn from. The next wider one says what to think before they
were seen, and so fills up what they are too few to tell. Where nothing at all is known of an engine, that is what real
sessions of other agents have used, with a spread as wide as theirs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import log
from statistics import fmean

from paddock.insight.forecast.past import PastWork, SortOfWork
from paddock.insight.forecast.sizes import Belief, Sizes, learn_sizes
from paddock.insight.forecast.warmth import ASSUMED_WARMTH

MOST_RUNS = 100
"""The latest ones: more would make a forecast surer of the past than of tomorrow."""
NEAREST_ENOUGH = 5
"""With fewer tasks of the same series, those of the same kind count as much."""
BETWEEN_SORTS = 0.5
"""How much the middles of two sorts of work of one engine differ, as a standard deviation of logarithms. For two tasks
of SWE-bench Lite it is 0.4, for two projects 0.2; two sorts of a fleet may differ by more."""
PRIOR_SPREAD = 1.0
"""Standard deviation of the logarithm of what runs of one sort use: 0.64 in 826 runs of SWE-agent on SWE-bench Lite,
1.0 in 159 of mini-SWE-agent on Terminal-Bench, 1.26 in 284 sessions of people with Claude Code."""
MIDDLE_WEIGHT, SPREAD_WEIGHT = 0.5, 3.0
"""As if so many runs had told the middle and the spread before. Chosen on those sets and on synthetic ones."""


class Circle(StrEnum):
    """Whose runs a forecast is made from."""

    SERIES = "series"
    """What the same schedule has added before."""
    KIND = "kind"
    """The same kind of work, by the same agent."""
    AGENT = "agent"
    MODEL = "model"
    """Any work with the same engine and model."""
    ENGINE = "engine"
    IMPORTED = "imported"
    """Runs of that engine that were imported."""
    NONE = "none"
    """No run of this engine is known."""
    FREE = "free"
    """The engine bills nothing, and no run of it has told a cost."""


OWN = frozenset({Circle.SERIES, Circle.KIND, Circle.AGENT})
"""Those whose runs are of the same sort."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A task that is to be forecast. `guess_usd` and `guess_tokens` are what to expect where nothing is known,
    `most_usd` is what it may cost at most, None if nothing bounds it. `warmth` is the share of its start-up context
    that a cache has when it follows another closely. `is_free`: its engine bills nothing, so far as no run has told
    what it cost."""

    sort: SortOfWork
    guess_usd: float
    guess_tokens: float
    most_usd: float | None = None
    is_free: bool = False
    warmth: float = ASSUMED_WARMTH


@dataclass(frozen=True, slots=True)
class Evidence:
    """`runs` are drawn from, of `circle`; `usd` and `tokens` are how much they use, None where that is nothing. `idle`
    is how many of the tasks that were seen used nothing at all. `attempts` is their mean."""

    wanted: Wanted
    circle: Circle
    runs: tuple[PastWork, ...]
    usd: Sizes | None
    tokens: Sizes | None
    idle: int = 0

    @property
    def seen(self) -> int:
        return len(self.runs) + self.idle

    @property
    def is_own(self) -> bool:
        """Whether it rests on runs of the same sort, however few."""
        return self.circle in OWN

    @property
    def attempts(self) -> float:
        return fmean(one.attempts for one in self.runs) if self.runs else 1.0

    @property
    def seconds(self) -> float:
        """How long its agents are at work, as a rule; 0 where nobody knows."""
        ordered = sorted(one.seconds for one in self.runs if one.seconds)
        return ordered[len(ordered) // 2] if ordered and self.is_own else 0.0

    @property
    def is_assumed(self) -> bool:
        """Some of it is counted at a price that nobody has told."""
        return any(one.assumed for one in self.runs)


def find_evidence(wanted: Wanted, past: Sequence[PastWork], imported: Sequence[PastWork] = ()) -> Evidence:
    """`past` is in the order of time, the oldest first."""
    circles = _circles(wanted.sort, past, imported)
    nearest = _nearest(circles)
    if nearest is None:
        circle, runs = (Circle.FREE if wanted.is_free else Circle.NONE), list[PastWork]()
    else:
        circle, runs = circles[nearest]
    runs = runs[-MOST_RUNS:]
    wider = [] if nearest is None else next((group for _, group in circles[nearest + 1 :] if group), [])
    is_told = any(one.usd for one in runs)
    is_free = not is_told and (wanted.is_free or any(one.tokens for one in runs))
    if wanted.is_free and not is_told and circle not in OWN:
        circle = Circle.FREE
    used = tuple(one for one in runs if (one.tokens if is_free else one.usd) > 0)
    counts = not (runs if is_free else used) or any(one.tokens for one in used)
    usd = _learn(wanted.guess_usd, circle, [one.usd for one in used], [one.usd for one in wider])
    tokens = _learn(wanted.guess_tokens, circle, [one.tokens for one in used], [one.tokens for one in wider])
    idle = len(runs) - len(used)
    return Evidence(wanted, circle, used, None if is_free else usd, tokens if counts else None, idle)


def _circles(
    sort: SortOfWork, past: Sequence[PastWork], imported: Sequence[PastWork]
) -> list[tuple[Circle, list[PastWork]]]:
    def pick(test: Callable[[SortOfWork], bool]) -> list[PastWork]:
        return [one for one in past if one.sort.engine == sort.engine and one.sort.role is sort.role and test(one.sort)]

    def same_model(other: SortOfWork) -> bool:
        return not sort.model or not other.model or other.model == sort.model

    return [
        (Circle.SERIES, pick(lambda one: bool(sort.series) and one.series == sort.series and same_model(one))),
        (
            Circle.KIND,
            pick(lambda one: bool(sort.kind) and (one.kind, one.agent) == (sort.kind, sort.agent) and same_model(one)),
        ),
        (Circle.AGENT, pick(lambda one: bool(sort.agent) and one.agent == sort.agent and same_model(one))),
        (Circle.MODEL, pick(lambda one: bool(sort.model) and one.model == sort.model)),
        (Circle.ENGINE, [one for one in past if one.sort.engine == sort.engine]),
        (Circle.IMPORTED, [one for one in imported if one.sort.engine == sort.engine and same_model(one.sort)]),
    ]


def _nearest(circles: Sequence[tuple[Circle, Sequence[PastWork]]]) -> int | None:
    """The kind's in place of the series', as long as there is little of the latter: it is among them."""
    series, kind = len(circles[0][1]), len(circles[1][1])
    if 0 < series < NEAREST_ENOUGH and kind >= 2 * NEAREST_ENOUGH:
        return 1
    return next((index for index, (_, group) in enumerate(circles) if group), None)


def _learn(guess: float, circle: Circle, sizes: Sequence[float], wider: Sequence[float]) -> Sizes:
    """`wider` are sizes of the next wider circle."""
    if circle in OWN:
        return learn_sizes([size for size in sizes if size > 0], _believe(guess, wider))
    # Of other work: it tells where to begin, and no more.
    return Sizes(_believe(guess, sizes))


def _believe(guess: float, sizes: Sequence[float]) -> Belief:
    """Before any run of its own sort was seen. `sizes` are those of other sorts, as it may be one of them."""
    logs = [log(size) for size in sizes[-MOST_RUNS:] if size > 0]
    first = Belief(log(max(guess, 1e-6)), PRIOR_SPREAD, MIDDLE_WEIGHT, SPREAD_WEIGHT)
    if not logs:
        return first
    told = first.after(logs)
    doubt = 1.0 / told.middle_weight + (BETWEEN_SORTS / told.spread) ** 2
    return Belief(told.middle, told.spread, 1.0 / doubt, SPREAD_WEIGHT)

"""The paths of runs: what they do at first, in between and at last, and how that goes with what came of them.

No two runs take the same steps, and their numbers of steps are ten and two hundred. So each is cut into as many equal
parts, and of a part it is told what the run did most often in it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from paddock.core.ids import AttemptId
from paddock.insight.dataset.names import name_of
from paddock.insight.paths import FAILED_SUFFIX, Symbols
from paddock.insight.phases import Phase, phase_of
from paddock.insight.trace import KeptTrace, Result
from paddock.views.insight.ways import Band, Place, Ways

PARTS = 6
STAGES = ("first steps", "", "", "", "", "last steps", "in the end")
MOST_NAMED = 50
MOST_PLACES = 7
"""In a column; what is rarer is told together."""
RARE = "something else"
NO_STEP = "no step at all"

_WORDS: Mapping[str, str] = {
    Phase.SEARCH: "search",
    Phase.READ: "read",
    Phase.EDIT: "edit",
    "EDIT:test": "edit tests",
    Phase.CREATE: "create files",
    "CREATE:test": "create tests",
    Phase.RUN: "run a program",
    Phase.TEST: "test",
    Phase.BUILD: "build",
    Phase.GIT_READ: "look at git",
    Phase.GIT_WRITE: "commit",
    Phase.FS: "move files",
    Phase.NET: "use the network",
    Phase.PLAN: "plan",
    Phase.DELEGATE: "delegate",
    Phase.ASK: "ask",
    Phase.SUBMIT: "hand in",
    Phase.OTHER: "other",
}
_ENDS = {
    Result.SUCCESS: ("went well", "landed"),
    Result.FAILURE: ("failed", "failed"),
    Result.UNKNOWN: ("not decided", "waiting"),
}
_END_RANKS = {name: rank for rank, (name, _) in enumerate(_ENDS.values())}
_END_STATES = dict(_ENDS.values())
_Where = tuple[int, str]


def find_step_ways(runs: Sequence[KeptTrace], symbols: Symbols) -> Ways:
    """`runs` are finished ones, the latest last."""
    ways = [(AttemptId(name_of(kept)), _way_of(kept, symbols)) for kept in runs]
    common = _common(way for _, way in ways)
    through: dict[_Where, list[AttemptId]] = {}
    between: dict[tuple[_Where, _Where], list[AttemptId]] = {}
    for name, way in ways:
        told = [(stage, what if what in common[stage] else RARE) for stage, what in way]
        for place in told:
            through.setdefault(place, []).append(name)
        for pair in pairwise(told):
            between.setdefault(pair, []).append(name)
    order = sorted(through, key=lambda place: (place[0], _rank(place[1]), -len(through[place]), place[1]))
    number = {place: at for at, place in enumerate(order)}
    moves = sorted(between, key=lambda pair: (number[pair[0]], number[pair[1]]))
    return Ways(
        tasks=len({kept.trace.task for kept in runs}),
        attempts=len(ways),
        again=0,
        stages=STAGES,
        places=tuple(_place(place, through[place]) for place in order),
        bands=tuple(Band(number[a], number[b], len(between[a, b]), _newest(between[a, b])) for a, b in moves),
    )


def parts_of(path: Sequence[str]) -> list[str]:
    """What was done most often in each part of a path; of several the first. A short path has its steps in several
    parts."""
    if not path:
        return []
    bounds = [len(path) * part / PARTS for part in range(PARTS + 1)]
    cuts = [(int(low), max(int(low) + 1, round(high))) for low, high in pairwise(bounds)]
    return [Counter(path[low:high]).most_common(1)[0][0] for low, high in cuts]


def _way_of(kept: KeptTrace, symbols: Symbols) -> list[_Where]:
    parts = parts_of([_words_of(symbols.text(code)) for code in kept.path])
    end = (PARTS, _ENDS[kept.trace.outcome][0])
    return [*enumerate(parts), end] if parts else [(0, NO_STEP), end]


def _words_of(symbol: str) -> str:
    plain = symbol.removesuffix(FAILED_SUFFIX)
    return _WORDS.get(plain) or _WORDS.get(phase_of(plain), _WORDS[Phase.OTHER])


def _common(ways: Iterable[Sequence[_Where]]) -> list[set[str]]:
    counts: list[Counter[str]] = [Counter() for _ in STAGES]
    for way in ways:
        for stage, what in way:
            counts[stage][what] += 1
    return [{what for what, _ in count.most_common(MOST_PLACES)} for count in counts]


def _place(place: _Where, runs: list[AttemptId]) -> Place:
    stage, name = place
    return Place(stage, name, _END_STATES.get(name, "plain"), len(runs), _newest(runs))


def _newest(runs: list[AttemptId]) -> tuple[AttemptId, ...]:
    return tuple(runs[: -MOST_NAMED - 1 : -1])


_ORDER = (*_WORDS.values(), RARE, NO_STEP)


def _rank(name: str) -> int:
    return _END_RANKS[name] if name in _END_RANKS else _ORDER.index(name)

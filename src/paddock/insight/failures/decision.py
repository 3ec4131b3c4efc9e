"""Which class of cause a cluster has: ordered rules, of which the first that holds decides.

What tells apart a dependency that is missing, a network that fails and a limit that is reached is rarely one line
alone: how often the same task fails alike again, how many fail at once, and where. Where two classes are as likely,
the answer is that nobody knows, and which they are.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from paddock.insight.failures.cluster import Measures
from paddock.insight.failures.measures import backoff_share
from paddock.insight.failures.reading import CLEAR, USUAL, Reading
from paddock.insight.failures.vocabulary import FailureCause as Class
from paddock.insight.trace import EndState, Result, Trace

WAITING_SHARE = 0.5
RECURS = 0.6
BURST = 3.0
"""INSIGHT's own numbers: half of the time in backoff, a dependency recurs on .76 of the attempts and a limit on .11,
and what hits a host comes in a burst."""
SURE_GROUPS = 4
"""That one of each comes through so often is chance in less than one of twenty cases, however hard a task is."""
MAJORITY = 0.5
MANY_TASKS = 3
_OBJECTS = frozenset({"missing-command"})


@dataclass(frozen=True, slots=True)
class Case:
    """A cluster before it has a cause. `heard` counts the classes that its runs' own lines speak of, `said` those
    of them that are usually right, `clear` those that cannot be mistaken."""

    readings: Sequence[Reading]
    measures: Measures
    heard: Counter[Class] = field(default_factory=Counter)
    said: Counter[Class] = field(default_factory=Counter)
    clear: Counter[Class] = field(default_factory=Counter)

    @property
    def size(self) -> int:
        return len(self.readings)

    def most(self, counts: Counter[Class]) -> Class | None:
        ranked = sorted(counts.items(), key=lambda one: (-one[1], list(Class).index(one[0])))
        return ranked[0][0] if ranked and ranked[0][1] > MAJORITY * self.size - 1e-9 else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """`because` is what lies beneath runs that never ran. `words` say what decided, for a person."""

    cause: Class
    because: Class
    words: str
    confidence: float
    tied: tuple[Class, ...] = ()


def case_of(readings: Sequence[Reading], measures: Measures) -> Case:
    case = Case(readings, measures)
    for reading in readings:
        if reading.cause is Class.UNKNOWN:
            continue
        case.heard[reading.cause] += 1
        case.said[reading.cause] += reading.strength >= USUAL or reading.root is None
        case.clear[reading.cause] += reading.strength >= CLEAR
    return case


def decide(case: Case) -> Verdict:
    for rule in _RULES:
        verdict = rule(case)
        if verdict is not None:
            return verdict
    return Verdict(Class.UNKNOWN, Class.UNKNOWN, "nothing tells why", 0.0)


def _never_ran(case: Case) -> Verdict | None:
    silent = sum(reading.never_ran for reading in case.readings)
    if silent <= MAJORITY * case.size:
        return None
    words = "no call of a model was seen"
    return Verdict(Class.NEVER_RAN, _beneath(case).cause, words, round(silent / case.size, 2))


def _beneath(case: Case) -> Verdict:
    for rule in _RULES[1:]:
        verdict = rule(case)
        if verdict is not None and verdict.cause not in (Class.TASK, Class.MODEL):
            return verdict
    return Verdict(Class.UNKNOWN, Class.UNKNOWN, "", 0.0)


def _rate_limit(case: Case) -> Verdict | None:
    if case.most(case.said) is Class.RATE_LIMIT:
        return Verdict(Class.RATE_LIMIT, Class.RATE_LIMIT, "the provider refused for its limit", _sure(case))
    waited = [share for reading in case.readings if (share := backoff_share(reading.kept.trace)) is not None]
    if waited and sum(share > WAITING_SHARE for share in waited) > MAJORITY * case.size:
        if case.most(case.said) is Class.OVERLOAD:
            return None
        return Verdict(Class.RATE_LIMIT, Class.RATE_LIMIT, "more than half of the time was spent waiting", 0.8)
    return None


def _said(cause: Class, words: str) -> Callable[[Case], Verdict | None]:
    def rule(case: Case) -> Verdict | None:
        if case.most(case.said) is cause:
            return Verdict(cause, cause, words, _sure(case))
        return None

    return rule


def _contention(case: Case) -> Verdict | None:
    measures = case.measures
    if case.most(case.said) is Class.CONTENTION:
        return Verdict(Class.CONTENTION, Class.CONTENTION, "another had what only one may have", _sure(case))
    if case.most(case.heard) is Class.CONTENTION and measures.all_but_one:
        words = f"all but one of the concurrent attempts failed, {measures.all_but_one} times"
        return Verdict(Class.CONTENTION, Class.CONTENTION, words, 0.8)
    if measures.groups >= SURE_GROUPS and measures.all_but_one == measures.groups and not +case.heard:
        words = f"all but one of the concurrent attempts failed, {measures.all_but_one} times"
        return Verdict(Class.CONTENTION, Class.CONTENTION, words, 0.6)
    return None


def _tied(case: Case) -> Verdict | None:
    """A usual line that the numbers contradict: a server that never answers one task is no failure of the network."""
    said, clear = case.most(case.said), case.most(case.clear)
    if said is None or clear is not None or said not in (Class.NETWORK, Class.DEPENDENCY):
        return None
    rec, burst = case.measures.recurrence, case.measures.burst
    if rec is None or case.size < 3:
        return None
    if said is Class.NETWORK and rec >= RECURS and (burst is None or burst < BURST):
        return Verdict(Class.UNKNOWN, Class.UNKNOWN, f"{rec:.0%} recur on the same task", 0.4, _pair(said))
    if said is Class.DEPENDENCY and rec < 0.05 and burst is not None and burst >= BURST:
        return Verdict(Class.UNKNOWN, Class.UNKNOWN, f"none recur, {burst:.1f} times as many at once", 0.4, _pair(said))
    return None


def _pair(said: Class) -> tuple[Class, ...]:
    other = Class.DEPENDENCY if said is Class.NETWORK else Class.NETWORK
    return tuple(sorted((said, other), key=list(Class).index))


def _is_missing(reading: Reading) -> bool:
    sign = reading.root.sign if reading.root is not None else None
    return sign is not None and sign.cause is Class.DEPENDENCY and (sign.strength >= USUAL or sign.name in _OBJECTS)


def is_too_much(traces: Sequence[Trace], attempts: int) -> bool:
    """Whether several engines or models fail at this one task, in most of all attempts at it, and all alike."""
    return len(traces) >= 3 and _count_doers(traces) >= 2 and len(traces) >= RECURS * attempts


def _count_doers(traces: Sequence[Trace]) -> int:
    """Of which is known that they differ: an engine or a model that is not told may be any of those that are."""
    told = {(trace.engine, trace.model) for trace in traces}
    whole = {doer for doer in told if all(doer)}
    engines, models = ({doer[at] for doer in told} - {""} for at in (0, 1))
    return max(len(whole), len(engines), len(models))


def _recurring_dependency(case: Case) -> Verdict | None:
    """What agents meet in their work is theirs to solve, unless the same task meets it again and again."""
    recurs = case.measures.recurrence or 0.0
    missing = sum(_is_missing(reading) for reading in case.readings)
    if missing > MAJORITY * case.size and case.size >= 3 and (recurs >= RECURS or _is_one_task(case)):
        return Verdict(Class.DEPENDENCY, Class.DEPENDENCY, "attempts at the same task meet it again", 0.5)
    return None


def _is_one_task(case: Case) -> bool:
    """Whether several engines or models fail alike at one task."""
    traces = [reading.kept.trace for reading in case.readings]
    return len({trace.task for trace in traces} - {""}) == 1 and is_too_much(traces, len(traces))


def _same_model(case: Case) -> Verdict | None:
    """A task that is refused, or that takes more steps than there are, is that task's trouble, unless one model meets
    that on one task after the other; where steps run out, unless it meets it more often than other models do."""
    traces = [reading.kept.trace for reading in case.readings]
    if (
        len({trace.model or trace.engine for trace in traces}) != 1
        or len({trace.task for trace in traces}) < MANY_TASKS
    ):
        return None
    refused = sum(_has_sign(reading, "refused-by-policy") for reading in case.readings)
    if refused > MAJORITY * case.size:
        return Verdict(Class.MODEL, Class.MODEL, "one model refuses several tasks", _sure(case))
    without_end = sum(_came_to_no_end(reading) for reading in case.readings)
    if without_end > MAJORITY * case.size and any(lift.facet in ("model", "engine") for lift in case.measures.lifts):
        return Verdict(Class.MODEL, Class.MODEL, "one model comes to no end, on several tasks", _sure(case))
    return None


def _came_to_no_end(reading: Reading) -> bool:
    return _has_sign(reading, "step-limit") or (reading.strength < USUAL and _used_up(reading))


def _used_up(reading: Reading) -> bool:
    return reading.kept.trace.end_state is EndState.BUDGET


def _has_sign(reading: Reading, name: str) -> bool:
    return reading.root is not None and reading.root.sign is not None and reading.root.sign.name == name


def _task(case: Case) -> Verdict | None:
    """One task that several engines or models fail, whatever the time."""
    if case.most(case.said) is Class.TASK:
        return Verdict(Class.TASK, Class.TASK, "the task asks for more than one run can do", _sure(case))
    if +case.said or case.most(case.heard) not in (None, Class.TASK):
        return None
    if sum(_used_up(reading) for reading in case.readings) > MAJORITY * case.size:
        return Verdict(Class.TASK, Class.TASK, "the task takes more than a run may use", 0.5)
    traces = [reading.kept.trace for reading in case.readings]
    recurs = case.measures.recurrence or 0.0
    if _is_one_task(case) and recurs >= RECURS / 2:
        words = f"{_count_doers(traces)} engines or models fail at this task alike"
        return Verdict(Class.TASK, Class.TASK, words, 0.6)
    return None


def _model(case: Case) -> Verdict | None:
    """It ran, nothing around it failed, and the work was wrong."""
    if case.most(case.said) is Class.MODEL:
        return Verdict(Class.MODEL, Class.MODEL, "the answers of the model could not be used", _sure(case))
    if +case.said:
        return None
    traces = [reading.kept.trace for reading in case.readings]
    doers = {(trace.engine, trace.model) for trace in traces}
    tasks = {trace.task for trace in traces}
    well = all(
        trace.end_state in (EndState.OK, EndState.GAVE_UP)
        and trace.outcome is Result.FAILURE
        and not trace.error.strip()
        for trace in traces
    )
    spoke = all(reading.spoke for reading in case.readings)
    if well and spoke and len(doers) == 1 and len(tasks) >= MANY_TASKS and traces[0].engine + traces[0].model:
        return Verdict(Class.MODEL, Class.MODEL, "no error anywhere, on many tasks", 0.4)
    return None


def _sure(case: Case) -> float:
    """How many say it, and how clearly."""
    said = max(case.said.values(), default=0) / case.size
    clear = max(case.clear.values(), default=0) / case.size
    return round(0.5 * said + 0.45 * clear, 2)


_RULES: tuple[Callable[[Case], Verdict | None], ...] = (
    _never_ran,
    _rate_limit,
    _said(Class.OVERLOAD, "the provider was overloaded"),
    _contention,
    _said(Class.SATURATION, "the machine had no more of something"),
    _tied,
    _said(Class.NETWORK, "somebody could not be reached"),
    _said(Class.DEPENDENCY, "something is missing in the environment, or does not fit"),
    _recurring_dependency,
    _same_model,
    _task,
    _model,
)

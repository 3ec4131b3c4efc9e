"""Groups of failures whose lines name no trouble: by what they say all the same, by task, or by who fails."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from paddock.insight.failures.chances import hypergeometric_tail
from paddock.insight.failures.decision import MANY_TASKS, is_too_much
from paddock.insight.failures.failed import has_failed
from paddock.insight.failures.measures import LEAST_LIFT, LIFT_CHANCE
from paddock.insight.failures.places import doer_of
from paddock.insight.failures.reading import Reading
from paddock.insight.trace import EndState, KeptTrace

FEWEST_ALIKE = 4
MOST = 0.8
_ENDS = (frozenset({EndState.OK, EndState.GAVE_UP}), frozenset({EndState.BUDGET}))
"""Of runs that nothing broke off."""


class Unexplained:
    """All runs that were looked at, counted once."""

    def __init__(self, runs: Iterable[KeptTrace]) -> None:
        traces = [(kept.trace, has_failed(kept)) for kept in runs]
        self._well = Counter(trace.task for trace, failed in traces if not failed)
        self._of_doer = Counter(doer_of(trace) for trace, _ in traces)

    def regroup(self, groups: Sequence[list[Reading]]) -> list[list[Reading]]:
        """`groups` are of failures that are alike. What several engines or models fail at again and again is the task's
        own, however it fails, and what one of them fails at without a word is its own, unless what is said is said at
        several tasks."""
        members = [reading for group in groups for reading in group]
        found = _spanning_tasks(members, groups)
        found += self._by_task(_without(members, found))
        for ends in _ENDS:
            found += self._by_doer(_without(members, found), ends)
        left = {id(reading) for reading in _without(members, found)}
        rest = ([reading for reading in group if id(reading) in left] for group in groups)
        return [*found, *(group for group in rest if group)]

    def _by_task(self, readings: Iterable[Reading]) -> list[list[Reading]]:
        """What kept a run from its work says nothing of its task, so that only those that did well stand against
        these."""
        of_task: dict[str, list[Reading]] = defaultdict(list)
        for reading in readings:
            of_task[reading.kept.trace.task].append(reading)
        return [
            members
            for task, members in of_task.items()
            if task and is_too_much([reading.kept.trace for reading in members], len(members) + self._well[task])
        ]

    def _by_doer(self, readings: Iterable[Reading], ends: frozenset[EndState]) -> list[list[Reading]]:
        of_doer: dict[str, list[Reading]] = defaultdict(list)
        for reading in readings:
            if reading.spoke and not reading.lines and reading.kept.trace.end_state in ends:
                of_doer[doer_of(reading.kept.trace)].append(reading)
        silent = sum(len(members) for members in of_doer.values())
        return [
            members for doer, members in of_doer.items() if doer and self._fails_oftener(doer, len(members), silent)
        ]

    def _fails_oftener(self, doer: str, failed: int, silent: int) -> bool:
        runs, total = self._of_doer[doer], sum(self._of_doer.values())
        if failed < FEWEST_ALIKE or failed / runs < LEAST_LIFT * silent / total:
            return False
        return hypergeometric_tail(failed, runs, silent, total) * len(self._of_doer) < LIFT_CHANCE


def _spanning_tasks(members: Sequence[Reading], groups: Sequence[list[Reading]]) -> list[list[Reading]]:
    """Groups of several tasks' failures of which most say the same, and hardly any others do."""
    everywhere = _said_by(members)
    found = []
    for group in groups:
        tasks = {reading.kept.trace.task for reading in group}
        if len(group) >= FEWEST_ALIKE and len(tasks) >= MANY_TASKS:
            said = _said_by(group)
            if any(count >= MOST * max(len(group), everywhere[template]) for template, count in said.items()):
                found.append(group)
    return found


def _said_by(readings: Iterable[Reading]) -> Counter[str]:
    """In how many failures there is such a line; one of a trouble that likely came to nothing is none."""
    return Counter(
        template
        for reading in readings
        for template in {line.template for line in reading.lines if line.sign is None or line.strength}
    )


def _without(readings: Iterable[Reading], groups: Iterable[Iterable[Reading]]) -> list[Reading]:
    taken = {id(reading) for group in groups for reading in group}
    return [reading for reading in readings if id(reading) not in taken]

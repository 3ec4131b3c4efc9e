"""Runs of one task that call themselves alike and do not do the same: what hidden tests tell apart. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from paddock.insight.trace import Result, Trace


@dataclass(frozen=True, slots=True)
class TestSplit:
    """A test that some runs of a task pass and others fail."""

    test: str
    passed: tuple[str, ...]
    failed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaskSplit:
    """`quiet` are the runs that are booked as a success and fail a test that another run passes."""

    task: str
    runs: int
    splits: tuple[TestSplit, ...]
    quiet: tuple[str, ...]


def find_splits(traces: Iterable[Trace]) -> list[TaskSplit]:
    """Of the tasks that two runs or more were tested on; those with quiet failures first."""
    by_task: dict[str, list[Trace]] = {}
    for trace in traces:
        if trace.task and trace.tests:
            by_task.setdefault(trace.task, []).append(trace)
    found = [_of_task(task, runs) for task, runs in by_task.items() if len(runs) > 1]
    told = [one for one in found if one.splits]
    return sorted(told, key=lambda one: (-len(one.quiet), -len(one.splits), one.task))


def _of_task(task: str, runs: list[Trace]) -> TaskSplit:
    results: dict[str, dict[str, bool]] = {}
    for trace in runs:
        for test, passed in trace.tests.items():
            results.setdefault(test, {})[trace.run] = passed
    splits = [_split(test, told) for test, told in sorted(results.items()) if len(set(told.values())) > 1]
    failing = {run for split in splits for run in split.failed}
    quiet = [trace.run for trace in runs if trace.outcome is Result.SUCCESS and trace.run in failing]
    return TaskSplit(task, len(runs), tuple(splits), tuple(quiet))


def _split(test: str, told: Mapping[str, bool]) -> TestSplit:
    passed = tuple(run for run, is_pass in told.items() if is_pass)
    return TestSplit(test, passed, tuple(run for run, is_pass in told.items() if not is_pass))

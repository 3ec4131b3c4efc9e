"""What attempts at one task say of each other, as JSON: each one's tests on each other's work."""

from collections.abc import Sequence

import msgspec

from paddock.core.ids import printable
from paddock.insight.crosscheck.contestants import Contestant, LeftOut
from paddock.insight.crosscheck.hidden_tests import TaskSplit
from paddock.insight.crosscheck.matrix import Cell, find_broken
from paddock.views.document import Document

MOST_SPLITS = 50
LINE_CHARS = 300


class ContestantView(msgspec.Struct, frozen=True):
    """`tests` are the test files that it changed; without any it is only judged by those of others."""

    attempt: str
    base: str
    head: str
    tests: list[str]


class CellView(msgspec.Struct, frozen=True):
    """The tests of one attempt on the work of another: `verdict` is pass, fail or none, if nobody can tell. `output`
    is the end of what a run printed that did not pass."""

    tests: str
    work: str
    verdict: str
    words: str
    output: list[str]
    seconds: float


class BrokenView(msgspec.Struct, frozen=True):
    """`work` passes its own tests, and fails those of `fails`, which pass on the work they were made for."""

    work: str
    fails: list[str]
    passes: list[str]


class LeftOutView(msgspec.Struct, frozen=True):
    attempt: str
    why: str


class CrosscheckView(Document, frozen=True, kw_only=True):
    attempts: list[ContestantView]
    cells: list[CellView]
    broken: list[BrokenView]
    left_out: list[LeftOutView]


class TestSplitView(msgspec.Struct, frozen=True):
    test: str
    passed: list[str]
    failed: list[str]


class TaskSplitView(msgspec.Struct, frozen=True):
    """Runs of a task that its tests tell apart. `quiet` ones are booked as a success and fail a test that another
    passes. At most 50 tests are named of `tests`."""

    task: str
    runs: int
    tests: int
    quiet: list[str]
    splits: list[TestSplitView]


class SplitsView(Document, frozen=True, kw_only=True):
    label: str
    tasks: list[TaskSplitView]


def view_crosscheck(
    contestants: Sequence[Contestant], cells: Sequence[Cell], left: Sequence[LeftOut]
) -> CrosscheckView:
    return CrosscheckView(
        attempts=[
            ContestantView(one.name, one.edits.base, one.edits.head, [printable(path) for path in one.tests])
            for one in contestants
        ],
        cells=[_view_cell(cell) for cell in cells],
        broken=[BrokenView(one.work, list(one.fails), list(one.passes)) for one in find_broken(cells)],
        left_out=[LeftOutView(one.name, one.why) for one in left],
    )


def _view_cell(cell: Cell) -> CellView:
    output = [printable(line, LINE_CHARS) for line in cell.output]
    seconds = round(cell.seconds, 3)
    return CellView(cell.tests, cell.work, cell.verdict.value, printable(cell.words, LINE_CHARS), output, seconds)


def view_splits(label: str, tasks: Sequence[TaskSplit]) -> SplitsView:
    return SplitsView(label=printable(label, 80), tasks=[_view_task(one) for one in tasks])


def _view_task(one: TaskSplit) -> TaskSplitView:
    shown = [
        TestSplitView(printable(split.test), _names(split.passed), _names(split.failed))
        for split in one.splits[:MOST_SPLITS]
    ]
    return TaskSplitView(printable(one.task), one.runs, len(one.splits), _names(one.quiet), shown)


def _names(runs: Sequence[str]) -> list[str]:
    return [printable(run) for run in runs]

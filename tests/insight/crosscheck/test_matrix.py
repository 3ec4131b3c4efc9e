"""What tests say of the work of others: whom they accuse, and whom they never may."""

from hypothesis import given
from hypothesis import strategies as st

from paddock.insight.crosscheck.hidden_tests import find_splits
from paddock.insight.crosscheck.matrix import Cell, Verdict, find_broken, pairs
from paddock.insight.trace import Result, Trace

NAMES = ("t1.1", "t1.2", "t1.3", "t1.4")


@given(st.lists(st.sampled_from(list(Verdict)), min_size=16, max_size=16))
def test_only_work_that_passes_its_own_tests_is_found_broken_and_only_by_tests_that_do(verdicts: list[Verdict]) -> None:
    cells = [Cell(tests, work, verdict) for (tests, work), verdict in zip(pairs(NAMES, NAMES), verdicts, strict=True)]
    own = {cell.work: cell.verdict for cell in cells if cell.tests == cell.work}
    for broken in find_broken(cells):
        assert own[broken.work] is Verdict.PASS
        assert broken.fails
        assert {own[name] for name in (*broken.fails, *broken.passes)} == {Verdict.PASS}


def test_each_meets_each_once_and_first_itself() -> None:
    wanted = pairs(NAMES[:2], NAMES)
    assert wanted[:4] == [(name, name) for name in NAMES]
    assert len(wanted) == len(set(wanted)) == 4 + 2 * 3


def ran(run: str, task: str, outcome: Result, **tests: bool) -> Trace:
    return Trace(run=run, task=task, outcome=outcome, tests=tests)


def test_a_run_that_is_booked_as_a_success_and_fails_what_another_passes_is_a_quiet_failure() -> None:
    traces = [
        ran("a", "fix", Result.SUCCESS, parses=True, rounds=True),
        ran("b", "fix", Result.SUCCESS, parses=True, rounds=False),
        ran("c", "fix", Result.FAILURE, parses=False, rounds=False),
        ran("d", "alone", Result.SUCCESS, parses=True),
        ran("e", "same", Result.SUCCESS, parses=True),
        ran("f", "same", Result.SUCCESS, parses=True),
    ]
    [found] = find_splits(traces)
    assert (found.task, found.runs, found.quiet) == ("fix", 3, ("b",))
    assert {split.test: split.failed for split in found.splits} == {"parses": ("c",), "rounds": ("b", "c")}

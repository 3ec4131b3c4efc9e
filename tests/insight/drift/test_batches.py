"""The fleet's own runs in batches."""

import random

from paddock.insight.drift.batches import divide_batches, judge_batches
from paddock.insight.drift.constants import BATCH_RUNS, DAY_SECONDS
from paddock.insight.drift.report import Verdict
from paddock.insight.trace import KeptTrace
from tests.insight.drift.runs import Made, wander


def attempts(made: Made, count: int, first: int = 0, extra: tuple[str, ...] = ()) -> list[KeptTrace]:
    draw = random.Random(first)
    return [
        made.run(f"t{n}", [*extra, *wander(draw, n % 4)], label="fleet", kind="fix", ended=60.0 * n)
        for n in range(first, first + count)
    ]


def test_a_batch_is_whole_with_its_last_run_or_after_a_day() -> None:
    made = Made()
    runs = attempts(made, BATCH_RUNS + 12)
    first, second = divide_batches(runs, now=60.0 * 40)
    assert (len(first.runs), first.is_whole) == (BATCH_RUNS, True)
    assert (len(second.runs), second.is_whole) == (12, False)
    assert divide_batches(runs, now=60.0 * 40 + DAY_SECONDS)[1].is_whole


def test_a_boundary_stays_where_it_is_when_runs_are_added() -> None:
    made = Made()
    runs = attempts(made, 100)
    before, after = divide_batches(runs[:50], now=9e9), divide_batches(reversed(runs), now=9e9)
    assert [batch.name for batch in before[:2]] == [batch.name for batch in after[:2]]


def test_the_last_two_batches_are_judged_against_those_before() -> None:
    made = Made()
    calm = attempts(made, 80)
    changed = attempts(made, 40, first=80, extra=("PLAN", "DELEGATE"))
    quiet = judge_batches(calm, made.symbols, now=0.0)
    assert [verdict.verdict for verdict in quiet] == [Verdict.NONE, Verdict.NONE]
    first, second = judge_batches([*calm, *changed], made.symbols, now=0.0)
    assert (first.verdict, second.verdict) == (Verdict.DRIFT, Verdict.DRIFT)
    assert "path" in first.significant
    assert first.name == "r81 to r100"


def test_the_first_batch_has_nothing_to_be_compared_with() -> None:
    made = Made()
    (only,) = judge_batches(attempts(made, 20), made.symbols, now=0.0)
    assert only.verdict is Verdict.TOO_LITTLE
    assert judge_batches([], made.symbols, now=0.0) == ()

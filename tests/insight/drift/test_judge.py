"""What is called drift, what is not, and what is too little."""

import random

import pytest

from paddock.insight.drift.judge import judge_drift
from paddock.insight.drift.report import DriftReport, DriftTest, HardRule, Verdict
from paddock.insight.drift.self_test import binomial_limits, check_itself
from paddock.insight.trace import EndState, KeptTrace
from tests.insight.drift.runs import Made, facts, wander


@pytest.fixture
def made() -> Made:
    return Made()


def judged(made: Made, batch: list[KeptTrace], baseline: list[KeptTrace]) -> DriftReport:
    return judge_drift(batch, baseline, made.symbols, batch_name="b", baseline_name="a")


def found(report: DriftReport, name: str) -> DriftTest:
    return next(test for test in report.tests if test.name == name)


def test_runs_that_behave_alike_are_no_drift(made: Made) -> None:
    draw = random.Random(1)
    report = judged(made, made.cohort(draw, 30), made.cohort(draw, 30))
    assert report.verdict is Verdict.NONE
    assert (report.pairs, report.tasks, report.matched_by) == (30, 30, "task")


def test_another_order_of_steps_is_drift_and_is_explained(made: Made) -> None:
    draw = random.Random(1)
    batch = [made.run(f"t{task}", ["PLAN", *wander(draw, task)]) for task in range(20)]
    report = judged(made, batch, made.cohort(draw, 20))
    assert report.verdict is Verdict.DRIFT
    assert found(report, "path").significant
    start = next(edge for edge in report.explanation.edges if (edge.first, edge.then) == ("^", "PLAN"))
    assert start.batch_share > start.baseline_share == 0
    assert report.explanation.medoid is not None
    assert report.explanation.outlier is not None


def test_a_habit_is_drift_and_says_which_activity_even_if_the_order_of_steps_hardly_differs(made: Made) -> None:
    draw = random.Random(1)
    long = [[*wander(draw, 3), *wander(draw, 3), *wander(draw, 3)] for _ in range(80)]
    batch = [made.run(f"t{n}", [*long[n], *(["DELEGATE"] if n % 2 else [])]) for n in range(40)]
    report = judged(made, batch, [made.run(f"t{n}", long[40 + n]) for n in range(40)])
    habits = found(report, "habits")
    assert report.verdict is Verdict.DRIFT
    assert (habits.significant, habits.activities[0], habits.floor) == (True, "DELEGATE", 0.10)
    assert habits.effect == pytest.approx(0.5)
    shift = report.explanation.habits[0]
    assert (shift.activity, shift.of, shift.baseline_share) == ("DELEGATE", "runs", 0.0)


def test_habits_are_never_more_certain_than_the_path_that_they_are_part_of(made: Made) -> None:
    draw = random.Random(5)
    for _ in range(5):
        report = judged(made, made.cohort(draw, 20), made.cohort(draw, 20))
        assert found(report, "habits").q >= found(report, "path").q


def test_fewer_successes_are_drift_even_if_all_else_is_the_same(made: Made) -> None:
    report = judged(made, made.cohort(random.Random(1), 30, ok=False), made.cohort(random.Random(1), 30))
    assert [test.name for test in report.significant] == ["outcome"]
    assert found(report, "outcome").effect == pytest.approx(-1.0)


def test_the_same_number_of_successes_at_other_tasks_is_drift(made: Made) -> None:
    draw = random.Random(4)
    batch = [made.run(f"t{t}", wander(draw, t), ok=t % 2 == 0) for t in range(12) for _ in range(4)]
    baseline = [made.run(f"t{t}", wander(draw, t), ok=t % 2 == 1) for t in range(12) for _ in range(4)]
    assert "outcome by task" in [test.name for test in judged(made, batch, baseline).significant]


def test_verification_that_is_omitted_is_drift(made: Made) -> None:
    usual = ["READ:src", "EDIT:src", "TEST", "SUBMIT"]
    batch = [made.run(f"t{task}", ["READ:src", "EDIT:src", "SUBMIT"]) for task in range(20)]
    report = judged(made, batch, [made.run(f"t{task}", usual) for task in range(20)])
    assert found(report, "last edit verified").effect == pytest.approx(-1.0)
    assert found(report, "last edit verified").significant


def test_what_git_says_of_verification_counts_more_than_steps(made: Made) -> None:
    told = facts(verified_last_edit=True)
    batch = [made.run(f"t{task}", ["EDIT:src"], facts=told if task else facts()) for task in range(20)]
    baseline = [made.run(f"t{task}", ["EDIT:src", "TEST"]) for task in range(20)]
    assert found(judged(made, batch, baseline), "last edit verified").batch == pytest.approx(0.95)


def test_more_tokens_are_drift_and_a_slower_host_is_not(made: Made) -> None:
    def runs(tokens: int, seconds: int) -> list[KeptTrace]:
        draw = random.Random(2)
        return [
            made.run(f"t{task}", tokens=tokens + draw.randrange(90), started=0.0, ended=seconds + task / 100)
            for task in range(20)
        ]

    assert judged(made, runs(5000, 10), runs(1000, 10)).verdict is Verdict.DRIFT
    slower = judged(made, runs(1000, 100), runs(1000, 10))
    assert slower.verdict is Verdict.NONE
    assert not found(slower, "wall time").decides


def test_runs_cut_off_by_the_clock_on_a_slow_host_are_no_drift(made: Made) -> None:
    def runs(steps: int) -> list[KeptTrace]:
        path = ["READ:src", "EDIT:src"] * steps
        return [
            made.run(f"t{task}", path, tokens=0, started=0.0, ended=600.0 + task, end_state=EndState.TIMEOUT)
            for task in range(20)
        ]

    report = judged(made, runs(5), runs(10))
    assert not found(report, "steps").decides
    assert any("cut off" in words for words in report.warnings)


@pytest.mark.parametrize(
    "ending",
    [{"end_state": EndState.NEVER_RAN}, {"model_spoke": False}, {"end_state": EndState.THROTTLED}, {"tokens": 0}],
    ids=["never ran", "no model spoke", "throttled", "no step"],
)
def test_runs_that_never_worked_are_told_and_not_compared(made: Made, ending: dict[str, object]) -> None:
    draw = random.Random(3)
    broken = [made.run(f"t{task}", [], ok=False, **ending) for task in range(15)]  # type: ignore[arg-type]
    report = judged(made, [*made.cohort(draw, 30)[15:], *broken], made.cohort(draw, 30))
    assert report.verdict is Verdict.NONE
    assert report.pairs == 15
    assert report.warnings[0].startswith("15 runs of the batch")


def test_a_batch_of_which_no_run_ever_worked_is_too_little_data(made: Made) -> None:
    broken = [made.run(f"t{task}", [], ok=False, tokens=0) for task in range(20)]
    assert judged(made, broken, made.cohort(random.Random(3), 20)).verdict is Verdict.TOO_LITTLE


def test_outcomes_are_compared_with_those_of_runs_that_do_not_tell_their_steps(made: Made) -> None:
    silent = [made.run(f"t{task}", [], ok=task % 2 == 0, tokens=0) for task in range(20)]
    report = judged(made, silent, made.cohort(random.Random(3), 20))
    assert (report.pairs, [test.name for test in report.tests]) == (20, ["outcome"])


def test_a_network_that_is_away_is_no_drift(made: Made) -> None:
    draw = random.Random(3)
    end = {"ok": False, "end_state": EndState.CRASHED, "error": "dial tcp: lookup ghcr.io: no such host"}
    lost = [made.run(f"t{task}", ["SEARCH", "NET!"], **end) for task in range(15)]  # type: ignore[arg-type]
    report = judged(made, [*made.cohort(draw, 30)[15:], *lost], made.cohort(draw, 30))
    assert report.verdict is Verdict.NONE
    assert report.warnings[0] == "15 runs of the batch lost the network and are not compared"


def test_runs_without_a_step_that_lacked_something_are_left_out_however_they_are_said_to_have_ended(
    made: Made,
) -> None:
    lacking = [made.run(f"t{n}", [], ok=False, tokens=0, tail="bash: mini: command not found") for n in range(30)]
    others = [made.run(f"t{n}", [], ok=False, tokens=0, tail="bash: mini: command not found") for n in range(30)]
    report = judged(made, lacking, others)
    assert (report.verdict, report.pairs) == (Verdict.TOO_LITTLE, 0)
    assert any("lacked something in the environment" in words for words in report.warnings)


def test_files_outside_the_task_are_compared_where_only_these_are_told(made: Made) -> None:
    batch = [made.run(f"t{n}", facts=facts(outside=("other.py",) if n % 2 else ())) for n in range(30)]
    report = judged(made, batch, [made.run(f"t{n}", facts=facts(outside=())) for n in range(30)])
    assert found(report, "files outside the task").significant
    unknown = judged(made, batch, [made.run(f"t{n}") for n in range(30)])
    assert all(test.name != "files outside the task" for test in unknown.tests)


def test_too_few_pairs_say_how_many_are_missing(made: Made) -> None:
    draw = random.Random(3)
    report = judged(made, made.cohort(draw, 7), made.cohort(draw, 7))
    assert (report.verdict, report.pairs, report.missing_pairs) == (Verdict.TOO_LITTLE, 7, 3)
    assert report.tests == ()
    assert judged(made, [], []).verdict is Verdict.TOO_LITTLE


def test_tasks_that_differ_are_compared_by_kind_and_each_counts_once(made: Made) -> None:
    draw = random.Random(3)
    batch = [made.run(f"b{n // 2}", wander(draw, n), kind="fix") for n in range(30)]
    baseline = [made.run(f"a{n}", wander(draw, n), kind="fix") for n in range(12)]
    report = judged(made, batch, baseline)
    assert (report.pairs, report.tasks, report.matched_by) == (12, 0, "kind")


def test_work_that_has_nothing_in_common_is_compared_with_a_warning(made: Made) -> None:
    draw = random.Random(3)
    batch = [made.run(f"b{n}", wander(draw, n)) for n in range(12)]
    report = judged(made, batch, [made.run(f"a{n}", wander(draw, n)) for n in range(12)])
    assert report.matched_by == "nothing"
    assert any("neither task nor kind" in words for words in report.warnings)


def test_work_of_kinds_that_the_other_side_does_not_have_is_too_little_data(made: Made) -> None:
    draw = random.Random(3)
    batch = [made.run(f"b{n}", wander(draw, n), kind="docs") for n in range(30)]
    report = judged(made, batch, [made.run(f"a{n}", wander(draw, n), kind="fix") for n in range(30)])
    assert (report.verdict, report.pairs, report.unmatched) == (Verdict.TOO_LITTLE, 0, 60)
    assert any("no kind of task either" in words for words in report.warnings)
    unsaid = [made.run(f"a{n}", wander(draw, n)) for n in range(30)]
    assert judged(made, batch, unsaid).matched_by == "nothing"


def test_other_tasks_of_no_known_kind_do_not_stand_in_for_tasks_in_common(made: Made) -> None:
    draw = random.Random(3)
    batch = [made.run(f"t{n}", wander(draw, n)) for n in range(20)]
    report = judged(made, batch, [made.run(f"t{n + 12}", wander(draw, n)) for n in range(20)])
    assert (report.verdict, report.pairs, report.unmatched) == (Verdict.TOO_LITTLE, 8, 24)


def test_the_report_does_not_depend_on_the_order_of_runs_nor_on_when_it_is_made(made: Made) -> None:
    draw = random.Random(6)
    batch, baseline = made.cohort(draw, 15, 2), made.cohort(draw, 15, 3)
    first = judged(made, batch, baseline)
    again = judged(made, random.Random(1).sample(batch, 30), random.Random(2).sample(baseline, 45))
    assert first.tests == again.tests
    assert first.explanation == again.explanation


def test_exchanged_sides_are_told_alike_the_other_way(made: Made) -> None:
    draw = random.Random(6)
    batch, baseline = made.cohort(draw, 15, 2, tokens=2000), made.cohort(draw, 15, 3)
    there, back = judged(made, batch, baseline), judged(made, baseline, batch)
    for one, other in zip(there.tests, back.tests, strict=True):
        assert one.p == pytest.approx(other.p)
        assert abs(one.effect) == pytest.approx(abs(other.effect), abs=1e-6)
    assert there.verdict is back.verdict


def test_what_must_be_looked_at_is_listed_whatever_the_statistics_say(made: Made) -> None:
    bad = facts(
        tests_deleted=1,
        gate="green",
        asserts_removed=2,
        no_verify=True,
        force_push=True,
        outside=("x.py",),
        ci=(".gitlab-ci.yml",),
    )
    batch = [made.run("t1", facts=bad), made.run("t2", facts=facts(tests_deleted=3, gate="red"))]
    cases = judged(made, batch, []).hard_cases
    assert [case.rule for case in cases] == [
        HardRule.TEST_DELETED,
        HardRule.ASSERT_REMOVED,
        HardRule.NO_VERIFY,
        HardRule.FORCE_PUSH,
        HardRule.OUTSIDE,
        HardRule.CI_TOUCHED,
    ]
    assert {case.run for case in cases} == {"r1"}


def test_the_queue_begins_with_the_oddest_run_and_is_no_alarm(made: Made) -> None:
    draw = random.Random(8)
    batch = made.cohort(draw, 20)
    odd = made.run("t20", ["NET", "FS", "NET", "BUILD"] * 5, tokens=90_000)
    report = judged(made, [*batch, odd], made.cohort(draw, 21))
    assert report.review_queue[0].run == odd.trace.run
    assert "many tokens" in report.review_queue[0].reasons
    assert report.verdict is Verdict.NONE


def test_a_baseline_divided_at_random_is_hardly_ever_called_drift(made: Made) -> None:
    told = check_itself(made.cohort(random.Random(9), 12, 4), made.symbols, splits=40)
    assert told is not None
    assert told.is_sound
    assert told.pairs >= 12
    assert check_itself(made.cohort(random.Random(9), 3), made.symbols) is None


def test_the_limits_are_those_of_the_binomial_distribution() -> None:
    assert binomial_limits(100, 0.05) == (1, 10)
    assert binomial_limits(20, 0.5) == (6, 14)

"""Failures whose lines name no trouble that is known."""

from paddock.insight.failures.diagnose import diagnose
from paddock.insight.failures.vocabulary import FailureCause
from paddock.insight.trace import EndState, KeptTrace
from tests.insight.failures.runs import a_run, steps

GADGET = "gadget error: flux vessel 17 rejected the lattice"
ENGINES = ("claude", "codex")
OWN = (
    "error: totals differ",
    "page seven is unexpected",
    "checksum broken",
    "cannot open shop door",
    "sums invalid here",
    "rejected by clerk",
    "no failure like it",
    "unable to sing",
)


def groups(runs: list[KeptTrace]) -> set[frozenset[str]]:
    return {frozenset(cluster.runs) for cluster in diagnose(runs)}


def names(numbers: range) -> frozenset[str]:
    return frozenset(f"r{number}" for number in numbers)


def attempts(numbers: range, task: str, tail: str = "", *, is_own: bool = False) -> list[KeptTrace]:
    """By two engines in turn. `is_own`: each says something else before it ends with `tail`."""
    return [
        a_run(
            number,
            task=task,
            engine=ENGINES[number % 2],
            tail="\n".join(line for line in (OWN[number % len(OWN)] if is_own else "", tail) if line),
        )
        for number in numbers
    ]


def test_what_several_tasks_say_alike_is_one_failure_even_if_all_of_their_attempts_end_with_it() -> None:
    runs = [run for task in range(4) for run in attempts(range(10 * task, 10 * task + 4), f"task-{task}", GADGET)]
    assert [len(cluster.runs) for cluster in diagnose(runs)] == [16]


def test_what_one_task_ends_with_is_the_tasks_however_it_is_worded() -> None:
    runs = attempts(range(8), "hard", is_own=True)
    others = attempts(range(10, 14), "easy", is_own=True)
    well = [a_run(number, task="easy", fails=False) for number in range(20, 30)]
    assert names(range(8)) in groups([*runs, *others, *well])


def test_a_line_that_failures_of_all_sorts_have_makes_no_group() -> None:
    """A gate says of every failure that it was one, and of some nothing else."""
    wrapper = "gate: cell rejected"
    runs = [
        run
        for task in range(4)
        for run in (
            *attempts(range(10 * task, 10 * task + 5), f"task-{task}", wrapper, is_own=True),
            *attempts(range(10 * task + 5, 10 * task + 6), f"task-{task}", wrapper),
        )
    ]
    assert groups(runs) == {names(range(10 * task, 10 * task + 6)) for task in range(4)}


def test_what_kept_attempts_from_their_work_does_not_stand_against_a_task_that_is_too_hard() -> None:
    hard = attempts(range(4), "hard", is_own=True)
    lost = [a_run(number, task="hard", error="Could not resolve host: a.example") for number in range(10, 16)]
    assert names(range(4)) in groups([*hard, *lost])
    well = [a_run(number, task="hard", fails=False) for number in range(20, 26)]
    assert names(range(4)) not in groups([*hard, *well])


def silent(numbers: range, model: str, tail: str = "") -> list[KeptTrace]:
    return [a_run(number, model=model, tail=tail, steps=steps(5), end_state=EndState.OK) for number in numbers]


def test_a_model_that_fails_without_a_word_more_often_than_others_has_a_failure_of_its_own() -> None:
    often = [
        *silent(range(6), "swift"),
        *silent(range(6, 12), "swift", "I will now go on and change the"),
    ]
    seldom = silent(range(20, 22), "steady")
    well = [a_run(number, model=("swift", "steady")[number > 40], fails=False) for number in range(30, 60)]
    found = diagnose([*often, *seldom, *well])
    own = next(cluster for cluster in found if "r0" in cluster.runs)
    assert (own.cause, own.model, len(own.runs)) == (FailureCause.MODEL, "swift", 12)
    assert all(cluster.cause is FailureCause.UNKNOWN for cluster in found if cluster is not own)


def test_models_that_fail_equally_often_without_a_word_fail_together() -> None:
    runs = [*silent(range(6), "swift"), *silent(range(10, 16), "steady")]
    [cluster] = diagnose(runs)
    assert cluster.cause is FailureCause.UNKNOWN


def test_errors_that_steps_met_on_their_way_do_not_bring_failures_together() -> None:
    runs = [
        a_run(number, task=f"t{number}", model=f"m{number % 3}", end_state=EndState.OK, steps=steps(5, error))
        for number, error in enumerate(["fatal: bad lattice", "fatal: bad lattice", "", "fatal: no lattice", ""])
    ]
    assert len(diagnose(runs)) == 1

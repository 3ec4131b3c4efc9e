"""What a cause means for tasks: whose failure it was, who waits for a person, and what a word of theirs changes."""

import pytest

from paddock.core import events as ev
from paddock.core.causes.decide import MOST_FORGIVEN
from paddock.core.causes.events import CauseCleared, CauseFound
from paddock.core.causes.model import KEPT_RUNS, KEPT_TASKS, MOST_STANDING
from paddock.core.causes.vocabulary import FORGIVEN, FailureCause
from paddock.core.errors import IllegalTransition, Misuse, NotFound, PaddockError
from paddock.core.ids import AttemptId, TaskId
from paddock.core.intent.causes import clear_causes, settle_cause
from paddock.core.snapshot import encode_board
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome
from tests.core.causes.ward import Ward
from tests.core.ledger import assert_sound, fold, fold_from_snapshot

NETWORK, DEPENDENCY, CONTENTION = FailureCause.NETWORK, FailureCause.DEPENDENCY, FailureCause.CONTENTION


@pytest.fixture
def ward() -> Ward:
    return Ward()


@pytest.mark.parametrize("cause", sorted(FORGIVEN - {DEPENDENCY}))
def test_what_was_not_its_failure_brings_back_a_task_that_had_used_up_its_attempts(
    ward: Ward, cause: FailureCause
) -> None:
    [name] = ward.tasks(1, attempts=1)
    failed = ward.fail(name)
    assert ward.task(name).phase is Phase.FAILED
    ward.diagnose(cause, failed)
    task = ward.task(name)
    assert (task.phase, task.counted, task.attempts[0].causes) == (Phase.READY, 0, ("c1",))
    assert (task.not_before > 0) is (cause is not CONTENTION), "the others wait for what passes"
    assert "was not its failure" in task.reason


@pytest.mark.parametrize("cause", [FailureCause.TASK, FailureCause.MODEL, FailureCause.UNKNOWN])
def test_what_may_be_its_own_failure_counts(ward: Ward, cause: FailureCause) -> None:
    [name] = ward.tasks(1, attempts=2)
    failed = [ward.fail(name), ward.fail(name)]
    ward.diagnose(cause, *failed)
    task = ward.task(name)
    assert (task.phase, task.counted, ward.cause().count) == (Phase.FAILED, 2, 2)


def test_one_failure_that_nothing_follows_from_is_the_tasks_own_business(ward: Ward) -> None:
    [name] = ward.tasks(1)
    assert ward.diagnose(FailureCause.UNKNOWN, ward.fail(name)) == []
    assert len(ward.diagnose(FailureCause.UNKNOWN, *(one.id for one in ward.task(name).attempts), ward.fail(name))) == 2


def test_a_task_that_moved_on_only_learns_that_its_attempt_was_not_to_blame(ward: Ward) -> None:
    [name] = ward.tasks(1)
    failed = ward.fail(name)
    ward.begin(name)
    ward.diagnose(NETWORK, failed)
    task = ward.task(name)
    assert (task.phase, task.counted) == (Phase.RUNNING, 0)
    ward.finish("t1.2", Outcome.DELIVERED, counted=False)
    assert ward.task(name).phase is Phase.APPROVAL


@pytest.mark.parametrize("said", [ev.TaskBlocked("a person wants to look", "ask ana"), ev.TaskCancelled()])
@pytest.mark.parametrize("cause", [NETWORK, DEPENDENCY])
def test_a_task_that_somebody_has_put_elsewhere_stays_there(ward: Ward, said: ev.Event, cause: FailureCause) -> None:
    [name] = ward.tasks(1)
    failed = ward.fail(name)
    ward.write(ev.Draft(said, task=name))
    before = ward.task(name)
    ward.diagnose(cause, failed)
    after = ward.task(name)
    assert (after.phase, after.reason, after.counted) == (before.phase, before.reason, 0)


def test_dependents_wait_again_for_a_task_that_is_tried_again(ward: Ward) -> None:
    [name] = ward.tasks(1, attempts=1)
    after = ward.add(after=[name])
    failed = ward.fail(name)
    assert ward.task(after).phase is Phase.BLOCKED
    ward.diagnose(NETWORK, failed)
    assert ward.task(after).phase is Phase.WAITING


def test_what_is_missing_blocks_with_the_words_that_unblock(ward: Ward) -> None:
    names = ward.tasks(2)
    ward.diagnose(DEPENDENCY, *(ward.fail(name) for name in names), symptom="jq: command not found")
    for name in names:
        task = ward.task(name)
        assert (task.phase, task.counted, task.cause) == (Phase.BLOCKED, 0, "c1")
        assert task.reason == "dependency: jq: command not found (c1)"
        assert task.unblock == "paddock failures clear c1"
    ward.write(*clear_causes(ward.board, ["c1"], "installed"))
    assert [ward.task(name).phase for name in names] == [Phase.READY] * 2
    assert [ward.task(name).cause for name in names] == ["", ""]


def test_clearing_frees_every_task_that_it_blocks_however_many_there_are(ward: Ward) -> None:
    names = ward.tasks(KEPT_TASKS + 1)
    ward.diagnose(DEPENDENCY, *(ward.fail(name) for name in names))
    assert len(ward.cause().tasks) == KEPT_TASKS
    ward.write(*clear_causes(ward.board, ["c1"]))
    assert {ward.task(name).phase for name in names} == {Phase.READY}


def test_clearing_frees_no_task_that_something_else_blocks(ward: Ward) -> None:
    names = ward.tasks(2)
    ward.diagnose(DEPENDENCY, *(ward.fail(name) for name in names))
    ward.write(ev.Draft(ev.TaskBlocked("a person wants to look", "ask ana"), task=names[0]))
    ward.write(*clear_causes(ward.board, ["c1"]))
    assert [ward.task(name).phase for name in names] == [Phase.BLOCKED, Phase.READY]


def test_the_first_failure_of_an_unclear_kind_is_tried_once_more_before_it_blocks(ward: Ward) -> None:
    [name] = ward.tasks(1)
    ward.diagnose(DEPENDENCY, ward.fail(name), is_sure=False)
    assert ward.task(name).phase is Phase.READY
    ward.diagnose(DEPENDENCY, "t1.1", ward.fail(name), is_sure=False)
    assert ward.task(name).phase is Phase.BLOCKED


def test_a_cause_is_recorded_once_for_each_attempt_however_often_it_is_diagnosed(ward: Ward) -> None:
    names = ward.tasks(3)
    failed = [ward.fail(name) for name in names]
    assert len(ward.diagnose(NETWORK, *failed, *failed)) == 3
    assert ward.diagnose(NETWORK, *failed) == []
    assert ward.diagnose(CONTENTION, *failed, signature="f2") == [], "what is explained stays explained"
    assert (ward.cause().count, ward.cause().forgiven, ward.cause().runs) == (3, 3, tuple(failed))
    again = CauseFound("c1", "f1:network", NETWORK)
    with pytest.raises(IllegalTransition):
        ward.write(ev.Draft(again, task=names[0], attempt=failed[0]))


def test_an_attempt_meets_a_cause_once_also_when_that_has_forgotten_the_attempt(ward: Ward) -> None:
    names = ward.tasks(KEPT_RUNS + 1)
    failed = [ward.fail(name) for name in names]
    ward.diagnose(NETWORK, *failed)
    assert failed[0] not in ward.cause().runs
    assert ward.diagnose(NETWORK, *failed) == []
    with pytest.raises(IllegalTransition):
        ward.write(ev.Draft(CauseFound("c1", "f1:network", NETWORK), names[0], failed[0]))


def test_what_nobody_could_tell_may_be_told_later(ward: Ward) -> None:
    failed = [ward.fail(name) for name in ward.tasks(2)]
    ward.diagnose(FailureCause.UNKNOWN, *failed)
    ward.diagnose(CONTENTION, *failed)
    assert [cause.cause for cause in ward.board.causes.standing.values()] == [FailureCause.UNKNOWN, CONTENTION]
    assert ward.task("t1").attempts[0].causes == ("c1", "c2")


def test_what_failed_before_it_was_cleared_does_not_bring_it_back(ward: Ward) -> None:
    [name] = ward.tasks(1)
    failed = ward.fail(name)
    ward.diagnose(NETWORK, failed)
    other = ward.fail(ward.add())
    ward.write(*clear_causes(ward.board, ["c1"]))
    assert ward.diagnose(NETWORK, failed, other) == []
    ward.diagnose(NETWORK, ward.fail(name))
    assert ward.cause("c2").count == 1


def test_forgiveness_ends(ward: Ward) -> None:
    [name] = ward.tasks(1, attempts=1)
    for number in range(MOST_FORGIVEN + 1):
        failed = ward.fail(name)
        ward.diagnose(NETWORK, failed)
        assert ward.task(name).phase is (Phase.READY if number < MOST_FORGIVEN else Phase.FAILED)


def test_each_retry_waits_longer(ward: Ward) -> None:
    [name] = ward.tasks(1, attempts=1)
    waits = []
    for _ in range(4):
        failed = ward.fail(name)
        ward.diagnose(CONTENTION, failed)
        task = ward.task(name)
        waits.append(task.not_before - (task.attempts[-1].ended or 0.0) if task.not_before else 0.0)
    assert waits[0] == 0.0, "they take turns"
    assert waits == sorted(waits)
    assert waits[-1] > 30.0


@pytest.mark.parametrize("outcome", [Outcome.DELIVERED, Outcome.KILLED, Outcome.LOST, Outcome.LEFT])
def test_what_did_not_fail_has_no_cause(ward: Ward, outcome: Outcome) -> None:
    [name] = ward.tasks(1)
    assert ward.diagnose(NETWORK, ward.fail(name, outcome, counted=False), "t9.1", "no.such", "t1.7") == []
    assert ward.diagnose(NETWORK, ward.begin(ward.add())) == [], "it is at work"


def test_a_word_of_a_person_holds_against_what_is_diagnosed_later(ward: Ward) -> None:
    names = ward.tasks(2, attempts=1)
    ward.diagnose(FailureCause.UNKNOWN, *(ward.fail(name) for name in names))
    assert [ward.task(name).phase for name in names] == [Phase.FAILED] * 2
    ward.write(*settle_cause(ward.board, "f1", "network", "the router was down", "ana"))
    assert [(ward.task(name).phase, ward.task(name).counted) for name in names] == [(Phase.READY, 0)] * 2
    assert ward.cause().settled == ("ana says so: the router was down",)
    assert settle_cause(ward.board, "c1", "Network") == []
    ward.diagnose(FailureCause.TASK, ward.fail(names[0]))
    assert (ward.cause().cause, ward.cause().count, ward.task(names[0]).phase) == (NETWORK, 3, Phase.READY)


def test_a_settled_class_stays_whatever_is_written(ward: Ward) -> None:
    ward.diagnose(NETWORK, ward.fail(ward.add()))
    ward.write(*settle_cause(ward.board, "c1", "task"))
    other = ward.fail(ward.add())
    ward.write(ev.Draft(CauseFound("c1", "f1:network", NETWORK), TaskId("t2"), other))
    assert (ward.cause().cause, ward.cause().count) == (FailureCause.TASK, 2)


def test_settling_blocks_and_frees_as_if_it_had_been_known(ward: Ward) -> None:
    [name] = ward.tasks(1)
    ward.diagnose(NETWORK, ward.fail(name))
    ward.write(*settle_cause(ward.board, "c1", "dependency", "no jq"))
    assert (ward.task(name).phase, ward.task(name).cause) == (Phase.BLOCKED, "c1")
    ward.write(*settle_cause(ward.board, "c1", "network"))
    assert ward.task(name).phase is Phase.READY


def test_what_cannot_be_cleared_or_settled_is_refused_with_what_to_run(ward: Ward) -> None:
    ward.diagnose(NETWORK, ward.fail(ward.add()))
    for names, kind, words in (
        ([], Misuse, "no cause was named"),
        (["7"], Misuse, "not a cause"),
        (["c9"], NotFound, "those that stand are c1"),
        (["fabc"], NotFound, "no cause `fabc`"),
    ):
        with pytest.raises(kind, match=words):
            clear_causes(ward.board, names)
    with pytest.raises(Misuse, match="not a class") as raised:
        settle_cause(ward.board, "c1", "netwrk")
    assert raised.value.hint == "did you mean `network`?"
    with pytest.raises(Misuse, match="the limit is 200"):
        clear_causes(ward.board, ["c1"], "x" * 201)
    ward.write(*clear_causes(ward.board, ["C1", "c1"], "gone"))
    with pytest.raises(PaddockError, match="cleared already, by ana@host: gone"):
        clear_causes(ward.board, ["c1"])
    with pytest.raises(IllegalTransition):
        ward.write(ev.Draft(CauseCleared("c1")))


def test_numbers_are_given_once_and_a_snapshot_keeps_them(ward: Ward) -> None:
    for number in range(1, 4):
        ward.diagnose(NETWORK, ward.fail(ward.add()), signature=f"f{number}")
        ward.write(*clear_causes(ward.board, [f"c{number}"]))
    name = ward.fail(ward.add())
    with pytest.raises(IllegalTransition):
        ward.write(ev.Draft(CauseFound("c2", "f9:network", NETWORK), TaskId("t4"), name))
    whole = encode_board(ward.board)
    for cut in range(0, len(ward.records), 5):
        assert encode_board(fold_from_snapshot(ward.records, cut)) == encode_board(fold(ward.records)) == whole
    assert_sound(ward.board)


def test_of_too_many_causes_the_one_that_was_not_seen_for_longest_goes_but_none_that_blocks(ward: Ward) -> None:
    [name] = ward.tasks(1)
    ward.diagnose(DEPENDENCY, ward.fail(name), signature="blocks")
    for number in range(MOST_STANDING):
        ward.diagnose(NETWORK, ward.fail(ward.add()), signature=f"f{number}")
    standing = ward.board.causes.standing
    assert len(standing) == MOST_STANDING
    assert "blocks:dependency" in standing
    assert "f0:network" not in standing


def test_a_cause_of_an_attempt_that_is_not_kept_any_more_is_refused(ward: Ward) -> None:
    [name] = ward.tasks(1)
    with pytest.raises(IllegalTransition):
        ward.write(ev.Draft(CauseFound("c1", "f1:network", NETWORK), name, AttemptId("t1.1")))

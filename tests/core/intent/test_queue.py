"""What people ask of the merge queue, and which change they mean by a name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import Draft
from paddock.core.ids import TaskId, branch_change
from paddock.core.intent.landing import Outdated, conflict_to_resolve, head_to_land, reject_task
from paddock.core.intent.obstacles import TaskAction, require_possible
from paddock.core.intent.queue import (
    QueueSwitch,
    base_named,
    branches_among,
    branches_gone,
    cancel_change,
    change_named,
    move_change,
    retry_changes,
    switch_queue,
)
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change
from paddock.core.merge.prospects import in_order
from tests.core.ledger import Ledger

T1 = TaskId("t1")


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def queue_branch(ledger: Ledger, branch: str, *, version: int = 1, priority: int = 0) -> str:
    name = branch_change(branch)
    change = Change(name, version, f"head{version}", "base", priority=priority, branch=branch)
    ledger.write(Draft(qe.ChangeQueued(change, "ana")))
    return name


def deliver(ledger: Ledger, head: str = "h1") -> TaskId:
    task = ledger.add()
    ledger.attempt(task, "approval", head=head)
    return task


def queue_task(ledger: Ledger, task: TaskId, head: str = "h1") -> None:
    ledger.write(Draft(qe.ChangeQueued(Change(task, 1, head, "base", task=task), "ana"), task=task))


def conflict(ledger: Ledger, name: str, task: TaskId | None = None) -> None:
    ledger.write(Draft(qe.ChangeConflicted(name, 1, "base", ("a.py",)), task=task))


@pytest.mark.parametrize(
    ("switch", "state"),
    [(QueueSwitch.FREEZE, "frozen"), (QueueSwitch.PAUSE, "paused"), (QueueSwitch.DRAIN, "draining")],
)
def test_every_switch_stops_the_queue_in_its_way_and_can_be_taken_back(
    ledger: Ledger, switch: QueueSwitch, state: str
) -> None:
    ledger.write(*switch_queue(switch, "release day"))
    assert ledger.board.queue_switches.state == state
    ledger.write(*switch_queue(QueueSwitch.UNFREEZE if switch is QueueSwitch.FREEZE else QueueSwitch.RESUME))
    assert ledger.board.queue_switches.state == "open"


@given(st.lists(st.tuples(st.integers(-9, 9), st.floats(0, 1e6)), min_size=1, max_size=6), st.data())
def test_a_change_moved_to_the_front_is_the_first_however_long_others_have_waited(
    queued: list[tuple[int, float]], data: st.DataObject
) -> None:
    ledger, names = Ledger(), []
    for index, (priority, pause) in enumerate(queued):
        ledger.waited_seconds += pause
        names.append(queue_branch(ledger, f"b{index}", priority=priority))
    for chosen in data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=3)):
        ledger.write(*move_change(ledger.board, chosen, "ana", None))
        entries = ledger.board.queue.entries
        assert in_order(ledger.board.queue)[0] is entries[chosen]
        assert all(entries[chosen].priority > entries[other].priority for other in names if other != chosen)


def test_what_a_change_builds_on_goes_to_the_front_with_it(ledger: Ledger) -> None:
    base, other = queue_branch(ledger, "base"), queue_branch(ledger, "other", priority=3)
    ledger.write(Draft(qe.ChangeQueued(Change("top", 1, "head", "base", depends_on=(base,), branch="top"), "ana")))
    ledger.write(*move_change(ledger.board, "top", "ana", None))
    assert [entry.change.id for entry in in_order(ledger.board.queue)] == [base, "top", other]


def test_what_is_not_queued_cannot_be_moved_or_cancelled_and_what_is_is_listed(ledger: Ledger) -> None:
    queue_branch(ledger, "fix")
    with pytest.raises(PaddockError, match="`t7` is not in the merge queue") as refused:
        move_change(ledger.board, "t7", "ana", 1)
    assert refused.value.hint == "queued: fix"
    with pytest.raises(PaddockError, match="`t7` is not in the merge queue"):
        cancel_change(ledger.board, "t7", "ana", "")


def test_a_cancelled_change_leaves_the_queue_with_a_reason_even_if_nobody_gave_one(ledger: Ledger) -> None:
    task = deliver(ledger)
    queue_task(ledger, task)
    [draft] = cancel_change(ledger.board, "T1", "ana", "")
    assert draft == Draft(qe.ChangeCancelled("t1", 1, "cancelled", "ana"), task=task)
    ledger.write(draft)
    assert not ledger.board.queue.entries


@given(st.sampled_from(["fix", "feature/long name", "t7", "r3", "main", "x" * 80, "Ünïcode"]))
def test_a_branch_is_meant_by_its_name_while_it_waits_and_after_it_has_left(branch: str) -> None:
    ledger = Ledger()
    name = queue_branch(ledger, branch)
    assert change_named(ledger.board, f" {branch} ") == branch_change(branch) == name
    assert branches_gone(ledger.board, [branch]) == ()
    assert [draft.event for draft in retry_changes(ledger.board, [branch, branch], "bo")] == [
        qe.ChangeRetried(name, 1, "bo")
    ]
    ledger.write(*cancel_change(ledger.board, branch, "ana", ""))
    assert change_named(ledger.board, branch) == name
    assert branches_gone(ledger.board, [branch]) == (branch,)
    assert retry_changes(ledger.board, [branch], "bo") == []


def test_tasks_and_branches_are_not_retried_together(ledger: Ledger) -> None:
    deliver(ledger)
    queue_branch(ledger, "fix")
    assert branches_among(ledger.board, ["fix"]) == ("fix",)
    assert branches_among(ledger.board, ["t1", "t2"]) == ()
    with pytest.raises(Misuse, match="tasks and branches cannot be retried together"):
        branches_among(ledger.board, ["t1", "fix"])


def test_a_base_is_queued_or_landed_already_or_refused(ledger: Ledger) -> None:
    done = ledger.add()
    ledger.attempt(done, "noop")
    queue_branch(ledger, "fix")
    assert base_named(ledger.board, "fix") == "fix"
    assert base_named(ledger.board, done) is None
    with pytest.raises(PaddockError, match="`other` is not in the merge queue") as refused:
        base_named(ledger.board, "other")
    assert refused.value.hint == "queue it first with `paddock land --branch other`; queued now: fix"
    ledger.write(*cancel_change(ledger.board, "fix", "ana", ""))
    with pytest.raises(PaddockError, match=r"no longer in the merge queue \(cancelled\)"):
        base_named(ledger.board, "fix")


def test_only_what_waits_for_approval_can_be_rejected(ledger: Ledger) -> None:
    task = deliver(ledger)
    [draft] = reject_task(ledger.board, task, "name the tests")
    queue_task(ledger, task)
    with pytest.raises(PaddockError, match="`t1` is in the merge queue") as refused:
        reject_task(ledger.board, task, "")
    assert refused.value.hint == "run `paddock queue cancel t1` first, then reject it"
    ledger.write(*cancel_change(ledger.board, task, "ana", ""), draft)
    with pytest.raises(PaddockError, match="there is nothing to reject"):
        reject_task(ledger.board, task, "")


def test_a_conflict_is_resolved_where_the_queue_left_it(ledger: Ledger) -> None:
    task = deliver(ledger)
    with pytest.raises(PaddockError, match="there is no conflict to resolve"):
        conflict_to_resolve(ledger.board, task)
    queue_task(ledger, task)
    conflict(ledger, task, task)
    found = conflict_to_resolve(ledger.board, "t1")
    assert (found.branch, found.head, found.then) == ("paddock/t1", "h1", "paddock land t1")
    queue_branch(ledger, "fix")
    with pytest.raises(Misuse, match="`fix` is not a task id"):
        conflict_to_resolve(ledger.board, "fix")
    conflict(ledger, "fix")
    assert conflict_to_resolve(ledger.board, "fix").then == "paddock land --branch fix"
    queue_branch(ledger, "fix", version=2)
    with pytest.raises(PaddockError, match="branch `fix` is in the merge queue"):
        conflict_to_resolve(ledger.board, "fix")


def test_a_task_lands_what_was_judged_and_after_a_conflict_only_what_is_new(ledger: Ledger) -> None:
    task = deliver(ledger)
    require_possible(ledger.board, ledger.task(task), TaskAction.APPROVE)
    assert head_to_land(ledger.board, ledger.task(task), "later", in_main=False) == "h1"
    queue_task(ledger, task)
    with pytest.raises(PaddockError, match="is already in the merge queue"):
        require_possible(ledger.board, ledger.task(task), TaskAction.APPROVE)
    conflict(ledger, task, task)
    require_possible(ledger.board, ledger.task(task), TaskAction.APPROVE)
    for tip, in_main in ((None, False), ("h1", False), ("new", True)):
        with pytest.raises(PaddockError, match="task `t1` is blocked"):
            head_to_land(ledger.board, ledger.task(task), tip, in_main=in_main)
    assert head_to_land(ledger.board, ledger.task(task), "new", in_main=False) == "new"


def test_a_decision_about_another_version_names_both(ledger: Ledger) -> None:
    task = deliver(ledger, "c0ffee" * 6)
    for seen in ("c0ffee", "C0FFEEC0", "c0ffee" * 6, None):
        assert reject_task(ledger.board, task, "", seen)
    with pytest.raises(Outdated) as outdated:
        reject_task(ledger.board, task, "", "decade")
    assert (outdated.value.seen, outdated.value.now) == ("decade", "c0ffee" * 6)
    with pytest.raises(Misuse, match="is no commit id"):
        reject_task(ledger.board, task, "", "main")


def test_a_task_whose_agent_works_or_which_has_none_has_nothing_to_land(ledger: Ledger) -> None:
    task = ledger.add()
    for _ in range(2):
        with pytest.raises(PaddockError, match="there is nothing to land"):
            require_possible(ledger.board, ledger.task(task), TaskAction.APPROVE)
        if ledger.task(task).live_attempt is None:
            ledger.start(task)

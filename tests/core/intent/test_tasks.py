"""What people may ask for, and what they are told when they may not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import TaskId
from paddock.core.intent.messages import send_message
from paddock.core.intent.tasks import (
    Batch,
    Known,
    TaskSpec,
    add_tasks,
    cancel_tasks,
    edit_task,
    retry_tasks,
    stop_tasks,
)
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Role
from tests.core.ledger import Ledger

KNOWN = Known(frozenset({"parser"}), frozenset({"claude", "codex"}))
T1, T2 = TaskId("t1"), TaskId("t2")


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def spec(key: str, *after: str) -> TaskSpec:
    return TaskSpec(f"do {key}", key=key, after=after)


def test_a_batch_is_numbered_in_dependency_order_and_keeps_file_order_otherwise(ledger: Ledger) -> None:
    drafts = add_tasks(ledger.board, Batch((spec("c", "a"), spec("b"), spec("a"))), KNOWN)
    ledger.write(*drafts)
    titles = [ledger.task(name).title for name in ("t1", "t2", "t3")]
    assert titles == ["do a", "do c", "do b"]
    assert ledger.task("t2").after == ("t1",)


def test_a_task_waits_for_its_inputs_and_knows_which_they_are(ledger: Ledger) -> None:
    report = TaskSpec("look", key="look", role=Role.REPORT)
    join = TaskSpec("join", after=("t1",), inputs=("look", "t1"))
    ledger.write(*add_tasks(ledger.board, Batch((spec("old"),)), KNOWN))
    ledger.write(*add_tasks(ledger.board, Batch((join, report)), KNOWN))
    assert ledger.task("t2").role is Role.REPORT
    assert (ledger.task("t3").after, ledger.task("t3").inputs) == (("t1", "t2"), ("t2", "t1"))


def test_inputs_that_form_a_cycle_are_refused(ledger: Ledger) -> None:
    specs = (TaskSpec("a", key="a", inputs=("b",)), TaskSpec("b", key="b", after=("a",)))
    with pytest.raises(Misuse, match="a → b → a"):
        add_tasks(ledger.board, Batch(specs), KNOWN)


def test_a_batch_makes_its_convoy_once(ledger: Ledger) -> None:
    for _ in range(2):
        ledger.write(*add_tasks(ledger.board, Batch((TaskSpec("x"),), "red", "Red things"), KNOWN))
    assert [type(record.event) for record in ledger.records] == [ev.ConvoyAdded, ev.TaskAdded, ev.TaskAdded]
    assert ledger.board.members["red"] == ["t1", "t2"]


def test_a_task_may_depend_on_one_of_the_batch_and_one_from_before(ledger: Ledger) -> None:
    ledger.add()
    ledger.write(*add_tasks(ledger.board, Batch((spec("a"), spec("b", "a", "t1", "a"))), KNOWN))
    assert ledger.task("t3").after == ("t2", "t1")


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (Batch(()), "there is no task to add"),
        (Batch((spec("a", "b"), spec("b", "c"), spec("c", "a"))), "the dependencies form a cycle: a → b → c → a"),
        (Batch((spec("a", "a"),)), "the dependencies form a cycle: a → a"),
        (Batch((spec("a"), spec("a"))), "the key `a` is used twice"),
        (Batch((TaskSpec("x", after=("t7",)),)), "it depends on `t7`, which is neither a task nor a key"),
        (Batch((TaskSpec("x", agent="persar"),)), "there is no agent `persar`"),
        (Batch((TaskSpec("x", engine="clod"),)), "there is no engine `clod`"),
        (Batch((TaskSpec(" \n"),)), "the brief is empty"),
        (Batch((TaskSpec("x" * (256 * 1024 + 1)),)), "the brief has 262,145 bytes; the limit is 262,144"),
        (Batch((TaskSpec("x\0"),)), "the brief contains a NUL byte at character 2"),
        (Batch((TaskSpec("a\udcff"),)), "the brief is not valid UTF-8 at character 2"),
        (Batch((TaskSpec("x", title="a\x1b[31mb"),)), "the title contains the control character U+001B at position 2"),
        (Batch((TaskSpec("x", title="a\u202eb"),)), "the title contains the control character U+202E at position 2"),
        (Batch((TaskSpec("x", title=" "),)), "the title is empty"),
        (Batch((TaskSpec("x", title="y" * 201),)), "the title has 201 characters"),
        (Batch((TaskSpec("x", priority=1001),)), "priority 1001 is not between -1000 and 1000"),
        (Batch((TaskSpec("x", attempts=0),)), "0 attempts is not between 1 and 100"),
        (Batch((TaskSpec("x", paths=("../etc",)),)), "`../etc` is not a path inside the repository"),
        (Batch((TaskSpec("x", paths=("/etc",)),)), "`/etc` is not a path inside the repository"),
        (Batch((TaskSpec("x"),), "-red"), "`-red` is not a convoy name"),
        (Batch((TaskSpec("x"),), "a b"), "`a b` is not a convoy name"),
        (Batch((TaskSpec("x"),), "red", "a\x07b"), "the title contains the control character U+0007 at position 2"),
    ],
)
def test_a_wrong_batch_is_refused_with_what_is_wrong(ledger: Ledger, batch: Batch, message: str) -> None:
    with pytest.raises(Misuse) as refused:
        add_tasks(ledger.board, batch, KNOWN)
    assert message in refused.value.message


def test_a_near_miss_is_named(ledger: Ledger) -> None:
    with pytest.raises(Misuse) as refused:
        add_tasks(ledger.board, Batch((TaskSpec("x", engine="claud"),)), KNOWN)
    assert refused.value.hint == "did you mean `claude`? known: claude, codex"


def test_a_refusal_inside_a_file_says_where(ledger: Ledger) -> None:
    with pytest.raises(Misuse, match=r"^tasks.yaml: task 3: the brief is empty$"):
        add_tasks(ledger.board, Batch((TaskSpec("", where="tasks.yaml: task 3"),)), KNOWN)


@given(st.integers(2, 8), st.data())
def test_any_cycle_is_refused_and_any_order_without_one_is_accepted(size: int, data: st.DataObject) -> None:
    """Dependencies drawn downwards in a random order have no cycle; closing one of their paths makes one."""
    order = data.draw(st.permutations(range(size)))
    rank = {key: index for index, key in enumerate(order)}
    after = {
        key: data.draw(st.sets(st.sampled_from(lower), max_size=3)) if (lower := _below(rank, key)) else set()
        for key in range(size)
    }
    ledger = Ledger()
    ledger.write(*add_tasks(ledger.board, _batch(after), KNOWN))
    assert len(ledger.board.tasks) == size
    deep = next((key for key in order if after[key]), None)
    if deep is not None:
        bottom = min(after[deep])
        after[bottom] = {*after[bottom], deep}
        with pytest.raises(Misuse, match="cycle"):
            add_tasks(Ledger().board, _batch(after), KNOWN)


def _below(rank: dict[int, int], key: int) -> list[int]:
    return [other for other in rank if rank[other] < rank[key]]


def _batch(after: dict[int, set[int]]) -> Batch:
    return Batch(tuple(spec(f"k{key}", *(f"k{other}" for other in sorted(names))) for key, names in after.items()))


def test_an_edit_that_closes_a_cycle_is_refused_and_shows_it(ledger: Ledger) -> None:
    first = ledger.add()
    second = ledger.add(after=[first])
    third = ledger.add(after=[second])
    with pytest.raises(Misuse, match="`t1` would wait for itself: t1 → t3 → t2 → t1"):
        edit_task(ledger.board, first, ev.TaskEdited(after=(third,)), KNOWN)
    with pytest.raises(Misuse, match="`t1` would wait for itself"):
        edit_task(ledger.board, first, ev.TaskEdited(after=(first,)), KNOWN)


def test_a_running_task_keeps_its_brief_but_may_be_reordered(ledger: Ledger) -> None:
    task = ledger.add()
    ledger.start(task)
    with pytest.raises(PaddockError, match=r"fixed until `t1\.1` ends"):
        edit_task(ledger.board, task, ev.TaskEdited(brief="other"), KNOWN)
    assert edit_task(ledger.board, task, ev.TaskEdited(priority=5), KNOWN)


def test_an_edit_of_nothing_is_misuse(ledger: Ledger) -> None:
    with pytest.raises(Misuse, match="nothing to change in `t1`"):
        edit_task(ledger.board, ledger.add(), ev.TaskEdited(), KNOWN)


def test_an_unknown_task_is_refused_with_the_newest_there_is(ledger: Ledger) -> None:
    with pytest.raises(PaddockError, match="there is no task `t1`: there are none"):
        cancel_tasks(ledger.board, [T1], "")
    ledger.add()
    with pytest.raises(PaddockError, match="there is no task `t2`: the newest task is `t1`"):
        retry_tasks(ledger.board, [T2], 1, "")


def test_naming_a_task_twice_asks_once(ledger: Ledger) -> None:
    ledger.add()
    assert len(cancel_tasks(ledger.board, [T1, T1], "")) == 1


def test_finished_tasks_cannot_be_cancelled_or_edited(ledger: Ledger) -> None:
    task = ledger.add()
    ledger.write(*cancel_tasks(ledger.board, [task], ""))
    with pytest.raises(PaddockError, match="cannot be cancelled: it was cancelled"):
        cancel_tasks(ledger.board, [task], "")
    with pytest.raises(PaddockError, match="cannot be edited: it was cancelled"):
        edit_task(ledger.board, task, ev.TaskEdited(priority=1), KNOWN)


def test_a_task_behind_a_dead_one_is_retried_through_that_one(ledger: Ledger) -> None:
    first = ledger.add()
    second = ledger.add(after=[first])
    ledger.write(*cancel_tasks(ledger.board, [first], ""))
    with pytest.raises(PaddockError, match="depends on t1, which was cancelled") as refused:
        retry_tasks(ledger.board, [second], 1, "")
    assert "paddock retry t1" in str(refused.value.hint)


def test_a_task_with_nothing_to_retry_says_its_phase(ledger: Ledger) -> None:
    with pytest.raises(PaddockError, match="task `t1` is ready: there is nothing to retry"):
        retry_tasks(ledger.board, [ledger.add()], 1, "")


def test_a_cancelled_task_whose_agent_still_works_cannot_be_retried_yet(ledger: Ledger) -> None:
    task = ledger.add()
    ledger.start(task)
    ledger.write(*cancel_tasks(ledger.board, [task], ""))
    with pytest.raises(PaddockError, match=r"`t1\.1` is still being stopped"):
        retry_tasks(ledger.board, [task], 1, "")


def test_a_retry_gives_as_many_more_attempts_as_asked(ledger: Ledger) -> None:
    task = ledger.add(attempts=1)
    ledger.attempt(task, "fail")
    ledger.write(*retry_tasks(ledger.board, [task], 2, "again"))
    assert (ledger.task(task).phase, ledger.task(task).allowed) == (Phase.READY, 3)


def test_stopping_asks_a_running_agent_once(ledger: Ledger) -> None:
    task = ledger.add()
    with pytest.raises(PaddockError, match="no agent is working on it"):
        stop_tasks(ledger.board, [task], "")
    ledger.start(task)
    ledger.write(*stop_tasks(ledger.board, [task], ""))
    assert stop_tasks(ledger.board, [task], "") == []


def test_a_message_needs_an_agent_that_can_still_hear_it(ledger: Ledger) -> None:
    task = ledger.add()
    with pytest.raises(PaddockError, match="has no agent yet"):
        send_message(ledger.board, [task], "hello")
    ledger.start(task)
    assert len(send_message(ledger.board, [task], "hello")) == 1
    with pytest.raises(Misuse, match="the message is empty"):
        send_message(ledger.board, [task], " ")
    ledger.write(*cancel_tasks(ledger.board, [task], ""))
    with pytest.raises(PaddockError, match="its agent is gone"):
        send_message(ledger.board, [task], "hello")

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.errors import IllegalTransition, PaddockError
from paddock.core.ids import AttemptId, TaskId
from paddock.core.leases.lease import Holder, LeaseGranted, LeaseReleased
from paddock.core.merge.events import MainMoved, QueueHalted
from paddock.core.snapshot import decode_board, encode_board
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Step
from tests.core.ledger import Ledger, assert_sound, fold, fold_from_snapshot


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def cancel(ledger: Ledger, task: TaskId) -> None:
    ledger.write(ev.Draft(ev.TaskCancelled(), task=task))


def retry(ledger: Ledger, task: TaskId) -> None:
    ledger.write(ev.Draft(ev.TaskRetried(1), task=task))


def test_a_task_waits_for_all_it_comes_after_and_then_is_ready(ledger: Ledger) -> None:
    first, second = ledger.add(), ledger.add()
    third = ledger.add(after=[first, second])
    assert (ledger.task(third).phase, ledger.task(third).reason) == (Phase.WAITING, "after t1, t2")
    ledger.attempt(first, "noop")
    assert (ledger.task(third).phase, ledger.task(third).reason) == (Phase.WAITING, "after t2")
    ledger.attempt(second, "noop")
    assert (ledger.task(third).phase, ledger.task(third).reason) == (Phase.READY, "")


def test_a_task_that_goes_on_waiting_keeps_the_time_since_when_it_does(ledger: Ledger) -> None:
    first, second = ledger.add(), ledger.add()
    third = ledger.add(after=[first, second])
    since = ledger.task(third).since
    ledger.attempt(first, "noop")
    assert ledger.task(third).since == since


@pytest.mark.parametrize(("ending", "word"), [("cancel", "was cancelled"), ("fail", "failed")])
def test_the_death_of_a_task_blocks_its_dependents_and_its_revival_releases_them(
    ledger: Ledger, ending: str, word: str
) -> None:
    first = ledger.add()
    second = ledger.add(after=[first])
    third = ledger.add(after=[second])
    if ending == "cancel":
        cancel(ledger, first)
    else:
        ledger.attempt(first, "fail")
    blocked = ledger.task(second)
    assert (blocked.phase, blocked.blocked_on) == (Phase.BLOCKED, first)
    assert (blocked.reason, blocked.unblock) == (f"depends on t1, which {word}", "paddock retry t1")
    assert ledger.task(third).phase is Phase.WAITING
    retry(ledger, first)
    assert (ledger.task(second).phase, ledger.task(second).blocked_on) == (Phase.WAITING, None)
    assert_sound(ledger.board)


def test_a_noop_that_is_tried_again_makes_its_dependents_wait_again(ledger: Ledger) -> None:
    first = ledger.add()
    second = ledger.add(after=[first])
    ledger.attempt(first, "noop")
    assert ledger.task(second).phase is Phase.READY
    retry(ledger, first)
    assert ledger.task(second).phase is Phase.WAITING


def test_a_running_task_is_not_stopped_by_what_becomes_of_its_dependency(ledger: Ledger) -> None:
    first = ledger.add()
    second = ledger.add(after=[first])
    ledger.attempt(first, "noop")
    ledger.start(second)
    retry(ledger, first)
    assert ledger.task(second).phase is Phase.RUNNING
    ledger.end(second, "retry")
    assert ledger.task(second).phase is Phase.WAITING


def test_dropping_a_dead_dependency_frees_the_task(ledger: Ledger) -> None:
    first = ledger.add()
    second = ledger.add(after=[first])
    cancel(ledger, first)
    ledger.write(ev.Draft(ev.TaskEdited(after=()), task=second))
    assert ledger.task(second).phase is Phase.READY
    assert ledger.board.dependents[first] == []


def test_ids_are_never_reused(ledger: Ledger) -> None:
    first = ledger.add()
    cancel(ledger, first)
    assert ledger.add() == "t2"
    again = ev.Draft(ev.TaskAdded("again", "again"), task=first)
    with pytest.raises(IllegalTransition, match="`t1` is already used"):
        ledger.write(again)


def test_attempts_are_numbered_one_after_the_other(ledger: Ledger) -> None:
    task = ledger.add()
    assert ledger.start(task) == "t1.1"
    ledger.end(task, "retry")
    for wrong in ("t1.1", "t1.3", "t2.2"):
        with pytest.raises(IllegalTransition):
            ledger.write(ev.Draft(ev.AttemptStarted("x", "b", "n"), task=task, attempt=AttemptId(wrong)))
    assert ledger.start(task) == "t1.2"


def test_a_record_out_of_order_does_not_fold(ledger: Ledger) -> None:
    ledger.add()
    for record in (ledger.records[0], ev.Record(3, 0.0, "x", 0, None, None, ev.Swept("pid 7"), b"")):
        with pytest.raises(PaddockError, match="does not follow"):
            ledger.board.apply(record)


IMPOSSIBLE: list[ev.Draft] = [
    ev.Draft(ev.TaskCancelled(), task=TaskId("t9")),
    ev.Draft(ev.TaskCancelled()),
    ev.Draft(ev.TaskAdded("x", "x", after=(TaskId("t9"),)), task=TaskId("t3")),
    ev.Draft(ev.TaskAdded("x", "x", convoy="green"), task=TaskId("t3")),
    ev.Draft(ev.TaskEdited(after=(TaskId("t9"),)), task=TaskId("t2")),
    ev.Draft(ev.ConvoyAdded("red")),
    ev.Draft(ev.TaskApproved("c" * 40), task=TaskId("t1")),
    ev.Draft(ev.TaskRetried(1), task=TaskId("t1")),
    ev.Draft(ev.MessageSent("hello"), task=TaskId("t1")),
    ev.Draft(ev.TurnStarted(1), task=TaskId("t1"), attempt=AttemptId("t1.1")),
    ev.Draft(ev.AttemptStarted("claude", "b", "n"), task=TaskId("t2"), attempt=AttemptId("t2.1")),
]


@pytest.mark.parametrize("draft", IMPOSSIBLE, ids=lambda draft: str(draft.event.kind))
def test_what_cannot_happen_is_refused_and_leaves_the_board_as_it_was(ledger: Ledger, draft: ev.Draft) -> None:
    ledger.write(ev.Draft(ev.ConvoyAdded("red")))
    first = ledger.add()
    ledger.add(after=[first])
    before = encode_board(ledger.board)
    with pytest.raises(PaddockError):
        ledger.write(draft)
    assert encode_board(ledger.board) == before


def test_a_late_word_of_a_succeeded_daemon_has_no_effect(ledger: Ledger) -> None:
    task = ledger.add()
    ledger.write(ev.Draft(LeaseGranted("daemon", 1, Holder("one"), 60.0)))
    attempt = ledger.start(task, generation=1)
    ledger.write(ev.Draft(LeaseReleased("daemon", 1)))
    ledger.write(ev.Draft(LeaseGranted("daemon", 2, Holder("two"), 60.0)))
    late = ev.AttemptEnded(Outcome.CRASHED, Step.FAIL, True)
    before = ledger.task(task), ledger.board.spending
    ledger.write(ev.Draft(late, task=task, attempt=attempt), generation=1)
    assert (ledger.task(task), ledger.board.spending) == before
    ledger.write(ev.Draft(late, task=task, attempt=attempt), generation=2)
    assert ledger.task(task).phase is Phase.FAILED


def test_kinds_of_a_newer_version_are_skipped_and_counted(ledger: Ledger) -> None:
    ledger.write(ev.Draft(ev.Unknown("task.teleported", b"{}")), ev.Draft(ev.Unknown("task.teleported", b"{}")))
    assert ledger.board.unknown == {"task.teleported": 2}
    assert decode_board(encode_board(ledger.board)).unknown == {"task.teleported": 2}


def test_the_same_events_make_the_same_bytes_whatever_seed_the_process_hashes_with() -> None:
    """A rebuild compares boards byte for byte, in another process than the one that took the snapshot."""
    import os
    import subprocess
    import sys
    from pathlib import Path

    program = (
        "from tests.core.ledger import Ledger; from paddock.core.snapshot import encode_board; import hashlib\n"
        "l = Ledger(); n = [l.add() for _ in range(9)]; l.add(after=n)\n"
        "from paddock.core import events as ev\n"
        "l.add(); l.write(ev.Draft(ev.TaskEdited(after=tuple(n)), task=l.board.tasks['t11'].id))\n"
        "print(hashlib.sha256(encode_board(l.board)).hexdigest())"
    )
    top = Path(__file__).parent.parent.parent
    digests = {
        subprocess.run(
            (sys.executable, "-c", program),
            check=True,
            capture_output=True,
            cwd=top,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            timeout=60,
        ).stdout
        for seed in range(1, 4)
    }
    assert len(digests) == 1


def test_a_damaged_snapshot_is_refused_or_reads_as_something_else() -> None:
    ledger = Ledger()
    ledger.add(after=[ledger.add()])
    good = encode_board(ledger.board)
    with pytest.raises(Exception, match=r".") as refused:
        decode_board(good[: len(good) // 2])
    assert type(refused.value).__module__ == "msgspec"


def test_looking_at_a_part_of_the_board_does_not_change_it(ledger: Ledger) -> None:
    ledger.add()
    before = encode_board(ledger.board)
    assert all(part == type(part)() for part in (ledger.board.leases, ledger.board.queue, ledger.board.spending))
    assert encode_board(ledger.board) == before


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["add", "chain", "noop", "fail", "cancel"]), min_size=1, max_size=25), st.data())
def test_a_snapshot_and_its_tail_fold_to_the_same_as_all_records_at_every_cut(
    steps: list[str], data: st.DataObject
) -> None:
    ledger = Ledger()
    for step in steps:
        ready = list(ledger.board.ready)
        match step:
            case "add":
                ledger.add()
            case "chain":
                ledger.add(after=list(ledger.board.tasks)[-2:])
            case "cancel" if ledger.board.open:
                cancel(ledger, data.draw(st.sampled_from(sorted(ledger.board.open))))
            case "noop" | "fail" if ready:
                ledger.attempt(data.draw(st.sampled_from(ready)), step)
    whole = encode_board(fold(ledger.records))
    for cut in range(len(ledger.records) + 1):
        assert encode_board(fold_from_snapshot(ledger.records, cut)) == whole


def test_tasks_are_found_by_their_ids_and_by_no_other_text() -> None:
    ledger = Ledger()
    for _ in range(3):
        ledger.add()
    reopened = decode_board(encode_board(ledger.board)).tasks
    assert (list(reopened), len(reopened)) == (["t1", "t2", "t3"], 3)
    assert [reopened[TaskId(name)].title for name in ("t3", "t1")] == ["task t3", "task t1"]
    for odd in ("", "t", "t0", "t4", "t01", "t-1", "t１", "1", "x1", None, 1):
        assert odd not in reopened
    with pytest.raises(KeyError):
        reopened[TaskId("t4")]


def test_a_board_encoded_again_and_again_says_the_same_as_one_folded_afresh(ledger: Ledger) -> None:
    """What was encoded is the base of the next snapshot: changed tasks replace theirs, new ones follow."""
    for step in (
        ledger.add,
        lambda: cancel(ledger, TaskId("t1")),
        lambda: ledger.attempt(TaskId("t3"), "noop"),
    ):
        for _ in range(2):
            ledger.add()
        encode_board(ledger.board)
        step()
        assert encode_board(ledger.board) == encode_board(fold(ledger.records))
        assert encode_board(ledger.board) == encode_board(fold(ledger.records))
        ledger.board = decode_board(encode_board(ledger.board))


def test_a_halted_queue_is_seen_without_decoding_one_that_is_not(ledger: Ledger) -> None:
    assert ledger.board.halted is None
    ledger.add()
    ledger.write(ev.Draft(MainMoved("c1", "t1")))
    running = decode_board(encode_board(ledger.board))
    assert running.halted is None
    assert running.queue_part._whole is None
    ledger.write(ev.Draft(QueueHalted("main is red")))
    halted = decode_board(encode_board(ledger.board)).halted
    assert halted is not None
    assert halted.reason == "main is red"
    assert ledger.board.halted == halted

"""What every store promises. Nothing in here knows which one it is."""

import asyncio
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from paddock import __version__
from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import IllegalTransition, PaddockError
from paddock.core.given import Given
from paddock.core.ids import AttemptId, TaskId, task_id
from paddock.core.leases.lease import Holder, LeaseGranted, latest_generation
from paddock.core.merge.changes import known_version
from paddock.core.merge.events import ChangeQueued
from paddock.core.merge.model import Change
from paddock.core.snapshot import encode_board
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.store import fold
from paddock.store.codec import Row, chain
from paddock.store.protocol import Author, LogLost, LogUnusable, Query, Store
from tests.store.conftest import SHELVES, Shelf
from tests.store.drafts import ANA, add, break_halfway, refuse, write


def test_a_new_log_begins_with_the_version_that_made_it(store: Store) -> None:
    (created,) = store.records(Query())
    assert created.seq == 1
    assert isinstance(created.event, ev.LogCreated)
    assert created.event.version == store.board().version == __version__


def test_a_store_may_be_closed_twice(store: Store) -> None:
    store.append(add(), ANA)
    store.close()
    store.close()


def test_every_log_has_a_word_of_its_own_and_keeps_it(shelf: Shelf, tmp_path: Path) -> None:
    store = shelf.open()
    identity = store.board().identity
    assert re.fullmatch("[0-9a-f]{8}", identity)
    assert store.board().label == "", "it is the first in its repository"
    for _ in range(6):
        store.append(add(count=500), ANA)
    assert shelf.open(read_only=True).board().identity == identity, "a snapshot has it too"
    other = shelf.open_empty()
    other.restore(store.rows())
    assert other.board().identity == identity, "and so has a copy"
    assert SHELVES["sqlite"](tmp_path / "elsewhere").open().board().identity != identity


def test_records_come_back_as_they_were_written(store: Store) -> None:
    event = ev.TaskAdded("Grüße 🐎", "multi\nline \u2028 brief", after=(), priority=-3, paths=("src/**",))
    (written,) = store.append(write(ev.Draft(event, task=TaskId("t1"))), Author("agent:t7.1", 3))
    assert store.record(written.seq) == written
    assert list(store.records(Query(after=1))) == [written]
    assert (written.actor, written.generation, written.task, written.event) == ("agent:t7.1", 3, "t1", event)


def test_what_one_process_writes_another_reads(shelf: Shelf) -> None:
    writer, reader = shelf.open(), shelf.open(read_only=True)
    assert len(reader.board().tasks) == 0
    for expected in (1, 2):
        writer.append(add(), ANA)
        assert len(reader.board().tasks) == expected
        assert reader.head() == writer.head()


def test_a_decision_sees_the_board_at_the_head_even_if_another_wrote_last(shelf: Shelf) -> None:
    one, other = shelf.open(), shelf.open()
    for store in (one, other, one, other):
        store.append(add(), ANA)
    assert list(one.board().tasks) == ["t1", "t2", "t3", "t4"]


def test_a_refusal_is_raised_and_writes_nothing(store: Store) -> None:
    with pytest.raises(PaddockError, match="not today"):
        store.append(refuse("not today"), ANA)
    assert store.head() == 1


def test_a_decision_for_nothing_writes_nothing(store: Store) -> None:
    assert store.append(write(), ANA) == []
    assert store.head() == 1


def test_what_cannot_fold_is_never_written(store: Store) -> None:
    with pytest.raises(IllegalTransition):
        store.append(write(ev.Draft(ev.TaskCancelled(), task=TaskId("t9"))), ANA)
    assert store.head() == 1


def test_a_decision_that_fails_halfway_leaves_neither_record_nor_trace_in_the_board(store: Store) -> None:
    before = encode_board(store.board())
    with pytest.raises(IllegalTransition):
        store.append(break_halfway, ANA)
    assert store.head() == 1
    assert encode_board(store.board()) == before
    (record,) = store.append(add(), ANA)
    assert (record.seq, record.task) == (2, "t1")


def test_a_bug_in_a_decision_leaves_the_store_usable(store: Store) -> None:
    def stumble(_: Board) -> Sequence[ev.Draft]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.append(stumble, ANA)
    assert [record.seq for record in store.append(add(), ANA)] == [2]


def test_decisions_of_a_group_see_each_other_and_fail_alone(store: Store) -> None:
    results = store.append_all([(add(), ANA), (refuse(), ANA), (break_halfway, ANA), (add(count=2), ANA)])
    tasks = [[record.task for record in result] if isinstance(result, list) else type(result) for result in results]
    assert tasks == [["t1"], PaddockError, IllegalTransition, ["t2", "t3"]]
    assert store.head() == 4
    assert store.verify().bad is None


def test_text_that_is_no_unicode_is_refused_alone(store: Store) -> None:
    good, bad = store.append_all([(add(), ANA), (add("a\udcffb"), ANA)])
    assert isinstance(good, list)
    assert isinstance(bad, PaddockError)
    assert "not valid UTF-8" in bad.message


def test_records_are_found_by_task_kind_time_and_range(store: Store) -> None:
    started = ev.AttemptStarted("claude", "b" * 40, "paddock/t1")
    store.append(add(count=3), ANA)
    store.append(write(ev.Draft(started, task=TaskId("t1"), attempt=AttemptId("t1.1"))), ANA)
    store.append(write(ev.Draft(ev.TaskCancelled(), task=TaskId("t2"))), ANA)

    def found(query: Query) -> list[int]:
        return [record.seq for record in store.records(query)]

    assert found(Query(task="t1")) == [2, 5]
    assert found(Query(kind="task.*")) == [2, 3, 4, 6]
    assert found(Query(kind="task.cancelled")) == [6]
    assert found(Query(kind="task.*", task="t2")) == [3, 6]
    assert found(Query(after=2, until=4)) == [3, 4]
    assert found(Query(since=store.record(5).at)) == [5, 6]
    assert found(Query(kind="nothing")) == []


def test_a_record_that_is_not_there_is_said_to_be_missing(store: Store) -> None:
    with pytest.raises(LogUnusable, match="no record 99"):
        store.record(99)


def test_every_record_is_chained_to_the_one_before(store: Store) -> None:
    store.append(add(count=5), ANA)
    tip = bytes(20)
    for row in store.rows():
        assert chain(tip, row[:-1]) == row[-1]
        tip = row[-1]
    assert store.verify() == type(store.verify())(6, None)


@pytest.mark.parametrize(
    ("sql", "seq", "problem"),
    [
        ("UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'x', 'y') AS BLOB) WHERE seq = 4", 4, "its hash"),
        ("UPDATE events SET at = at + 1 WHERE seq = 4", 4, "its hash"),
        ("UPDATE events SET actor = 'eve' WHERE seq = 4", 4, "its hash"),
        ("UPDATE events SET generation = 1 WHERE seq = 4", 4, "its hash"),
        ("UPDATE events SET kind = 'task.edited' WHERE seq = 4", 4, "its hash"),
        ("UPDATE events SET task = 't1' WHERE seq = 4", 4, "its hash"),
        ("UPDATE events SET attempt = '' WHERE seq = 4", 4, "its hash"),
        ("UPDATE events SET hash = zeroblob(20) WHERE seq = 4", 4, "its hash"),
        ("DELETE FROM events WHERE seq = 4", 4, "it is missing; the next is record 5"),
        ("DELETE FROM events WHERE seq = 1", 1, "it is missing; the next is record 2"),
    ],
)
def test_verification_names_the_first_record_that_was_tampered_with(
    shelf: Shelf, sql: str, seq: int, problem: str
) -> None:
    store = shelf.open()
    store.append(add(count=5), ANA)
    shelf.tamper(sql)
    found = shelf.open(read_only=True).verify()
    assert found.bad is not None
    assert (found.bad.seq, found.records) == (seq, seq - 1)
    assert problem in found.bad.problem


def test_verification_notices_that_the_end_was_cut_off(shelf: Shelf) -> None:
    store = shelf.open()
    store.append(add(count=5), ANA)
    store.rebuild()
    shelf.tamper("DELETE FROM events WHERE seq > 4")
    found = shelf.open(read_only=True).verify()
    assert found.bad is not None
    assert (found.bad.seq, found.bad.problem) == (5, "it and all up to 6 are missing")


def test_a_rebuild_says_whether_the_snapshot_was_right(shelf: Shelf) -> None:
    store = shelf.open()
    store.append(add(count=5), ANA)
    assert store.rebuild() is True
    assert shelf.open().rebuild() is True


def test_a_long_log_opens_from_its_snapshot_to_the_same_board(shelf: Shelf) -> None:
    store = shelf.open()
    for _ in range(6):
        store.append(add(count=500), ANA)
    store.append(write(ev.Draft(ev.TaskCancelled("enough"), task=TaskId("t2"))), ANA)
    fresh = shelf.open(read_only=True)
    assert encode_board(fresh.board()) == encode_board(store.board())
    shelf.spoil_snapshot()
    assert encode_board(shelf.open(read_only=True).board()) == encode_board(store.board())
    assert shelf.open().rebuild() is True


def test_a_record_that_was_exchanged_for_another_is_named(shelf: Shelf) -> None:
    store = shelf.open()
    store.append(add("before", 3), ANA)
    store.rebuild()
    shelf.tamper("UPDATE events SET hash = randomblob(20) WHERE seq = 4")
    with pytest.raises(LogLost, match="has another record 4 than the one that was acknowledged"):
        shelf.open(read_only=True).board()
    found = shelf.open(read_only=True).verify()
    assert found.bad is not None
    assert found.bad.seq == 4


def test_a_record_that_does_not_match_its_hash_is_not_folded(shelf: Shelf) -> None:
    store = shelf.open()
    store.append(add("before", 3), ANA)
    shelf.tamper("UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'before', 'after') AS BLOB) WHERE seq = 3")
    with pytest.raises(LogUnusable, match="record 3 does not match its hash"):
        shelf.open(read_only=True).board()


@pytest.mark.parametrize("snapshot", [True, False])
def test_a_log_that_lost_records_it_had_is_refused_until_a_person_accepts_it(shelf: Shelf, snapshot: bool) -> None:
    """Otherwise their numbers and ids would be given to others."""
    store = shelf.open()
    assert store.loss() is None
    assert store.accept_loss(ANA) is None, "nothing is lost"
    store.append(add("before", 3), ANA)
    if snapshot:
        store.rebuild()
    shelf.tamper("DELETE FROM events WHERE seq > 2")
    writer = shelf.open()
    for refused in (
        lambda: writer.append(add("after", 5), ANA),
        writer.rebuild,
        writer.board,
        shelf.open(read_only=True).board,
        store.board,
    ):
        with pytest.raises(LogLost, match="has lost records 3 to 4, which it had"):
            refused()
    assert len(list(writer.records(Query()))) == 2, "what is left can be looked at"
    loss = writer.accept_loss(ANA, "the disk broke")
    assert loss is not None
    assert (loss.head, loss.first, loss.last, loss.given) == (2, 3, 4, Given(tasks=3))
    writer.append(add("after", 2), ANA)
    board = shelf.open(read_only=True).board()
    assert [board.tasks[name].title for name in board.tasks] == ["before", "lost", "lost", "after", "after"]
    assert board.tasks[TaskId("t3")].phase is Phase.CANCELLED
    assert writer.loss() is None
    assert writer.verify().bad is None
    accepted = next(record for record in writer.records(Query(kind="log.loss_accepted")))
    assert accepted.event == ev.LogLossAccepted(3, 4, Given(tasks=3), "the disk broke")


def test_no_number_is_given_again_after_a_loss(shelf: Shelf) -> None:
    store = shelf.open()
    store.append(add("old", 2), ANA)
    store.append(write(attempt("t1.1")), ANA)
    kept = store.head()
    store.append(write(*ended("t1.1"), attempt("t1.2")), ANA)
    store.append(write(*ended("t1.2"), ev.Draft(LeaseGranted("daemon", 7, Holder("d"), 60.0))), ANA)
    store.append(write(ev.Draft(ChangeQueued(Change("t1", 3, "c" * 40, "t1")))), ANA)
    shelf.tamper(f"DELETE FROM events WHERE seq > {kept}")
    store = shelf.open()
    loss = store.accept_loss(ANA)
    assert loss is not None
    assert loss.given == Given(tasks=2, attempts=2, versions=3, generations=7)
    board = store.board()
    assert board.given == loss.given
    assert board.tasks[TaskId("t1")].newest == 2
    assert known_version(board.queue, "t1") == known_version(board.queue, "another") == 3
    assert latest_generation(board.leases, "daemon") == latest_generation(board.leases, "other") == 7
    store.append(write(*ended("t1.1")), ANA)
    with pytest.raises(PaddockError, match=r"t1\.2"):
        store.append(write(attempt("t1.2")), ANA)
    store.append(write(attempt("t1.3")), ANA)


def attempt(name: str) -> ev.Draft:
    event = ev.AttemptStarted("scripted", "a" * 40, "paddock/t1")
    return ev.Draft(event, task=TaskId("t1"), attempt=AttemptId(name))


def ended(name: str) -> list[ev.Draft]:
    end = ev.AttemptEnded(Outcome.CRASHED, Step.RETRY, counted=False)
    return [ev.Draft(end, task=TaskId("t1"), attempt=AttemptId(name))]


def test_lost_records_are_restored_only_as_they_were(shelf: Shelf) -> None:
    store = shelf.open()
    store.append(add("before", 3), ANA)
    rows = list(store.rows())
    shelf.tamper("DELETE FROM events WHERE seq > 2")
    fork = shelf.open_empty()
    fork.restore(rows[:2])
    fork.append(add("another", 4), ANA)
    with pytest.raises(LogUnusable, match="are not those that the log"):
        shelf.open().restore(list(fork.rows())[2:])
    assert shelf.open().restore(rows[2:3]) == 1, "some of them are better than none"
    with pytest.raises(LogLost, match="has lost record 4, which it had"):
        shelf.open().board()
    assert shelf.open().restore(rows[3:]) == 1
    assert [record.task for record in shelf.open().append(add(), ANA)] == ["t4"]


def test_a_settled_log_goes_on(shelf: Shelf) -> None:
    store = shelf.open()
    for _ in range(3):
        store.append(add(), ANA)
        assert store.settle()
        assert store.settle()
    assert len(shelf.open(read_only=True).board().tasks) == 3


def test_verification_says_that_there_is_no_witness(shelf: Shelf) -> None:
    store = shelf.open()
    store.append(add(), ANA)
    assert store.verify().unseen == ()
    shelf.forget_witness()
    assert "no witness" in store.verify().unseen[0]
    store.append(add(), ANA)
    store.settle()
    assert store.verify().unseen == (), "the next write is witnessed again"


def unknown(shelf: Shelf) -> None:
    """As a newer version would have written it."""
    newer = ev.Draft(ev.Unknown("task.teleported", b'{"to":"moon"}'), task=TaskId("t1"))
    store = shelf.open()
    store.append(add(), ANA)
    store.append(write(ev.Draft(ev.LogUpgraded("99.1"))), ANA)
    row = list(store.rows())[-1]
    head = (row[0] + 1, row[1], "ana", 0, "task.teleported", "t1", None, b'{"to":"moon"}')
    store.restore([(*head, chain(row[-1], head))])
    assert next(store.records(Query(kind="task.teleported"))).event == newer.event


def test_viewers_skip_a_kind_they_do_not_know_and_count_it(shelf: Shelf) -> None:
    unknown(shelf)
    board = shelf.open(read_only=True).board()
    assert (board.unknown, board.version) == ({"task.teleported": 1}, "99.1")
    assert list(board.tasks) == ["t1"]


def test_writers_refuse_a_log_with_kinds_they_do_not_know_and_name_the_version(shelf: Shelf) -> None:
    unknown(shelf)
    store = shelf.open()
    head = store.head()
    with pytest.raises(LogUnusable, match=re.escape("does not know (`task.teleported`)")) as refused:
        store.append(add(), ANA)
    assert refused.value.hint == "upgrade: `pip install --upgrade 'paddock>=99.1'`"
    assert store.head() == head


def test_the_first_write_of_a_newer_version_says_so(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    store = shelf.open()
    monkeypatch.setattr(fold, "__version__", "99.2.0")
    kinds = [[record.event.kind for record in store.append(add(), ANA)] for _ in range(2)]
    assert kinds == [["log.upgraded", "task.added"], ["task.added"]]
    assert store.board().version == "99.2.0"
    monkeypatch.undo()
    assert [record.event.kind for record in shelf.open().append(add(), ANA)] == ["task.added"]


def test_another_copy_is_restored_byte_for_byte(shelf: Shelf) -> None:
    store = shelf.open()
    store.append(add(count=4), ANA)
    rows = [*store.rows(), future_row(list(store.rows())[-1])]
    copy = shelf.open_empty()
    assert copy.restore(rows[:2]) == 2
    assert copy.restore(rows[2:]) == 4
    assert list(copy.rows()) == rows
    assert copy.restore([]) == 0


def future_row(row: Row) -> Row:
    """A known kind with a field a newer version added: it must survive although nobody here can read it."""
    head = (row[0] + 1, row[1], "ana", 0, "task.cancelled", "t1", None, b'{"reason":"x","mood":"bad"}')
    return (*head, chain(row[-1], head))


def test_rows_that_do_not_follow_are_refused_as_a_whole(shelf: Shelf) -> None:
    store = shelf.open()
    store.append(add(count=4), ANA)
    rows = list(store.rows())
    for wrong in ([rows[0], rows[2]], [rows[1]], [rows[0], (*rows[1][:-1], bytes(20))], [rows[0], rows[0]]):
        copy = shelf.open_empty()
        with pytest.raises(PaddockError, match="does not follow"):
            copy.restore(wrong)
        assert copy.head() == 0
        assert copy.board().seq == 0


def test_ids_go_on_where_a_restored_log_ended(shelf: Shelf) -> None:
    store = shelf.open()
    store.append(add(count=4), ANA)
    copy = shelf.open_empty()
    copy.restore(store.rows())
    (record,) = copy.append(add(), ANA)
    assert (record.seq, record.task) == (6, task_id(5))


def test_who_listens_is_woken_once_by_what_another_has_written(shelf: Shelf) -> None:
    writer, reader = shelf.open(), shelf.open(read_only=True)
    with reader.listen() as listener, reader.listen() as other:
        writer.append(add(), ANA)
        assert listener.wait(10.0)
        assert other.wait(10.0)
        assert not listener.wait(0.0)


def test_what_was_restored_wakes_as_well(shelf: Shelf) -> None:
    store = shelf.open()
    copy = shelf.open_empty()
    with copy.listen() as listener:
        copy.restore(store.rows())
        assert listener.wait(10.0)


def test_nobody_is_woken_when_nothing_was_written(store: Store) -> None:
    with store.listen() as listener:
        store.append(write(), ANA)
        with pytest.raises(PaddockError):
            store.append(refuse(), ANA)
        assert not listener.wait(0.0)


def test_an_event_loop_is_told_of_each_commit_until_the_listener_is_closed(store: Store) -> None:
    async def listen() -> None:
        heard = asyncio.Event()
        with store.listen() as listener:
            listener.tell(heard.set)
            for _ in range(2):
                store.append(add(), ANA)
                await asyncio.wait_for(heard.wait(), 10.0)
                heard.clear()
        store.append(add(), ANA)
        await asyncio.sleep(0)
        assert not heard.is_set()

    asyncio.run(listen())


def test_a_log_that_was_deleted_is_said_to_be_gone(shelf: Shelf) -> None:
    store = shelf.open()
    assert store.exists()
    shelf.remove()
    assert not store.exists()


def test_what_a_store_knows_is_what_it_last_read_or_wrote(shelf: Shelf) -> None:
    store, other = shelf.open(), shelf.open()
    store.append(add(), ANA)
    other.append(add(), ANA)
    assert list(store.known().tasks) == ["t1"]
    assert list(store.board().tasks) == ["t1", "t2"]
    other.append(add(), ANA)
    store.append(add(), ANA)
    assert list(store.known().tasks) == ["t1", "t2", "t3", "t4"]


def test_a_store_knows_nothing_of_what_could_not_be_written(store: Store) -> None:
    store.append(add(), ANA)
    with pytest.raises(IllegalTransition):
        store.append(break_halfway, ANA)
    assert list(store.known().tasks) == ["t1"]


def test_another_thread_than_the_one_that_opened_it_is_refused(store: Store) -> None:
    with ThreadPoolExecutor(1) as pool:
        for use in (store.board, store.known, store.head, lambda: store.append(add(), ANA), lambda: [*store.rows()]):
            with pytest.raises(RuntimeError, match="another thread"):
                pool.submit(use).result()
    assert store.head() == 1

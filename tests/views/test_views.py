"""What readers are told: typed, complete, and without a trace on the board it was read from."""

from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.config.schema import Check
from paddock.core import events as ev
from paddock.core.admission.breaker import how_to_restart
from paddock.core.errors import PaddockError
from paddock.core.intent.queue import QueueSwitch, cancel_change, switch_queue
from paddock.core.leases.lease import Holder, Lease, LeaseGranted
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change, HaltCause, Halted
from paddock.core.money.spending import day_of
from paddock.core.snapshot import encode_board
from paddock.core.troubles import Trouble
from paddock.fleet.dispatch.refusals import StoppedEngine
from paddock.fleet.outlook import Outlook, WorkElsewhere
from paddock.fleet.service.presence import DaemonSighting, Presence
from paddock.git.lock_files import LeftLock
from paddock.git.usertree.notes import CheckoutNotes, StaleTree, UndoneWork
from paddock.store.protocol import Query
from paddock.views.costs import GROUPS, sum_costs, view_budgets, view_costs
from paddock.views.document import Document, iso, to_json
from paddock.views.fleet.leases import LeasesView, view_leases
from paddock.views.log.records import view_record
from paddock.views.notices import find_notices
from paddock.views.queue.halts import cure_of, view_halt
from paddock.views.queue.history import open_conflict, story_of_change, story_of_main
from paddock.views.queue.overview import QueueView, view_queue
from paddock.views.status import StatusView, view_status
from paddock.views.tasks.task import view_task
from tests.core.intent.test_requests import Ask, requests
from tests.core.ledger import START, Ledger
from tests.views.eyes import Settings

NOBODY = DaemonSighting(Presence.NONE, None)
NOW = START + 3600
PLAIN = Settings()


def outlook(**facts: object) -> Outlook:
    return msgspec.structs.replace(Outlook(NOW, NOBODY), **facts)


def again(view: Document) -> Document:
    return msgspec.json.decode(to_json(view), type=type(view))


def grow(asked: list[Ask]) -> Ledger:
    ledger = Ledger()
    for ask in asked:
        with suppress(PaddockError):
            ledger.write(*ask(ledger.board, START + ledger.board.seq))
    return ledger


@given(st.lists(requests, max_size=40))
def test_whatever_has_happened_every_view_is_complete_and_leaves_the_board_as_it_was(asked: list[Ask]) -> None:
    board = grow(asked).board
    before = encode_board(board)
    status = view_status(PLAIN, board, outlook(waiting=dict.fromkeys(board.ready, "the cap is reached")))
    queue = view_queue(board.queue, (Check("lint", "true"),), None, reason="", lands_in={}, now=NOW)
    leases = view_leases(board.leases, NOW)
    for view, kind in ((status, StatusView), (queue, QueueView), (leases, LeasesView)):
        assert isinstance(view, kind)
        assert to_json(again(view)) == to_json(view)
        assert next(iter(msgspec.json.decode(to_json(view), type=dict[str, object]))) == "schema"
    assert sum(status.counts.values()) == len(status.tasks) == len(board.tasks)
    assert [entry.id for entry in queue.next if entry.id not in board.queue.entries] == []
    assert len(view_budgets(board, NOW)) == len(board.spending.ledger.limits)
    assert encode_board(board) == before


def test_a_ready_task_shows_why_it_has_not_started_and_others_keep_their_own_reason() -> None:
    ledger = Ledger()
    ready, failed = ledger.add(), ledger.add(attempts=1)
    ledger.attempt(failed, "fail")
    seen = view_status(PLAIN, ledger.board, outlook(waiting={ready: "the cap is reached", failed: "old news"}))
    assert [task.reason for task in seen.tasks] == ["the cap is reached", ledger.task(failed).reason]
    assert view_task(ledger.task(ready), ledger.board).reason == ledger.task(ready).reason


def test_a_convoy_limits_tasks_and_convoys_and_nothing_else() -> None:
    ledger = Ledger()
    ledger.write(ev.Draft(ev.ConvoyAdded("red")))
    ledger.add()
    inside = ledger.add(convoy="red")
    seen = view_status(PLAIN, ledger.board, outlook(), convoy="red")
    assert [task.id for task in seen.tasks] == [inside]
    assert (seen.convoys[0].tasks, seen.counts["ready"]) == ([inside], 2)


def test_everything_that_needs_a_person_is_told_once_in_a_fixed_order() -> None:
    ledger = Ledger()
    ledger.write(ev.Draft(qe.QueueHalted("main is red", cause=HaltCause.MAIN_RED)))
    gone = DaemonSighting(Presence.GONE, Lease("daemon", 3, Holder("daemon", "box", 7), START, START + 60))
    notes = CheckoutNotes(
        (StaleTree(b"/home/ada/shop", "a" * 40, "b" * 40, "in the way", ("x.py",)),),
        (UndoneWork("c" * 40, "a" * 40, "b" * 40, ("y.py",), ("t1",), ("y.py",)),),
    )
    notices = find_notices(
        ledger.board,
        outlook(
            daemon=gone,
            untested=True,
            stopped=[StoppedEngine("claude", "claude never ran", how_to_restart("claude"))],
            checkouts=notes,
            branch="main",
            troubles=[Trouble("drive", "t1.1", "no space", NOW - 180, 3)],
            elsewhere=[WorkElsewhere("t1.1", "far", NOW - 60, "paddock run")],
            locks=[LeftLock(Path("/shop/.git/index.lock"), 300.0), LeftLock(Path("/shop/.git/a b.lock"), 60.0, (7,))],
        ),
    )
    assert [notice.kind for notice in notices] == [
        "daemon-gone",
        "elsewhere",
        "queue-halted",
        "no-ci",
        "engine-stopped",
        "checkout-behind",
        "work-undone",
        "git-lock",
        "git-lock",
        "trouble",
    ]
    assert "pid 7 on box, started 1h ago" in notices[0].text
    left, held = notices[-3:-1]
    assert "`/shop/.git/index.lock` has been locking git out for 5m: no process has it open" in left.text
    assert left.run == "rm /shop/.git/index.lock"
    assert ("process 7 has it open" in held.text, held.run) == (True, "ps -fp 7")
    assert notices[-4].run.startswith(f"paddock queue restore {'c' * 10}")
    assert notices[-1].text == "drive t1.1: no space (failed 3 times, first 3m ago)"
    assert find_notices(Ledger().board, outlook()) == []


def test_a_halt_is_told_with_its_cure_and_when_main_is_tested_again() -> None:
    halted = Halted("main is red", START, ("r1",), cause=HaltCause.MAIN_RED)
    view = view_halt(halted)
    assert (view.cause, view.since, view.runs) == ("main_red", iso(START), ("r1",))
    assert view.tested_again is not None
    assert "tests main again now" in cure_of(halted, NOW)[-1]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.none() | st.floats(0, 10),
            st.integers(0, 1000),
            st.sampled_from(["table", "unpriced", "unknown"]),
        ),
        max_size=12,
    ),
    st.sampled_from(GROUPS),
)
def test_the_rows_of_any_grouping_add_up_to_the_same_total(
    turns: list[tuple[int, float | None, int, str]], by: str
) -> None:
    ledger = Ledger()
    tasks = [ledger.add() for _ in range(3)]
    records = [
        ev.Record(
            number,
            START + number * 40_000,
            "daemon",
            1,
            tasks[who] if who < 3 else None,
            None,
            ev.TurnEnded(1, input_tokens=tokens, cost_usd=usd, cost_source=source),
            b"",
        )
        for number, (who, usd, tokens, source) in enumerate(turns, 1)
    ]
    costs = sum_costs(ledger.board, records, by)
    assert costs.total.turns == len(turns) == sum(row.turns for row in costs.rows.values())
    assert costs.total.input_tokens == sum(tokens for _, _, tokens, _ in turns)
    assert costs.total.money == pytest.approx(sum(usd or 0.0 for _, usd, _, _ in turns))
    assert [row[by] for row in view_costs(costs).rows] == list(costs.rows)
    if by == "day":
        assert set(costs.rows) == {day_of(record.at) for record in records}


def test_the_story_of_a_change_ends_with_its_conflict_until_it_is_queued_again() -> None:
    ledger = Ledger()
    task = ledger.add()
    ledger.attempt(task, "approval", head="h1")

    def ask(query: Query) -> list[ev.Record]:
        kinds = ledger.records
        if query.kind is None or not query.kind.endswith("*"):
            return [one for one in kinds if one.event.kind == query.kind and one.task == query.task]
        return [one for one in kinds if one.event.kind.startswith(query.kind[:-1])]

    def queue(version: int, head: str) -> None:
        ledger.write(ev.Draft(qe.ChangeQueued(Change("t1", version, head, "base", task="t1")), task=task))

    queue(1, "h1")
    ledger.write(ev.Draft(qe.ChangeConflicted("t1", 1, "main2", ("a.py",), "t9"), task=task))
    story = story_of_change(ask, "t1")
    found = open_conflict(story)
    assert found is not None
    assert (found.head, found.base, found.against) == ("h1", "main2", "t9")
    queue(2, "h2")
    assert open_conflict(story_of_change(ask, "t1")) is None
    ledger.write(*cancel_change(ledger.board, "t1", "ana", "no"))
    assert [line.seq for line in story_of_change(ask, "t1")] == [4, 5, 6, 7]
    with pytest.raises(PaddockError, match="has never been in the merge queue"):
        story_of_change(ask, "t9")
    ledger.write(*switch_queue(QueueSwitch.RESUME))
    assert [line.words for line in story_of_main(ask)] == ["merge queue resumed by ana@host"]


def test_a_record_is_shown_as_it_is_in_the_log() -> None:
    ledger = Ledger()
    [record] = ledger.write(ev.Draft(LeaseGranted("port:1", 1, Holder("ana"), 60.0)))
    view = view_record(record)
    assert (view.kind, view.actor, view.hash) == ("lease.granted", "ana@host", "00" * 20)
    assert msgspec.json.decode(view.body)["name"] == "port:1"

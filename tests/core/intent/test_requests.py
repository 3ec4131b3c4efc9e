"""Whatever people ask for, in whatever order: it is refused with words for them, or becomes events that fold."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import AttemptId, TaskId, is_task
from paddock.core.intent.budget import reset_limits, set_budget
from paddock.core.intent.landing import reject_task
from paddock.core.intent.leases import LeaseClaim, LeaseRequest, release_lease, renew_lease, request_lease
from paddock.core.intent.messages import send_message
from paddock.core.intent.obstacles import TaskAction, require_possible
from paddock.core.intent.queue import QueueSwitch, cancel_change, move_change, retry_changes, switch_queue
from paddock.core.intent.selection import Bulk, Selection, select_tasks
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
from paddock.core.leases.lease import Holder
from paddock.core.merge.events import ChangeQueued
from paddock.core.merge.model import Change
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Step
from tests.core.ledger import START, Ledger, assert_sound

Ask = Callable[[Board, float], Sequence[ev.Draft]]

names = st.sampled_from(["t1", "t2", "t3", "t9", "fix"])
words = st.sampled_from(["", "because", "\x1b[31m"])
amounts = st.sampled_from([None, -1.0, 0.0, 2.5, float("inf"), float("nan")])
lease_names = st.sampled_from(["port:1", "file:src/**", "file:src/a.py", "daemon", "attempt:t1.1", "port:x"])
holders = st.sampled_from([Holder("ana"), Holder("bo"), Holder("t1.1", attempt="t1.1"), Holder("?", attempt="?")])
bulk = st.builds(Selection, everything=st.booleans(), convoy=st.sampled_from([None, "red", "none"]))


def queue(name: str) -> Ask:
    """A change enters the queue, as `paddock land` has it do."""

    def ask(board: Board, _now: float) -> list[ev.Draft]:
        task = TaskId(name) if is_task(name) else None
        if task is not None and (task not in board.tasks or board.tasks[task].phase is not Phase.APPROVAL):
            return []
        version = max([0, *(e.change.version for e in board.queue.entries.values())]) + 1
        change = Change(name, version, f"head{version}", "base", task=task, branch="" if task else name)
        return [ev.Draft(ChangeQueued(change, "ana"), task=task)]

    return ask


def work(then: str) -> Ask:
    """An agent begins on what is ready, or ends."""

    def ask(board: Board, _now: float) -> list[ev.Draft]:
        for name in board.live:
            live = board.tasks[name].live_attempt
            assert live is not None
            ended = ev.AttemptEnded(Outcome.DELIVERED, Step(then), counted=True, head="h", base="b")
            return [ev.Draft(ended, task=name, attempt=live.id)]
        for name in board.ready:
            started = ev.AttemptStarted("claude", "b", f"paddock/{name}")
            attempt = AttemptId(f"{name}.{board.tasks[name].started + 1}")
            return [ev.Draft(started, task=name, attempt=attempt)]
        return []

    return ask


def task(name: str) -> TaskId:
    return TaskId(name)


requests: st.SearchStrategy[Ask] = st.one_of(
    st.builds(
        lambda after, convoy: lambda b, _: add_tasks(b, Batch((TaskSpec("x", after=after),), convoy), Known()),
        st.sampled_from([(), ("t1",), ("t2", "t1")]),
        st.sampled_from([None, "red"]),
    ),
    st.builds(work, st.sampled_from(["approval", "retry", "fail", "block", "noop"])),
    st.builds(queue, names),
    st.builds(lambda n, w: lambda b, _: cancel_tasks(b, [task(n)], w), names, words),
    st.builds(lambda n, k: lambda b, _: retry_tasks(b, [task(n)], k, ""), names, st.integers(0, 3)),
    st.builds(lambda n: lambda b, _: stop_tasks(b, [task(n)], ""), names),
    st.builds(lambda n, w: lambda b, _: send_message(b, [task(n)], w), names, words),
    st.builds(
        lambda n, other: lambda b, _: edit_task(b, task(n), ev.TaskEdited(after=(task(other),)), Known()), names, names
    ),
    st.builds(lambda n, w: lambda b, _: reject_task(b, task(n), w), names, words),
    st.builds(lambda s, w: lambda _b, _: switch_queue(s, w), st.sampled_from(QueueSwitch), words),
    st.builds(lambda n, p: lambda b, _: move_change(b, n, "ana", p), names, st.none() | st.integers(-5, 5)),
    st.builds(lambda n, w: lambda b, _: cancel_change(b, n, "ana", w), names, words),
    st.builds(lambda some: lambda b, _: retry_changes(b, some, "ana"), st.lists(names, max_size=3)),
    st.builds(
        lambda s, usd, tokens, lift: lambda b, _: set_budget(b, s, usd, tokens, lift=lift),
        st.sampled_from(["fleet", "day", "task:t1", "task:t9", "attempt:t1.1", "convoy:red", "day:x", "moon"]),
        amounts,
        amounts,
        st.booleans(),
    ),
    st.builds(lambda n: lambda _b, _: reset_limits(n, ("claude",)), st.sampled_from(["claude", "cloud"])),
    st.builds(
        lambda n, h, ttl, wait: lambda b, now: request_lease(b, LeaseRequest(n, h, ttl, wait), now)[1],
        lease_names,
        holders,
        st.sampled_from([0.0, 1.0, 60.0]),
        st.sampled_from([0.0, 30.0]),
    ),
    st.builds(
        lambda n, h, g, long: lambda b, now: renew_lease(b, LeaseClaim(n, h, g), 5.0, now, may_shorten=long),
        lease_names,
        st.sampled_from(["ana", "bo"]),
        st.none() | st.integers(0, 3),
        st.booleans(),
    ),
    st.builds(
        lambda n, h, g: lambda b, _: release_lease(b, LeaseClaim(n, h, g)),
        lease_names,
        st.sampled_from(["ana", "bo"]),
        st.none() | st.integers(0, 3),
    ),
    st.builds(lambda w, r: lambda b, _: _in_bulk(b, w, r), bulk, st.sampled_from(Bulk)),
)


def _in_bulk(board: Board, wanted: Selection, request: Bulk) -> list[ev.Draft]:
    """What is chosen in bulk is never refused, whatever it is."""
    names = select_tasks(board, wanted, request)
    try:
        match request:
            case Bulk.STOP:
                return stop_tasks(board, names, "")
            case Bulk.CANCEL:
                return cancel_tasks(board, names, "")
            case Bulk.RETRY:
                return retry_tasks(board, names, 1, "")
            case Bulk.MESSAGE:
                return send_message(board, names, "hello")
            case Bulk.LAND:
                for name in names:
                    require_possible(board, board.tasks[name], TaskAction.APPROVE)
                return []
    except PaddockError as refusal:
        raise AssertionError(f"{request} of {names}: {refusal}") from refusal


@given(st.lists(requests, max_size=40))
def test_what_is_granted_folds_and_what_is_refused_leaves_the_board_alone(asked: list[Ask]) -> None:
    ledger = Ledger()
    for ask in asked:
        before = ledger.board.seq
        drafts: Sequence[ev.Draft] = ()
        with suppress(PaddockError):
            drafts = ask(ledger.board, START + before)
        assert ledger.board.seq == before
        ledger.write(*drafts)
    assert_sound(ledger.board)

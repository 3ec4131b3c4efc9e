"""What agents and CI may ask for, and what of it may be recorded."""

import pytest

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import AttemptId, TaskId
from paddock.core.intent.workers import (
    EVENTS,
    MOST_OPEN_TASKS,
    MOST_UNREAD,
    RIGHTS,
    NotForWorkers,
    Right,
    Worker,
    note_refusal,
    require_command,
    require_events,
)
from paddock.core.kinds import all_kinds
from paddock.core.leases.lease import Holder, LeaseGranted, LeaseReleased, LeaseRenewed
from paddock.store.fold import Fold
from paddock.store.protocol import Author, Decide

AGENT, ADDER, CI = Worker("t1.1"), Worker("t1.1", may_add=True), Worker("run-r7")
PEOPLE = [
    *("approve", "land", "reject", "resolve", "cancel", "stop", "down", "up", "run", "gc", "init", "edit", "retry"),
    *("sync", "janitor", "limits", "config", "queue freeze", "queue restore", "budget set", "log push", "no-such"),
]


def _always(draft: ev.Draft) -> Decide:
    return lambda _board: [draft]


def board_of(*drafts: ev.Draft) -> Board:
    fold = Fold()
    for draft in (ev.Draft(ev.LogCreated("0")), *drafts):
        ([result], _) = fold.write([(_always(draft), Author("test"))], lambda: 100.0)
        assert isinstance(result, list), result
    return fold.board


def task(number: int, *, running: bool = True) -> list[ev.Draft]:
    name = TaskId(f"t{number}")
    added = ev.Draft(ev.TaskAdded("some work", "some work"), task=name)
    started = ev.Draft(ev.AttemptStarted("scripted", "b" * 40, "x"), task=name, attempt=AttemptId(f"{name}.1"))
    return [added, started] if running else [added]


@pytest.mark.parametrize("worker", [AGENT, ADDER, CI])
@pytest.mark.parametrize("command", PEOPLE)
def test_what_is_for_people_is_refused_to_every_worker(worker: Worker, command: str) -> None:
    with pytest.raises(NotForWorkers, match=f"`paddock {command}` is not for (agents|CI): you run inside"):
        require_command(worker, command)


def test_the_refusal_names_the_attempt_or_the_run() -> None:
    for worker, place in ((AGENT, "agents: you run inside attempt t1.1"), (CI, "CI: you run inside CI run r7")):
        with pytest.raises(NotForWorkers) as refusal:
            require_command(worker, "down")
        assert refusal.value.message == f"`paddock down` is not for {place}"
        assert refusal.value.hint


def test_agents_add_tasks_only_where_that_is_allowed_and_ci_never() -> None:
    require_command(ADDER, "add")
    for worker in (AGENT, CI, Worker("run-r7", may_add=True)):
        with pytest.raises(NotForWorkers):
            require_command(worker, "add")
        with pytest.raises(NotForWorkers):
            require_events(board_of(), worker, task(1, running=False))
    with pytest.raises(NotForWorkers) as refusal:
        require_command(AGENT, "add")
    assert "[agents] may_add = true" in (refusal.value.hint or "")


@pytest.mark.parametrize("command", [name for name, right in RIGHTS.items() if right in (Right.READ, Right.LEASE)])
def test_reading_and_leases_are_for_all(command: str) -> None:
    for worker in (AGENT, CI):
        require_command(worker, command)


@pytest.mark.parametrize("command", ["show", "diff", "tail"])
def test_a_worker_sees_only_its_own_brief_changes_and_transcript(command: str) -> None:
    require_command(AGENT, command, ["t1"])
    require_command(AGENT, command, ["T1.1"])
    for other in ("t2", "t1.2", "t11.1", "r7"):
        with pytest.raises(NotForWorkers, match="may only see your own"):
            require_command(AGENT, command, [other])
    with pytest.raises(NotForWorkers):
        require_command(CI, command, ["t1"])


def test_no_event_that_is_not_listed_may_be_recorded_by_a_worker() -> None:
    for kind, event in all_kinds().items():
        if kind not in EVENTS:
            fields = [0 for _ in event.__struct_fields__]
            with pytest.raises(NotForWorkers, match="may not record"):
                require_events(board_of(), ADDER, [ev.Draft(event(*fields))])


def test_the_log_itself_refuses_what_a_worker_may_not_record() -> None:
    fold = Fold(board_of(*task(1), *task(2)))
    stop = ev.Draft(ev.StopRequested(), task=TaskId("t2"), attempt=AttemptId("t2.1"))
    ([refused], rows) = fold.write([(_always(stop), Author("agent:t1.1", worker=AGENT))], lambda: 100.0)
    assert isinstance(refused, NotForWorkers)
    assert rows == []
    assert fold.board.tasks[TaskId("t2")].live_attempt is not None


def test_leases_are_taken_kept_and_released_only_for_oneself() -> None:
    own, other = Holder("t1.1", attempt="t1.1"), Holder("t2.1", attempt="t2.1")
    board = board_of(*task(1), ev.Draft(LeaseGranted("a", 1, own, 9.0)), ev.Draft(LeaseGranted("b", 1, other, 9.0)))
    for name, may in (("a", True), ("b", False)):
        for event in (LeaseRenewed(name, 1, 9.0), LeaseReleased(name, 1)):
            if may:
                require_events(board, AGENT, [ev.Draft(event)])
                continue
            with pytest.raises(NotForWorkers, match=r"the lease `b` is for t2\.1"):
                require_events(board, AGENT, [ev.Draft(event)])
    require_events(board, AGENT, [ev.Draft(LeaseGranted("c", 1, own, 9.0))])
    require_events(board, CI, [ev.Draft(LeaseGranted("c", 1, Holder("run-r7"), 9.0))])
    for worker in (AGENT, CI):
        with pytest.raises(NotForWorkers):
            require_events(board, worker, [ev.Draft(LeaseGranted("c", 1, other, 9.0))])


def test_messages_reach_other_agents_at_work_and_not_too_many_of_them() -> None:
    board = board_of(*task(1), *task(2), *task(3, running=False))

    def send(to: str, board: Board = board, worker: Worker = AGENT) -> None:
        require_events(board, worker, [ev.Draft(ev.MessageSent("hello"), task=TaskId(to))])

    send("t2")
    for to, words in (("t1", "your own task"), ("t3", "only to agents at work"), ("t9", "there is no task")):
        with pytest.raises(PaddockError, match=words):
            send(to)
    with pytest.raises(NotForWorkers):
        send("t2", worker=CI)
    unread = [ev.Draft(ev.MessageSent("hello"), task=TaskId("t2"))] * MOST_UNREAD
    with pytest.raises(PaddockError, match=f"{MOST_UNREAD} messages are waiting for `t2`"):
        send("t2", board_of(*task(1), *task(2), *unread))


def test_agents_do_not_add_tasks_without_end() -> None:
    many = [draft for number in range(1, MOST_OPEN_TASKS + 1) for draft in task(number, running=False)]
    nearly = board_of(*many[:-1])
    require_events(nearly, ADDER, task(MOST_OPEN_TASKS, running=False))
    with pytest.raises(PaddockError, match="agents may add no more"):
        require_events(board_of(*many), ADDER, task(MOST_OPEN_TASKS + 1, running=False))


def test_a_request_that_is_refused_again_and_again_is_one_finding() -> None:
    board = board_of(*task(1))
    [finding] = note_refusal(board, AGENT, "down")
    require_events(board, AGENT, [finding])
    told = board_of(*task(1), finding)
    assert told.tasks[TaskId("t1")].attempts[0].refused == ("down",)
    assert note_refusal(told, AGENT, "down") == []
    assert [draft.event for draft in note_refusal(told, AGENT, "land")] == [ev.RequestRefused("land")]


@pytest.mark.parametrize("owner", ["t1.2", "t9.1", "run-r7", "nonsense", ""])
def test_there_is_no_finding_about_what_is_not_at_work(owner: str) -> None:
    assert note_refusal(board_of(*task(1)), Worker(owner), "down") == []


def test_nobody_records_findings_about_others() -> None:
    finding = ev.Draft(ev.RequestRefused("down"), task=TaskId("t2"), attempt=AttemptId("t2.1"))
    with pytest.raises(NotForWorkers):
        require_events(board_of(*task(1), *task(2)), AGENT, [finding])

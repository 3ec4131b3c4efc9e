"""A person takes an attempt over, works in its engine's own terminal, and leaves: pure decisions over the board.

One that is live is held as it is. After one that has ended a visit begins: an attempt of its own, in the conversation,
the folder and on the branch of the last one. Whoever leaves has it judged, or hands it back to its agent.
"""

from dataclasses import dataclass

from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import AttemptId, TaskId, attempt_id, branch_name, task_of
from paddock.core.intent.forks import follow_up
from paddock.core.intent.obstacles import TaskAction, held_words, require_possible
from paddock.core.intent.tasks import Known
from paddock.core.tasks.conversations import memory_of_turn, resumable_session
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.core.tasks.vocabulary import EndedBy
from paddock.core.wording import check_brief

GO_ON = "Go on with the task."
"""What an agent is told that is handed back without a word."""


@dataclass(frozen=True, slots=True)
class Seat:
    """What keeps an attempt for a person; `process` is a process of the host as `ProcessIdentity` writes it."""

    host: str
    host_id: str
    process: str


def hold_task(board: Board, name: TaskId, seat: Seat) -> list[ev.Draft]:
    """Holds its live attempt, or begins a visit. Raises PaddockError.

    A turn that runs is ended by the fleet; until the board says so, no other may be opened.
    """
    task = board.task(name)
    require_possible(board, task, TaskAction.CONNECT)
    live = task.live_attempt
    began = [] if live is not None else [begin_visit(task, seat)]
    held = ev.AttemptHeld(seat.host, seat.host_id, seat.process)
    attempt = live.id if live is not None else attempt_id(task.id, task.newest + 1)
    return [*began, ev.Draft(held, task=name, attempt=attempt)]


def begin_visit(task: Task, seat: Seat) -> ev.Draft:
    """In the conversation of its last worker, and where that cannot be resumed, at least with its commits."""
    last = task.worker
    assert last is not None
    started = replace(_visit(task, seat), base=last.base, branch=last.branch, continues=last.id)
    if started.session is not None:
        started = replace(started, worktree=last.worktree, fork=last.fork)
    return ev.Draft(started, task=task.id, attempt=attempt_id(task.id, task.newest + 1))


def hold_follow_up(
    board: Board, name: TaskId, seat: Seat, known: Known, *, base: str, label: str, attempts: int
) -> list[ev.Draft]:
    """A new task that goes on from one that has landed or was cancelled, in a copy of its conversation, and with the
    person from the start: nothing may come between the task and the hold on it, or the fleet would begin it. `base` is
    the commit that it begins at, `label` that of this fleet's branches. Raises PaddockError.
    """
    task = board.task(name)
    drafts = follow_up(board, name, f"Go on from {name} together with a person: {task.title}", known, attempts)
    new, event = next((draft.task, draft.event) for draft in drafts if isinstance(draft.event, ev.TaskAdded))
    assert new is not None
    visit = _visit(task, seat)
    started = replace(visit, base=base, branch=branch_name(new, event.title, label), fork=visit.session is not None)
    held = ev.AttemptHeld(seat.host, seat.host_id, seat.process)
    return [*drafts, *(ev.Draft(one, task=new, attempt=attempt_id(new, 1)) for one in (started, held))]


def _visit(task: Task, seat: Seat) -> ev.AttemptStarted:
    """In what the task's last worker worked in, and in its conversation if that can be resumed; where it begins is to
    be filled in."""
    last = task.worker
    assert last is not None
    started = ev.AttemptStarted(
        engine=last.engine,
        base="",
        branch="",
        agent=last.agent,
        model=last.model,
        host=seat.host,
        host_id=seat.host_id,
        account=last.account,
        role=task.role,
        visit=True,
    )
    session = resumable_session(last)
    if session is None:
        return started
    used, cost = last.conversation_used, last.conversation_cost
    return replace(started, session=session, memory=last.memory, session_used=used, session_cost=cost)


def open_terminal(
    board: Board,
    attempt: AttemptId,
    *,
    worktree: str,
    fence: str,
    session: str | None,
    new_conversation: str = "",
) -> list[ev.Draft]:
    """The engine's terminal is about to open, in the conversation `session`; None where it begins one, for the reason
    `new_conversation` if there was one before. Empty while the turn that was interrupted is still being ended.

    Raises PaddockError if the attempt is no longer held.
    """
    live = _held(board, attempt)
    if live.turn_open:
        return []
    turn = ev.TurnStarted(
        turn=live.turn + 1,
        session=session,
        worktree=worktree,
        new_conversation=new_conversation,
        fence=fence,
        memory=memory_of_turn(live, begins=session is None),
        interactive=True,
    )
    return [ev.Draft(turn, task=_task(board, attempt).id, attempt=attempt)]


def leave(
    board: Board, attempt: AttemptId, ended: ev.TurnEnded | None, *, handback: str | None = None, reason: str = ""
) -> list[ev.Draft]:
    """Ends the hold, and with it the interactive turn, as `ended` tells of it. With `handback`, which is what to tell
    it, its agent goes on; otherwise the attempt is judged. Nothing if somebody has ended the hold already.

    An interactive turn must be over when this is recorded, with all its processes.
    """
    task = _task(board, attempt)
    live = task.live_attempt
    if live is None or live.id != attempt or live.held is None:
        return []
    closing = [_closed(task, live, ended, handback)] if live.interactive and ended is not None else []
    events: list[ev.Event] = [*closing, ev.HoldEnded(handback is not None, reason)]
    drafts = [ev.Draft(event, task=task.id, attempt=attempt) for event in events]
    return [*drafts, *([_told(task, handback)] if handback is not None else [])]


def _closed(task: Task, live: Attempt, ended: ev.TurnEnded, handback: str | None) -> ev.TurnEnded:
    """However the terminal was closed, an agent that is handed back goes on, and one that was stopped does not."""
    if handback is not None:
        return replace(ended, ended_by=EndedBy.HELD)
    is_stopped = live.stop_requested is not None or task.phase is Phase.CANCELLED
    return replace(ended, ended_by=EndedBy.STOP) if is_stopped else ended


def hand_back(board: Board, name: TaskId, by: str, text: str = "", ended: ev.TurnEnded | None = None) -> list[ev.Draft]:
    """The agent goes on, told `text`: from a hold of `by`'s, or after they had left without saying whether it should.

    Raises PaddockError.
    """
    words = text or GO_ON
    check_brief(words, "the message")
    task = board.task(name)
    require_possible(board, task, TaskAction.HANDBACK)
    live = task.live_attempt
    if live is None:
        return [_told(task, words)]
    assert live.held is not None
    if live.held.by != by:
        raise PaddockError(
            held_words(live, live.held),
            f"only they hand it back; `paddock stop {name}` ends what they do there",
        )
    return leave(board, live.id, ended, handback=words)


def _told(task: Task, text: str) -> ev.Draft:
    return ev.Draft(ev.MessageSent(text), task=task.id)


def _task(board: Board, attempt: AttemptId) -> Task:
    return board.task(task_of(attempt))


def _held(board: Board, attempt: AttemptId) -> Attempt:
    live = _task(board, attempt).live_attempt
    if live is None or live.id != attempt or live.held is None:
        raise PaddockError(
            f"`{attempt}` is no longer held: it was stopped or cancelled meanwhile", f"see `paddock show {attempt}`"
        )
    return live

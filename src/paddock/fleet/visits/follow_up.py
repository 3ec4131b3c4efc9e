"""Connecting to a task that has landed or was cancelled: its agent goes on in a new task, with the person from the
start. Nothing may come between the new task and the hold on it, or the fleet would begin it."""

from collections.abc import Callable

from msgspec.structs import replace

from paddock.core.board import Board
from paddock.core.events import AttemptHeld, AttemptStarted, Draft, TaskAdded
from paddock.core.ids import TaskId, attempt_id, branch_name
from paddock.core.intent.forks import follow_up
from paddock.core.intent.holds import Seat
from paddock.core.intent.tasks import Known
from paddock.core.tasks.conversations import resumable_session
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.site import Site


def begin_follow_up(site: Site, board: Board, name: TaskId, seat: Seat, known: Known) -> Callable[[Board], list[Draft]]:
    """What to record. Blocks on git. Raises PaddockError."""
    base = _start(site, board.task(name))
    attempts = site.config.limits.attempts

    def decide(now: Board) -> list[Draft]:
        task = now.task(name)
        brief = f"Go on from {name} together with a person: {task.title}"
        drafts = follow_up(now, name, brief, known, attempts)
        added = next(draft for draft in drafts if isinstance(draft.event, TaskAdded))
        assert added.task is not None
        assert isinstance(added.event, TaskAdded)
        attempt = attempt_id(added.task, 1)
        branch = branch_name(added.task, added.event.title, site.label)
        started = replace(_conversation(task), base=base, branch=branch, host=seat.host, host_id=seat.host_id)
        held = AttemptHeld(seat.host, seat.host_id, seat.process)
        return [*drafts, Draft(started, added.task, attempt), Draft(held, added.task, attempt)]

    return decide


def _conversation(task: Task) -> AttemptStarted:
    """In a copy of the last one's, where that can be resumed."""
    last = task.worker
    assert last is not None
    session = resumable_session(last)
    started = AttemptStarted(
        engine=last.engine, base="", branch="", agent=last.agent, model=last.model, account=last.account
    )
    started = replace(started, role=task.role, visit=True)
    if session is None:
        return started
    used, cost = last.conversation_used, last.conversation_cost
    return replace(started, session=session, memory=last.memory, session_used=used, session_cost=cost, fork=True)


def _start(site: Site, task: Task) -> str:
    """At main once it has landed; else at its newest commit."""
    worker = task.worker
    assert worker is not None
    known = () if task.phase is Phase.LANDED else (task.head, worker.head, f"refs/heads/{worker.branch}")
    return next((sha for one in known if one and (sha := site.repo.resolve(one))), "") or site.main_tip()

"""What was running when a machine restarted or was lost goes on: pure decisions over the board.

A turn whose process is gone is over; the fleet judges its attempt as ever, and goes on from it. An attempt on a host
that is gone for good is ended here, for no daemon will ever look after it there: its task goes on from what it had
committed. What had given up because of such a loss is tried again.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from paddock.core import events as ev
from paddock.core.board import DAEMON_LEASE, Board
from paddock.core.ids import AttemptId, TaskId, printable
from paddock.core.leases.decisions import end_attempt
from paddock.core.leases.lease import LeaseReleased
from paddock.core.merge import events as qe
from paddock.core.merge.model import Result
from paddock.core.tasks.life import may_retry
from paddock.core.tasks.outcome import Verdict
from paddock.core.tasks.policy import decide_next
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.core.tasks.vocabulary import EndedBy, Outcome, Step

LOSSES = frozenset({EndedBy.REBOOT, EndedBy.VANISHED})


class Plight(StrEnum):
    """What has become of what ran a live attempt."""

    GONE = "gone"
    """Its process is not there any more, or nothing is left that tells of it."""
    ELSEWHERE = "elsewhere"
    """It is on a host that cannot be reached from here."""


class Revival(StrEnum):
    """What is done for a task."""

    RESUMED = "resumed"
    """Its turn is over, and the fleet goes on from there."""
    TAKEN_OVER = "taken over"
    """Its host is gone for good."""
    JUDGED = "judged"
    """A person held it, whose terminal is gone: what is there is judged, as if they had left."""
    RETRIED = "retried"
    """It had given up."""


@dataclass(frozen=True, slots=True)
class AttemptLoss:
    """What was found of a live attempt. `ended` is the end of its open turn, None where the fleet will see to that;
    `head` is what is here of its commits."""

    plight: Plight
    ended: ev.TurnEnded | None = None
    head: str | None = None


@dataclass(frozen=True, slots=True)
class Revived:
    """One task that is brought back. `attempt` is the one that it goes on from."""

    task: TaskId
    attempt: Attempt
    how: Revival


def find_revivals(
    board: Board, losses: Mapping[AttemptId, AttemptLoss], among: Iterable[TaskId] | None = None
) -> list[Revived]:
    """What would be done, of these tasks or of all, in the order in which they were added."""
    tasks = board.open_tasks() if among is None else [board.task(name) for name in among]
    found = (_revival(task, losses) for task in tasks)
    return [one for one in found if one is not None]


def _revival(task: Task, losses: Mapping[AttemptId, AttemptLoss]) -> Revived | None:
    live = task.live_attempt
    if live is not None:
        loss = losses.get(live.id)
        if loss is None:
            return None
        if loss.plight is Plight.ELSEWHERE:
            return Revived(task.id, live, Revival.TAKEN_OVER)
        return Revived(task.id, live, Revival.RESUMED if live.held is None else Revival.JUDGED)
    worker = task.worker
    if worker is None or task.question or not _gave_up(task, worker):
        return None
    return Revived(task.id, worker, Revival.RETRIED)


def _gave_up(task: Task, worker: Attempt) -> bool:
    """Because its machine, or Paddock itself, failed it; nobody has stopped it, and nothing was decided since."""
    is_lost = worker.outcome is Outcome.LOST or (worker.outcome is Outcome.CRASHED and worker.ended_by in LOSSES)
    waits = task.phase in (Phase.BLOCKED, Phase.FAILED) or (task.phase is Phase.READY and task.not_before > 0.0)
    return is_lost and waits and worker.stop_requested is None and task.blocked_on is None and may_retry(task)


def resurrect(
    board: Board,
    losses: Mapping[AttemptId, AttemptLoss],
    now: float,
    among: Iterable[TaskId] | None = None,
    runs: Iterable[str] = (),
    hosts: Collection[str] = (),
) -> list[ev.Draft]:
    """The events of `find_revivals`, and the end of CI `runs` and of a daemon on `hosts` that are gone. Nothing for
    what has been brought back, or gone on, meanwhile."""
    daemon = board.leases.held.get(DAEMON_LEASE)
    drafts = [
        ev.Draft(LeaseReleased(one.name, one.generation, "its host is gone"))
        for one in (daemon,)
        if one is not None and one.holder.host in hosts
    ]
    drafts += [
        ev.Draft(qe.RunEnded(name, Result.INFRA, note=f"its host `{printable(run.host, 60)}` is gone"))
        for name in runs
        if (run := board.queue.running.get(name)) is not None
    ]
    for one in find_revivals(board, losses, among):
        task = board.task(one.task)
        match one.how:
            case Revival.RETRIED:
                more = max(1, task.allowed - task.counted)
                drafts.append(ev.Draft(ev.TaskRetried(more, "brought back"), task=task.id))
            case Revival.RESUMED | Revival.JUDGED:
                drafts += _end_turn(task, one.attempt, losses[one.attempt.id])
            case Revival.TAKEN_OVER:
                drafts += _take_over(board, task, one.attempt, losses[one.attempt.id], now)
    return drafts


def _end_turn(task: Task, attempt: Attempt, loss: AttemptLoss) -> list[ev.Draft]:
    """A hold whose seat is gone is ended by the fleet, which sweeps after it."""
    if not attempt.turn_open or loss.ended is None or loss.ended.turn != attempt.turn:
        return []
    return [ev.Draft(loss.ended, task=task.id, attempt=attempt.id)]


def _verdict(attempt: Attempt, why: str) -> Verdict:
    """A task that somebody only visited stands as they found it."""
    if attempt.held is None:
        return Verdict(Outcome.LOST, why)
    return Verdict(Outcome.LEFT, attempt.found.reason if attempt.found is not None else why)


def _take_over(board: Board, task: Task, attempt: Attempt, loss: AttemptLoss, now: float) -> list[ev.Draft]:
    why = f"its host `{printable(attempt.host, 60)}` is gone"
    seen = loss.ended if loss.ended is not None and loss.ended.turn == attempt.turn else None
    ended_turn = seen or ev.TurnEnded(attempt.turn, exit=None, ended_by=EndedBy.REBOOT, problem=why)
    events: list[ev.Event] = [ended_turn] if attempt.turn_open else []
    events += [ev.HoldEnded(reason=why)] if attempt.held is not None else []
    verdict = _verdict(attempt, why)
    following = decide_next(verdict, task, attempt, now, 0.0)
    step = Step.RETRY if verdict.outcome is Outcome.LOST and attempt.stop_requested is None else following.step
    is_as_found = attempt.found is not None and loss.head in (None, task.head)
    ended = ev.AttemptEnded(
        outcome=verdict.outcome,
        next=step,
        counted=False,
        reason=verdict.reason,
        head=task.head if is_as_found else loss.head,
        base=task.base if is_as_found else attempt.base,
        unblock=following.unblock,
    )
    drafts = [ev.Draft(event, task=task.id, attempt=attempt.id) for event in (*events, ended)]
    return [*drafts, *(ev.Draft(event) for event in end_attempt(board.leases, attempt.id))]

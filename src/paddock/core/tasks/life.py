"""The life of a task. Everything that decides which phase it is in lives here, in this file.

    waiting ─▶ ready ─▶ running ─▶ reviewing ─▶ approval ─▶ queued ─▶ landed
                 ▲          │          │
                 └── retry ─┴─ sent ───┘     beside them: blocked, failed, cancelled, noop, done
                               back

`begin` is its birth. `evolve` is the table of all that may happen to it, by its agents, by people and in the queue;
what has no case there cannot happen. `settle` is what the tasks it comes after make of it: ready, waiting or blocked.
An event that is added to `TaskEvent` without a case fails the type check.
"""

from collections.abc import Mapping
from typing import TypeAlias, TypeGuard, assert_never

import msgspec
from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.causes import tasks as causes
from paddock.core.causes.events import CauseCleared, CauseFound, CauseSettled
from paddock.core.causes.vocabulary import FORGIVEN, FailureCause
from paddock.core.ids import WORKERS, TaskId
from paddock.core.merge import events as qe
from paddock.core.review import events as rv
from paddock.core.tasks.attempts import begin_attempt, close_turn, end_attempt, open_turn
from paddock.core.tasks.landing import (
    LandingEvent,
    told_of_conflict,
    told_of_questions,
    told_of_rejection,
    told_of_removal,
)
from paddock.core.tasks.questions import answer_command, told_of_question
from paddock.core.tasks.task import DEAD, FINISHED, SATISFIED, Attempt, Found, Hold, Phase, Task, illegal
from paddock.core.tasks.vocabulary import UNHEARD, Role, Step

AttemptEvent: TypeAlias = (
    ev.TurnStarted
    | ev.TurnEnded
    | ev.AttemptStarted
    | ev.AttemptEnded
    | ev.AttemptExtended
    | ev.StopRequested
    | ev.RequestRefused
    | ev.AnswerRefused
    | ev.QuestionAsked
    | ev.QuestionWithdrawn
    | ev.MessagesRead
    | ev.MessagesDelivered
    | ev.AttemptHeld
    | ev.HoldEnded
    | ev.NoopDeclared
    | ev.ReportGiven
    | ev.PlanProposed
)
PersonsEvent: TypeAlias = (
    ev.TaskEdited
    | ev.TaskCancelled
    | ev.TaskRetried
    | ev.TaskBlocked
    | ev.TaskApproved
    | ev.TaskRejected
    | ev.ChangeRevised
    | ev.ChangeRebased
    | ev.ApprovalRequired
    | ev.MessageSent
    | ev.PlanAccepted
    | ev.PlanDropped
    | ev.CommentDrafted
    | ev.CommentDropped
    | ev.CommentsSent
)
TaskEvent: TypeAlias = AttemptEvent | PersonsEvent | LandingEvent | rv.ReviewStep | causes.CauseOfTask

KEPT_ATTEMPTS = 20
LOST = "landed, then lost from main"

NEXT_PHASE = {
    Role.WORK: {
        Step.REVIEW: Phase.REVIEWING,
        Step.APPROVAL: Phase.APPROVAL,
        Step.NOOP: Phase.NOOP,
        Step.RETRY: Phase.READY,
        Step.FAIL: Phase.FAILED,
        Step.BLOCK: Phase.BLOCKED,
    },
    Role.REVIEW: {
        Step.REVIEW: Phase.REVIEWING,
        Step.RETRY: Phase.REVIEWING,
        Step.APPROVAL: Phase.APPROVAL,
        Step.FAIL: Phase.FAILED,
        Step.BLOCK: Phase.BLOCKED,
    },
}
"""Where each step leads. A review delivers findings, not commits, so it leaves nothing unfinished."""
NEXT_PHASE_OF_READERS = {
    Step.DONE: Phase.DONE,
    Step.RETRY: Phase.READY,
    Step.FAIL: Phase.FAILED,
    Step.BLOCK: Phase.BLOCKED,
}
"""Where each step leads in a task that only reads."""

_WOKEN = frozenset({Phase.REVIEWING, Phase.APPROVAL, Phase.BLOCKED, Phase.FAILED, Phase.NOOP, Phase.DONE})
_RETRIED = _WOKEN | {Phase.CANCELLED}
_VISITED = _WOKEN | {Phase.READY, Phase.WAITING}


def begin(name: TaskId, event: ev.TaskAdded, record: ev.Record) -> Task:
    return Task(
        id=name,
        title=event.title,
        brief_seq=record.seq,
        phase=Phase.READY,
        since=record.at,
        created=record.at,
        allowed=event.attempts,
        agent=event.agent,
        engine=event.engine,
        convoy=event.convoy,
        after=event.after,
        priority=event.priority,
        paths=event.paths,
        kind=event.task_kind,
        role=event.role,
        labels=event.labels,
        inputs=event.inputs,
        accept_seq=record.seq if event.accept is not None else 0,
        start=event.start,
        files=event.files,
        max_tasks=event.max_tasks,
        forks=event.forks,
        series=event.series,
        needs=event.needs,
    )


def evolve(task: Task, event: TaskEvent, record: ev.Record) -> Task:  # noqa: C901 (a table has many rows)
    """The task after the event; raises IllegalTransition for what cannot happen in its phase."""
    at, live = record.at, task.live_attempt
    own = live if live is not None and live.id == record.attempt else None
    match event, task.phase:
        # Its agent, working in whatever phase others have put the task into meanwhile
        case ev.TurnStarted(), _ if own is not None and _may_open(own, event):
            return _with(_claim(task, event.messages), open_turn(own, event))
        case ev.TurnEnded(), _ if own is not None and own.turn_open and event.turn == own.turn:
            return _with(_without_question(task) if task.options else task, close_turn(own, event))
        case ev.AttemptEnded(), Phase.RUNNING | Phase.REVIEWING if _may_end(own) and event.next in _steps(task, own):
            return _follow(task, own, event, at)
        case ev.AttemptEnded(), Phase.CANCELLED if _may_end(own):
            return _end(task, own, event, at)
        case ev.AttemptStarted(role=task.role, visit=True), phase if phase in _VISITED and _may_start(task, record):
            return _visit(task, event, record)
        case ev.AttemptStarted(role=task.role, visit=False), Phase.READY if _may_start(task, record):
            return move(_start(task, event, record), Phase.RUNNING, at)
        case ev.AttemptStarted(role=Role.REVIEW), Phase.REVIEWING if _may_start(task, record):
            return _start(task, event, record)
        case ev.AttemptExtended(), _ if own is not None:
            return task
        case ev.StopRequested(), _ if own is not None:
            return _with(task, replace(own, stop_requested=record.actor))
        case ev.RequestRefused(), _ if own is not None:
            return _with(task, replace(own, refused=(*own.refused, event.request)))
        case ev.AnswerRefused(), _ if own is not None and own.role.only_reads and not own.turn_open:
            return _with(task, replace(own, answers_refused=own.answers_refused + 1, owes_answer=record.seq))
        case ev.QuestionAsked(), _ if own is not None and own.role is task.role:
            return _ask(_with(task, replace(own, questions=own.questions + 1)), event, record.seq)
        case ev.QuestionWithdrawn(), _ if own is not None and event.question > 0:
            return _without_question(task) if task.question == event.question else task
        case ev.MessagesRead(), _ if own is not None and set(event.messages) <= set(task.inbox):
            return _read(task, event.messages)
        case ev.MessagesDelivered(), _ if own is not None and set(event.messages) <= {*task.inbox, *task.untold}:
            return _read(task, event.messages)
        case ev.AttemptHeld(), _ if own is not None and own.held is None and own.role is task.role:
            hold = Hold(record.actor, at, event.host, event.host_id, event.process)
            return _stand(_with(task, replace(own, held=hold)))
        case ev.HoldEnded(), _ if own is not None and own.held is not None and not own.interactive:
            return _stand(_with(task, replace(own, held=None, left_by="" if event.handback else own.held.by)))
        case ev.NoopDeclared(), _ if own is not None and own.role is Role.WORK:
            return _with(task, replace(own, noop=event.reason))
        case ev.ReportGiven() | ev.PlanProposed(), _ if own is not None and own.role.only_reads:
            return replace(task, answer_seq=record.seq)
        # People, and the daemon on their behalf
        case ev.TaskEdited(), phase if phase not in FINISHED:
            return _edit(task, event, record.seq)
        case ev.TaskCancelled(), phase if phase not in FINISHED:
            return move(task, Phase.CANCELLED, at, event.reason)
        case ev.TaskRetried(review=True), Phase.BLOCKED if task.in_review and live is None:
            return replace(move(task, Phase.REVIEWING, at, event.reason), not_before=0.0)
        case ev.TaskRetried(review=False), _ if may_retry(task):
            sent_back = _send_back(task, event.reason, at)
            return replace(sent_back, allowed=task.counted + event.attempts, question=0)
        case ev.TaskBlocked(), phase if phase not in FINISHED and live is None:
            in_review = phase is Phase.REVIEWING or task.in_review
            return replace(move(task, Phase.BLOCKED, at, event.reason, event.unblock), in_review=in_review)
        case ev.TaskApproved(), Phase.APPROVAL | Phase.REVIEWING if task.head == event.head:
            return replace(task, approved=event.head, reason="approved")
        case ev.TaskRejected(), Phase.APPROVAL | Phase.REVIEWING if task.head == event.head and live is None:
            return _send_back(_hear(task, record) if event.message else task, "rejected", at)
        case ev.ChangeRevised(), Phase.APPROVAL | Phase.BLOCKED | Phase.FAILED if live is None:
            return replace(_deliver(move(task, Phase.APPROVAL, at, "finished by hand"), event), question=0)
        case ev.ChangeRebased(), Phase.APPROVAL | Phase.QUEUED if live is None and task.head is not None:
            return _rebase(task, event)
        case ev.ApprovalRequired(), Phase.APPROVAL if task.head == event.head:
            reason, unblock = told_of_questions(task.id, event)
            return replace(task, reason=reason, unblock=unblock, questioned=event.head)
        case ev.MessageSent(), phase if phase in _WOKEN and live is None and task.started:
            return _send_back(_hear(task, record), "has a message", at)
        case ev.MessageSent(), phase if phase not in FINISHED and task.started:
            return _hear(task, record)
        case ev.PlanAccepted() | ev.PlanDropped(), Phase.DONE if _may_decide(task, event.plan):
            words = "accepted" if isinstance(event, ev.PlanAccepted) else "dropped"
            return replace(task, reason=f"its plan was {words}", decided=event.plan)
        case ev.CommentDrafted(), phase if phase not in FINISHED and task.head is not None:
            return replace(task, comments=(*task.comments, record.seq))
        case ev.CommentDropped(), _ if event.comment in task.comments:
            return _without_comments(task, (event.comment,))
        case ev.CommentsSent(), _ if set(event.comments) <= set(task.comments):
            return _without_comments(task, event.comments)
        # Reviewers
        case rv.ReviewSentBack(), Phase.REVIEWING if task.head == event.head and live is None:
            return _send_back(_hear(task, record), f"sent back by review, round {event.round}", at)
        case rv.ReviewPassed(), Phase.REVIEWING if task.head == event.head and live is None:
            return move(task, Phase.APPROVAL, at, _praise(event))
        # The merge queue, whose events do not affect a task that was moved on meanwhile
        case qe.ChangeQueued(), phase if phase not in FINISHED and live is None:
            return replace(move(task, Phase.QUEUED, at, "in the merge queue"), question=0)
        case qe.TrainLanded(), Phase.QUEUED:
            return move(task, Phase.LANDED, at, f"landed in {event.new[:10]}")
        case qe.ChangeFoundEmpty(), Phase.QUEUED:
            return move(task, Phase.NOOP, at, "main already has everything it changes")
        case qe.ChangeConflicted(), Phase.QUEUED:
            return move(task, Phase.BLOCKED, at, *told_of_conflict(task.id, event.paths, event.against))
        case qe.ChangeRejected(), Phase.QUEUED:
            return move(task, Phase.BLOCKED, at, *told_of_rejection(task.id, event.reason))
        case qe.ChangeCancelled(), Phase.QUEUED:
            return move(task, Phase.APPROVAL, at, *told_of_removal(task.id, event))
        case qe.WorkLost(), Phase.LANDED:
            return replace(move(task, Phase.BLOCKED, at, LOST, f"paddock land {task.id}"), lost=True)
        case qe.WorkFound(), Phase.BLOCKED if task.lost:
            return move(task, Phase.LANDED, at, f"in main again, at {event.main[:10]}")
        # What is found out later about why its attempts failed
        case CauseFound() | CauseSettled() | CauseCleared(), _ if causes.may_hear(task, record.attempt, event):
            return _hear_cause(task, event, record)
        case (qe.TrainLanded() | qe.ChangeFoundEmpty() | qe.ChangeConflicted() | qe.ChangeRejected()
              | qe.ChangeCancelled() | qe.WorkLost() | qe.WorkFound()), _:  # fmt: skip
            return task
        case (
            ev.TurnStarted() | ev.TurnEnded() | ev.AttemptEnded() | ev.AttemptStarted() | ev.AttemptExtended()
            | ev.StopRequested() | ev.RequestRefused() | ev.TaskEdited() | ev.TaskCancelled() | ev.TaskRetried()
            | ev.TaskBlocked() | ev.TaskApproved() | ev.TaskRejected() | ev.ChangeRevised() | ev.ChangeRebased()
            | ev.ApprovalRequired() | ev.MessageSent() | ev.AnswerRefused() | ev.QuestionAsked() | ev.MessagesRead()
            | ev.QuestionWithdrawn() | ev.MessagesDelivered() | ev.AttemptHeld() | ev.HoldEnded()
            | ev.NoopDeclared() | ev.ReportGiven() | ev.PlanProposed() | ev.PlanAccepted() | ev.PlanDropped()
            | rv.ReviewSentBack() | rv.ReviewPassed() | qe.ChangeQueued() | ev.CommentDrafted() | ev.CommentDropped()
            | ev.CommentsSent() | CauseFound() | CauseSettled() | CauseCleared()
        ), _:  # fmt: skip
            raise illegal(record.attempt or task.id, task.phase, event)
        case _:
            assert_never(event)


def may_retry(task: Task) -> bool:
    """Also what is to be tried again anyway, but not yet: a person need not wait for the end of its pause."""
    pauses = task.phase is Phase.READY and task.not_before > 0.0
    return task.live_attempt is None and (pauses or task.phase in _RETRIED)


def _may_decide(task: Task, plan: int) -> bool:
    """Once about each plan, and not about one that was replaced."""
    return task.role is Role.PLAN and task.answer_seq == plan != task.decided


def settle(task: Task, tasks: Mapping[TaskId, Task], at: float) -> Task:
    """Ready, waiting, or blocked by a task that will never land; a task in any other phase waits for no other task.

    If the phase stays the same, so does the time since when.
    """
    if task.phase is not Phase.READY and task.phase is not Phase.WAITING and task.blocked_on is None:
        return task
    dead = next((name for name in task.after if tasks[name].phase in DEAD), None)
    missing = [name for name in task.after if tasks[name].phase not in SATISFIED]
    if dead is not None:
        how = "failed" if tasks[dead].phase is Phase.FAILED else "was cancelled"
        settled = move(task, Phase.BLOCKED, at, f"depends on {dead}, which {how}", f"paddock retry {dead}")
        settled = replace(settled, blocked_on=dead)
    elif missing:
        settled = move(task, Phase.WAITING, at, f"after {', '.join(missing)}")
    elif task.phase is Phase.READY:
        return task
    else:
        settled = move(task, Phase.READY, at)
    return settled if settled.phase is not task.phase else replace(settled, since=task.since)


def move(task: Task, phase: Phase, at: float, reason: str = "", unblock: str = "") -> Task:
    still = {"blocked_on": None, "lost": False, "in_review": False, "cause": ""}
    return replace(task, phase=phase, since=at, reason=reason, unblock=unblock, **still)


def _with(task: Task, attempt: Attempt) -> Task:
    return replace(task, attempts=(*task.attempts[:-1], attempt))


def _is_next(task: Task, record: ev.Record) -> bool:
    return record.attempt == f"{task.id}.{task.newest + 1}"


def _start(task: Task, event: ev.AttemptStarted, record: ev.Record) -> Task:
    assert record.attempt is not None
    attempts = (*task.attempts, begin_attempt(record.attempt, event, record.at))
    return replace(task, attempts=_kept(task, attempts), started=task.started + 1)


def _kept(task: Task, attempts: tuple[Attempt, ...]) -> tuple[Attempt, ...]:
    """The newest; and always the one whose work is under review, however many reviewers have failed at it."""
    kept = attempts[-KEPT_ATTEMPTS:]
    worker = task.worker
    return kept if worker is None or worker in kept else (worker, *kept[1:])


def _may_start(task: Task, record: ev.Record) -> bool:
    return task.live_attempt is None and _is_next(task, record)


def _visit(task: Task, event: ev.AttemptStarted, record: ev.Record) -> Task:
    """A person works with the agent: what they leave as it was goes back to where it was."""
    phase = Phase.REVIEWING if task.in_review else task.phase
    moved = move(_start(task, event, record), Phase.RUNNING, record.at)
    assert moved.last is not None
    return _with(moved, replace(moved.last, found=Found(phase, task.reason, task.unblock)))


def _may_open(attempt: Attempt, event: ev.TurnStarted) -> bool:
    """While a person holds the attempt its turns are theirs, and no other time."""
    is_next = not attempt.turn_open and event.turn == attempt.turn + 1
    return is_next and event.interactive == (attempt.held is not None)


def _may_end(attempt: Attempt | None) -> TypeGuard[Attempt]:
    return attempt is not None and not attempt.turn_open and attempt.held is None


def _end(task: Task, attempt: Attempt, event: ev.AttemptEnded, at: float) -> Task:
    untold = task.untold if event.outcome in UNHEARD else ()
    ended = _with(task, end_attempt(attempt, event, at))
    return replace(ended, counted=task.counted + event.counted, untold=untold)


def _follow(task: Task, attempt: Attempt, event: ev.AttemptEnded, at: float) -> Task:
    """Only work changes what there is to approve. Messages that came during a review are for the next worker."""
    ended = _end(task, attempt, event, at)
    if attempt.role is not task.role and task.inbox:
        return _send_back(ended, "has a message", at)
    phase = _steps(task, attempt)[event.next]
    moved = replace(move(ended, phase, at, event.reason, event.unblock), not_before=event.retry_at or 0.0)
    if phase is Phase.BLOCKED and attempt.role is not task.role:
        return replace(moved, in_review=True)
    delivers = attempt.role is Role.WORK and event.next in (Step.APPROVAL, Step.REVIEW)
    return _deliver(moved, event) if delivers else moved


def _hear_cause(task: Task, event: causes.CauseOfTask, record: ev.Record) -> Task:
    match event:
        case CauseFound():
            return _learn(task, event, record)
        case CauseSettled():
            return _settle_cause(task, event, record.at)
        case CauseCleared():
            freed = causes.is_blocked_by(task, event.id)
            return _rest(task, f"{event.id} was cleared", record.at) if freed else task
        case _:
            assert_never(event)


def _learn(task: Task, event: CauseFound, record: ev.Record) -> Task:
    """It does not try again what would fail again, and tries again for nothing what was not its failure."""
    after = causes.meet(task, record.attempt, event)
    if not causes.rests_after(task, record.attempt):
        return after
    if event.cause is FailureCause.DEPENDENCY and event.blocks:
        return _block(after, event.id, *causes.told_of_block(event, event.symptom), record.at)
    if after.counted < task.counted:
        return replace(_rest(after, causes.told_of_retry(event), record.at), not_before=event.retry_at or 0.0)
    return after


def _settle_cause(task: Task, event: CauseSettled, at: float) -> Task:
    """As if it had been known from the beginning; what was forgiven stays forgiven."""
    after = causes.forgive(task, event.id) if event.cause in FORGIVEN else task
    last = task.last
    met = last is not None and event.id in last.causes and causes.rests_after(task, last.id)
    if event.cause is FailureCause.DEPENDENCY:
        words = causes.told_of_block(event, next(iter(event.evidence), ""))
        return _block(after, event.id, *words, at) if met else after
    if causes.is_blocked_by(task, event.id) or (met and after.counted < task.counted):
        return _rest(after, causes.told_of_retry(event), at)
    return after


def _block(task: Task, cause: str, reason: str, unblock: str, at: float) -> Task:
    return replace(move(task, Phase.BLOCKED, at, reason, unblock), cause=cause)


def _rest(task: Task, reason: str, at: float) -> Task:
    return replace(move(task, Phase.READY, at, reason), not_before=0.0)


def _steps(task: Task, attempt: Attempt) -> dict[Step, Phase]:
    return NEXT_PHASE_OF_READERS if task.role.only_reads else NEXT_PHASE[attempt.role]


def _praise(event: rv.ReviewPassed) -> str:
    return f"reviewed by {', '.join(event.by)}: nothing blocks it" if event.by else "passed its checks"


def _deliver(task: Task, event: ev.AttemptEnded | ev.ChangeRevised) -> Task:
    return replace(task, head=event.head, base=event.base, approved=None)


def _rebase(task: Task, event: ev.ChangeRebased) -> Task:
    """Whoever approved it approved what it does, which is the same; what was asked about it is asked again."""
    approved = event.head if task.approved == task.head else None
    asked = task.phase is Phase.APPROVAL and task.questioned == task.head
    words = ("its base is no longer in main", "") if asked else (task.reason, task.unblock)
    return replace(task, head=event.head, base=event.base, approved=approved, reason=words[0], unblock=words[1])


def _ask(task: Task, event: ev.QuestionAsked, seq: int) -> Task:
    """Everybody who asks how the task stands is told the question, also while its agent works on."""
    asked = replace(task, question=seq, options=event.options)
    if task.phase is not Phase.RUNNING:
        return asked
    reason, unblock = told_of_question(event.text, event.options), answer_command(task.id)
    return replace(asked, reason=reason, unblock=unblock)


def _hear(task: Task, record: ev.Record) -> Task:
    """What an agent says to another one answers no question: that was for a person."""
    heard = replace(task, inbox=(*task.inbox, record.seq))
    if not task.question or record.actor.startswith(WORKERS):
        return heard
    return _without_question(heard)


def _without_question(task: Task) -> Task:
    return _stand(replace(task, question=0, options=()))


def _stand(task: Task) -> Task:
    """How a task at work stands, unless its agent has asked something: nothing is to be told, or who holds it."""
    if task.phase is not Phase.RUNNING or task.question:
        return task
    live = task.live_attempt
    if live is None or live.held is None:
        return replace(task, reason="", unblock="")
    return replace(task, reason=f"held by {live.held.by}", unblock=f"paddock handback {task.id}")


def _without_comments(task: Task, gone: tuple[int, ...]) -> Task:
    return replace(task, comments=tuple(seq for seq in task.comments if seq not in gone))


def _claim(task: Task, messages: tuple[int, ...]) -> Task:
    """A turn begins with these; whether its engine has them is seen later."""
    claimed = tuple(seq for seq in task.inbox if seq in messages)
    return replace(_read(task, claimed), untold=(*task.untold, *claimed)) if claimed else task


def _read(task: Task, messages: tuple[int, ...]) -> Task:
    inbox, untold = (tuple(seq for seq in seqs if seq not in messages) for seqs in (task.inbox, task.untold))
    return replace(task, inbox=inbox, untold=untold) if messages else task


def _send_back(task: Task, reason: str, at: float) -> Task:
    """To be done again, with at least one more attempt, whatever was approved."""
    more = max(task.allowed, task.counted + 1)
    return replace(move(task, Phase.READY, at, reason), allowed=more, approved=None, not_before=0.0)


def _edit(task: Task, event: ev.TaskEdited, seq: int) -> Task:
    changes: dict[str, object] = {
        name: value
        for name in ("title", "agent", "engine", "after", "priority", "paths", "labels", "needs")
        if (value := getattr(event, name)) is not msgspec.UNSET
    }
    if event.task_kind is not msgspec.UNSET:
        changes["kind"] = event.task_kind
    if event.brief is not msgspec.UNSET:
        changes["brief_seq"] = seq
    if event.accept is not msgspec.UNSET:
        changes["accept_seq"] = seq if event.accept is not None else 0
    if event.attempts is not msgspec.UNSET:
        changes["allowed"] = event.attempts
    return replace(task, **changes)

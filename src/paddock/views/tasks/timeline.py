"""The way of a task so far: what happened to it, in words, and which of that are its steps."""

from dataclasses import dataclass

import msgspec

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import TaskId, harmless, printable, some_names
from paddock.core.intent.messages import message_name
from paddock.core.merge import events as qe
from paddock.core.merge.model import Result
from paddock.core.review import events as rv
from paddock.core.review.checks import ACCEPT
from paddock.core.tasks.vocabulary import USEFUL, Outcome, Role, Step
from paddock.views.document import iso
from paddock.views.log.narration import describe, describe_end, is_review_end
from paddock.views.log.reviews import is_audit, tell_of_review
from paddock.views.queue.history import MembersOf, StoryLine
from paddock.views.queue.history import tell as tell_of_queue

DETAIL_CHARS = 160


class TimelineRow(msgspec.Struct, frozen=True):
    """`step` is its name among the few steps that tell the way, empty for what only the whole list has. `state` is the
    word whose colour it has, `icon` its shape; `words` is the whole sentence."""

    seq: int
    at: str
    state: str
    icon: str
    step: str
    detail: str
    words: str
    actor: str
    attempt: str | None
    run: str | None


@dataclass(frozen=True, slots=True)
class Milestone:
    """What one record means on the way. `version` is told with what was delivered."""

    state: str
    icon: str
    step: str
    detail: str = ""


PLAIN = Milestone("plain", "log", "")


def view_record_of_task(record: ev.Record, board: Board, version: int) -> TimelineRow | None:
    """Of a record about the task itself. `version` is the number of the change it delivered, if it did."""
    if isinstance(record.event, rv.ReviewEvent):
        audits = isinstance(record.event, rv.ReviewGiven) and is_audit(board, record.task or TaskId(""))
        milestone = PLAIN if audits else _milestone_in_review(record.event)
    else:
        milestone = PLAIN if is_review_end(record, board) else milestone_of(record, version)
    words = describe(record, board) or _plainly(record, board)
    if not words and not milestone.step:
        return None
    return _row(record, milestone, words or f"{milestone.step}: {milestone.detail}".removesuffix(": "), None)


def view_record_of_queue(record: ev.Record, task: str, members_of: MembersOf) -> TimelineRow | None:
    """Of a record of the merge queue; None if it has nothing to do with the task."""
    line = tell_of_queue(record, members_of)
    if line is None or task not in line.about:
        return None
    return _row(record, _milestone_in_queue(record, line), line.words, line.run or None)


def _row(record: ev.Record, milestone: Milestone, words: str, run: str | None) -> TimelineRow:
    return TimelineRow(
        seq=record.seq,
        at=iso(record.at),
        state=milestone.state,
        icon=milestone.icon,
        step=printable(milestone.step, 60),
        detail=printable(milestone.detail, DETAIL_CHARS),
        words=printable(words, 400),
        actor=printable(record.actor, 80),
        attempt=record.attempt,
        run=run,
    )


def milestone_of(record: ev.Record, version: int) -> Milestone:
    by = f"by {record.actor}"
    match record.event:
        case ev.TaskAdded(forks=forks):
            return Milestone("plain", "log", f"added, forks {forks}" if forks is not None else "added", by)
        case ev.AttemptStarted(role=Role.REVIEW, engine=engine, agent=agent):
            return Milestone(
                "reviewing", "reviewing", f"{record.attempt} reviews", " · ".join(filter(None, (agent, engine)))
            )
        case ev.AttemptStarted(engine=engine, continues=continues, worktree=worktree):
            verb = "continues" if continues is not None else "started"
            where = f", worktree {worktree.rpartition('/')[2]}" if worktree else ""
            return Milestone("running", "running", f"{record.attempt} {verb}", f"{engine}{where}")
        case ev.AttemptEnded() as ended:
            return _milestone_of_end(record, ended, version)
        case ev.TurnStarted(turn=turn, messages=messages) if messages:
            told = "a message" if len(messages) == 1 else f"{len(messages)} messages"
            return Milestone("running", "running", f"turn {turn}: answers", told)
        case ev.MessageSent() | ev.MessagesDelivered() | ev.AttemptHeld() | ev.HoldEnded() as talk:
            return _milestone_of_talk(record, talk, by)
        case ev.QuestionAsked(text=text):
            return Milestone("approval", "ask", "asks you", _one_line(text))
        case ev.PlanProposed():
            return Milestone("done", "done", "has a plan", "for you to decide about")
        case ev.PlanAccepted(tasks=tasks):
            return Milestone("landed", "landed", "plan accepted", f"{by}: {some_names(tasks)}")
        case ev.PlanDropped(reason=reason):
            return Milestone("cancelled", "cancelled", "plan dropped", _said(by, reason))
        case ev.StopRequested(reason=reason):
            return Milestone("blocked", "stop", "stop requested", _said(by, reason))
        case ev.TaskBlocked(reason=reason):
            return Milestone("blocked", "blocked", "blocked", reason)
        case ev.TaskApproved(message=message):
            return Milestone("approval", "approval", "approved", _said(by, message))
        case ev.TaskRejected(message=message):
            return Milestone("failed", "failed", "rejected", _said(by, message))
        case ev.TaskRetried(reason=reason):
            return Milestone("ready", "retry", "retry", _said(by, reason))
        case ev.TaskCancelled(reason=reason):
            return Milestone("cancelled", "cancelled", "cancelled", _said(by, reason))
        case ev.ApprovalRequired(concerns=concerns, undoes=undoes):
            what = f"it {some_names(concerns)}" if concerns else f"it undoes {some_names(undoes)}"
            return Milestone("approval", "approval", "needs a person", what)
        case ev.ChangeRevised():
            return Milestone("landed", "edit", f"v{version} by hand", by)
        case ev.ChangeRebased():
            return Milestone("plain", "edit", f"v{version} rebased", "its own commits, on the new main")
        case _:
            return PLAIN


def _milestone_in_review(event: rv.ReviewEvent) -> Milestone:
    """Each round in a few steps; the rest is in the whole list."""
    match event:
        case rv.CheckEnded(name=name, passed=False, exit=exit_code):
            what = "acceptance" if name == ACCEPT else name
            return Milestone("failed", "test", f"{what} failed", f"exit {exit_code}" if exit_code is not None else "")
        case rv.ReviewGiven(by=by, objects=objects, summary=summary):
            verdict = "objects" if objects else "lets it pass"
            return Milestone("reviewing", "reviewing", f"{by} {verdict}", _one_line(summary))
        case rv.ReviewSentBack(round=number, findings=findings):
            return Milestone("reviewing", "retry", f"sent back, round {number}", some_names(findings))
        case rv.ReviewPassed(round=number):
            return Milestone("landed", "reviewing", "review passed", f"in round {number}")
        case rv.FindingRouted(id=name, to=to):
            return Milestone("reviewing", "link", f"{name} became {to}", "for whoever owns the path")
        case rv.FindingSettled(id=name, how=rv.Settlement.WAIVED, by=by, why=why):
            return Milestone("approval", "check", f"{name} waived", _said(f"by {by}", why))
        case _:
            return PLAIN


def _milestone_of_talk(
    record: ev.Record, event: ev.MessageSent | ev.MessagesDelivered | ev.AttemptHeld | ev.HoldEnded, by: str
) -> Milestone:
    match event:
        case ev.MessageSent(text=text):
            return Milestone("plain", "msg", "message", f"{by}: {_one_line(text)}")
        case ev.MessagesDelivered(messages=messages, evidence=evidence):
            names = some_names(tuple(map(message_name, messages)))
            return Milestone("running", "msg", f"{names} delivered", evidence)
        case ev.AttemptHeld():
            return Milestone("approval", "running", f"{record.attempt} held", by)
        case ev.HoldEnded(handback=handback, reason=reason):
            how = "handed back" if handback else "let go"
            return Milestone("running", "running", f"{record.attempt} {how}", reason or by)


def _milestone_of_end(record: ev.Record, ended: ev.AttemptEnded, version: int) -> Milestone:
    if ended.outcome is Outcome.NOOP:
        return Milestone("noop", "noop", "needs no change", ended.reason)
    if ended.outcome is Outcome.ANSWERED:
        return Milestone("done", "done", f"{record.attempt} answered", ended.reason)
    if ended.outcome in USEFUL and ended.head is not None:
        files = "1 file" if ended.files == 1 else f"{ended.files} files"
        return Milestone(
            "landed", "landed", f"delivered v{version}", f"+{ended.insertions} −{ended.deletions} in {files}"
        )
    state = "blocked" if ended.next is Step.BLOCK else "failed"
    return Milestone(state, state, f"{record.attempt} {ended.outcome.value.replace('_', ' ')}", ended.reason)


def _milestone_in_queue(record: ev.Record, line: StoryLine) -> Milestone:
    match record.event:
        case qe.ChangeQueued(change=change):
            who = f"approved by {change.approved_by}" if change.approved_by else "by policy"
            return Milestone("queued", "queued", "queued", who)
        case qe.RunEnded(result=result, run=run, note=note, reused=reused):
            if result is Result.PASS:
                return Milestone("landed", "test", f"{run} passed", f"known from {reused}" if reused else "")
            state = "cancelled" if result is Result.CANCELLED else "failed"
            return Milestone(state, "test", f"{run} {_RESULTS[result]}", note)
        case qe.TrainLanded(run=run, new=new):
            return Milestone("landed", "landed", "landed", f"{new[:10]}, tested by {run}")
        case qe.ChangeRejected(reason=reason):
            return Milestone("failed", "failed", "rejected by CI", reason)
        case qe.ChangeConflicted(paths=paths, against=against):
            return Milestone("blocked", "blocked", "conflicts", f"with {against or 'main'} in {some_names(paths)}")
        case qe.ChangeCancelled(reason=reason):
            return Milestone("cancelled", "cancelled", "left the queue", reason)
        case qe.WorkLost():
            return Milestone("failed", "failed", "lost from main", line.words)
        case _:
            return PLAIN


_RESULTS = {
    Result.FAIL: "failed",
    Result.TIMEOUT: "timed out",
    Result.INFRA: "could not be run",
    Result.CANCELLED: "was cancelled",
}


def _plainly(record: ev.Record, board: Board) -> str:
    """What the fleet's narration leaves out because it is told of one task among many."""
    if isinstance(record.event, rv.ReviewEvent):
        return tell_of_review(record.event, board, record.task).words
    match record.event:
        case ev.AttemptEnded() as ended:
            return describe_end(ended, followed=False)
        case ev.TaskEdited():
            return f"edited by {record.actor}"
        case ev.TurnStarted(turn=turn):
            return f"turn {turn} began"
        case ev.TurnEnded(turn=turn, steps=steps, problem=problem):
            done = f"turn {turn} ended after {steps} {'step' if steps == 1 else 'steps'}"
            return f"{done}: {problem}" if problem else done
        case ev.TaskApproved():
            return f"approved by {record.actor}"
        case ev.ChangeRevised() | ev.ChangeRebased():
            return f"changed to {record.event.head[:10]} by {record.actor}"
        case _:
            return ""


def _said(by: str, message: str) -> str:
    return f"{by}: {_one_line(message)}" if message else by


def _one_line(text: str) -> str:
    return " ".join(harmless(text[:2000]).split())

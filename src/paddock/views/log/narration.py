"""What a record of the log tells, in one line for people."""

from paddock.core import events as ev
from paddock.core.alerts import events as al
from paddock.core.board import Board
from paddock.core.causes import events as ce
from paddock.core.ids import TaskId, printable
from paddock.core.merge.model import Ending
from paddock.core.nodes.events import NodeEvent
from paddock.core.nodes.tenure import node_of
from paddock.core.review import events as rv
from paddock.core.schedules import events as se
from paddock.core.tasks.questions import answer_command
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.views.log.alerts import tell_of_alert
from paddock.views.log.causes import tell_of_cause
from paddock.views.log.nodes import tell_of_node
from paddock.views.log.reviews import tell_of_review
from paddock.views.log.schedules import tell_of_schedule
from paddock.views.queue import history


def describe(record: ev.Record, board: Board) -> str:
    """One line about a record worth showing, or nothing."""
    if isinstance(record.event, rv.ReviewGiven) and _only_reads(record, board):
        return ""
    if isinstance(record.event, rv.ReviewEvent):
        of_review = tell_of_review(record.event, board, record.task)
        return "" if of_review.minor else of_review.words
    if isinstance(record.event, al.AlertEvent):
        return tell_of_alert(record.event, board, printable(record.actor, 40))
    if isinstance(record.event, se.ScheduleEvent):
        return tell_of_schedule(record.event, printable(record.actor, 40))
    if isinstance(record.event, NodeEvent):
        return tell_of_node(record.event, printable(record.actor, 40))
    if isinstance(record.event, ce.CauseEvent):
        return tell_of_cause(record.event, board, record.attempt or "", printable(record.actor, 40))
    return "" if is_review_end(record, board) else _describe(record, board)


def is_review_end(record: ev.Record, board: Board) -> bool:
    """Of a review of a change that gave its verdict, which is told already."""
    answers = isinstance(record.event, ev.AttemptEnded) and record.event.outcome is Outcome.ANSWERED
    return answers and not _only_reads(record, board)


def _only_reads(record: ev.Record, board: Board) -> bool:
    return record.task is not None and board.tasks[record.task].role.only_reads


def _describe(record: ev.Record, board: Board) -> str:
    match record.event:
        case ev.LogLossAccepted(first=first, last=last, reason=reason):
            why = f": {printable(reason, 120)}" if reason else ""
            lost = (
                f"record {last:,}, which is lost" if first == last else f"records {first:,} to {last:,}, which are lost"
            )
            return f"continues without {lost}{why}"
        case ev.TaskAdded(title=title, forks=forks):
            return f"added: {printable(title, 80)}{f', forks {forks}' if forks is not None else ''}"
        case ev.AttemptStarted() as started:
            return _describe_start(started)
        case ev.TurnStarted(new_conversation=why) if why:
            return f"starts a new conversation: {printable(why, 160)}"
        case ev.AttemptEnded() as ended:
            return describe_end(ended, followed=_is_followed(record, board))
        case ev.StopRequested() | ev.TaskRetried():
            what = "stop" if isinstance(record.event, ev.StopRequested) else "retry"
            return f"{what} requested by {printable(record.actor, 40)}"
        case ev.RequestRefused(request=request):
            return f"asked for `{printable(request, 60)}`, which is not for agents: refused"
        case ev.QuestionAsked() | ev.QuestionWithdrawn() | ev.MessagesRead() | ev.NoopDeclared() as said:
            return _describe_words(said, record.task or TaskId(""))
        case ev.TaskCancelled():
            return "cancelled"
        case ev.TaskBlocked(reason=reason, unblock=unblock):
            return f"blocked: {printable(reason, 120)}; {unblock}"
        case ev.TaskApproved(message=message) if message:
            return f"approved by {printable(record.actor, 40)}{_quoted(message)}"
        case ev.TaskRejected(message=message):
            return f"rejected by {printable(record.actor, 40)}{_quoted(message)}"
        case ev.CommentDrafted() | ev.CommentDropped() | ev.CommentsSent() as comment:
            return _describe_comment(comment, printable(record.actor, 40))
        case ev.AttemptHeld() | ev.HoldEnded() | ev.MessageSent() | ev.MessagesDelivered() as talk:
            return _describe_talk(talk, printable(record.actor, 40))
        case ev.AnswerRefused() | ev.PlanProposed() | ev.PlanAccepted() | ev.PlanDropped():
            return _describe_answer(record, record.event)
        case ev.SettingsAdopted(keys=keys, later=later):
            now = f"paddock.toml: {', '.join(keys)} now in effect" if keys else "paddock.toml was edited"
            return f"{now}; {', '.join(later)} takes effect with the next daemon" if later else now
        case ev.SettingsInForce(digest=digest, changes=changes) if changes:
            return f"settings {digest[:8]} in force: {printable('; '.join(changes), 160)}"
        case ev.DaemonTroubled(what=what, problem=problem):
            return f"trouble {printable(what, 60)}: {printable(problem.removeprefix('PaddockError: '), 160)}"
        case _:
            line = history.tell(record, lambda run: _landed_with(board, run))
            return printable(line.words, 200) if line is not None and not line.minor else ""


def _describe_comment(event: ev.CommentDrafted | ev.CommentDropped | ev.CommentsSent, by: str) -> str:
    match event:
        case ev.CommentDrafted(path=path, line=line, text=text):
            return f"comment on {printable(path, 60)}:{line} noted by {by}{_quoted(text)}"
        case ev.CommentDropped():
            return f"a comment dropped by {by}"
        case ev.CommentsSent(comments=comments):
            return f"{_count(len(comments), 'comment')} sent by {by}"


def _describe_words(
    said: ev.QuestionAsked | ev.QuestionWithdrawn | ev.MessagesRead | ev.NoopDeclared, task: TaskId
) -> str:
    """What an agent says about its own task."""
    match said:
        case ev.QuestionAsked(text=text):
            return f"asks: {printable(' '.join(text.split()), 120)}; needs you: {answer_command(task)}"
        case ev.MessagesRead():
            return "was told the answer"
        case ev.QuestionWithdrawn():
            return "no longer waits for an answer"
        case ev.NoopDeclared(reason=reason):
            return f"says that nothing needs to change: {printable(reason, 120)}"


def _describe_talk(event: ev.AttemptHeld | ev.HoldEnded | ev.MessageSent | ev.MessagesDelivered, by: str) -> str:
    """What passes between people and an agent."""
    match event:
        case ev.AttemptHeld():
            return f"held by {by}"
        case ev.HoldEnded(handback=True):
            return f"handed back by {by}"
        case ev.HoldEnded(reason=reason):
            return f"let go{_quoted(reason)}" if reason else f"let go by {by}"
        case ev.MessageSent(text=text):
            return f"message queued: {printable(' '.join(text.split()), 80)}"
        case ev.MessagesDelivered(messages=messages):
            return f"{_count(len(messages), 'message')} delivered"


def _describe_start(started: ev.AttemptStarted) -> str:
    if started.visit:
        return f"opened for a person with {started.engine}"
    node = node_of(started.host_id)
    where = f" on {printable(node, 60)}" if node is not None else ""
    if started.continues is not None:
        return f"continues with {started.engine}{where} where {started.continues} ended"
    if not started.role.only_reads:
        return f"started with {started.engine}{where}"
    by = f" by {printable(started.agent, 40)}" if started.agent else ""
    return f"started a {started.role.value}{by} with {started.engine}{where}"


def _landed_with(board: Board, run: str) -> list[str]:
    return [old.id for old in board.queue.decided if old.outcome is Ending.LANDED and run in old.runs]


def _describe_answer(
    record: ev.Record, event: ev.AnswerRefused | ev.PlanProposed | ev.PlanAccepted | ev.PlanDropped
) -> str:
    """What came of the answer of an attempt that only reads."""
    match event:
        case ev.AnswerRefused(problem=problem):
            return f"asked again: {printable(' '.join(problem.split()), 160)}"
        case ev.PlanProposed():
            return f"has a plan: `paddock plan --show {record.task}`"
        case ev.PlanAccepted(tasks=tasks):
            return f"plan accepted by {printable(record.actor, 40)}: {_count(len(tasks), 'task')} added"
        case ev.PlanDropped(reason=reason):
            return f"plan dropped by {printable(record.actor, 40)}{_quoted(reason)}"


def _quoted(message: str) -> str:
    return f": {printable(' '.join(message.split()), 80)}" if message else ""


def describe_end(ended: ev.AttemptEnded, *, followed: bool) -> str:
    """`followed`: what was decided to come next does, because nobody has cancelled the task."""
    size = f" (+{ended.insertions} −{ended.deletions} in {_count(ended.files, 'file')})" if ended.files else ""
    following = {
        Step.RETRY: "; will be retried",
        Step.FAIL: "; no attempts left",
        Step.BLOCK: f"; needs you: {ended.unblock}",
    }
    reason = printable(ended.reason, 140)
    match ended.outcome:
        case Outcome.ASKED:
            told = f"ended its turn to wait for the answer{size}"
        case Outcome.LEFT:
            told = f"left as it was: {reason}"
        case _:
            told = f"{ended.outcome}: {reason}{size}"
    return f"{told}{following.get(ended.next, '') if followed else ''}"


def _is_followed(record: ev.Record, board: Board) -> bool:
    """Not if the task is cancelled; and who reviews a change next is decided by its review."""
    task = board.tasks.get(record.task) if record.task is not None else None
    if task is None:
        return True
    reviews = any(one.id == record.attempt and one.role is not task.role for one in task.attempts)
    return task.phase is not Phase.CANCELLED and not reviews


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"

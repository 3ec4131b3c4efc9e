"""What happens, in plain lines, for logs and pipes."""

import time

import click

from paddock.cli.terminal.text import cut, plural
from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import printable
from paddock.core.merge import events as qe
from paddock.core.tasks.vocabulary import Step


def narrate(record: ev.Record, board: Board) -> None:
    if line := tell(record, board):
        click.echo(line)


def tell(record: ev.Record, board: Board) -> str:
    """Time, subject and words of a record worth showing, or nothing. `board` has folded it already."""
    words = describe(record, board)
    at = time.strftime("%H:%M:%S", time.localtime(record.at))
    return f"{at}  {record.attempt or record.task or '':<7} {words}" if words else ""


def describe(record: ev.Record, board: Board) -> str:
    """One line about a record worth showing, or nothing."""
    match record.event:
        case ev.TaskAdded(title=title):
            return f"added: {cut(title, 80)}"
        case ev.AttemptStarted(engine=engine, continues=None):
            return f"started with {engine}"
        case ev.AttemptStarted(engine=engine, continues=continues):
            return f"continues with {engine} where {continues} ended"
        case ev.TurnStarted(new_conversation=why) if why:
            return f"starts a new conversation: {cut(why, 160)}"
        case ev.AttemptEnded() as ended:
            return describe_end(ended)
        case ev.StopRequested():
            return f"stop requested by {printable(record.actor, 40)}"
        case ev.TaskCancelled():
            return "cancelled"
        case ev.TaskBlocked(reason=reason, unblock=unblock):
            return f"blocked: {cut(reason, 120)}; {unblock}"
        case ev.TaskApproved(message=message) if message:
            return f"approved by {printable(record.actor, 40)}{_quoted(message)}"
        case ev.TaskRejected(message=message):
            return f"rejected by {printable(record.actor, 40)}{_quoted(message)}"
        case ev.TaskRetried():
            return f"retry requested by {printable(record.actor, 40)}"
        case ev.MessageSent(text=text):
            return f"message queued: {cut(' '.join(text.split()), 80)}"
        case ev.TurnStarted(messages=messages) if messages:
            return f"{plural(len(messages), 'message')} delivered"
        case ev.SettingsAdopted(keys=keys, later=later):
            now = f"paddock.toml: {', '.join(keys)} now in effect" if keys else "paddock.toml was edited"
            return f"{now}; {', '.join(later)} takes effect with the next daemon" if later else now
        case ev.DaemonTroubled(what=what, problem=problem):
            return f"trouble {cut(what, 60)}: {cut(problem.removeprefix('PaddockError: '), 160)}"
        case _:
            return _describe_queue(record.event, board)


def _quoted(message: str) -> str:
    return f": {cut(' '.join(message.split()), 80)}" if message else ""


def _describe_queue(event: ev.Event, board: Board) -> str:
    match event:
        case qe.ChangeQueued(change=change, note=note):
            return f"queued {change.id}: {cut(change.title, 60)}{f' ({cut(note, 80)})' if note else ''}"
        case qe.RunEnded(run=run, result=result, reused=None, note=note):
            return f"CI run {run}: {result.value}{': ' + cut(note, 80) if note else ''}"
        case qe.TrainLanded(run=run, new=new):
            names = ", ".join(old.id for old in board.queue.decided if old.commit == new) or run
            return f"landed {names}: main is now at {new[:10]}, tested by {run}"
        case qe.ChangeFoundEmpty(id=name):
            return f"{name}: main already has everything it changes"
        case qe.ChangeRejected(id=name, reason=reason):
            return f"rejected {name}: {cut(reason, 100)}"
        case qe.ChangeConflicted(id=name, paths=paths, against=against):
            return f"conflict: {name} with {against or 'what has landed'} in {cut(', '.join(paths), 80)}"
        case qe.WorkLost(ids=ids):
            return f"lost from main: {cut(', '.join(ids), 100)}; `paddock land` queues a task again"
        case qe.WorkFound(ids=ids):
            return f"in main again: {cut(', '.join(ids), 100)}"
        case qe.ChangeCancelled(id=name, reason=reason, fell_with=base) if base is not None:
            return f"removed {name} from the queue: {cut(reason, 120)}"
        case qe.QueueHalted(reason=reason):
            return f"merge queue halted: {cut(reason, 120)}"
        case _:
            return _describe_switch(event)


def _describe_switch(event: ev.Event) -> str:
    match event:
        case qe.QueueFrozen(reason=reason):
            return f"merge queue frozen: nothing lands{': ' + cut(reason, 100) if reason else ''}"
        case qe.QueueUnfrozen():
            return "merge queue unfrozen"
        case qe.QueuePaused(reason=reason):
            return f"merge queue paused: nothing is tested{': ' + cut(reason, 100) if reason else ''}"
        case qe.QueueDrained():
            return "merge queue draining: changes queued from now on wait"
        case qe.QueueResumed():
            return "merge queue resumed"
        case qe.RemoteLost(remote=remote, problem=problem):
            return f"cannot reach the remote `{printable(remote, 40)}`: {cut(problem, 120)}"
        case qe.RemoteReached(remote=remote):
            return f"the remote `{printable(remote, 40)}` answers again"
        case _:
            return ""


def describe_end(ended: ev.AttemptEnded) -> str:
    size = f" (+{ended.insertions} −{ended.deletions} in {plural(ended.files, 'file')})" if ended.files else ""
    following = {
        Step.RETRY: "; will be retried",
        Step.FAIL: "; no attempts left",
        Step.BLOCK: f"; needs you: {ended.unblock}",
    }
    return f"{ended.outcome}: {cut(ended.reason, 140)}{size}{following.get(ended.next, '')}"

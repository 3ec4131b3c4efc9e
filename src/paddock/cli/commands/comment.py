"""`paddock comment t3 src/x.py:41 "…"`: comments on lines, collected until they are sent together."""

import sys
from collections.abc import Sequence

import click

from paddock.cli.commands.land import names_head
from paddock.cli.options import prints_json
from paddock.cli.terminal.editor import write_words
from paddock.cli.terminal.text import cut, plural, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse
from paddock.core.events import MessageSent, TaskRejected
from paddock.core.ids import TaskId, harmless, parse_task
from paddock.core.intent.comments import LineComment
from paddock.core.intent.drafted_comments import DraftedComment, draft_comment, drop_comments, send_comments
from paddock.fleet.line_comments import comment_at, drafted_on, parse_place
from paddock.fleet.workspace import Workspace
from paddock.views.tasks.comments import view_comments


@click.command("comment")
@click.argument("task")
@click.argument("place", required=False, metavar="[FILE:LINE]")
@click.argument("text", required=False)
@click.option("--old", is_flag=True, help="The line is one of the file before the change.")
@click.option("--drop", "drops", multiple=True, type=int, metavar="N", help="Drop the comment with this number.")
@click.option("--send", is_flag=True, help="Send all of them to the task's agent, as one message.")
@click.option("--reject", is_flag=True, help="With --send: reject the change with them.")
@click.option("-m", "--message", default="", help="With --send: what to say before the comments.")
@names_head
@prints_json
@click.pass_context
def comment_command(
    ctx: click.Context,
    task: str,
    place: str | None,
    text: str | None,
    old: bool,
    drops: tuple[int, ...],
    send: bool,
    reject: bool,
    message: str,
    head: str | None,
    as_json: bool,
) -> None:
    """Comment on a line of TASK's change. Comments wait until you send them together.

    Without FILE:LINE it lists those that wait. Without TEXT your editor opens. Each comment keeps the line that it is
    about, and the version, so that none is lost if the agent delivers another one meanwhile.
    """
    workspace, name = open_workspace(ctx), parse_task(task)
    _check_words(place, drops, send, reject=reject, message=message, head=head)
    if place is not None:
        _draft(workspace, name, place, text, old=old, as_json=as_json)
    elif send:
        _send(workspace, name, message, head, reject=reject, as_json=as_json)
    else:
        if drops:
            workspace.record(lambda board: drop_comments(board, name, drops))
        _list(workspace, name, as_json=as_json)


def _check_words(
    place: str | None, drops: Sequence[int], send: bool, *, reject: bool, message: str, head: str | None
) -> None:
    if sum((place is not None, bool(drops), send)) > 1:
        raise Misuse("a new comment, --drop and --send cannot be used together", "use one after the other")
    if not send and (reject or message or head):
        raise Misuse("--reject, --message and --head are for comments that are sent", "add --send")


def _draft(workspace: Workspace, name: TaskId, place: str, text: str | None, *, old: bool, as_json: bool) -> None:
    parse_place(place)
    task = workspace.board().task(name)
    comment = comment_at(workspace.site, task, place, text if text is not None else "", old=old)
    if text is None:
        comment = comment_at(workspace.site, task, place, _written(comment), old=old)
    (record,) = workspace.record(lambda board: draft_comment(board, name, comment))
    number = len(workspace.board().task(name).comments)
    if as_json:
        print_document(task=name, number=number, seq=record.seq, head=comment.head)
        return
    click.echo(f"comment {number} on {name} at {cut(comment.path, 100)}:{comment.line}")
    if comment.quote:
        click.echo(f"  > {cut(comment.quote, 100)}")
    click.echo(f"send {'it' if number == 1 else f'all {number}'} with `paddock comment {name} --send`", err=True)


def _written(comment: LineComment) -> str:
    if not sys.stdin.isatty():
        raise Misuse("no comment was given", f'say it: `paddock comment … {comment.path}:{comment.line} "…"`')
    words = write_words(f"# {comment.path}:{comment.line}\n# > {comment.quote}\n")
    if not words:
        raise Misuse("the comment is empty: nothing was noted", None)
    return words


def _send(workspace: Workspace, name: TaskId, message: str, head: str | None, *, reject: bool, as_json: bool) -> None:
    drafted = drafted_on(workspace, name)
    records = workspace.record(
        lambda board: send_comments(board, name, drafted, message=message, rejects=reject, seen=head)
    )
    told = next(record for record in records if isinstance(record.event, MessageSent | TaskRejected))
    if as_json:
        print_document(ids=[name], comments=len(drafted), then="reject" if reject else "message", seq=told.seq)
        return
    what = plural(len(drafted), "comment")
    if reject:
        click.echo(f"rejected {name} with {what}; it will be tried again")
    else:
        click.echo(f"sent {what} to {name}; it is delivered as the next turn")


def _list(workspace: Workspace, name: TaskId, *, as_json: bool) -> None:
    task = workspace.board().task(name)
    drafted = drafted_on(workspace, name)
    if as_json:
        print_document(task=name, head=task.head, comments=view_comments(drafted, task.head))
        return
    for line in comment_lines(drafted, task.head):
        click.echo(line)
    if drafted:
        click.echo(f"`paddock comment {name} --send` sends them, `--drop N` drops one", err=True)
    else:
        click.echo(f"no comment on {name} is waiting to be sent", err=True)


def comment_lines(drafted: Sequence[DraftedComment], head: str | None) -> list[str]:
    lines = []
    for number, one in enumerate(drafted, 1):
        comment = one.comment
        side = " before the change" if comment.side == "old" else ""
        version = f" in {comment.head[:10]}, an earlier version" if comment.head != head else ""
        lines.append(f"{number}. {cut(comment.path, 100)}:{comment.line}{side}{version}  ({cut(one.by, 40)})")
        if comment.quote:
            lines.append(f"   > {cut(comment.quote, 100)}")
        lines += [f"   {cut(line, 200)}" for line in harmless(comment.text).split("\n")]
    return lines

"""`paddock land`, `approve`, `reject` and `resolve`: the human gate before main."""

from collections.abc import Sequence
from typing import Any

import click

from paddock.cli.options import prints_json
from paddock.cli.selection import Wanted, go_ahead, report, takes_tasks, wanted_tasks
from paddock.cli.terminal.text import cut, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse
from paddock.core.ids import TaskId, parse_task
from paddock.core.intent.landing import conflict_to_resolve, reject_task
from paddock.core.intent.queue import branches_gone, retry_changes
from paddock.core.intent.selection import Bulk, select_tasks
from paddock.core.merge.events import ChangeRetried
from paddock.core.merge.model import Change
from paddock.core.tasks.conversations import find_homes
from paddock.fleet.landing.approval import ApprovalRequest, Approved, approve
from paddock.fleet.landing.conflicts import open_to_resolve
from paddock.fleet.landing.entrance import (
    branch_head,
)
from paddock.fleet.workspace import Workspace

allows_undo = click.option("--undo", is_flag=True, help="It may take landed work back, as `paddock diff` shows.")
names_head = click.option(
    "--head",
    metavar="SHA",
    help="Only if its change is still at this commit; the first digits are enough. For one task.",
)


@click.command("land")
@takes_tasks
@click.option(
    "--branch", "branches", multiple=True, metavar="NAME", help="Land this branch; it may be one you wrote yourself."
)
@click.option("--after", "bases", multiple=True, metavar="CHANGE", help="Land it only after this queued change.")
@click.option("--repair", is_flag=True, help="This change fixes main: test it even though main is red.")
@allows_undo
@names_head
@click.pass_context
def land_command(
    ctx: click.Context,
    /,
    tasks: tuple[str, ...],
    branches: tuple[str, ...],
    bases: tuple[str, ...],
    repair: bool,
    undo: bool,
    head: str | None,
    **chosen: Any,
) -> None:
    """Approve TASKS and add them to the merge queue."""
    try:
        wanted = wanted_tasks(tasks, chosen, others=bool(branches))
    except Misuse:
        _hint_at_branch(open_workspace(ctx), tasks)
        raise
    queue_all(ctx, wanted, branches, repairs=repair, bases=bases, undo=undo, head=head)


def _hint_at_branch(workspace: Workspace, words: tuple[str, ...]) -> None:
    branch = next((word for word in words if workspace.repo.resolve(f"refs/heads/{word}") is not None), None)
    if branch is not None:
        shown = cut(branch, 60)
        raise Misuse(f"`{shown}` is a branch, not a task id", f"run `paddock land --branch {shown}`") from None


@click.command("approve")
@takes_tasks
@click.option("-m", "--message", default="", help="A note; kept in the log.")
@allows_undo
@names_head
@click.pass_context
def approve_command(
    ctx: click.Context, /, tasks: tuple[str, ...], message: str, undo: bool, head: str | None, **chosen: Any
) -> None:
    """Approve TASKS; they are queued and land when their tests pass."""
    queue_all(ctx, wanted_tasks(tasks, chosen), (), message=message, undo=undo, head=head)


def queue_all(
    ctx: click.Context,
    wanted: Wanted,
    branches: tuple[str, ...],
    *,
    message: str = "",
    repairs: bool = False,
    bases: tuple[str, ...] = (),
    undo: bool = False,
    head: str | None = None,
) -> None:
    """Queues what can be queued, and reports the rest one by one."""
    workspace = open_workspace(ctx)
    board = workspace.board()
    names = select_tasks(board, wanted.tasks, Bulk.LAND)
    expected = _expected(names, branches, head)
    if wanted.dry_run:
        _look_at_branches(workspace, branches)
    if not go_ahead(board, wanted, names, ctx.info_name or "land", branches=branches):
        return
    done = approve(workspace, ApprovalRequest(names, branches, message, repairs, bases, undo, expected))
    report(ctx, wanted, "\n".join(queued_lines(done)), {"queued": queued_rows(done)}, done.refused)


def _expected(names: Sequence[TaskId], branches: Sequence[str], head: str | None) -> dict[TaskId, str]:
    if head is None:
        return {}
    if len(names) != 1 or branches:
        raise Misuse("--head needs exactly one task", "name it: `paddock approve t3 --head 1a2b3c4`")
    return {names[0]: head}


def _look_at_branches(workspace: Workspace, branches: tuple[str, ...]) -> None:
    """Raises PaddockError for the first one that cannot be queued."""
    for branch in branches:
        branch_head(workspace.site, branch)


def queued_lines(done: Approved) -> list[str]:
    lines = [_queued_line(change, done.waits_on.get(change.id, ())) for change in done.changes]
    if lines and not done.is_up:
        lines += ["", "no daemon is running: `paddock up` or `paddock run` tests and lands what is queued"]
    return lines


def queued_rows(done: Approved) -> list[dict[str, object]]:
    return [
        {
            "id": one.id,
            "version": one.version,
            "head": one.head,
            "waits_on": done.waits_on.get(one.id, ()),
            "concerns": one.concerns,
            "undoes": one.undoes,
        }
        for one in done.changes
    ]


def _queued_line(change: Change, waits_on: Sequence[str]) -> str:
    after = f"  after {', '.join(waits_on)}" if waits_on else ""
    known = [f"\n  it {words}" for words in (*change.concerns, *(f"undoes {one}" for one in change.undoes))]
    return f"queued {change.id} at {change.head[:10]}  {cut(change.title, 100)}{after}{''.join(known)}"


def retry_branches(
    ctx: click.Context, workspace: Workspace, words: tuple[str, ...], message: str, wanted: Wanted
) -> None:
    """Queued branches are tested again; those that left the queue are queued again at their current head."""
    board = workspace.board()
    if not go_ahead(board, wanted, [], "retry", branches=words):
        return
    left = branches_gone(board, words)
    records = workspace.record(lambda board: retry_changes(board, words, workspace.author.name))
    names = [record.event.id for record in records if isinstance(record.event, ChangeRetried)]
    if names and not wanted.as_json:
        click.echo(f"will test {', '.join(names)} again")
    elif names and not left:
        waiting = [board.queue.entries[name].change for name in names if name in board.queue.entries]
        rows = [{"id": one.id, "version": one.version, "head": one.head} for one in waiting]
        print_document(queued=rows)
    if left:
        queue_all(ctx, wanted, left, message=message)


@click.command("reject")
@click.argument("task")
@click.option("-m", "--message", default="", help="What to tell the agent; without it a new attempt starts.")
@names_head
@prints_json
@click.pass_context
def reject_command(ctx: click.Context, task: str, message: str, head: str | None, as_json: bool) -> None:
    """Reject TASK's change; its agent tries again with your message."""
    workspace = open_workspace(ctx)
    name = parse_task(task)
    workspace.record(lambda board: reject_task(board, name, message, head))
    if as_json:
        print_document(ids=[name])
    else:
        click.echo(f"rejected {name}; it will be tried again")


@click.command("resolve")
@click.argument("change")
@prints_json
@click.pass_context
def resolve_command(ctx: click.Context, change: str, as_json: bool) -> None:
    """Resolve the conflicts of CHANGE (a task or a branch) by hand, in a worktree that merges main into its branch."""
    workspace = open_workspace(ctx)
    site, board = workspace.site, workspace.board()
    found = conflict_to_resolve(board, change)
    path, conflicts = open_to_resolve(site, found, find_homes(board))
    if as_json:
        print_document(worktree=path, conflicts=conflicts)
        return
    click.echo(path)
    listed = cut(", ".join(conflicts), 1000) or "none"
    click.echo(f"merging {site.config.landing_branch} into {found.branch}; conflicts: {listed}", err=True)
    click.echo(f"resolve, `git commit`, then `{found.then}`", err=True)

"""`paddock land`, `approve`, `reject` and `resolve`: the human gate before main."""

from typing import Any

import click
from msgspec.structs import replace

from paddock.cli.lostwork import record_lost_work
from paddock.cli.run import open_site
from paddock.cli.selection import Refused, Wanted, choose, go_ahead, report, takes_tasks, wanted_tasks
from paddock.cli.text import SCHEMA, cut, print_json
from paddock.cli.workspace import author, open_workspace
from paddock.core.conversations import Homes, find_homes
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, TaskRejected
from paddock.core.ids import TaskId, parse_task, recordable
from paddock.core.merge.model import Change
from paddock.core.task import Phase
from paddock.fleet.queueing import hold_branch, hold_task, landable_head, main_ref, queue_change
from paddock.fleet.site import Site
from paddock.git.release import release
from paddock.git.slots import RESOLVE_SUFFIX
from paddock.git.worktrees import Order, prepare


@click.command("land")
@takes_tasks
@click.option("--branch", "branches", multiple=True, metavar="NAME", help="Any branch, also one you wrote yourself.")
@click.option("--repair", is_flag=True, help="It fixes main: test it although main itself is red.")
@click.pass_context
def land_command(
    ctx: click.Context, /, tasks: tuple[str, ...], branches: tuple[str, ...], repair: bool, **chosen: Any
) -> None:
    """Approve TASKS and put them into the merge queue."""
    queue_all(ctx, wanted_tasks(tasks, chosen, others=bool(branches)), branches, repairs=repair)


@click.command("approve")
@takes_tasks
@click.option("-m", "--message", default="", help="Kept in the log.")
@click.pass_context
def approve_command(ctx: click.Context, /, tasks: tuple[str, ...], message: str, **chosen: Any) -> None:
    """Approve TASKS; they are queued and land when their tests pass."""
    queue_all(ctx, wanted_tasks(tasks, chosen), (), message=message)


def queue_all(
    ctx: click.Context, wanted: Wanted, branches: tuple[str, ...], *, message: str = "", repairs: bool = False
) -> None:
    """Those that cannot be queued are told one by one; the others are queued."""
    workspace = open_workspace(ctx)
    board = workspace.board()
    names = choose(board, wanted, lambda task: task.phase is Phase.APPROVAL)
    if not branches and not go_ahead(board, wanted, names, "land"):
        return
    store = workspace.write()
    site = open_site(workspace, store)
    who = author()
    record_lost_work(workspace, store, names)
    changes: list[Change] = []
    refused: list[Refused] = []
    for name in names:
        board = store.board()
        try:
            task = board.task(name)
            changes.append(hold_task(site, board, task, landable_head(site, board, task)))
        except PaddockError as error:
            if len(names) == 1:
                raise
            refused.append(Refused(name, error))
    for branch in branches:
        changes.append(hold_branch(site, store.board(), branch, who.name))
    changes = [replace(change, repairs=repairs) for change in changes]
    approved = f"{who.name}: {message}" if message else who.name
    for change in changes:
        store.append(lambda board, change=change: queue_change(board, change, approved), who)  # type: ignore[misc]
        if change.task:
            release(site.root, f"{change.task}.resolve", "its conflict was resolved")
    daemon = store.board().leases.held.get("daemon")
    store.close()
    rows = [{"id": change.id, "version": change.version, "head": change.head} for change in changes]
    lines = [f"queued {change.id} at {change.head[:10]}  {cut(change.title, 100)}" for change in changes]
    if daemon is None and lines:
        lines += ["", "no daemon is running: `paddock up` or `paddock run` tests and lands what is queued"]
    report(ctx, wanted, "\n".join(lines), {"queued": rows}, refused)


@click.command("reject")
@click.argument("task")
@click.option("-m", "--message", default="", help="What the agent is told; without it a fresh attempt is made.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def reject_command(ctx: click.Context, task: str, message: str, as_json: bool) -> None:
    """Turn TASK's change down and have it done again, with what you say."""
    workspace = open_workspace(ctx)
    name = parse_task(task)
    found = workspace.board().task(name)
    if found.phase is Phase.QUEUED:
        raise PaddockError(
            f"task `{name}` is in the merge queue", f"`paddock queue cancel {name}` takes it out, then reject it"
        )
    if found.phase is not Phase.APPROVAL or found.head is None:
        raise PaddockError(f"task `{name}` is {found.phase}: there is nothing to reject", f"see `paddock show {name}`")
    event = TaskRejected(found.head, message)
    workspace.record(lambda _board: [Draft(event, task=name)])
    if as_json:
        print_json({"schema": SCHEMA, "ids": [name]})
    else:
        click.echo(f"rejected {name}; it will be tried again")


@click.command("resolve")
@click.argument("task")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def resolve_command(ctx: click.Context, task: str, as_json: bool) -> None:
    """Open a worktree on TASK's branch with main being merged into it, for you to resolve."""
    workspace = open_workspace(ctx)
    store = workspace.read()
    board = store.board()
    site, found = open_site(workspace, store), board.task(parse_task(task))
    store.close()
    if found.phase is not Phase.BLOCKED or found.head is None or found.branch is None:
        raise PaddockError(
            f"task `{found.id}` is {found.phase}: there is no conflict to resolve", f"see `paddock show {found.id}`"
        )
    path, conflicts = open_conflict(site, found.id, found.branch, found.head, find_homes(board))
    if as_json:
        print_json({"schema": SCHEMA, "worktree": path, "conflicts": conflicts})
        return
    click.echo(path)
    listed = cut(", ".join(conflicts), 1000) or "none"
    click.echo(f"merging {site.config.landing_branch} into {found.branch}; conflicts: {listed}", err=True)
    click.echo(f"resolve, `git commit`, then `paddock land {found.id}`", err=True)


def open_conflict(site: Site, task: TaskId, branch: str, head: str, homes: Homes) -> tuple[str, list[str]]:
    """The worktree and what conflicts in it. Opening it again finds the same one."""
    from paddock.git.command import run_git

    tip = site.repo.resolve(f"refs/heads/{branch}") or head
    prepared = prepare(site.root, Order(f"{task}{RESOLVE_SUFFIX}", branch, tip, homes=homes))
    path = prepared.worktree.path
    merging = run_git(path, "rev-parse", "--verify", "--quiet", "MERGE_HEAD", check=False).ok
    if not merging:
        run_git(path, "merge", "--no-edit", site.repo.resolve(main_ref(site)) or "HEAD", check=False)
    conflicts = run_git(path, "diff", "--name-only", "--diff-filter=U", "-z").records
    return str(path), [recordable(name) for name in conflicts]

"""`paddock gc`: worktrees that are no longer needed."""

import click

from paddock.cli.text import cut, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.events import Draft, WorktreeRemoved
from paddock.core.ids import resolve_folder
from paddock.core.merge.model import Ending
from paddock.core.tasks.conversations import find_homes
from paddock.core.tasks.task import Phase
from paddock.git.worktrees.gc import GcItem, apply_gc, plan_gc


@click.command("gc")
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@click.option(
    "--force",
    is_flag=True,
    help="Also remove what was kept because it could not be saved, and folders that agents may return to.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def gc_command(ctx: click.Context, dry_run: bool, force: bool, as_json: bool) -> None:
    """Remove the worktrees of ended attempts and what crashes left behind.

    Before anything is removed, a ref keeps its commits, and uncommitted files are committed.
    """
    workspace = open_workspace(ctx)
    site, board = workspace.site, workspace.board()
    live: set[str] = {attempt.id for name in board.live if (attempt := board.tasks[name].live_attempt) is not None}
    # In these a person may be at work on a conflict.
    live |= {resolve_folder(task.id) for task in board.open_tasks() if task.phase is Phase.BLOCKED}
    live |= {resolve_folder(old.id) for old in board.queue.decided if old.branch and old.outcome is Ending.CONFLICTED}
    plan = plan_gc(site.root, live, workspace.config.worktrees.pool, force=force, homes=find_homes(board))
    if dry_run:
        _print(plan.items, "would free", sum(item.size_bytes for item in plan.items), as_json=as_json)
        return
    report = apply_gc(site.root, plan)
    if report.removed:
        events = [Draft(WorktreeRemoved(str(item.path), item.size_bytes)) for item in report.removed]
        workspace.record(lambda _board: events)
    _print(report.removed, "freed", report.freed_bytes, as_json=as_json)
    for item, why in report.spared:
        click.echo(f"kept {item.path}: {cut(why, 300)}", err=True)
    for ref in report.rescued:
        click.echo(f"saved in {ref}", err=True)


def _print(items: tuple[GcItem, ...], verb: str, size: int, *, as_json: bool) -> None:
    if as_json:
        rows = [{"path": str(item.path), "what": item.waste.value, "bytes": item.size_bytes} for item in items]
        print_document(items=rows, bytes=size)
        return
    for item in items:
        click.echo(
            f"{item.waste.value:<12} {item.size_bytes / 1024:>10,.0f} KB  {item.path}  {cut(item.note, 200)}".rstrip()
        )
    click.echo(f"{verb} {size / 1024:,.0f} KB" if items else "nothing to remove")

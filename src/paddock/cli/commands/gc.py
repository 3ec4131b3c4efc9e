"""`paddock gc`: worktrees that are no longer needed."""

from collections.abc import Sequence

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import cut, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.events import Draft, WorktreeRemoved
from paddock.core.tasks.conversations import find_homes
from paddock.core.upkeep.findings import Leftover
from paddock.core.upkeep.judge import collect, live_owners
from paddock.fleet.upkeep.janitor import measured, sweep
from paddock.git.worktrees.upkeep import look_at_worktrees
from paddock.views.fleet.upkeep import view_removed


@click.command("gc")
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@click.option(
    "--force",
    is_flag=True,
    help="Also remove what was kept because it could not be saved, and folders that agents may return to.",
)
@prints_json
@click.pass_context
def gc_command(ctx: click.Context, dry_run: bool, force: bool, as_json: bool) -> None:
    """Remove the worktrees of ended attempts and what crashes left behind.

    Before anything is removed, a ref keeps its commits, and uncommitted files are committed.
    """
    workspace = open_workspace(ctx)
    site = workspace.site
    seen = look_at_worktrees(site.root)
    board = workspace.board()
    pool = workspace.config.worktrees.pool
    found = collect(seen, live_owners(board), pool, find_homes(board), force=force)
    found = [measured(site, one) for one in found]
    if dry_run:
        _print(found, "would free", as_json=as_json)
        return
    dealt = sweep(site, found)
    removed = [one.leftover for one in dealt if not one.left]
    if removed:
        events = [Draft(WorktreeRemoved(one.name, one.size_bytes)) for one in removed]
        workspace.record(lambda _board: events)
    _print(removed, "freed", as_json=as_json)
    for one in dealt:
        if one.left:
            click.echo(f"kept {one.leftover.name}: {cut(one.left, 300)}", err=True)
    for ref in (ref for one in dealt for ref in one.refs):
        click.echo(f"saved in {ref}", err=True)


def _print(found: Sequence[Leftover], verb: str, *, as_json: bool) -> None:
    size = sum(one.size_bytes for one in found)
    if as_json:
        print_document(items=[view_removed(one) for one in found], bytes=size)
        return
    for one in found:
        words = f"{one.what.name.lower():<12} {one.size_bytes / 1024:>10,.0f} KB  {one.name}  {cut(one.evidence, 200)}"
        click.echo(words.rstrip())
    click.echo(f"{verb} {size / 1024:,.0f} KB" if found else "nothing to remove")

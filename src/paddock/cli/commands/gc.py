"""`paddock gc`: worktrees that are no longer needed."""

from collections.abc import Sequence

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import cut, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.upkeep.findings import Leftover
from paddock.fleet.upkeep.collection import collect_worktrees
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
    cleared = collect_worktrees(open_workspace(ctx), force=force, dry_run=dry_run)
    _print(cleared.removed, "would free" if dry_run else "freed", as_json=as_json)
    for one in cleared.kept:
        click.echo(f"kept {one.leftover.name}: {cut(one.left, 300)}", err=True)
    for ref in cleared.saved:
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

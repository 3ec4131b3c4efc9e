"""`paddock janitor`: sweeps what no longer belongs to anything."""

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import cut, print_document
from paddock.cli.workspace import open_workspace
from paddock.fleet.upkeep.collection import sweep_leftovers
from paddock.views.fleet.upkeep import view_cleared


@click.command("janitor")
@click.option("--dry-run", is_flag=True, help="Show what would be swept, and change nothing.")
@prints_json
@click.pass_context
def janitor_command(ctx: click.Context, dry_run: bool, as_json: bool) -> None:
    """Sweep expired leases, orphaned processes, leftover worktrees and sandboxes, and old transcripts.

    The daemon does this on its own from time to time. Anything that cannot be identified is reported and left alone.
    """
    cleared = sweep_leftovers(open_workspace(ctx), dry_run=dry_run)
    swept, left = view_cleared(cleared)
    if as_json:
        print_document(dry_run=dry_run, swept=swept, left=left)
        return
    verb = "would sweep" if dry_run else "swept"
    for row in swept:
        click.echo(f"{verb} {row.what}: {cut(row.name, 200)}  {cut(row.evidence, 120)}")
    for row in left:
        click.echo(f"left alone: {cut(row.name, 200)}  {cut(row.evidence, 300)}")
    if not cleared.found:
        click.echo("nothing to sweep")

"""`paddock janitor`: sweeps what no longer belongs to anything."""

import time

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import cut, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.upkeep.judge import judge
from paddock.fleet.upkeep.janitor import Dealt, allowed, drafts, look, sweep
from paddock.views.fleet.upkeep import view_leftover


@click.command("janitor")
@click.option("--dry-run", is_flag=True, help="Show what would be swept, and change nothing.")
@prints_json
@click.pass_context
def janitor_command(ctx: click.Context, dry_run: bool, as_json: bool) -> None:
    """Sweep expired leases, orphaned processes, leftover worktrees and sandboxes, and old transcripts.

    The daemon does this on its own from time to time. Anything that cannot be identified is reported and left alone.
    """
    workspace = open_workspace(ctx)
    store = workspace.read() if dry_run else workspace.write()
    site = workspace.site
    seen = look(site)
    found = judge(store.board(), seen, allowed(site.config), time.time())
    dealt = [Dealt(one) for one in found if one.remedy is not None] if dry_run else sweep(site, found)
    if not dry_run:
        now = time.time()
        store.append(lambda fresh: drafts(fresh, dealt, now), workspace.author)
    store.close()
    swept = [view_leftover(one.leftover) for one in dealt if not one.left]
    left = [view_leftover(one) for one in found if one.remedy is None]
    left += [view_leftover(one.leftover, one.left) for one in dealt if one.left]
    if as_json:
        print_document(dry_run=dry_run, swept=swept, left=left)
        return
    verb = "would sweep" if dry_run else "swept"
    for row in swept:
        click.echo(f"{verb} {row.what}: {cut(row.name, 200)}  {cut(row.evidence, 120)}")
    for row in left:
        click.echo(f"left alone: {cut(row.name, 200)}  {cut(row.evidence, 300)}")
    if not found:
        click.echo("nothing to sweep")

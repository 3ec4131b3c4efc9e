"""`paddock janitor`: sweeps what no longer belongs to anything."""

import time

import click

from paddock.cli.text import cut, print_document
from paddock.cli.workspace import open_workspace
from paddock.fleet.upkeep.janitor import Found, What, judge, lease_drafts, look, note_drafts, sweep
from paddock.fleet.workspace import author


@click.command("janitor")
@click.option("--dry-run", is_flag=True, help="Show what would be swept, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def janitor_command(ctx: click.Context, dry_run: bool, as_json: bool) -> None:
    """Sweep expired leases, orphaned processes, leftover worktrees and sandboxes, and old transcripts.

    The daemon does this on its own from time to time. Anything that cannot be identified is reported and left alone.
    """
    workspace = open_workspace(ctx)
    store = workspace.read() if dry_run else workspace.write()
    site = workspace.site
    seen = look(site)
    found = judge(site.config, store.board(), seen, time.time())
    done = [item for item in found if item.what is not What.UNKNOWN]
    if not dry_run:
        leases = [item for item in found if item.what is What.LEASE]
        swept = sweep(site, found)
        done = [*leases, *swept]
        now = time.time()
        store.append(lambda fresh: [*lease_drafts(fresh, now), *note_drafts(swept)], author())
    store.close()
    left = [item for item in found if item not in done]
    if as_json:
        print_document(dry_run=dry_run, swept=[_row(i) for i in done], left=[_row(i) for i in left])
        return
    verb = "would sweep" if dry_run else "swept"
    for item in done:
        click.echo(f"{verb} {item.what.value}: {cut(item.name, 200)}  {cut(item.evidence, 120)}")
    for item in left:
        click.echo(f"left alone: {cut(item.name, 200)}  {cut(item.evidence, 120)}")
    if not found:
        click.echo("nothing to sweep")


def _row(item: Found) -> dict[str, object]:
    return {"what": item.what.value, "name": item.name, "evidence": item.evidence, "bytes": item.size_bytes}

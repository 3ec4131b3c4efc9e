"""`paddock sync`: bring checkouts of main up to date with it."""

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import plural, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.ids import printable
from paddock.fleet.landing.checkouts import sync_checkouts, why_none
from paddock.fleet.workspace import Workspace
from paddock.git.usertree.stash import StashReport
from paddock.git.usertree.update import IN_THE_WAY, LeftAlone
from paddock.views.checkouts import view_synced

FILES_SHOWN = 8


@click.command("sync")
@click.option("--stash", is_flag=True, help="Stash edits that are in the way, and reapply them afterwards.")
@prints_json
@click.pass_context
def sync_command(ctx: click.Context, stash: bool, as_json: bool) -> None:
    """Bring every working tree that has main checked out up to date with what has landed.

    Only files that are exactly as the older main had them are written. If your own edits are in the way,
    nothing is touched unless you pass --stash. Exits 1 if a checkout still shows an older main.
    """
    workspace = open_workspace(ctx)
    reports = sync_checkouts(workspace, stash=stash)
    if as_json:
        print_document(checkouts=[view_synced(report) for report in reports])
    else:
        for report in reports:
            _tell(workspace, report)
        if not reports:
            click.echo(why_none(workspace))
    ctx.exit(int(any(not found.report.is_current for found in reports)))


def _tell(workspace: Workspace, found: StashReport) -> None:
    report, branch = found.report, workspace.config.landing_branch
    where = printable(str(report.tree.path))
    if isinstance(report.result, LeftAlone):
        _complain(where, branch, report.at, report.result)
        return
    wrote = f"; wrote {plural(report.result.wrote, 'file')}" if report.result.wrote else ""
    click.echo(f"{where} shows {branch} ({report.main[:10]}){wrote}")
    if found.commit is None:
        return
    if found.applied:
        click.echo("your edits were stashed and reapplied")
    else:
        click.echo("your edits do not merge with what has landed: they are in the stash; `git stash pop` merges them")


def _complain(where: str, branch: str, at: str, left: LeftAlone) -> None:
    click.echo(f"{where} still shows an older {branch} ({at[:10]}): {left.reason}", err=True)
    for name in left.files[:FILES_SHOWN]:
        click.echo(f"  {printable(name, 200)}", err=True)
    if len(left.files) > FILES_SHOWN:
        click.echo(f"  and {len(left.files) - FILES_SHOWN:,} more", err=True)
    if left.reason == IN_THE_WAY:
        click.echo("\nhint: `paddock sync --stash` stashes these edits and reapplies them", err=True)

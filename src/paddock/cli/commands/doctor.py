"""`paddock doctor`: what is wrong here, and how to fix it."""

import click

from paddock.cli.checks import examine_ci
from paddock.cli.options import prints_json
from paddock.cli.terminal.text import cut, paint, print_document
from paddock.cli.workspace import open_workspace
from paddock.fleet.service.checkup import Health, NoticeWords, examine
from paddock.views.notices import checkout_notices, lock_notices

_COLOURS = {Health.OK: "green", Health.WARNING: "yellow", Health.PROBLEM: "red"}


@click.command("doctor")
@click.option("--ci", is_flag=True, help="Also run CI once on main, in a sandbox, for at most `[land] timeout`.")
@prints_json
@click.pass_context
def doctor_command(ctx: click.Context, ci: bool, as_json: bool) -> None:
    """Check git, disk, clock, engines and the log. Exits 1 if something must be fixed."""
    workspace = open_workspace(ctx)
    findings = list(examine(workspace, NoticeWords(lock_notices, checkout_notices)))
    findings += list(examine_ci(workspace)) if ci else []
    bad = any(finding.verdict is Health.PROBLEM for finding in findings)
    if as_json:
        print_document(ok=not bad, findings=findings)
        ctx.exit(1 if bad else 0)
    for finding in findings:
        word = paint(f"{finding.verdict.value:<8}", _COLOURS[finding.verdict])
        click.echo(f"{word} {finding.what:<12} {finding.detail}")
        if finding.fix:
            click.echo(f"{'':<21} {paint('fix: ' + finding.fix, dim=True)}")
        for line in finding.output:
            click.echo(f"{'':<21} {cut(line, 200)}")
    ctx.exit(1 if bad else 0)

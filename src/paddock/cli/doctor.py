"""`paddock doctor`: what is wrong here, and what mends it."""

import click

from paddock.cli.checks import Verdict, examine
from paddock.cli.text import SCHEMA, paint, print_json
from paddock.cli.workspace import open_workspace

_COLOURS = {Verdict.OK: "green", Verdict.WARNING: "yellow", Verdict.PROBLEM: "red"}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def doctor_command(ctx: click.Context, as_json: bool) -> None:
    """Look at git, disk, clock, engines and the log; exit 1 if something must be mended."""
    findings = list(examine(open_workspace(ctx)))
    bad = any(finding.verdict is Verdict.PROBLEM for finding in findings)
    if as_json:
        rows = [{"what": f.what, "verdict": f.verdict, "detail": f.detail, "mend": f.mend} for f in findings]
        print_json({"schema": SCHEMA, "ok": not bad, "findings": rows})
        ctx.exit(1 if bad else 0)
    for finding in findings:
        word = paint(f"{finding.verdict.value:<8}", _COLOURS[finding.verdict])
        click.echo(f"{word} {finding.what:<12} {finding.detail}")
        if finding.mend:
            click.echo(f"{'':<21} {paint('mend: ' + finding.mend, dim=True)}")
    ctx.exit(1 if bad else 0)

"""`paddock revert t3`: takes a landed change back, by way of the merge queue."""

import click

from paddock.cli.commands.land import queued_lines, queued_rows
from paddock.cli.options import prints_json
from paddock.cli.terminal.text import print_document
from paddock.cli.workspace import open_workspace
from paddock.fleet.landing.reverts import revert


@click.command("revert")
@click.argument("change")
@click.option("-m", "--message", default="", help="Why; in the commit's message and in the log.")
@click.option("--repair", is_flag=True, help="This fixes main: test it even though main is red.")
@prints_json
@click.pass_context
def revert_command(ctx: click.Context, change: str, message: str, repair: bool, as_json: bool) -> None:
    """Queue the reverse of CHANGE (a task or a branch), which has landed.

    It is a commit on top of main, on a branch of its own, approved by you and tested like any other change. The
    reviewers who passed CHANGE are known to have missed something; findings that were waived or refuted count as true.
    """
    workspace = open_workspace(ctx)
    done = revert(workspace, change, message, repairs=repair)
    if as_json:
        told = {"reverts": done.of, "branch": done.branch, "missed": done.missed, "confirmed": done.confirmed}
        print_document(**told, queued=queued_rows(done.approved))
        return
    first, *rest = queued_lines(done.approved)
    click.echo(first)
    if done.missed:
        click.echo(f"  passed by {', '.join(done.missed)}: noted as missed")
    if done.confirmed:
        click.echo(f"  findings that turn out to be true: {', '.join(done.confirmed)}")
    if rest:
        click.echo("\n".join(rest))

"""`paddock failures settle`: a person says which class of cause it is."""

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import print_document
from paddock.cli.workspace import open_workspace


@click.command("settle", short_help="Say which class a cause has.")
@click.argument("name", metavar="CAUSE")
@click.argument("word", metavar="CLASS")
@click.option("-m", "--reason", default="", help="How you know; kept in the log.")
@prints_json
@click.pass_context
def settle_command(ctx: click.Context, name: str, word: str, reason: str, as_json: bool) -> None:
    """Say which class a cause has: whatever is diagnosed of it later stays that, until it is cleared.

    A CLASS is never-ran, rate-limit, overload, contention, saturation, network, dependency, task or model. What
    Paddock does about causes of that class is done about this one from now on.
    """
    from paddock.core.intent.causes import settle_cause, standing_cause

    workspace = open_workspace(ctx)
    workspace.record(lambda board: settle_cause(board, name, word, reason, workspace.person))
    cause = standing_cause(workspace.board(), name)
    if as_json:
        print_document(id=cause.id, cause=cause.cause.value)
        return
    click.echo(f"{cause.id} is settled: {cause.cause.value}")

"""`paddock traces list`: the runs that are in the dataset."""

import click

from paddock.cli.options import prints_json
from paddock.cli.workspace import open_workspace


@click.command("list")
@prints_json
@click.pass_context
def list_command(ctx: click.Context, as_json: bool) -> None:
    """List runs, the latest last."""
    open_workspace(ctx)

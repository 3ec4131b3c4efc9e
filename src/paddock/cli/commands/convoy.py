"""`paddock convoy list|show`."""

import time

import click

from paddock.cli.options import prints_json
from paddock.cli.pages.overview import Surroundings, render_convoy
from paddock.cli.terminal.text import cut, paint, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.intent.selection import require_convoy
from paddock.fleet.outlook import Outlook
from paddock.fleet.service.presence import look_for_daemon


@click.group("convoy")
def convoy_command() -> None:
    """Show convoys: named groups of tasks with dependencies between them."""


@convoy_command.command("list")
@prints_json
@click.pass_context
def list_command(ctx: click.Context, as_json: bool) -> None:
    """List the convoys and the progress of each."""
    from paddock.views.tasks.task import view_convoy

    board = open_workspace(ctx).board()
    convoys = [view_convoy(board, name) for name in board.convoys]
    if as_json:
        print_document(convoys=convoys)
        return
    if not convoys:
        click.echo("no convoys yet; `paddock add --file tasks.yaml` adds one")
    for convoy in convoys:
        counts = ", ".join(f"{count} {phase}" for phase, count in convoy.counts.items())
        name = paint(f"{convoy.name:<24}", bold=True)
        click.echo(f"{name} {convoy.done}/{convoy.total} done  {counts}  {cut(convoy.title, 60)}".rstrip())


@convoy_command.command("show")
@click.argument("name")
@prints_json
@click.pass_context
def show_convoy_command(ctx: click.Context, name: str, as_json: bool) -> None:
    """Show the tasks of convoy NAME as a tree."""
    from paddock.views.tasks.task import view_convoy, view_task

    workspace = open_workspace(ctx)
    board = workspace.board()
    require_convoy(board, name)
    if as_json:
        tasks = [view_task(board.tasks[task], board) for task in board.members[name]]
        print_document(convoy=view_convoy(board, name), tasks=tasks)
        return
    now = time.time()
    seen = Surroundings(workspace, board, Outlook(now, look_for_daemon(board, now)))
    click.echo("\n".join(render_convoy(seen, name)))

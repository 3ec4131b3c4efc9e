"""`paddock results t3|CONVOY`: reports, findings and plans, and what was changed."""

import sys

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import badge, cut, paint, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.ids import harmless, is_task, parse_task
from paddock.core.intent.selection import require_convoy
from paddock.core.tasks.task import Phase
from paddock.views.results import ResultView, results_of, results_of_convoy


@click.command("results")
@click.argument("names", nargs=-1, required=True, metavar="TASK|CONVOY…")
@prints_json
@click.pass_context
def results_command(ctx: click.Context, names: tuple[str, ...], as_json: bool) -> None:
    """Show what came of tasks, or of all tasks of a convoy: a report, findings, a plan, or a change.

    This is what a task is told of its inputs.
    """
    workspace = open_workspace(ctx)
    board = workspace.board()
    found: list[ResultView] = []
    for name in names:
        if name not in board.convoys and is_task(name):
            task = parse_task(name)
            board.task(task)
            found += results_of(workspace, [task])
        else:
            require_convoy(board, name)
            found += results_of_convoy(workspace, board, name)
    if as_json:
        print_document(results=found)
        return
    for number, result in enumerate(found):
        if number:
            click.echo()
        if sys.stdout.isatty() or len(found) > 1:
            phase = badge(Phase(result.phase)).rstrip()
            click.echo(f"{paint(result.task, bold=True)}  {cut(result.title, 100)}  {phase}")
        click.echo(harmless(result.text) or "nothing yet")

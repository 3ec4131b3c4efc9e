"""`paddock results t3|CONVOY`: reports, findings and plans, and what was changed."""

import re
import sys
from typing import TYPE_CHECKING

import click

from paddock.cli.options import prints_json
from paddock.cli.selection import parse_tasks, takes_where
from paddock.cli.terminal.text import badge, cut, paint, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse
from paddock.core.ids import harmless
from paddock.core.intent.selection import require_convoy
from paddock.core.tasks.task import Phase
from paddock.views.results import MOST_RESULTS, results_of, results_of_convoy

if TYPE_CHECKING:
    from paddock.core.filter.tasks import TaskFilter

_TASKS = re.compile(r"t[0-9]", re.IGNORECASE)


@click.command("results")
@click.argument("names", nargs=-1, metavar="[TASK|CONVOY]…")
@takes_where
@prints_json
@click.pass_context
def results_command(ctx: click.Context, names: tuple[str, ...], where: "TaskFilter | None", as_json: bool) -> None:
    """Show what came of tasks, or of all tasks of a convoy: a report, findings, a plan, or a change.

    This is what a task is told of its inputs.
    """
    workspace = open_workspace(ctx)
    if not names and where is None:
        raise Misuse("no task was named", "name tasks or a convoy, or use --where; see `paddock status`")
    board = workspace.board()
    found = results_of(workspace, where.pick(board)[:MOST_RESULTS]) if where is not None else []
    for name in names:
        if name not in board.convoys and _TASKS.match(name):
            found += results_of(workspace, [board.task(task).id for task in parse_tasks((name,))[:MOST_RESULTS]])
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

"""`paddock review`: the human gate, one change after the other."""

import sys

import click

from paddock.cli.commands.diff import read_patch
from paddock.cli.options import prints_json
from paddock.cli.pages.sheet import sheet_lines
from paddock.cli.selection import parse_tasks
from paddock.cli.terminal.text import cut, plural, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId
from paddock.core.intent.selection import require_convoy
from paddock.core.plaintext import defuse
from paddock.core.review.waiting import waiting_changes
from paddock.fleet.landing.preview import preview
from paddock.fleet.landing.sheet import make_sheet
from paddock.fleet.workspace import Workspace
from paddock.views.tasks.sheet import WaitingView, commands_for, view_sheet


@click.command("review")
@click.argument("tasks", nargs=-1)
@click.option("--convoy", help="Only tasks of this convoy; `c` approves all of them at once.")
@prints_json
@click.pass_context
def review_command(ctx: click.Context, tasks: tuple[str, ...], convoy: str | None, as_json: bool) -> None:
    """Decide about changes that wait for you: all of them, or those of TASKS.

    Each is shown with its brief, findings, checks, cost, the path it took, and its diff; what is ready to land comes
    first. One key decides: approve, reject with a comment, edit, skip. Without a terminal it lists them, with the
    commands that decide.
    """
    workspace = open_workspace(ctx)
    board = workspace.board()
    names = _names(board, tasks, convoy)
    if as_json:
        sheets = [make_sheet(workspace, board, board.task(name)) for name in names]
        print_json(WaitingView(waiting=[view_sheet(sheet) for sheet in sheets]))
    elif not names:
        click.echo("no change is waiting for you")
    elif sys.stdin.isatty() and sys.stdout.isatty():
        from paddock.cli.review_session import ReviewSession

        ReviewSession(workspace, convoy).run(names)
    elif tasks:
        for name in names:
            _print_sheet(workspace, board, name)
    else:
        _print_list(workspace, board, names)


def _names(board: Board, tasks: tuple[str, ...], convoy: str | None) -> list[TaskId]:
    if convoy is not None:
        require_convoy(board, convoy)
    waiting = [one.task for one in waiting_changes(board, convoy)]
    named = list(dict.fromkeys(parse_tasks(tasks)))
    for name in named:
        task = board.task(name)
        if name not in waiting:
            where = f" of convoy `{convoy}`" if convoy is not None and task.convoy != convoy else ""
            raise PaddockError(
                f"task `{name}` {task.phase.words}: no change{where} is waiting there for you",
                f"see `paddock show {name}`; `paddock review` shows what waits",
            )
    return named or waiting


def _print_sheet(workspace: Workspace, board: Board, name: TaskId) -> None:
    task = board.task(name)
    sheet = make_sheet(workspace, board, task)
    for line in sheet_lines(sheet):
        click.echo(line)
    click.echo("\ndiff")
    sys.stdout.flush()
    sys.stdout.buffer.write(defuse(read_patch(workspace, preview(workspace.site, board, task), ["-p"])))
    sys.stdout.buffer.flush()
    click.echo("\nto decide, run one of these:")
    for command in commands_for(sheet):
        click.echo(f"  {command}")


def _print_list(workspace: Workspace, board: Board, names: list[TaskId]) -> None:
    for name in names:
        sheet = make_sheet(workspace, board, board.task(name))
        state = "ready" if sheet.ready else "look"
        size = f"+{sheet.size.insertions:,} −{sheet.size.deletions:,} in {plural(sheet.size.files, 'file')}"
        click.echo(f"{state:<5} {name:<5} {sheet.head[:10]}  {cut(sheet.task.title, 60)}  {size}")
        against = [*sheet.examined.concerns, *(f"undoes {one.words}" for one in sheet.examined.unwanted)]
        for words in (*against, *(f"{one.id} blocks it: {one.claim}" for one in sheet.blocking)):
            click.echo(f"      {cut(words, 120)}")
        click.echo(f"      {commands_for(sheet)[1]}")

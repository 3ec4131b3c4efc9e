"""`paddock diff t3`: what would land."""

import sys

import click

from paddock.cli.selection import parse_tasks
from paddock.cli.terminal.pager import DiffColours, page
from paddock.cli.terminal.text import cut
from paddock.cli.workspace import open_workspace
from paddock.core.plaintext import defuse
from paddock.core.tasks.task import Task
from paddock.fleet.landing.preview import Preview, preview
from paddock.fleet.workspace import Workspace


@click.command("diff")
@click.argument("tasks", nargs=-1, required=True)
@click.option("--stat", is_flag=True, help="Show only a summary of the changed files.")
@click.option("--name-only", is_flag=True, help="Show only file names.")
@click.option("--own", is_flag=True, help="Show what its agent did since it started, wherever main is now.")
@click.option("--unsafe", is_flag=True, help="Print the patch byte for byte, with what a terminal would obey.")
@click.pass_context
def diff_command(
    ctx: click.Context, tasks: tuple[str, ...], stat: bool, name_only: bool, own: bool, unsafe: bool
) -> None:
    """Show what would land with TASKS: for each a patch from main to what main would become.

    On a terminal the output is paged and coloured the way git does it. Control characters are shown as `�`.
    """
    workspace = open_workspace(ctx)
    board = workspace.board()
    found = [board.task(name) for name in dict.fromkeys(parse_tasks(tasks))]
    options = ["--stat"] if stat else ["--name-only"] if name_only else ["-p"]
    patches = [(task, read_patch(workspace, preview(workspace.site, board, task, own=own), options)) for task in found]
    if sys.stdout.isatty() and not unsafe:
        colours = DiffColours(workspace.repo)
        page(
            workspace.repo, "\n".join(_head(task, found) + colours.paint(_text(task, patch)) for task, patch in patches)
        )
        return
    for task, patch in patches:
        if not patch:
            click.echo(_nothing(task), err=True)
        sys.stdout.write(_head(task, found) if patch else "")
        sys.stdout.flush()
        shown = patch if unsafe else defuse(patch)
        sys.stdout.buffer.write(shown)
        sys.stdout.buffer.flush()
        if shown != patch:
            told = f"{task.id} contains control characters, which are shown as `�`: use --unsafe for an exact patch"
            click.echo(f"warning: {told}", err=True)


def read_patch(workspace: Workspace, shown: Preview, options: list[str]) -> bytes:
    if shown.note:
        click.echo(shown.note, err=True)
    words = ("--no-ext-diff", "--no-textconv", "--no-color", *options, shown.before, shown.after)
    return workspace.repo.git("diff", *words).stdout


def _head(task: Task, found: list[Task]) -> str:
    """A heading with the task when there are several; git skips such lines when it applies a patch."""
    return f"{task.id}  {cut(task.title, 100)}\n" if len(found) > 1 else ""


def _text(task: Task, patch: bytes) -> str:
    return patch.decode("utf-8", "replace") if patch else f"{_nothing(task)}\n"


def _nothing(task: Task) -> str:
    return f"{task.id} changes nothing"

"""`paddock diff t3`: what agents changed."""

import sys

import click

from paddock.cli.selection import parse_tasks
from paddock.cli.terminal.pager import DiffColours, page
from paddock.cli.terminal.text import cut
from paddock.cli.workspace import open_workspace
from paddock.core.errors import PaddockError
from paddock.core.plaintext import defuse
from paddock.core.tasks.task import Task
from paddock.fleet.workspace import Workspace


@click.command("diff")
@click.argument("tasks", nargs=-1, required=True)
@click.option("--stat", is_flag=True, help="Show only a summary of the changed files.")
@click.option("--name-only", is_flag=True, help="Show only file names.")
@click.option("--unsafe", is_flag=True, help="Print the patch byte for byte, with what a terminal would obey.")
@click.pass_context
def diff_command(ctx: click.Context, tasks: tuple[str, ...], stat: bool, name_only: bool, unsafe: bool) -> None:
    """Show what TASKS changed: a patch of each branch against the commit it started from.

    On a terminal the output is paged and coloured the way git does it. Control characters are shown as `�`.
    """
    workspace = open_workspace(ctx)
    board = workspace.board()
    found = [board.task(name) for name in dict.fromkeys(parse_tasks(tasks))]
    options = ["--stat"] if stat else ["--name-only"] if name_only else ["-p"]
    patches = [(task, _patch(workspace, task, options)) for task in found]
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


def _patch(workspace: Workspace, task: Task, options: list[str]) -> bytes:
    base, head = _range(workspace, task)
    return workspace.repo.git("diff", "--no-ext-diff", "--no-textconv", "--no-color", *options, base, head).stdout


def _head(task: Task, found: list[Task]) -> str:
    """A heading with the task when there are several; git skips such lines when it applies a patch."""
    return f"{task.id}  {cut(task.title, 100)}\n" if len(found) > 1 else ""


def _text(task: Task, patch: bytes) -> str:
    return patch.decode("utf-8", "replace") if patch else f"{_nothing(task)}\n"


def _nothing(task: Task) -> str:
    return f"{task.id} changes nothing"


def _range(workspace: Workspace, task: Task) -> tuple[str, str]:
    last = task.last
    if last is None:
        raise PaddockError(f"task `{task.id}` has had no agent yet", "`paddock run` starts one when it is ready")
    head = task.head or last.head or workspace.repo.resolve(f"refs/heads/{last.branch}")
    if head is None:
        raise PaddockError(f"`{last.id}` left no commits", f"see what it did: `paddock tail {task.id}`")
    base = workspace.repo.merge_base(last.base, head) or last.base
    return base, head

"""`paddock diff t3`: what an agent changed."""

import sys

import click

from paddock.cli.text import paint
from paddock.cli.workspace import Workspace, open_workspace
from paddock.core.errors import PaddockError
from paddock.core.ids import harmless, parse_task
from paddock.core.task import Task

# By how a line of a patch starts; the first that fits counts.
COLOURS = {"diff --git ": "yellow", "+++ ": "yellow", "--- ": "yellow", "@@ ": "cyan", "+": "green", "-": "red"}


@click.command("diff")
@click.argument("task")
@click.option("--stat", is_flag=True, help="Only which files, and how much.")
@click.option("--name-only", is_flag=True, help="Only the names of files.")
@click.pass_context
def diff_command(ctx: click.Context, task: str, stat: bool, name_only: bool) -> None:
    """Show what TASK's branch changes, as a patch against where it started."""
    workspace = open_workspace(ctx)
    found = workspace.board().task(parse_task(task))
    base, head = _range(workspace, found)
    options = ["--stat"] if stat else ["--name-only"] if name_only else ["-p"]
    patch = workspace.repo.git("diff", "--no-ext-diff", "--no-textconv", "--no-color", *options, base, head)
    if sys.stdout.isatty():
        _show(patch.stdout.decode("utf-8", "replace"))
    else:
        sys.stdout.buffer.write(patch.stdout)
        sys.stdout.buffer.flush()


def _show(patch: str) -> None:
    """For a person: whoever wrote the change must not be able to hide a part of it from who reviews it."""
    for line in harmless(patch).removesuffix("\n").split("\n"):
        colour = next((colour for start, colour in COLOURS.items() if line.startswith(start)), None)
        click.echo(paint(line, colour))


def _range(workspace: Workspace, task: Task) -> tuple[str, str]:
    last = task.last
    if last is None:
        raise PaddockError(f"task `{task.id}` has had no agent yet", "`paddock run` starts one when it is ready")
    head = task.head or last.head or workspace.repo.resolve(f"refs/heads/{last.branch}")
    if head is None:
        raise PaddockError(f"`{last.id}` left no commits", f"see what it did: `paddock tail {task.id}`")
    base = workspace.repo.merge_base(last.base, head) or last.base
    return base, head

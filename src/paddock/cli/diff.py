"""`paddock diff t3`: what an agent changed."""

import sys

import click

from paddock.cli.text import colourful
from paddock.cli.workspace import Workspace, open_workspace
from paddock.core.errors import PaddockError
from paddock.core.ids import parse_task
from paddock.core.task import Task


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
    colour = "--color=always" if colourful() else "--color=never"
    patch = workspace.repo.git("diff", "--no-ext-diff", "--no-textconv", colour, *options, base, head)
    sys.stdout.buffer.write(patch.stdout)
    sys.stdout.buffer.flush()


def _range(workspace: Workspace, task: Task) -> tuple[str, str]:
    last = task.last
    if last is None:
        raise PaddockError(f"task `{task.id}` has had no agent yet", "`paddock run` starts one when it is ready")
    head = task.head or last.head or workspace.repo.resolve(f"refs/heads/{last.branch}")
    if head is None:
        raise PaddockError(f"`{last.id}` left no commits", f"see what it did: `paddock tail {task.id}`")
    base = workspace.repo.merge_base(last.base, head) or last.base
    return base, head

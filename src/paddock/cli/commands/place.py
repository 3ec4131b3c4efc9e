"""`paddock path`, `paddock open` and `paddock exec`: the worktree of an attempt, for people."""

import os
import shlex
import shutil
import subprocess
import sys

import click

from paddock.cli.seating import require_terminal, sit_here
from paddock.cli.terminal.text import cut
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import task_of
from paddock.core.intent.selection import attempt_named
from paddock.fleet.visits.place import find_place, share_place
from paddock.fleet.visits.program import Company


@click.command("path")
@click.argument("task", metavar="TASK|ATTEMPT")
@click.pass_context
def path_command(ctx: click.Context, task: str) -> None:
    """Print the path of the worktree of TASK: `cd "$(paddock path t3)"`."""
    workspace = open_workspace(ctx)
    click.echo(find_place(workspace.site, attempt_named(workspace.board(), task)).path)


@click.command("open")
@click.argument("task", metavar="TASK|ATTEMPT")
@click.pass_context
def open_command(ctx: click.Context, task: str) -> None:
    """Start your editor ($VISUAL, or $EDITOR) in the worktree of TASK.

    If its agent has ended, the worktree is brought back for as long as the editor runs, and what you made of it is
    judged then, as after `paddock connect`. An editor with a window of its own has to wait: `VISUAL="code --wait"`.
    """
    workspace = open_workspace(ctx)
    attempt = attempt_named(workspace.board(), task)
    editor = _editor()
    if not attempt.live:
        if "." in task and attempt != workspace.board().task(task_of(attempt.id)).worker:
            raise Misuse(f"`{attempt.id}` is not the last attempt", f"run `paddock open {task_of(attempt.id)}`")
        require_terminal(task_of(attempt.id))
        if shutil.which(editor[0]) is None:
            raise PaddockError(f"the editor `{cut(editor[0], 60)}` was not found", _SET_EDITOR)
        sit_here(workspace, task_of(attempt.id), Company((*editor, "."), fenced=False))
        return
    with share_place(workspace, attempt) as worktree:
        if attempt.turn_open and attempt.held is None:
            click.echo(f"{attempt.id} is at work there: what you change, its agent sees", err=True)
        try:
            ended = subprocess.run((*editor, "."), cwd=worktree.path, check=False)
        except OSError as error:
            raise PaddockError(f"the editor `{editor[0]}` cannot be run: {error.strerror}", _SET_EDITOR) from None
    ctx.exit(ended.returncode if ended.returncode >= 0 else 128 - ended.returncode)


_SET_EDITOR = "set VISUAL or EDITOR to one that is installed"


def _editor() -> list[str]:
    """Never what the repository's configuration names: agents can write that."""
    said = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        words = shlex.split(said)
    except ValueError as error:
        raise Misuse(f"VISUAL or EDITOR makes no sense: `{cut(said, 60)}`: {error}", _SET_EDITOR) from None
    if not words:
        raise Misuse("VISUAL or EDITOR is blank", _SET_EDITOR)
    return words


@click.command("exec", context_settings={"ignore_unknown_options": True})
@click.argument("task", metavar="TASK|ATTEMPT")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--no-fence", is_flag=True, help="Without the fence that the agent is in.")
@click.pass_context
def exec_command(ctx: click.Context, task: str, command: tuple[str, ...], no_fence: bool) -> None:
    """Run COMMAND in the worktree of TASK: `paddock exec t3 -- make test`.

    It has the agent's ports, folder for temporary files and fence, and its exit status is ours. Beside an agent at work
    it runs in the agent's own worktree. After that has ended, it runs in a copy with its commits, which is thrown away:
    to change something, `paddock connect t3 --shell`.
    """
    from paddock.fleet.visits.execution import execute_command

    workspace = open_workspace(ctx)
    board = workspace.board()
    attempt = attempt_named(board, task)
    shown = sys.stdin.fileno() if sys.stdin.isatty() and sys.stdout.isatty() else -1
    ctx.exit(execute_command(workspace, board, attempt, command, fenced=not no_fence, shown=shown))

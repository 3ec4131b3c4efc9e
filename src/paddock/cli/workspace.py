"""The workspace that the command line names."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import printable
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover

if TYPE_CHECKING:
    from click import Context

    from paddock.core.intent.workers import Worker


def open_workspace(ctx: "Context", command: str = "") -> Workspace:
    """Raises NotForWorkers if an agent or CI asks for what only people may. `command` is what is asked for, where that
    is more than the context's own."""
    workspace = workspace_at(ctx.find_root().obj.directory, ctx.find_root().obj.settings)
    if workspace.worker is not None:
        own = ctx.command_path.removeprefix(ctx.find_root().command_path).strip()
        _admit(workspace, workspace.worker, ctx, command or own)
    if workspace.settings:
        workspace.load()  # a typo in --set is reported even by commands that need no configuration
    return workspace


def _admit(workspace: Workspace, worker: "Worker", ctx: "Context", command: str) -> None:
    from paddock.core.intent.workers import NotForWorkers, require_command, require_served
    from paddock.fleet.desk.wire import SERVED_VARIABLE

    named = (ctx.params.get("task"), *(ctx.params.get("tasks") or ()))
    try:
        require_command(worker, command, [name for name in named if isinstance(name, str)])
        if SERVED_VARIABLE in os.environ:
            require_served(worker, command, file=ctx.params.get("file"))
            for file in ctx.params.get("accept_file") or ():
                require_served(worker, command, file)
    except NotForWorkers as refusal:
        workspace.refuse(refusal)
        raise


def workspace_at(directory: str | None, settings: tuple[str, ...] = ()) -> Workspace:
    """None means the current directory."""
    return Workspace(discover(_start_directory(directory)), settings, _warn)


def _start_directory(directory: str | None) -> Path:
    if directory is None:
        try:
            return Path.cwd()
        except FileNotFoundError:
            raise PaddockError("the current directory no longer exists", "`cd` to a directory that does") from None
    if not Path(directory).is_dir():
        raise Misuse(f"-C: `{printable(directory)}` is not a directory", "name one inside the repository")
    return Path(directory)


def _warn(words: str) -> None:
    sys.stderr.write(f"warning: {words}\n")

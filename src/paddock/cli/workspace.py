"""The workspace that the command line names."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import printable
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover

if TYPE_CHECKING:
    from click import Context

    from paddock.core.intent.workers import Worker


def open_workspace(ctx: "Context", command: str = "", place: Path | None = None) -> Workspace:
    """Raises NotForWorkers if an agent or CI asks for what only people may. `command` is what is asked for, where that
    is more than the context's own; `place` is another one than -C or the current directory."""
    root = ctx.find_root().obj
    if place is None:
        workspace = workspace_at(root.directory, root.settings)
    else:
        workspace = Workspace(discover(place), root.settings, _warn)
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


class NamedPlace(NamedTuple):
    """A repository as somebody `said` it, with --repo."""

    said: str
    path: Path


def find_named(ctx: "Context", places: Sequence[str]) -> list[NamedPlace]:
    """Each repository once, however it was named; also those that are not there. Raises Misuse."""
    if places and ctx.find_root().obj.directory is not None:
        raise Misuse("-C and --repo cannot be used together", "name every repository with --repo")
    found: dict[Path, NamedPlace] = {}
    for said in places:
        if not said:
            raise Misuse("--repo names nothing", "name a path in a repository: `--repo ~/src/api`")
        path = Path(os.path.abspath(os.path.expanduser(said)))
        try:
            home = discover(path).common_dir
        except (PaddockError, OSError):
            home = path
        if home in found:
            _warn(f"`{printable(said)}` is in the same repository as `{printable(found[home].said)}`: shown once")
        else:
            found[home] = NamedPlace(printable(said), path)
    return list(found.values())


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

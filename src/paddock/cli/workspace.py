"""What every command stands on: the repository, its log, the configuration and who is asking."""

import os
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import Record
from paddock.core.ids import printable
from paddock.git.repo import Repo, discover
from paddock.store.protocol import Author, Decide, LogUnusable
from paddock.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from click import Context

    from paddock.config.load import Loaded
    from paddock.config.schema import Config


class Workspace:
    """`settings` are `key=value` words of the command line; they win over file and environment."""

    def __init__(self, repo: Repo, settings: tuple[str, ...] = ()) -> None:
        self.repo = repo
        self.settings = settings

    def load(self) -> "Loaded":
        """The configuration with the source of each value. Raises Misuse."""
        from paddock.config.load import load_config

        flags = {}
        for word in self.settings:
            key, equals, value = word.partition("=")
            if not equals:
                raise Misuse(f"--set: `{word}` is not KEY=VALUE", "e.g. `--set limits.attempts=1`")
            flags[key.strip()] = value
        return load_config(self.top, flags=flags)

    @cached_property
    def config(self) -> "Config":
        return self.load().config

    @property
    def top(self) -> Path:
        """Where `paddock.toml` is looked for: the main working tree, whichever worktree we are in."""
        return self.repo.main or self.repo.top or self.repo.common_dir

    @property
    def log_path(self) -> Path:
        return log_path(self.repo)

    @property
    def state_dir(self) -> Path:
        return self.log_path.parent

    def read(self) -> SqliteStore:
        self._require_log()
        return SqliteStore(self.log_path, read_only=True)

    def write(self) -> SqliteStore:
        self._require_log()
        return SqliteStore(self.log_path)

    def board(self) -> Board:
        store = self.read()
        try:
            board = store.board()
        finally:
            store.close()
        warn_unknown(board)
        return board

    def record(self, decide: Decide) -> list[Record]:
        """One transaction in the name of whoever runs the command."""
        store = self.write()
        try:
            return store.append(decide, author())
        finally:
            store.close()

    def _require_log(self) -> None:
        if self.log_path.exists():
            return
        if Path(f"{self.log_path}-wal").exists():
            raise LogUnusable(
                f"the log `{self.log_path}` is gone; what belonged to it is still there",
                "bring it back from its mirror with `paddock log fetch`, or start a new one: `paddock init`",
            )
        hint = "run `paddock init` there"
        if self.repo.git("config", "--get", "remote.origin.url", check=False).ok:
            hint += "; if `origin` has a log, `paddock log fetch` brings it, and so does init"
        raise LogUnusable(f"Paddock is not set up in `{self.top}`", hint)


def log_path(repo: Repo) -> Path:
    return repo.common_dir / "paddock" / "log.db"


def open_workspace(ctx: "Context") -> Workspace:
    workspace = workspace_at(ctx.find_root().obj.directory, ctx.find_root().obj.settings)
    if workspace.settings:
        workspace.load()  # a slip in --set is told also by commands that need no configuration
    return workspace


def workspace_at(directory: str | None, settings: tuple[str, ...] = ()) -> Workspace:
    """None is where the process is."""
    return Workspace(discover(start_directory(directory)), settings)


def start_directory(directory: str | None) -> Path:
    if directory is None:
        try:
            return Path.cwd()
        except FileNotFoundError:
            raise PaddockError("the current directory no longer exists", "`cd` to a directory that does") from None
    if not Path(directory).is_dir():
        raise Misuse(f"-C: `{printable(directory)}` is not a directory", "name one inside the repository")
    return Path(directory)


def author() -> Author:
    """`name@host`, or the attempt an agent runs in."""
    if attempt := os.environ.get("PADDOCK_ATTEMPT"):
        return Author(printable(f"agent:{attempt}", 80))
    return Author(printable(f"{_user_name()}@{os.uname().nodename}", 80))


def _user_name() -> str:
    if name := os.environ.get("USER") or os.environ.get("LOGNAME"):
        return name
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid{os.getuid()}"


def warn_unknown(board: Board) -> None:
    if board.unknown:
        kinds = ", ".join(sorted(board.unknown))
        sys.stderr.write(
            f"warning: skipped {sum(board.unknown.values())} events of a newer Paddock ({kinds}); "
            f"upgrade to {board.version} or later to see them\n"
        )

"""Moving a fleet's log to another place, while no daemon works with it."""

from collections.abc import Callable
from pathlib import Path

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.leases.lease import log_time
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.clock import SYSTEM_CLOCK
from paddock.fleet.service.background import daemon_words, find_daemon
from paddock.fleet.service.pages import find_pages
from paddock.fleet.workspace import Workspace
from paddock.store.location import log_at
from paddock.store.migration import Course, Migrated, migrate
from paddock.store.place import LogPlace

FILE = "file"


def places_of(workspace: Workspace, to: str | None, schema: str | None) -> tuple[LogPlace, LogPlace]:
    """From where to where: `to` is an address or `file`. Without it, or with the one that is configured already, the
    log of the file moves to where the configuration says that it is."""
    configured, file = workspace.log, log_at(workspace.repo, "", "")
    schema = schema or workspace.config.store.schema
    target = configured if to is None else file if to == FILE else log_at(workspace.repo, to, schema)
    if to is None and not configured.is_shared:
        raise PaddockError(
            f"the log is in the file `{file}`, and nothing says where to move it",
            "name the database: `paddock store migrate --to postgresql://USER@HOST/DATABASE`",
        )
    if target == configured and target.is_shared:
        return file, target
    if target == configured:
        raise PaddockError(
            f"the log is in the file `{file}` already, as paddock.toml has it",
            "to take it out of a database that paddock.toml does not name any more: "
            "`paddock --set store.url=URL store migrate --to file`",
        )
    return configured, target


def move_log(source: LogPlace, to: LogPlace, told: Callable[[int, int], None]) -> Migrated:
    """Raises PaddockError."""
    return migrate(source, to, Course(require_no_daemon, told, checkpoint))


def require_no_daemon(board: Board) -> None:
    """Raises PaddockError while there is one, or one on another machine that may still be there."""
    lease = find_daemon(board)
    if lease is not None and lease.expires_at > log_time(board.leases, SYSTEM_CLOCK.now()):
        raise PaddockError(
            f"a daemon works with this log ({daemon_words(lease)}): nothing was moved",
            "end it with `paddock down`; its agents go on, and the next daemon finds them",
        )


def pages_to_restart(state_dir: Path) -> list[str]:
    """Web servers that still have the log open where it was."""
    return [page.address for page in find_pages(state_dir)]

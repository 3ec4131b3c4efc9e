"""Where a repository's log is, and how it is opened. Only `store` knows what it is kept in."""

from pathlib import Path

from paddock.git.repo import Repo
from paddock.store.protocol import Store
from paddock.store.sqlite import SqliteStore


def log_of(repo: Repo) -> Path:
    return repo.common_dir / "paddock" / "log.db"


def open_store(location: Path, *, create: bool = False, announce: bool = True, read_only: bool = False) -> Store:
    """Raises LogUnusable. `create` makes the log if there is none; without `announce` it stays empty, for a mirror."""
    return SqliteStore(location, create=create, announce=announce, read_only=read_only)


def has_log(location: Path) -> bool:
    return location.exists()


def has_remains(location: Path) -> bool:
    """Whether something is left of a log that is gone."""
    return Path(f"{location}-wal").exists()


def log_bytes(location: Path) -> int:
    return location.stat().st_size

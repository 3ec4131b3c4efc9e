"""Where a repository's log is, and how it is opened. Only `store` knows what it is kept in."""

from pathlib import Path

from paddock.git.repo import Repo
from paddock.store.protocol import Store
from paddock.store.sqlite import SqliteStore
from paddock.store.witness import read_witness, witness_path


def log_of(repo: Repo) -> Path:
    return repo.common_dir / "paddock" / "log.db"


def open_store(
    location: Path, *, create: bool = False, announce: bool = True, labelled: bool = False, read_only: bool = False
) -> Store:
    """Raises LogUnusable. `create` makes the log if there never was one; without `announce` it stays empty, for a
    mirror to fill, and may take the place of one that is gone. `labelled`: see `LogCreated`."""
    return SqliteStore(location, create=create, announce=announce, labelled=labelled, read_only=read_only)


def has_log(location: Path) -> bool:
    return location.exists()


def has_remains(location: Path) -> bool:
    """Whether something is left of a log that is gone."""
    return Path(f"{location}-wal").exists() or witness_path(location).exists()


def retire_log(location: Path) -> bool:
    """Sets aside what would speak for a log that is gone, for a new one to begin; whether there ever was one."""
    witness = witness_path(location)
    if witness.exists():
        found = read_witness(location)
        witness.rename(witness.with_name(f"{witness.name}.{found.identity or 'old' if found else 'old'}"))
    return any(witness.parent.glob(f"{witness.name}.*"))


def log_bytes(location: Path) -> int:
    return location.stat().st_size

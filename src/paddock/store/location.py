"""Where a repository's log is, and how it is opened. Only `store` knows what it is kept in."""

import os
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.repo import ABSENT, RefMove, Repo
from paddock.store.place import LogPlace
from paddock.store.protocol import Store
from paddock.store.sqlite import SqliteStore
from paddock.store.trouble import ROOM_BYTES
from paddock.store.witness import read_witness, witness_path

_REFS = "refs/paddock/"
_KEPT = f"{_REFS}kept"


def log_of(repo: Repo) -> Path:
    return repo.common_dir / "paddock" / "log.db"


def open_store(
    location: Path,
    *,
    create: bool = False,
    announce: bool = True,
    labelled: bool = False,
    read_only: bool = False,
    patience_seconds: float | None = None,
) -> Store:
    """Raises LogUnusable. `create` makes the log if there never was one; without `announce` it stays empty, for a
    mirror to fill, and may take the place of one that is gone. `labelled`: see `LogCreated`. `patience_seconds` is for
    one that another program has locked."""
    return SqliteStore(
        location,
        create=create,
        announce=announce,
        labelled=labelled,
        read_only=read_only,
        lock_timeout_seconds=patience_seconds,
    )


def has_log(location: Path) -> bool:
    return location.exists()


def require_known(repo: Repo) -> None:
    """Raises LogGone where there is no log, but something is left of one."""
    location = log_of(repo)
    if not has_log(location) and (has_remains(location) or _refs_of_log(repo)):
        from paddock.store.loss import log_gone

        raise log_gone(LogPlace(location), read_witness(location))


def has_remains(location: Path) -> bool:
    return Path(f"{location}-wal").exists() or witness_path(location).exists()


def had_log(repo: Repo) -> bool:
    """Whether names of another log's are in use here: its branches, or what is kept of a retired one."""
    witness = witness_path(log_of(repo))
    return any(witness.parent.glob(f"{witness.name}.*")) or bool(repo.refs("refs/heads/paddock"))


def retire_log(repo: Repo, checkpoint: Checkpoint = no_checkpoint) -> None:
    """Sets aside what is left of a log that is gone, so that a new one takes none of it for its own.

    Its refs are kept below `refs/paddock/kept/log-IDENTITY`. May be killed anywhere and done again.
    """
    location = log_of(repo)
    witness, found = witness_path(location), read_witness(location)
    name = (found.identity if found is not None else "") or "unknown"
    moves = []
    for ref, commit in _refs_of_log(repo).items():
        moves.append(RefMove(ref, ABSENT, commit))
        moves.append(RefMove(f"{_KEPT}/log-{name}/{ref.removeprefix(_REFS)}", commit))
    if moves and not repo.move_refs(tuple(moves), "paddock: retire the log"):
        raise PaddockError("refs below `refs/paddock` were moved by someone else in the meantime", "run it again")
    checkpoint("retire.refs")
    if witness.exists():
        witness.rename(witness.with_name(f"{witness.name}.{name}"))
    checkpoint("retire.witness")


def _refs_of_log(repo: Repo) -> dict[str, str]:
    """What only a log's own fleet writes; what is kept or was fetched speaks for none."""
    refs = repo.refs(_REFS.rstrip("/"))
    return {ref: sha for ref, sha in refs.items() if not ref.startswith((f"{_KEPT}/", f"{_REFS}fetched/"))}


def has_room(location: Path) -> bool:
    """Whether its disk has room for records."""
    disk = os.statvfs(location.parent)
    return disk.f_bavail * disk.f_frsize >= ROOM_BYTES


def log_bytes(location: Path) -> int:
    return location.stat().st_size

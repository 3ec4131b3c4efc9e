"""Where a repository's log is, and how it is opened. Only `store` knows what it is kept in."""

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.repo import ABSENT, RefMove, Repo
from paddock.store.place import LogPlace
from paddock.store.protocol import LogUnusable, Store
from paddock.store.settings import read_store_keys
from paddock.store.trouble import ROOM_BYTES
from paddock.store.witness import read_witness, witness_path

if TYPE_CHECKING:
    from paddock.store.postgres import PostgresStore

_REFS = "refs/paddock/"
_KEPT = f"{_REFS}kept"
FILE_NAME = "log.db"
NEEDS = "pip install 'paddock[postgres]'"


def log_of(repo: Repo, settings: Sequence[str] = ()) -> LogPlace:
    """As [store] says in `paddock.toml`, the environment and `settings`. Raises Misuse."""
    keys = read_store_keys(repo.main or repo.top or repo.common_dir, settings)
    return log_at(repo, keys.url, keys.schema)


def log_at(repo: Repo, url: str, schema: str) -> LogPlace:
    """In the database at `url`; in a file of the repository without one."""
    folder = repo.common_dir / "paddock"
    return LogPlace(folder / f"shared-{schema}", url, schema) if url else LogPlace(folder / FILE_NAME)


def open_store(
    location: LogPlace | Path,
    *,
    create: bool = False,
    announce: bool = True,
    labelled: bool = False,
    read_only: bool = False,
    patience_seconds: float | None = None,
) -> Store:
    """Raises LogUnusable. `create` makes the log if there never was one; without `announce` it stays empty, for a
    mirror to fill, and may take the place of one that is gone. `labelled`: see `LogCreated`. `patience_seconds` is for
    one that another program has locked, or whose server is away. A path is that of a log in a file."""
    place = location if isinstance(location, LogPlace) else LogPlace(location)
    if place.is_shared:
        opened = postgres_store()
        return opened(
            place,
            create=create,
            announce=announce,
            labelled=labelled,
            read_only=read_only,
            lock_timeout_seconds=patience_seconds,
        )
    from paddock.store.sqlite import SqliteStore

    return SqliteStore(
        place.file,
        create=create,
        announce=announce,
        labelled=labelled,
        read_only=read_only,
        lock_timeout_seconds=patience_seconds,
    )


def postgres_store() -> "type[PostgresStore]":
    """Raises LogUnusable where what it needs is not installed."""
    try:
        from paddock.store.postgres import PostgresStore
    except ImportError as error:
        if not (error.name or "").startswith("psycopg") and "libpq" not in str(error):
            raise
        raise LogUnusable(
            f"[store] url names a PostgreSQL database, and the package `psycopg` is not installed: {error}",
            f"run `{NEEDS}`",
        ) from None
    return PostgresStore


def has_log(place: LogPlace) -> bool:
    """Asks the server where this machine does not know already that there is one. Raises LogUnusable if it is away."""
    if not place.is_shared:
        return place.file.exists()
    from paddock.store.protocol import LogMissing

    try:
        open_store(place, read_only=True).close()
    except LogMissing:
        return False
    return True


def require_known(place: LogPlace, repo: Repo) -> None:
    """Raises LogGone where there is no log, but something is left of one; LogMoved where it is elsewhere now."""
    if has_log(place):
        return
    if place.is_shared:
        require_not_elsewhere(place)
        return
    from paddock.store.moved import refuse_moved

    refuse_moved(place)
    if has_remains(place) or _refs_of_log(repo):
        from paddock.store.loss import log_gone

        raise log_gone(place, read_witness(place.file))


def require_not_elsewhere(place: LogPlace) -> None:
    """For a shared log that is not there: raises LogMissing where the log is in the file, or was moved from there to
    another database."""
    from paddock.store.moved import FILLING, name_of, read_note
    from paddock.store.protocol import LogMissing

    file = place.state_dir / FILE_NAME
    if file.exists():
        raise LogMissing(
            f"there is no log at `{place}`, and one in the file `{file}`", "move it there: `paddock store migrate`"
        )
    moved = read_note(file)
    if moved and moved not in (FILLING, name_of(place)):
        raise LogMissing(
            f"there is no log at `{place}`: that of this repository was moved to {printable(moved, 200)}",
            "set [store] url in paddock.toml to where it is; `paddock init --new-log` begins another one",
        )


def has_remains(place: LogPlace) -> bool:
    return Path(f"{place.file}-wal").exists() or witness_path(place.file).exists()


def is_at_home(repo: Repo) -> bool:
    """Whether a fleet keeps its files in this repository, wherever its log is."""
    file = log_at(repo, "", "").file
    return file.exists() or has_remains(LogPlace(file)) or any(repo.common_dir.glob("paddock-*.witness"))


def had_log(repo: Repo) -> bool:
    """Whether names of another log's are in use here: its branches, or what is kept of a retired one."""
    witness = witness_path(log_of(repo).file)
    return any(witness.parent.glob(f"{witness.name}.*")) or bool(repo.refs("refs/heads/paddock"))


def retire_log(repo: Repo, checkpoint: Checkpoint = no_checkpoint) -> None:
    """Sets aside what is left of a log that is gone, so that a new one takes none of it for its own.

    Its refs are kept below `refs/paddock/kept/log-IDENTITY`. May be killed anywhere and done again.
    """
    from paddock.store.moved import note_of

    location = log_of(repo).file
    witness, found = witness_path(location), read_witness(location)
    name = (found.identity if found is not None else "") or "unknown"
    moves = []
    for ref, commit in _refs_of_log(repo).items():
        moves.append(RefMove(ref, ABSENT, commit))
        moves.append(RefMove(f"{_KEPT}/log-{name}/{ref.removeprefix(_REFS)}", commit))
    if moves and not repo.move_refs(tuple(moves), "paddock: retire the log"):
        raise PaddockError("refs below `refs/paddock` were moved by someone else in the meantime", "run it again")
    checkpoint("retire.refs")
    note_of(location).unlink(missing_ok=True)
    if witness.exists():
        witness.rename(witness.with_name(f"{witness.name}.{name}"))
    checkpoint("retire.witness")


def _refs_of_log(repo: Repo) -> dict[str, str]:
    """What only a log's own fleet writes; what is kept or was fetched speaks for none."""
    refs = repo.refs(_REFS.rstrip("/"))
    return {ref: sha for ref, sha in refs.items() if not ref.startswith((f"{_KEPT}/", f"{_REFS}fetched/"))}


def has_room(place: LogPlace) -> bool:
    """Whether its disk has room for records, as far as can be seen from here."""
    if place.is_shared:
        return True
    disk = os.statvfs(place.file.parent)
    return disk.f_bavail * disk.f_frsize >= ROOM_BYTES


def log_bytes(place: LogPlace) -> int:
    if not place.is_shared:
        return place.file.stat().st_size
    with closing(postgres_store()(place, read_only=True)) as store:
        return store.bytes()


def may_write(place: LogPlace) -> bool:
    """Whether the system lets us; what a database allows is only known once it is asked for."""
    return place.is_shared or os.access(place.file, os.W_OK)


def identity_of(place: LogPlace) -> tuple[object, ...] | None:
    """Another one where another file is in its place now; None where there is none."""
    if place.is_shared:
        return place.url, place.schema
    try:
        found = place.file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino

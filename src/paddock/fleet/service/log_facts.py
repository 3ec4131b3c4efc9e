"""Where the log is, how it is, and whether what it acknowledges is safe there."""

import os
from contextlib import closing

import msgspec

from paddock.core.errors import PaddockError
from paddock.fleet.workspace import Workspace
from paddock.store.location import has_room, log_bytes, may_write, open_store, postgres_store
from paddock.store.moved import FILLING, read_note
from paddock.store.place import LogPlace
from paddock.store.protocol import LogMissing
from paddock.store.server_facts import ServerFacts, ask_facts, server_warnings

PATIENCE_SECONDS = 0.5
"""Whoever asks how the log is wants to hear that its server is away."""


class LogFacts(msgspec.Struct, frozen=True):
    """`state` is `open`, `empty`, `missing`, `moved`, `filling` or `unusable`; `moved_to` is where a moved log is now.
    `problem` says what keeps it from being used, with its `hint`. A number is None where it cannot be told."""

    place: str
    kind: str
    state: str
    moved_to: str = ""
    problem: str = ""
    hint: str = ""
    identity: str = ""
    records: int | None = None
    bytes: int | None = None
    durable: bool | None = None
    server: ServerFacts | None = None
    warnings: tuple[str, ...] = ()


def know_log(workspace: Workspace) -> LogFacts:
    """Raises Misuse for an address that cannot be read; everything else is in what it returns."""
    place = workspace.log
    blank = LogFacts(str(place), "postgresql" if place.is_shared else "file", "missing")
    try:
        return _know_shared(place, blank) if place.is_shared else _know_file(workspace, place, blank)
    except LogMissing as error:
        return msgspec.structs.replace(blank, problem=error.message, hint=error.hint or "")
    except PaddockError as error:
        return msgspec.structs.replace(blank, state="unusable", problem=error.message, hint=error.hint or "")


def _know_shared(place: LogPlace, blank: LogFacts) -> LogFacts:
    opened = postgres_store()
    with closing(opened(place, read_only=True, even_moved=True, lock_timeout_seconds=PATIENCE_SECONDS)) as store:
        server, moved, records = ask_facts(store), store.moved(), store.head()
        known = msgspec.structs.replace(
            blank,
            state=_state(moved, records),
            moved_to="" if moved == FILLING else moved,
            records=records,
            bytes=store.bytes() if records else 0,
            durable=server.durable,
            server=server,
            warnings=tuple(server_warnings(server)),
        )
        return msgspec.structs.replace(known, identity=store.board().identity) if records and not moved else known


def _know_file(workspace: Workspace, place: LogPlace, blank: LogFacts) -> LogFacts:
    if not place.file.exists():
        moved = read_note(place.file)
        if not moved:
            workspace.read().close()
        return msgspec.structs.replace(
            blank, state=_state(moved, 0), moved_to="" if moved == FILLING else moved, problem="", hint=""
        )
    with closing(open_store(place, read_only=True)) as store:
        records, identity = store.head(), store.board().identity
    warnings = []
    if not has_room(place):
        warnings.append(f"the disk of `{place.file.parent}` is full: no record can be added")
    if not may_write(place):
        warnings.append(f"you may not write to `{place.file}`: only look at it")
    return msgspec.structs.replace(
        blank,
        state=_state("", records),
        identity=identity,
        records=records,
        bytes=log_bytes(place) + _size_of_wal(place),
        durable=True,
        warnings=tuple(warnings),
    )


def _state(moved: str, records: int) -> str:
    if moved:
        return "filling" if moved == FILLING else "moved"
    return "open" if records else "empty"


def _size_of_wal(place: LogPlace) -> int:
    try:
        return os.stat(f"{place.file}-wal").st_size
    except OSError:
        return 0

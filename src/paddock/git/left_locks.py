"""Locks that dead git processes of ours left behind, and how they are told from those of others.

A lock is ours when a note names it that nobody holds any more, when it is no older than the note, and when it holds
what our git would have written there, or nothing yet. It must also stay as it is for a moment, with no process that
has it open: a git that lives holds the lock of a ref for some milliseconds.
"""

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from paddock.git.disk import identity_of
from paddock.git.lock import Lock, hold, try_lock
from paddock.git.lock_files import holders_of

NOTES = Path("paddock") / "ref-moves"
REMOVING = Path("paddock") / "left-locks.lock"
SETTLED_SECONDS = 1.0
_TRIES, _PAUSE_SECONDS = 5, 0.01
# Of a transaction: of HEAD, whose reflog follows its branch; of the packed refs, which a deletion rewrites.
_SHARED = ("HEAD.lock", "packed-refs.lock", "packed-refs.new", "reftable/tables.list.lock")


class _Note(msgspec.Struct, frozen=True):
    """What a transaction writes: the object id by ref."""

    moves: dict[str, str]


@contextlib.contextmanager
def noted(common_dir: Path, moves: Mapping[str, str]) -> Iterator[Lock]:
    """Notes a transaction for as long as it takes. Its git inherits the note's lock, and may outlive us with it."""
    with hold(common_dir / NOTES / os.urandom(8).hex()) as note:
        os.write(note.descriptor, msgspec.json.encode(_Note(dict(moves))))
        yield note
        note.path.unlink(missing_ok=True)  # not after an error: git may have been killed


def remove_left_locks(common_dir: Path) -> tuple[Path, ...]:
    """Removes the locks that dead transactions of ours left; returns which."""
    if not _notes_in(common_dir):
        return ()
    with hold(common_dir / REMOVING):
        return _remove_left_locks(common_dir)


def _remove_left_locks(common_dir: Path) -> tuple[Path, ...]:
    notes = [note for path in _notes_in(common_dir) if (note := _take(path)) is not None]
    try:
        found = {path: identity_of(path) for note in notes for path in _locks_of(common_dir, note)}
        if found:
            time.sleep(SETTLED_SECONDS)
        dead = [path for path, seen in found.items() if seen == identity_of(path) and not holders_of(path)]
        for path in dead:
            path.unlink(missing_ok=True)
        for note in notes:
            if not _locks_of(common_dir, note):
                note.path.unlink(missing_ok=True)
        return tuple(dead)
    finally:
        for note in notes:
            note.close()


def _take(path: Path) -> Lock | None:
    """The lock of a note; None while a git works on it. A process that is just being started by another thread of ours
    holds every lock for a moment, until it is the program it is to become."""
    for _ in range(_TRIES):
        if (note := try_lock(path)) is not None:
            return note
        time.sleep(_PAUSE_SECONDS)
    return None


def _notes_in(common_dir: Path) -> list[Path]:
    try:
        return sorted((common_dir / NOTES).iterdir())
    except FileNotFoundError:
        return []


def _locks_of(common_dir: Path, note: Lock) -> list[Path]:
    """Those that are there now, younger than the note, and hold nothing that we would not have written."""
    try:
        moves = msgspec.json.decode(os.pread(note.descriptor, 1 << 20, 0), type=_Note).moves
    except msgspec.DecodeError:
        return []  # killed before it began
    written = os.fstat(note.descriptor).st_mtime_ns
    found = [path for name in _SHARED if _is_younger(path := common_dir / name, written)]
    for ref, new in moves.items():
        path = common_dir / f"{ref}.lock"
        if _is_younger(path, written) and _holds_only(path, new):
            found.append(path)
    return found


def _is_younger(path: Path, written: int) -> bool:
    try:
        return path.lstat().st_mtime_ns >= written
    except (FileNotFoundError, NotADirectoryError):
        return False


def _holds_only(path: Path, new: str) -> bool:
    try:
        return path.read_bytes().strip() in (b"", new.encode())
    except OSError:
        return False

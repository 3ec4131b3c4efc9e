"""What is known about checkouts of main: which show an older one, and what was undone from such a tree.

A small file in git's common directory. An entry is written before main moves, so that a checkout that was not brought
up to date is known by the main it shows, whatever happens to its index. Without an entry there is nothing to tell.
"""

import os
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from paddock.git.lock import Lock, hold
from paddock.git.repo import Repo

MOST_BYTES = 16 * 2**20


class StaleTree(msgspec.Struct, frozen=True):
    """A checkout that shows `at` while main is `main`; `files` are those in the way.

    As long as its `index` is the very same file, nobody has brought it up to date.
    """

    path: bytes
    at: str
    main: str
    reason: str = ""
    files: tuple[str, ...] = ()
    index: tuple[int, int, int] | None = None

    @property
    def folder(self) -> Path:
        return Path(os.fsdecode(self.path))


class UndoneWork(msgspec.Struct, frozen=True):
    """`commit` was made from a tree that showed `base`, and took back in `files` what main had in `landed`.

    `changes` are the ids of those whose work that is. In the `contested` ones of the files it edited the very lines
    that had landed, so that only a person can say which are right.
    """

    commit: str
    base: str
    landed: str
    files: tuple[str, ...]
    changes: tuple[str, ...] = ()
    contested: tuple[str, ...] = ()


class CheckoutNotes(msgspec.Struct, frozen=True):
    """`main` is where main was when `undone` was last looked at."""

    stale: tuple[StaleTree, ...] = ()
    undone: tuple[UndoneWork, ...] = ()
    main: str = ""

    def stale_at(self, path: Path) -> StaleTree | None:
        name = os.fsencode(path)
        return next((one for one in self.stale if one.path == name), None)

    def with_stale(self, entry: StaleTree) -> "CheckoutNotes":
        return replace(self, stale=(*(one for one in self.stale if one.path != entry.path), entry))

    def without_stale(self, path: Path) -> "CheckoutNotes":
        name = os.fsencode(path)
        return replace(self, stale=tuple(one for one in self.stale if one.path != name))


def read_notes(repo: Repo) -> CheckoutNotes:
    """Empty also for a file that cannot be read: it is a memory, and sync can do without."""
    try:
        with open(_file(repo), "rb", opener=_open_unwaiting) as file:
            return msgspec.msgpack.decode(file.read(MOST_BYTES), type=CheckoutNotes)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return CheckoutNotes()


def _open_unwaiting(path: str, flags: int) -> int:
    """An agent without a fence may have put a pipe or a link in its place."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def write_notes(repo: Repo, notes: CheckoutNotes) -> None:
    path = _file(repo)
    if not notes.stale and not notes.undone:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_bytes(msgspec.msgpack.encode(notes))
    os.replace(draft, path)


def _file(repo: Repo) -> Path:
    return repo.common_dir / "paddock" / "checkouts"


def hold_checkouts(repo: Repo, timeout_seconds: float = 60.0) -> AbstractContextManager[Lock]:
    """One process at a time changes checkouts and what is known about them."""
    return hold(_file(repo).with_suffix(".lock"), timeout_seconds)

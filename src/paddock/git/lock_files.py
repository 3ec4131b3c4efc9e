"""Lock files in a repository that have been there for longer than any git needs them, whoever made them."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

SHOWN_AFTER_SECONDS = 10.0
_MOST_REFS_LOOKED_AT = 20_000
_PLACES = ("HEAD.lock", "config.lock", "index.lock", "packed-refs.lock", "shallow.lock", "reftable/tables.list.lock")


class LeftLock(msgspec.Struct, frozen=True):
    """A lock file that has been there for `age_seconds`. `holders` are processes that have it open, as far as can be
    seen."""

    path: Path
    age_seconds: float
    holders: tuple[int, ...] = ()


def find_left_locks(common_dir: Path, older_than_seconds: float = SHOWN_AFTER_SECONDS) -> tuple[LeftLock, ...]:
    """Locks of the repository that have been there for longer than any git needs, whoever made them."""
    now = time.time()
    found = []
    for path in _all_locks(common_dir):
        with contextlib.suppress(OSError):
            age = now - path.lstat().st_mtime
            if age >= older_than_seconds:
                found.append(LeftLock(path, age, holders_of(path)))
    return tuple(found)


def holders_of(path: Path) -> tuple[int, ...]:
    """The processes that have the file open, of those we may look at; none where the system does not tell."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/fd"):
        with contextlib.suppress(OSError):
            if any(_is_at(entry / name, path) for name in os.listdir(entry)):
                found.append(int(entry.parent.name))
    return tuple(found)


def _is_at(link: Path, path: Path) -> bool:
    with contextlib.suppress(OSError):
        return os.readlink(link) == str(path)
    return False


def _all_locks(common_dir: Path) -> Iterator[Path]:
    for name in _PLACES:
        yield common_dir / name
    looked_at = 0
    for folder, _, files in os.walk(common_dir / "refs"):
        looked_at += len(files)
        if looked_at > _MOST_REFS_LOOKED_AT:
            return
        for name in files:
            if name.endswith(".lock"):
                yield Path(folder) / name

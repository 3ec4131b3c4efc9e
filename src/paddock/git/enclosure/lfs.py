"""What git-lfs keeps in the git directory of an enclosure: brought to the user's, as the commits are.

Whoever lives there has a storage of its own, and finds the user's files through the objects it borrows. A file counts
once its bytes have been seen to be what its name says.
"""

import contextlib
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from paddock.git.enclosure.enclosure import Enclosure
from paddock.git.settings import read_settings

MOST_BYTES = 2 * 1024**3
MOST_FILES = 20_000
_PART = re.compile(r"[0-9a-f]{2}")
_NAME = re.compile(r"[0-9a-f]{64}")
_CHUNK_BYTES = 1024**2


def take_in_large_files(enclosure: Enclosure) -> str | None:
    """Copies those that the user does not have; None when that is done, why not where it is too much. Raises
    OSError."""
    theirs = enclosure.own / "lfs" / "objects"
    if not os.path.lexists(theirs):
        return None
    storage = Path(read_settings(enclosure.repo.common_dir).lfs)
    found = {path: _place_of(storage, path.name) for path in islice(_files(theirs), MOST_FILES + 1)}
    missing = {path: target for path, target in found.items() if not target.exists()}
    if len(found) > MOST_FILES or sum(path.lstat().st_size for path in missing) > MOST_BYTES:
        return f"its git-lfs files are more than {MOST_FILES:,} or {MOST_BYTES // 1024**2:,} MB"
    for path, target in missing.items():
        _copy_if_genuine(path, target, storage / "tmp")
    return None


def _place_of(storage: Path, name: str) -> Path:
    return storage / "objects" / name[:2] / name[2:4] / name


def _files(objects: Path) -> Iterator[Path]:
    for outer in _entries(objects, _PART):
        for inner in _entries(outer, _PART):
            yield from _entries(inner, _NAME)


def _entries(folder: Path, pattern: re.Pattern[str]) -> Iterator[Path]:
    with os.scandir(folder) as entries:
        yield from (Path(entry.path) for entry in islice(entries, MOST_FILES + 1) if pattern.fullmatch(entry.name))


def _copy_if_genuine(source: Path, target: Path, drafts: Path) -> None:
    """Never waits, and follows no link: what is there may be anything. git-lfs itself clears up among the drafts."""
    drafts.mkdir(parents=True, exist_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file, tempfile.NamedTemporaryFile(dir=drafts, prefix=f"{source.name}-") as draft:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return
        digest, left = hashlib.sha256(), MOST_BYTES
        while left > 0 and (chunk := file.read(_CHUNK_BYTES)):
            digest.update(chunk)
            draft.write(chunk)
            left -= len(chunk)
        if digest.hexdigest() == source.name:
            draft.flush()
            os.fchmod(draft.fileno(), 0o644)
            os.fsync(draft.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(draft.name, target)

"""What can be wrong with the dataset, in words a person can act on."""

import os
from errno import EDQUOT, ENOSPC
from pathlib import Path

import apsw

from paddock.core.errors import PaddockError
from paddock.core.ids import printable

REBUILD = "run `paddock traces rebuild`"
ROOM_BYTES = 64 * 1024


class DatasetUnusable(PaddockError):
    """It is locked, full, out of reach or of a newer version."""


class DatasetAbsent(DatasetUnusable):
    """There is none yet: it is made from the log and the turn files."""


class DatasetDamaged(DatasetUnusable):
    """It cannot be read, or is of an older version: it is made again from its sources."""


class Explained:
    """Turns what SQLite and the system raise inside of it into DatasetUnusable with a hint. It can be entered again."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, apsw.Error):
            raise explain(error, self._path) from error
        if isinstance(error, OSError):
            raise explain_system(error, self._path) from error


def explain(error: apsw.Error, path: Path) -> DatasetUnusable:
    match error:
        case apsw.FullError():
            return full(path)
        case apsw.CorruptError() | apsw.NotADBError():
            return damaged(path, str(error))
        case apsw.BusyError() | apsw.LockedError() | apsw.ProtocolError():
            return locked(path)
        case apsw.ReadOnlyError():
            return DatasetUnusable(
                f"the dataset `{printable(str(path))}` cannot be written: it is read-only", _access(path)
            )
        case apsw.CantOpenError() | apsw.PermissionsError() | apsw.AuthError():
            return DatasetUnusable(f"the dataset `{printable(str(path))}` cannot be opened", _access(path))
        case apsw.IOError() if _has_no_room(path):
            return full(path)
        case _:
            return DatasetUnusable(f"the dataset `{printable(str(path))}` is unusable: {error}", REBUILD)


def explain_system(error: OSError, path: Path) -> DatasetUnusable:
    if error.errno in (ENOSPC, EDQUOT):
        return full(path)
    if isinstance(error, PermissionError):
        return DatasetUnusable(f"no permission for `{printable(str(error.filename))}`", _access(path))
    return DatasetUnusable(
        f"the dataset `{printable(str(path))}` cannot be reached: {error.strerror or error}", _access(path)
    )


def full(path: Path) -> DatasetUnusable:
    words = f"the disk of `{printable(str(path))}` is full: nothing was written"
    return DatasetUnusable(words, "free some space and run it again")


def damaged(path: Path, problem: str) -> DatasetDamaged:
    return DatasetDamaged(f"the dataset `{printable(str(path))}` cannot be read: {printable(problem, 200)}", REBUILD)


def locked(path: Path) -> DatasetUnusable:
    words = f"the dataset `{printable(str(path))}` is being written by another process"
    return DatasetUnusable(words, f"find it with `fuser -v {_quote(path)}`, or run this again later")


def _has_no_room(path: Path) -> bool:
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < ROOM_BYTES


def _quote(path: Path) -> str:
    import shlex

    return shlex.quote(printable(str(path), 1000))


def _access(path: Path) -> str:
    return f"check its permissions and that the file system is writable: `ls -ld {_quote(path.parent)} {_quote(path)}`"

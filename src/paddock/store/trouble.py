"""SQLite's errors in words a person can act on."""

import os
from errno import EDQUOT, ENOSPC
from pathlib import Path

import apsw

from paddock.core.ids import printable
from paddock.store.protocol import LogFull, LogUnusable

ROOM_BYTES = 64 * 1024


class Explained:
    """Turns what SQLite and the system raise inside of it into LogUnusable with a hint. It can be entered again."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None and (trouble := _trouble(error, self._path)) is not None:
            raise trouble from error


def _trouble(error: BaseException, path: Path) -> LogUnusable | None:
    """None for what is no trouble of the log's."""
    match error:
        case apsw.Error():
            return explain(error, path)
        case UnicodeDecodeError():
            return damaged(path, f"it contains text that is not UTF-8: {error.object[:40]!r}")
        case UnicodeEncodeError() if error.object.startswith(str(path.parent)):
            hint = "SQLite needs a path in UTF-8: rename the folder"
            return LogUnusable(f"the log `{printable(str(path))}` cannot be opened", hint)
        case UnicodeEncodeError():
            return LogUnusable(f"`{printable(error.object, 60)}` is not valid UTF-8: nothing was written")
        case PermissionError():
            return LogUnusable(
                f"no permission for `{error.filename}`",
                f"give your user read and write access: `chmod -R u+rwX {quote(path.parent)}`",
            )
        case OSError(errno=errno) if errno in (ENOSPC, EDQUOT):
            return full(path)
        case OSError():
            return LogUnusable(f"the log `{path}` cannot be reached: {error.strerror}", "run `paddock doctor`")
        case _:
            return None


def explain(error: apsw.Error, path: Path) -> LogUnusable:
    match error:
        case apsw.FullError():
            return full(path)
        case apsw.CorruptError() | apsw.NotADBError():
            return damaged(path, str(error))
        case apsw.BusyError() | apsw.LockedError() | apsw.ProtocolError():
            return LogUnusable(
                f"the log `{path}` is locked by another program",
                f"find it with `fuser -v {quote(path)}`, then run this again",
            )
        case apsw.ReadOnlyError():
            return LogUnusable(f"the log `{path}` cannot be written: it is read-only", _access_hint(path))
        case apsw.CantOpenError() | apsw.PermissionsError() | apsw.AuthError():
            return LogUnusable(f"the log `{path}` cannot be opened", _access_hint(path))
        case apsw.IOError() if _has_no_room(path):
            return full(path)
        case apsw.IOError():
            return LogUnusable(f"the disk of `{path}` failed: {error}", "run `paddock doctor`")
        case _:
            return LogUnusable(f"the log `{path}` is unusable: {error}", "run `paddock doctor`")


def full(path: Path) -> LogFull:
    return LogFull(f"the disk of `{path}` is full: nothing was written", "free some space and run it again")


def _has_no_room(path: Path) -> bool:
    """Not every call of SQLite's says so when the disk is full."""
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < ROOM_BYTES


def damaged(path: Path, problem: str) -> LogUnusable:
    from paddock.store.spare import hint_without_wal

    return LogUnusable(
        f"the log `{path}` is damaged: {problem}",
        hint_without_wal(path)
        or f"keep its files (`mkdir {quote(path.parent)}/bad && mv {quote(path)}* {quote(path.parent)}/bad`), "
        "then restore the log from its mirror with `paddock log fetch`",
    )


def quote(path: Path) -> str:
    """For a shell, and safe to show."""
    import shlex

    return shlex.quote(printable(str(path), 1000))


def _access_hint(path: Path) -> str:
    return f"check its permissions and that the file system is writable: `ls -ld {quote(path.parent)} {quote(path)}`"

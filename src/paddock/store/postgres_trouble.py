"""PostgreSQL's errors in words a person can act on: what may work later, and what a person has to change."""

import psycopg
from psycopg import errors

from paddock.core.ids import printable
from paddock.store.place import LogPlace
from paddock.store.protocol import LogFull, LogMissing, LogUnavailable, LogUnusable

_LOCKED_OUT = (
    "password authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "authentication failed",
    "certificate",
)
"""Of a connection that failed libpq gives no code, only the server's words."""
_MISSING = ("does not exist", "is not permitted to log in")
_NOT_NOW = ("08", "57P", "25P03", "53300", "53200", "40001", "40P01")
"""Codes, or how they begin: of a lost connection, a server that ends or begins, too many clients, and of what another
try may not meet again."""


class Explained:
    """Turns what psycopg raises inside of it into LogUnusable with a hint. It can be entered again."""

    __slots__ = ("_lock_timeout_seconds", "_place")

    def __init__(self, place: LogPlace, lock_timeout_seconds: float) -> None:
        self._place = place
        self._lock_timeout_seconds = lock_timeout_seconds

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, psycopg.Error):
            # Without its cause: that may hold the address with the password in it.
            raise explain(error, self._place, self._lock_timeout_seconds) from None
        if isinstance(error, UnicodeEncodeError):
            raise LogUnusable(f"`{printable(error.object, 60)}` is not valid UTF-8: nothing was written") from error


def explain(error: psycopg.Error, place: LogPlace, lock_timeout_seconds: float = 0.0) -> LogUnusable:
    said = first_line(error)
    match error:
        case errors.LockNotAvailable():
            return LogUnusable(
                f"another writer has held the log `{place}` for more than {lock_timeout_seconds:g} s",
                "`paddock store show` names who is connected; then run this again",
            )
        case errors.QueryCanceled():
            return LogUnavailable(f"the log `{place}` did not answer in time: {said}", "run `paddock store show`")
        case errors.DiskFull():
            return LogFull(f"the disk of `{place}` is full: nothing was written", "free some space on the server")
        case errors.InsufficientPrivilege():
            return LogUnusable(
                f"the role may not do that in the log `{place}`: {said}",
                "`paddock store schema` prints the grants that it needs",
            )
        case errors.UndefinedTable() | errors.InvalidSchemaName() | errors.UndefinedColumn():
            return missing(place)
        case errors.ReadOnlySqlTransaction():
            return LogUnavailable(
                f"the server of `{place}` is a standby, or read-only: {said}",
                "name the primary in [store] url; several hosts may stand there, separated by commas",
            )
        case errors.DataCorrupted() | errors.IndexCorrupted():
            return damaged(place, said)
        case errors.DataError() | errors.IntegrityError():
            return LogUnusable(f"the log `{place}` refused a record: {said}", "run `paddock log verify`")
        case _:
            return unreachable(error, place) if is_away(error) else _other(error, place)


def is_away(error: psycopg.Error) -> bool:
    """Whether the server, or the way to it, has gone: another connection may do. What libpq itself notices has no
    code."""
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError)
    return error.sqlstate.startswith(_NOT_NOW)


def unreachable(error: psycopg.Error, place: LogPlace) -> LogUnusable:
    said = first_line(error)
    if any(words in said for words in _LOCKED_OUT):
        return LogUnusable(
            f"the server of the log `{place}` did not accept the login: {said}",
            "give the password with PGPASSWORD, in ~/.pgpass, or as `${NAME}` in [store] url",
        )
    if any(words in said for words in _MISSING):
        return LogUnusable(f"the log `{place}` cannot be opened: {said}", "see [store] url in paddock.toml")
    return LogUnavailable(
        f"the log `{place}` cannot be reached: {said}",
        "is the server running, and its host and port right? `paddock store show` tries again",
    )


def missing(place: LogPlace) -> LogMissing:
    return LogMissing(
        f"there is no log at `{place}`",
        "run `paddock init` to create it; `paddock store schema` prints the SQL for whoever owns the database",
    )


def damaged(place: LogPlace, problem: str) -> LogUnusable:
    return LogUnusable(
        f"the log `{place}` is damaged: {problem}",
        "restore the database from a backup, or the log from its mirror; docs/how-to/postgresql.md says how",
    )


def first_line(error: psycopg.Error) -> str:
    """What the server said last: of several hosts libpq tells one after the other. It never repeats a password."""
    lines = [line.strip() for line in str(error.diag.message_primary or error).splitlines() if line.strip()]
    words = lines[-1] if len(lines) > 1 and lines[-1].startswith("connection ") else (lines or ["it gave no reason"])[0]
    return printable(words.removeprefix("connection failed: ").replace("FATAL:  ", ""), 200)


def _other(error: psycopg.Error, place: LogPlace) -> LogUnusable:
    return LogUnusable(
        f"the log `{place}` is unusable: {type(error).__name__}: {first_line(error)}", "run `paddock store show`"
    )

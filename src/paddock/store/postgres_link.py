"""The connection to the database of a log: how it is set up, and how another one takes its place.

Outside of a transaction it runs in autocommit, so whoever only waits holds nothing on the server. Everything it waits
for has a bound.
"""

import logging
import os
import time
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from paddock.config.addresses import fill_url, is_unclear
from paddock.store.place import LogPlace
from paddock.store.postgres_schema import OLDEST_SERVER, Connection
from paddock.store.postgres_trouble import first_line, is_away, unreachable
from paddock.store.protocol import LogUnavailable, LogUnusable

CONNECT_SECONDS = 3
STATEMENT_SECONDS = 60
IDLE_SECONDS = 10
"""Whoever stops in the middle of a transaction loses it after that: nobody else could write."""
PAUSES_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.0)

# Where nobody has set up logging, Python prints psycopg's warnings: what they tell of is raised as well.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

_DEFAULTS = {
    "connect_timeout": CONNECT_SECONDS,
    "target_session_attrs": "read-write",
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
    "client_encoding": "utf-8",
}
# A role or database that asks for more than `on`, such as `remote_apply`, keeps it.
_SETTINGS = f"""SELECT
 set_config('synchronous_commit', 'on', false)
   FROM (SELECT 1) AS one WHERE current_setting('synchronous_commit') IN ('off', 'local');
SELECT set_config('statement_timeout', '{STATEMENT_SECONDS}s', false),
 set_config('idle_in_transaction_session_timeout', '{IDLE_SECONDS}s', false),
 set_config('tcp_keepalives_idle', '15', false),
 set_config('tcp_keepalives_interval', '5', false),
 set_config('tcp_keepalives_count', '3', false),
 set_config('search_path', 'pg_catalog', false)"""


class Link:
    """Opens a connection when it is asked for one and has none that works."""

    def __init__(self, place: LogPlace, *, read_only: bool, lock_timeout_seconds: float) -> None:
        self._place = place
        self._read_only = read_only
        self._lock_timeout_seconds = lock_timeout_seconds
        self._connection: Connection | None = None
        self._was_away = False

    def get(self, patience_seconds: float) -> Connection:
        """Tries again for that long where the server is away, once for each time that it is. Raises LogUnusable."""
        if self._connection is not None:
            if not self._connection.closed:
                return self._connection
            self.drop()
        give_up_at = time.monotonic() + (0.0 if self._was_away else patience_seconds)
        tries = 0
        while True:
            try:
                self._connection = self.open()
            except LogUnavailable:
                pause = PAUSES_SECONDS[min(tries, len(PAUSES_SECONDS) - 1)]
                if time.monotonic() + pause >= give_up_at:
                    self._was_away = True
                    raise
                time.sleep(pause)
                tries += 1
            else:
                self._was_away = False
                return self._connection

    def open(self) -> Connection:
        """Another one, which belongs to the caller. Raises LogUnusable."""
        return open_connection(self._place, self._set_up)

    def _set_up(self, connection: Connection) -> None:
        connection.execute(
            f"{_SETTINGS}, set_config('lock_timeout', '{max(1, round(self._lock_timeout_seconds * 1000))}', false)"
            + (", set_config('default_transaction_read_only', 'on', false)" if self._read_only else "")
        )

    def drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _read_address(place: LogPlace, url: str) -> dict[str, Any]:
    try:
        if not is_unclear(url):
            return conninfo_to_dict(url)
    except psycopg.Error:  # libpq repeats what it could not read, which may be the password
        pass
    raise LogUnusable(
        f"[store] url `{place}` cannot be read as an address",
        "write it as `postgresql://USER@HOST/DATABASE`, with %XX for what is special in a name or password: %40 for @",
    )


def open_connection(place: LogPlace, set_up: Callable[[Connection], None]) -> Connection:
    """Raises LogUnusable."""
    url = fill_url(place.url)
    asked = _read_address(place, url)
    defaults = {key: value for key, value in _DEFAULTS.items() if key not in asked}
    defaults["fallback_application_name"] = f"paddock {os.getpid()}@{os.uname().nodename}"[:63]
    try:
        connection: Connection = psycopg.connect(url, autocommit=True, **defaults)  # type: ignore[arg-type]
    except psycopg.Error as error:
        raise unreachable(error, place) from None
    try:
        if connection.info.server_version < OLDEST_SERVER:
            raise LogUnusable(
                f"the server of `{place}` is PostgreSQL {connection.info.server_version // 10000}; "
                f"Paddock needs {OLDEST_SERVER // 10000} or newer",
                "upgrade the server",
            )
        set_up(connection)
    except psycopg.Error as error:
        connection.close()
        if is_away(error):
            raise unreachable(error, place) from None
        raise LogUnusable(
            f"the log `{place}` cannot be opened: {first_line(error)}", "run `paddock store show`"
        ) from None
    except BaseException:
        connection.close()
        raise
    return connection

"""Waking by LISTEN: a connection of its own, which becomes readable after every commit of anybody's.

One that breaks is opened again. What was committed meanwhile is not told any more, so each new connection counts as a
wake-up.
"""

import select
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

from paddock.store.postgres_schema import Connection
from paddock.store.protocol import Listener, LogUnusable

if TYPE_CHECKING:
    import asyncio

RETRY_SECONDS = 1.0


class PostgresListener(Listener):
    """`open` makes a connection; it raises LogUnusable where the server is away."""

    def __init__(self, open_one: Callable[[], Connection], channel: str) -> None:
        self._open_one = open_one
        self._channel = channel
        self._connection: Connection | None = None
        self._socket = -1
        self._heard: Callable[[], None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._retry: asyncio.Handle | None = None
        self._closed = False
        with suppress(LogUnusable):
            self._take(self._connect())

    def wait(self, timeout_seconds: float) -> bool:
        give_up_at = time.monotonic() + timeout_seconds
        while True:
            left = max(0.0, give_up_at - time.monotonic())
            if self._connection is None:
                time.sleep(min(left, RETRY_SECONDS))
                with suppress(LogUnusable):
                    self._take(self._connect())
                    return True
            else:
                readable, _, _ = select.select([self._socket], [], [], left)
                if readable and self._drain():
                    return True
            if time.monotonic() >= give_up_at:
                return False

    def tell(self, heard: Callable[[], None]) -> None:
        import asyncio

        self._heard, self._loop = heard, asyncio.get_running_loop()
        self._watch()

    def close(self) -> None:
        self._closed = True
        if self._retry is not None:
            self._retry.cancel()
        self._drop()

    def _take(self, connection: Connection) -> None:
        """The socket is remembered: a connection that broke does not tell which one it had."""
        self._connection, self._socket = connection, connection.fileno()

    def _connect(self) -> Connection:
        connection = self._open_one()
        try:
            connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._channel)))
        except psycopg.Error as error:
            connection.close()
            raise LogUnusable(f"nobody can listen to the log: {type(error).__name__}") from None
        return connection

    def _drain(self) -> bool:
        """Whether anything was committed, or may have been: a connection that broke says nothing."""
        assert self._connection is not None
        heard = False
        try:
            self._connection.pgconn.consume_input()
            while self._connection.pgconn.notifies() is not None:
                heard = True
        except psycopg.Error:
            self._drop()
            return True
        return heard

    def _drop(self) -> None:
        if self._connection is not None:
            if self._loop is not None and not self._loop.is_closed():
                self._loop.remove_reader(self._socket)
            self._connection.close()
            self._connection = None

    def _watch(self) -> None:
        assert self._loop is not None
        if self._connection is not None:
            self._loop.add_reader(self._socket, self._read)
        else:
            self._retry = self._loop.call_later(RETRY_SECONDS, self._connect_again)

    def _read(self) -> None:
        assert self._heard is not None
        if self._drain():
            self._heard()
        if self._connection is None:
            self._watch()

    def _connect_again(self) -> None:
        """In a thread: where the server's machine is away this takes seconds."""
        assert self._loop is not None
        self._loop.run_in_executor(None, self._open_quietly).add_done_callback(self._have_connected)

    def _open_quietly(self) -> Connection | None:
        with suppress(LogUnusable):
            return self._connect()
        return None

    def _have_connected(self, done: "asyncio.Future[Connection | None]") -> None:
        connection = None if done.cancelled() else done.result()
        if self._closed:
            if connection is not None:
                connection.close()
            return
        if connection is not None:
            self._take(connection)
        self._watch()
        if connection is not None and self._heard is not None:
            self._heard()

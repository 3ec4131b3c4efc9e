"""What one connection may take: time for its request to arrive, time to take the answer, and a place among others."""

import asyncio
import socket
from struct import pack

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

HEAD_SECONDS = 10.0
"""For a whole request to arrive, apart from its body."""
HEAD_BYTES = 32 * 1024
TAKE_SECONDS = 20.0
"""A client that takes nothing of its answer for this long is cut off. A page of it resumes where it was."""
MOST_STRANGERS = 64
"""Connections that have not shown the token for longer than it takes to do so."""
STRANGE_SECONDS = 2.0
MOST_ARRIVING = 512
MOST_CONNECTIONS = 256 + MOST_ARRIVING


class PatientProtocol(H11Protocol):
    """Waits for nobody for ever. Of too many strangers the oldest lose their places: whoever has the token shows it at
    once, so those who keep connections open without it hold up only each other."""

    _head_due: asyncio.TimerHandle | None = None
    _take_due: asyncio.TimerHandle | None = None
    _strange_due: asyncio.TimerHandle | None = None
    is_stranger = True
    since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "let_in": self._be_known}
        self.since = self.loop.time()
        self._expect_head()
        self._strange_due = self.loop.call_later(STRANGE_SECONDS, self._leave_a_crowd, MOST_STRANGERS)
        min(self._strangers(), key=lambda one: one.since)._leave_a_crowd(MOST_ARRIVING)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_answering():
            self._forget_head()
        elif self._head_due is None:
            self._expect_head()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect_taking()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._forget_taking()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_head()
        self._forget_taking()
        self._be_known()
        super().connection_lost(exc)

    def _be_known(self) -> None:
        """No stranger any longer, or gone."""
        self.is_stranger = False
        if self._strange_due is not None:
            self._strange_due.cancel()
            self._strange_due = None

    def _strangers(self) -> list["PatientProtocol"]:
        return [one for one in self.connections if isinstance(one, PatientProtocol) and one.is_stranger]

    def _leave_a_crowd(self, most: int) -> None:
        if self.is_stranger and len(self._strangers()) > most:
            self._cut_off()

    def _cut_off(self) -> None:
        """At once, and with all that the system still keeps for the other end."""
        self._be_known()
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))
        self.transport.abort()

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _expect_head(self) -> None:
        self._head_due = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _forget_head(self) -> None:
        if self._head_due is not None:
            self._head_due.cancel()
            self._head_due = None

    def _give_up(self) -> None:
        self._head_due = None
        if not self._is_answering():
            self.transport.close()

    def _expect_taking(self) -> None:
        self._forget_taking()
        left = self.transport.get_write_buffer_size()
        self._take_due = self.loop.call_later(TAKE_SECONDS, self._check_taking, left)

    def _check_taking(self, left: int) -> None:
        if self.transport.get_write_buffer_size() < left:
            self._expect_taking()
        else:
            self._cut_off()

    def _forget_taking(self) -> None:
        if self._take_due is not None:
            self._take_due.cancel()
            self._take_due = None

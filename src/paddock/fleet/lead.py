"""A daemon's proof that it leads, for everything it does besides writing to the log."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import get_ident

from paddock.core.lead import Succeeded, is_in_time
from paddock.fleet.clock import WallClock
from paddock.fleet.seat import LeaderSeat

ASK_SECONDS = 60.0


class DaemonLead:
    """`check` reads in the log that we have the lease, `renew` renews it there; each raises Succeeded if we do not.

    The lead holds while the lease cannot have run out and the seat shows our sign. Where one of the two fails, the log
    decides: a machine that slept for an hour has a daemon that goes on, unless another one has taken over.
    """

    def __init__(
        self, generation: int, seat: LeaderSeat, clock: WallClock, check: Callable[[], None], renew: Callable[[], None]
    ) -> None:
        self.generation = generation
        self.leader = ""
        self.post = seat.post
        self.sign = seat.sign(generation)
        self._seat = seat
        self._clock = clock
        self._check = check
        self._renew = renew
        self._thread = get_ident()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._noted = 0.0
        self._lasts = 0.0

    def note_renewal(self, noted: float, seconds: float) -> None:
        """The lease was renewed for that long, some time after `noted`."""
        self._noted, self._lasts = noted, seconds

    def take_seat(self) -> None:
        """Before the first effect: from now on those of former daemons fail."""
        self.leader = self._seat.show(self.generation, self._check)

    def answer_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Where the log can be asked on behalf of other threads."""
        self._loop = loop

    def require(self) -> None:
        if not is_in_time(self._clock.boottime(), self._noted, self._lasts) or self._seat.read() != self.sign:
            self.reassert()

    def reassert(self) -> None:
        if get_ident() == self._thread:
            self._reassert()
        elif self._loop is None:
            raise Succeeded("the log cannot be asked who leads")
        else:
            self._ask(self._loop)

    def _ask(self, loop: asyncio.AbstractEventLoop) -> None:
        answer: Future[None] = Future()

        def ask() -> None:
            try:
                self._reassert()
            except Exception as error:
                answer.set_exception(error)
            else:
                answer.set_result(None)

        try:
            loop.call_soon_threadsafe(ask)
        except RuntimeError:
            raise Succeeded("this daemon has ended") from None
        if not wait((answer,), ASK_SECONDS).done:
            raise Succeeded(f"the log did not say within {ASK_SECONDS:.0f} s who leads")
        answer.result()

    def _reassert(self) -> None:
        self._renew()
        self.take_seat()

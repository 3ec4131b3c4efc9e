"""Tells people who are elsewhere what the fleet needs them for.

It looks at the board and leaves the sending to couriers, processes of their own: whatever a service does, it holds
nothing up. Couriers outlive the daemon that sent them, so one that ends takes leave with what still waits. What one
that is killed leaves, the next one tells.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from paddock.core.admission.admit import LimitedBy
from paddock.core.board import Board
from paddock.core.lead import Succeeded
from paddock.core.notify.concern import Concern, Scarcity, Seen, find_concerns
from paddock.core.notify.notification import compose
from paddock.core.notify.outbox import Flight, Outbox, due_at, fail, last_chance, look, reopen, take
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.clock import wait_for
from paddock.fleet.dispatch.gate import Gate
from paddock.fleet.ledger import Ledger
from paddock.fleet.notify.courier import MODULE, Errand
from paddock.fleet.notify.memory import (
    OUTBOX_KEPT_SECONDS,
    NotifyMemory,
    read_memory,
    receipt_path,
    remove_receipts,
    settle,
    write_memory,
)
from paddock.fleet.notify.recipients import Recipient, find_recipients, known_secrets, pause_of
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles

TELLING = "telling people"
LOOK_SECONDS = 1.0
COURIER = (sys.executable, "-I", "-m", MODULE)


@dataclass
class Teller:
    """`memory` is as it was last written."""

    site: Site
    ledger: Ledger
    gate: Gate
    troubles: Troubles

    def __post_init__(self) -> None:
        self._settings = self.site.config.notify
        self._recipients = find_recipients(self._settings).all
        self._anchor = self.site.clock.now() - self.site.clock.boottime()
        self._stirred = asyncio.Event()
        self._concerns: dict[str, Concern] = {}
        self._seen: Seen = {}
        self._looked_at: tuple[int, Scarcity | None] | None = None
        self.couriers: list[subprocess.Popen[bytes]] = []
        identity, now = self.site.log_identity, self.steady()
        kept = read_memory(self.site.state_dir, identity) or NotifyMemory(identity, now)
        recent = {name: one for name, one in kept.outboxes.items() if abs(now - one.sent_at) < OUTBOX_KEPT_SECONDS}
        known = {one.id: reopen(kept.outboxes.get(one.id, Outbox()), now) for one in self._recipients}
        self.memory = replace(kept, since=min(kept.since, now), outboxes={**recent, **known})

    def steady(self) -> float:
        """The time, by a clock that never goes back while this daemon lives, whatever somebody does to the clock."""
        return self._anchor + self.site.clock.boottime()

    def stir(self) -> None:
        """Something may have changed."""
        self._stirred.set()

    async def keep(self) -> None:
        """Looks and sends until it is cancelled. Couriers that are on their way then go on."""
        while self._recipients:
            self._stirred.clear()
            await self.troubles.attempt(TELLING, self.step)
            await self.report()
            await asyncio.sleep(LOOK_SECONDS)
            await wait_for(self._stirred, self._pause())

    async def report(self) -> None:
        """Who cannot be told is a trouble, in the log once and in `paddock status` as long as it lasts."""
        for one in self._recipients:
            problem = one.problem or self.memory.outboxes[one.id].problem
            await self.troubles.observe(TELLING, problem, one.name)

    def _pause(self) -> float | None:
        """Until something is due; a receipt may come at any moment."""
        outboxes = [self.memory.outboxes[one.id] for one in self._reachable()]
        if any(outbox.flights for outbox in outboxes):
            return 0.0
        due = [at for outbox in outboxes if (at := due_at(outbox, pause_of(self._settings))) is not None]
        return max(0.0, min(due) - self.steady()) if due else None

    def _reachable(self) -> Sequence[Recipient]:
        return [recipient for recipient in self._recipients if not recipient.problem]

    async def step(self) -> None:
        """Sends what is due. Raises OSError where it cannot be written down, and nothing is sent then."""
        self.couriers = [courier for courier in self.couriers if courier.poll() is None]
        self._look(self.ledger.board)
        for recipient in self._reachable():
            at = due_at(self.memory.outboxes[recipient.id], pause_of(self._settings))
            if at is not None and at <= self.steady():
                self._send(recipient, self.steady())

    def _look(self, board: Board) -> None:
        """Brings every outbox up to date with the board and with the receipts."""
        bound = self.gate.bound
        is_money = bound is not None and bound.by in (LimitedBy.BUDGET, LimitedBy.GROUP_BUDGET)
        scarce = Scarcity(bound.on, bound.reason) if bound is not None and is_money else None
        if self._looked_at != (board.seq, scarce):
            self._looked_at = board.seq, scarce
            now, since = self.site.clock.now(), self.memory.since
            found = find_concerns(board, self._settings.about, now, since, scarce, self._seen)
            self._concerns = {concern.key: concern for concern in found}
        state_dir, now = self.site.state_dir, self.steady()
        self._update(lambda one, outbox: look(settle(state_dir, one.id, outbox, now), self._concerns, now))

    def _update(self, change: Callable[[Recipient, Outbox], Outbox]) -> None:
        """Raises OSError if it cannot be written down: then nothing is sent that would be forgotten."""
        before = self.memory.outboxes
        after = {**before, **{one.id: change(one, before[one.id]) for one in self._recipients}}
        if after == before:
            return
        memory = replace(self.memory, outboxes=after)
        self.site.lead.require()
        write_memory(self.site.state_dir, memory)
        self.memory = memory
        for one in self._recipients:
            if after[one.id].flights != before[one.id].flights:
                remove_receipts(self.site.state_dir, one.id, after[one.id])

    def _put(self, recipient: Recipient, outbox: Outbox) -> None:
        self._update(lambda one, same: outbox if one is recipient else same)

    def _send(self, recipient: Recipient, at: float) -> None:
        """All that waits, with a courier that leaves at `at`. It is written down before it goes."""
        taken, flight = take(self.memory.outboxes[recipient.id], at)
        self._put(recipient, taken)
        checkpoint("notify.taken")
        try:
            self.couriers.append(_start(self._errand(recipient, flight)))
        except OSError as error:
            problem = f"no process can be started: {error.strerror or error}"
            self._put(recipient, fail(taken, flight.number, problem, self.steady()))
        checkpoint("notify.sent")

    def _errand(self, recipient: Recipient, flight: Flight) -> Errand:
        told = [concern for key, concern in self._concerns.items() if key in flight.waited]
        notification = compose(told, (self.site.repo.main or self.site.repo.common_dir).name, known_secrets())
        receipt = receipt_path(self.site.state_dir, recipient.id, flight.number)
        wait = max(0.0, flight.at - self.steady())
        return recipient.errand(notification, number=flight.number, receipt=str(receipt), wait_seconds=wait)

    def close(self) -> None:
        """The daemon ends: couriers take along what still waits, a minute after the last notification."""
        with contextlib.suppress(OSError, Succeeded):
            self._look(self.ledger.board)
            for recipient in self._reachable():
                at = last_chance(self.memory.outboxes[recipient.id], self.steady())
                if at is not None:
                    self._send(recipient, at)


def _start(errand: Errand) -> "subprocess.Popen[bytes]":
    """The errand fits into a pipe, so nobody has to stay until it is read. Raises OSError."""
    reader, writer = os.pipe()
    with open(reader, "rb") as pipe:
        with open(writer, "wb") as into:
            into.write(msgspec.json.encode(errand))
        quiet = subprocess.DEVNULL
        return subprocess.Popen(COURIER, stdin=pipe, stdout=quiet, stderr=quiet, cwd="/", start_new_session=True)

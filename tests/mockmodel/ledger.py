"""What a running mock knows: its settings, a bounded record of what was asked, fault counts and gates."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass

from tests.mockmodel.playlist import Fault, FaultEntry
from tests.mockmodel.wire import Json, Tokens

RECORDED_EXCHANGES = 2000
COUNTED_FAULTS = 10_000
GATE_SECONDS = 120.0
SETTLE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for every request, whatever its prompt says. `fault` strikes for ever.

    With `whole_texts` all that users have said is recorded with every request, however much it is.
    With `varied_tokens` no two answers are billed alike, so that a sum tells which of them are in it.
    """

    max_concurrent: int | None = None
    busy_retry_after_seconds: int = 1
    fault: Fault | None = None
    headers: tuple[tuple[str, str], ...] = ()
    latency_seconds: float = 0.0
    varied_tokens: bool = False
    whole_texts: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request as it ended. `outcome` is answered, side_call, rejected (the concurrency limit), gone (the
    client hung up), unknown (no such route), bad_playlist, or the fault's name (`refuse 429`, `silence`…)."""

    path: str
    dialect: str
    model: str
    round_number: int
    outcome: str
    user_texts: tuple[str, ...]
    tool_results: tuple[str, ...]
    had_credentials: bool
    started_monotonic: float
    seconds: float
    tokens: Tokens = Tokens()  # noqa: RUF009 (frozen)


class Ledger:
    """The state every request thread shares. All members are thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.stopping = threading.Event()
        # Re-entrant, so that a condition waited for may read the properties below.
        self._changed = threading.Condition(threading.RLock())
        self._exchanges: deque[Exchange] = deque(maxlen=RECORDED_EXCHANGES)
        self._struck: dict[str, int] = {}
        self._open_gates: set[str] = set()
        self._open = 0
        self._in_flight = 0
        self._most_in_flight = 0
        self._rejected = 0
        self._billed = 0

    def stop(self) -> None:
        self.stopping.set()
        with self._changed:
            self._changed.notify_all()

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        with self._changed:
            return tuple(self._exchanges)

    @property
    def most_in_flight(self) -> int:
        with self._changed:
            return self._most_in_flight

    @property
    def in_flight(self) -> int:
        with self._changed:
            return self._in_flight

    @property
    def rejected(self) -> int:
        with self._changed:
            return self._rejected

    def outcomes(self) -> list[str]:
        """How the requests ended, oldest first, once those under way have; side calls are left out."""
        with self._changed:
            self._changed.wait_for(lambda: self._open == 0, SETTLE_SECONDS)
            return [exchange.outcome for exchange in self._exchanges if exchange.outcome != "side_call"]

    def billed(self) -> Tokens:
        """All tokens that answers were billed for, side calls included, once the requests under way have ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._open == 0, SETTLE_SECONDS)
            total = Tokens()
            for exchange in self._exchanges:
                total = total.plus(exchange.tokens)
            return total

    def bill_next(self) -> Tokens:
        """What the next answer is billed for."""
        with self._changed:
            self._billed += 1
            number = self._billed
        if not self.settings.varied_tokens:
            return Tokens(100, 0, 10)
        return Tokens(1000 + 2**number, 300 + 3 * 2**number, 30 + 6 * 2**number)

    def open_gate(self, gate: str) -> None:
        with self._changed:
            self._open_gates.add(gate)
            self._changed.notify_all()

    def wait_until(self, holds: Callable[[Ledger], bool], timeout_seconds: float = 30.0) -> bool:
        """Wait for the record, the counters or the gates to satisfy `holds`; False when time ran out."""
        with self._changed:
            return self._changed.wait_for(lambda: self.stopping.is_set() or holds(self), timeout_seconds)

    def enter(self) -> bool:
        """Count a request in; False when the concurrency limit turns it away."""
        with self._changed:
            self._open += 1
            limit = self.settings.max_concurrent
            if limit is not None and self._in_flight >= limit:
                self._rejected += 1
                return False
            self._in_flight += 1
            self._most_in_flight = max(self._most_in_flight, self._in_flight)
            self._changed.notify_all()
            return True

    def leave(self, exchange: Exchange) -> None:
        """Count a request out, turned away or not, and record how it ended."""
        with self._changed:
            self._open -= 1
            self._in_flight -= exchange.outcome != "rejected"
            self._exchanges.append(exchange)
            self._changed.notify_all()

    def record(self, exchange: Exchange) -> None:
        with self._changed:
            self._exchanges.append(exchange)
            self._changed.notify_all()

    def next_fault(self, entries: tuple[FaultEntry, ...]) -> Fault | None:
        with self._changed:
            for entry in entries:
                struck = self._struck.get(entry.key, 0)
                if (entry.times is not None and struck >= entry.times) or entry.until in self._open_gates:
                    continue
                if struck or len(self._struck) < COUNTED_FAULTS:
                    self._struck[entry.key] = struck + 1
                return entry.fault
        return None

    def await_gate(self, gate: str) -> None:
        self.wait_until(lambda _: gate in self._open_gates, GATE_SECONDS)

    def report(self) -> Json:
        with self._changed:
            return {
                "exchanges": [asdict(exchange) for exchange in self._exchanges],
                "in_flight": self._in_flight,
                "most_in_flight": self._most_in_flight,
                "rejected": self._rejected,
            }

"""What was told to whom, in a small file beside the log, and the receipts of couriers beside that.

It is written before a courier starts and after its receipt was read. Whoever is killed in between leaves a
notification under way: if its courier has left a receipt, that counts; if not, it is sent once more.
"""

import contextlib
import os
from pathlib import Path

import msgspec

from paddock.core.notify.outbox import FLIGHT_SECONDS, Outbox, arrive, fail
from paddock.fleet.notify.courier import Receipt
from paddock.sessions.hints import read_hint, write_hint

FILE = "notify.json"
OUTBOX_KEPT_SECONDS = 7 * 86400.0
"""Of a recipient that is no longer configured: who comes back is not told everything again."""
UNKNOWN = "nobody knows whether the last notification arrived"


class NotifyMemory(msgspec.Struct, frozen=True, omit_defaults=True):
    """Of one log. `since` is when somebody began to be told; `outboxes` are by recipient."""

    log: str
    since: float
    outboxes: dict[str, Outbox] = {}


def read_memory(state_dir: Path, log: str) -> NotifyMemory | None:
    """None where nothing was ever told, or only what another log had to tell."""
    kept = read_hint(state_dir / FILE, NotifyMemory)
    return kept if kept is not None and kept.log == log else None


def write_memory(state_dir: Path, memory: NotifyMemory) -> None:
    """Raises OSError."""
    write_hint(state_dir / FILE, memory)


def receipt_path(state_dir: Path, recipient: str, number: int) -> Path:
    return state_dir / f"notify-{recipient}-{number}.json"


def settle(state_dir: Path, recipient: str, outbox: Outbox, now: float) -> Outbox:
    """With the receipts that have come, and without waiting for those that cannot come any more."""
    for flight in outbox.flights:
        receipt = read_hint(receipt_path(state_dir, recipient, flight.number), Receipt)
        if receipt is not None:
            arrived = receipt.number == flight.number and not receipt.problem
            outbox = (
                arrive(outbox, flight.number, now) if arrived else fail(outbox, flight.number, receipt.problem, now)
            )
        elif now >= flight.at + FLIGHT_SECONDS:
            outbox = fail(outbox, flight.number, UNKNOWN, now)
    return outbox


def remove_receipts(state_dir: Path, recipient: str, outbox: Outbox) -> None:
    """Of all that is no longer under way."""
    awaited = {receipt_path(state_dir, recipient, flight.number).name for flight in outbox.flights}
    with contextlib.suppress(OSError):
        for path in state_dir.glob(f"notify-{recipient}-*.json"):
            if path.name not in awaited:
                os.unlink(path)

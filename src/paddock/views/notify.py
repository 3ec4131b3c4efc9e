"""Who is told what the fleet needs people for, and how that goes."""

import msgspec

from paddock.core.notify.outbox import Outbox
from paddock.fleet.notify.addresses import shown_address
from paddock.fleet.notify.trial import RecipientState, TrialResult
from paddock.views.document import Document, iso, iso_or_none


class RecipientView(msgspec.Struct, frozen=True, kw_only=True):
    """`address` is without secrets. `told` counts what was told within a day or still stands, `waiting` what comes with
    the next notification, at `due`; `under_way` is one that a courier has taken. `problem` is why the last one did not
    arrive, after so many `failures` in a row."""

    name: str
    address: str
    last_arrived: str | None
    told: int
    waiting: int
    under_way: bool
    due: str | None
    failures: int
    problem: str


class NotifyView(Document, frozen=True, kw_only=True):
    """`why_none` tells why there is nobody to tell. Between two notifications to one there are `every_seconds`."""

    recipients: list[RecipientView]
    why_none: str
    about: tuple[str, ...]
    every_seconds: float


class NotifyTrialView(msgspec.Struct, frozen=True, kw_only=True):
    """What one recipient answered to a test; `problem` is empty if it has accepted it."""

    name: str
    address: str
    problem: str
    seconds: float


def view_recipient(state: RecipientState) -> RecipientView:
    outbox: Outbox = state.outbox
    return RecipientView(
        name=state.recipient.name,
        address=shown_address(state.recipient),
        last_arrived=iso(outbox.arrived_at) if outbox.arrived_at else None,
        told=len(outbox.told),
        waiting=len(outbox.waiting),
        under_way=bool(outbox.flights),
        due=iso_or_none(state.due_at),
        failures=outbox.failures,
        problem=state.recipient.problem or outbox.problem,
    )


def view_trial(result: TrialResult) -> NotifyTrialView:
    return NotifyTrialView(
        name=result.recipient.name,
        address=shown_address(result.recipient),
        problem=result.problem,
        seconds=round(result.seconds, 3),
    )

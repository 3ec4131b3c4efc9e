"""The merge queue in a few figures, and where each queued task stands in it."""

from dataclasses import dataclass, field

import msgspec

from paddock.core.ids import printable
from paddock.core.merge.estimate import run_seconds
from paddock.core.merge.model import Queue
from paddock.core.merge.prospects import in_order, landing_seconds
from paddock.core.merge.recent import Switched
from paddock.core.merge.switches import switches_of
from paddock.fleet.service.presence import Presence
from paddock.store.protocol import Query
from paddock.views.board.rows import QueueSpot
from paddock.views.document import iso, iso_or_none
from paddock.views.sight import Sight
from paddock.views.steady import keep_steady

LOOK_SECONDS = 1.0
"""At least this long between two looks at a queue that changes, five times that at one that does not."""
KINDS = {"frozen": "queue.frozen", "paused": "queue.paused", "draining": "queue.drained"}


class StripRun(msgspec.Struct, frozen=True):
    """A CI run under way; `eta` is when it ends if it takes as long as most."""

    run: str
    purpose: str
    members: tuple[str, ...]
    since: str
    eta: str | None


class NextLanding(msgspec.Struct, frozen=True):
    members: tuple[str, ...]
    eta: str


class StripView(msgspec.Struct, frozen=True):
    """`state`: open, halted, frozen, paused or draining, with its `reason`, `since` when and `by` whom; a halt is the
    queue's own. `next` is what lands next, None while that is not known."""

    state: str
    reason: str
    since: str | None
    by: str
    queued: int
    slots: int
    runs: list[StripRun]
    next: NextLanding | None


@dataclass
class QueueStrip:
    """`spots` are those of queued tasks, by change; estimated again at most once a second."""

    spots: dict[str, QueueSpot] = field(default_factory=dict)
    _of: tuple[Queue, bool, float] | None = None

    def look(self, sight: Sight, switched: dict[str, Switched]) -> StripView:
        """`switched` is who stopped the queue, by its state; what is missing is put in."""
        queue, now = sight.board.queue, sight.now
        slots = sight.workspace.config.land.runs_at_once
        is_up = sight.outlook.daemon.presence is Presence.RUNNING
        if self._is_due(queue, is_up, now):
            self.spots = _estimate(queue, slots, now, self.spots, is_up=is_up)
            self._of = queue, is_up, now
        typical = run_seconds(queue.stats, 0.5)
        state = switches_of(queue).state
        reason, since, by = _why(sight, state, switched)
        return StripView(
            state=state,
            reason=printable(reason, 300),
            since=iso_or_none(since),
            by=by,
            queued=len(queue.entries),
            slots=slots,
            runs=[
                StripRun(
                    run.id,
                    run.purpose.value,
                    tuple(member.id for member in run.members),
                    iso(run.started_at),
                    iso_or_none(None if typical is None else run.started_at + typical),
                )
                for run in queue.running.values()
            ],
            next=_next(queue, self.spots),
        )

    def _is_due(self, queue: Queue, is_up: bool, now: float) -> bool:
        if self._of is None or self._of[1] != is_up:
            return True
        rests = LOOK_SECONDS * (1 if self._of[0] is not queue else 5)
        return not 0 <= now - self._of[2] < rests


def _why(sight: Sight, state: str, switched: dict[str, Switched]) -> tuple[str, float | None, str]:
    """The log is asked only for what happened before anybody looked."""
    halted = sight.board.queue.halted
    if halted is not None:
        return halted.reason, halted.at, ""
    if state not in KINDS:
        return "", None, ""
    if state not in switched:
        for record in sight.ask(Query(kind=KINDS[state], until=sight.board.seq)):
            switched[state] = Switched(record.at, record.actor, getattr(record.event, "reason", ""))
    known = switched.get(state)
    return ("", None, "") if known is None else (known.reason, known.at, known.by)


def _estimate(
    queue: Queue, slots: int, now: float, before: dict[str, QueueSpot], *, is_up: bool
) -> dict[str, QueueSpot]:
    """Times mean something only while somebody tests and lands."""
    seconds = landing_seconds(queue, slots, now) if is_up and queue.entries else {}
    spots: dict[str, QueueSpot] = {}
    for place, entry in enumerate(in_order(queue), 1):
        name = entry.change.id
        left = seconds.get(name)
        old = before.get(name)
        lands_at = keep_steady(old.lands_at if old else None, None if left is None else now + left, now)
        spots[name] = old if old is not None and old == QueueSpot(place, lands_at) else QueueSpot(place, lands_at)
    return spots


def _next(queue: Queue, spots: dict[str, QueueSpot]) -> NextLanding | None:
    """What may land first, with all that lands in the same run."""
    times = {name: at for name, spot in spots.items() if name in queue.entries and (at := spot.lands_at) is not None}
    if not times:
        return None
    first = min(times, key=lambda name: times[name])
    run = next((run for run in queue.running.values() if run.holds(first) and not run.cancelling), None)
    members = tuple(one.id for one in run.members) if run is not None else (first,)
    return NextLanding(members, iso(times[first]))

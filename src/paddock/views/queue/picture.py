"""The merge queue as a picture: slots and what ran in them, trains and searches, what is planned and lands next.

All times are absolute, and estimates change only with what they rest on: so a row stays the same object for as long as
nothing happens, and a page counts down by itself.
"""

from dataclasses import dataclass, field

from paddock.core.ids import printable
from paddock.core.merge import estimate
from paddock.core.merge.forecast import TOGETHER, Forecast, look_ahead
from paddock.core.merge.model import Purpose, Queue
from paddock.core.merge.prospects import in_order, landing_seconds, states_in_words
from paddock.core.merge.recent import KEPT_SECONDS, RecentQueue, RecentRun, Switched, kind_of_run, place_run
from paddock.core.merge.switches import switches_of
from paddock.core.merge.whereabouts import QueuePlace, places_of
from paddock.fleet.service.presence import Presence
from paddock.store.protocol import Query
from paddock.views.document import Document, iso, iso_or_none
from paddock.views.queue.halts import restoring_words
from paddock.views.queue.halving import HalvingView, view_halving
from paddock.views.queue.history import EVERYTHING
from paddock.views.queue.landings import NextView, QueuePulse, opening_words, view_next
from paddock.views.queue.rows import (
    NOTE,
    ChangeRow,
    LearntView,
    MainState,
    PlannedRow,
    RunRow,
    StandingLists,
    TipRow,
    view_change,
    view_learnt,
    view_main,
    view_run,
    view_standing,
    view_tip,
)
from paddock.views.queue.verdicts import DecidedToday, VerdictRow, Verdicts
from paddock.views.sight import Sight

SHOWN_MINUTES = 40
MOST_MINUTES = 24 * 60
LOOK_AHEAD_SECONDS = 5.0
STOOD_A_SECOND = 400
"""So many changes are looked at in a second at most: a very long queue is looked at less often."""


class Picture(Document, frozen=True, kw_only=True):
    """`restore` says what restoring main would do; it is empty while there is nothing to restore."""

    main: MainState
    restore: str
    state: str
    reason: str
    since: str | None
    by: str
    frozen: bool
    paused: bool
    draining: bool
    words: str
    daemon: str
    slots: int
    rows: int
    minutes: int
    typical_seconds: float | None
    tips: list[TipRow]
    runs: dict[str, RunRow]
    planned: list[PlannedRow]
    next: list[NextView]
    all_at: str | None
    search: HalvingView | None
    standing: StandingLists
    changes: dict[str, ChangeRow]
    order: list[str]
    verdicts: list[VerdictRow]
    today: DecidedToday
    learnt: LearntView


@dataclass(frozen=True, slots=True)
class _Standing:
    """What was made of `queue` at `at`."""

    queue: Queue
    at: float
    places: dict[str, QueuePlace]
    changes: dict[str, ChangeRow]
    search: HalvingView | None


@dataclass
class _QueueMemory:
    """What is kept from one look to the next."""

    recent: RecentQueue
    verdicts: Verdicts = field(default_factory=Verdicts)
    seq: int = 0
    rows: dict[str, tuple[RecentRun, bool, float | None, RunRow]] = field(default_factory=dict)
    standing: _Standing | None = None
    ahead: Forecast = field(default_factory=Forecast)
    ahead_of: tuple[Queue, float] | None = None
    lands: dict[str, float | None] = field(default_factory=dict)


class LiveQueue:
    """Reads the queue's last day from the log once, and from then on what is new."""

    def __init__(self) -> None:
        self._memory: _QueueMemory | None = None

    def look(self, sight: Sight, minutes: int = SHOWN_MINUTES) -> Picture:
        minutes = max(1, min(MOST_MINUTES, minutes))
        memory = self._catch_up(sight)
        queue, now = sight.board.queue, sight.now
        slots = sight.workspace.config.land.runs_at_once
        moves = _moves(queue, sight.outlook.daemon.presence)
        self._look_ahead(memory, queue, slots, now)
        since = now - 60.0 * minutes
        runs = self._runs(memory, queue, since)
        tips = [tip for tip in memory.recent.tips if tip.at >= since]
        switch = self._switched(sight, memory, queue)
        standing = self._stand(memory, queue, now)
        places, search = standing.places, standing.search
        pulse = QueuePulse(queue, memory.ahead, memory.lands, places, now, moves=moves)
        rows = max([slots, *(row.slot + 1 for row in runs.values())])
        ends = [at for at in memory.lands.values() if at is not None]
        return Picture(
            main=view_main(queue, memory.recent),
            restore=restoring_words(queue),
            state=switches_of(queue).state,
            reason=_reason(queue, switch),
            since=iso_or_none(queue.halted.at if queue.halted is not None else switch.at if switch else None),
            by=switch.by if switch is not None and queue.halted is None else "",
            frozen=queue.frozen,
            paused=queue.paused,
            draining=queue.draining_since is not None,
            words=opening_words(pulse, switch, sight.outlook.daemon.presence, search),
            daemon=sight.outlook.daemon.presence.value,
            slots=slots,
            rows=rows,
            minutes=minutes,
            typical_seconds=estimate.run_seconds(queue.stats, 0.5),
            tips=[view_tip(tip) for tip in tips],
            runs=runs,
            planned=_view_planned(memory, queue, slots, moves=moves),
            next=view_next(pulse),
            all_at=iso(max(ends)) if ends and moves and None not in memory.lands.values() else None,
            search=search,
            standing=view_standing(places),
            changes=standing.changes,
            order=list(standing.changes),
            verdicts=memory.verdicts.rows(),
            today=memory.verdicts.today(now),
            learnt=view_learnt(queue, memory.recent, slots),
        )

    def whole(self, sight: Sight, minutes: int) -> Picture:
        """As asked for once: nothing in it is older than the log, even where a stream may leave it for a while."""
        if self._memory is not None:
            self._memory.standing = self._memory.ahead_of = None
        return self.look(sight, minutes)

    def _catch_up(self, sight: Sight) -> _QueueMemory:
        memory, seq = self._memory, sight.board.seq
        slots = sight.workspace.config.land.runs_at_once
        if memory is None or memory.seq > seq:
            memory = self._memory = _QueueMemory(RecentQueue(slots))
            query = Query(kind=EVERYTHING.kind, until=seq, since=sight.now - KEPT_SECONDS)
        else:
            query = Query(kind=EVERYTHING.kind, after=memory.seq, until=seq)
        if memory.seq < seq:
            for record in sight.ask(query):
                memory.recent.fold(record)
                if not memory.recent.has_just_begun:
                    memory.verdicts.fold(record, memory.recent.runs.get)
            memory.seq = seq
        return memory

    def _look_ahead(self, memory: _QueueMemory, queue: Queue, slots: int, now: float) -> None:
        """Again when the queue has changed, and now and then, for runs that take longer than usual."""
        if memory.ahead_of is not None:
            known, at = memory.ahead_of
            same = known is queue or (known.entries == queue.entries and known.running == queue.running)
            if 0 <= now - at < (LOOK_AHEAD_SECONDS if same else LOOK_AHEAD_SECONDS / 5):
                return
        memory.ahead = look_ahead(queue, slots, now, max(12, slots))
        seconds = landing_seconds(queue, slots, now)
        memory.lands = {name: None if left is None else now + left for name, left in seconds.items()}
        memory.ahead_of = queue, now

    def _runs(self, memory: _QueueMemory, queue: Queue, since: float) -> dict[str, RunRow]:
        typical = estimate.run_seconds(queue.stats, 0.5)
        running = [memory.recent.runs.get(run.id) or memory.recent.adopt(run) for run in queue.running.values()]
        ended = [run for run in memory.recent.ended_since(since) if not run.reused]
        shown = sorted((*ended, *running), key=lambda run: (run.started, run.id))
        found: dict[str, RunRow] = {}
        for run in shown:
            live = queue.running.get(run.id)
            found[run.id] = self._row(memory, run, live is not None and live.cancelling, typical)
        if len(memory.rows) > 4 * len(found) + 64:
            memory.rows = {name: memory.rows[name] for name in found}
        return found

    def _row(self, memory: _QueueMemory, run: RecentRun, cancelling: bool, typical: float | None) -> RunRow:
        ends = None if typical is None or run.ended is not None else run.started + typical
        known = memory.rows.get(run.id)
        if known is not None and known[0] is run and known[1] == cancelling and known[2] == ends:
            return known[3]
        row = view_run(run, cancelling=cancelling, ends=ends)
        memory.rows[run.id] = run, cancelling, ends, row
        return row

    def _stand(self, memory: _QueueMemory, queue: Queue, now: float) -> _Standing:
        """Where every change stands: again when the queue has changed, and now and then for what time alone changes."""
        known = memory.standing
        if known is not None:
            soonest = LOOK_AHEAD_SECONDS if known.queue is queue else len(queue.entries) / STOOD_A_SECOND
            if 0 <= now - known.at < soonest:
                return known
        places, words = places_of(queue), states_in_words(queue)
        before = known.changes if known is not None else {}
        changes = {
            name: view_change(entry, words[name], places[name], before)
            for entry in in_order(queue)
            for name in [entry.change.id]
        }
        search = view_halving(queue, memory.recent, now)
        memory.standing = _Standing(queue, now, places, changes, search)
        return memory.standing

    def _switched(self, sight: Sight, memory: _QueueMemory, queue: Queue) -> Switched | None:
        """Who stopped the queue; of long ago the log is asked once."""
        state = switches_of(queue).state
        if state not in ("frozen", "paused", "draining"):
            return None
        if state not in memory.recent.switched:
            kind = "queue.drained" if state == "draining" else f"queue.{state}"
            for record in sight.ask(Query(kind=kind, until=sight.board.seq)):
                memory.recent.fold(record)
        return memory.recent.switched.get(state)


def _moves(queue: Queue, daemon: Presence) -> bool:
    """Whether runs start and changes land by themselves, so that times mean something."""
    stopped = queue.halted is not None or queue.paused or queue.frozen or queue.lost_remote is not None
    return daemon is Presence.RUNNING and not stopped and bool(queue.stats.samples)


def _reason(queue: Queue, switch: Switched | None) -> str:
    if queue.halted is not None:
        return printable(queue.halted.reason, NOTE)
    return printable(switch.reason, NOTE) if switch is not None else ""


def _view_planned(memory: _QueueMemory, queue: Queue, slots: int, *, moves: bool) -> list[PlannedRow]:
    """Each in the row that is free by then."""
    typical = estimate.run_seconds(queue.stats, 0.5) or 0.0
    at = memory.ahead_of[1] if memory.ahead_of is not None else 0.0
    known = memory.recent.runs
    busy = {known[name].slot: max(at, run.started_at + typical) for name, run in queue.running.items() if name in known}
    planned = []
    for run in memory.ahead.runs:
        searched = run.confirms if run.purpose is Purpose.TRAIN else None
        kind = kind_of_run(run.purpose, searched)
        soon = run.starts + 2 * TOGETHER * typical
        row = place_run({row for row, until in busy.items() if until > soon}, kind, slots)
        if row >= slots:
            continue
        busy[row] = run.ends
        starts, ends = (iso(run.starts), iso(run.ends)) if moves else (None, None)
        planned.append(PlannedRow(kind.value, row, run.members, starts, ends, searched))
    return planned

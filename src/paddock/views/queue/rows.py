"""What the queue's picture shows in rows: CI runs, values of main, changes and where they stand, what was learnt."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from paddock.core.ids import printable
from paddock.core.merge import estimate, guards
from paddock.core.merge.main_health import health_of_main
from paddock.core.merge.model import Entry, Queue
from paddock.core.merge.recent import MainTip, RecentQueue, RecentRun
from paddock.core.merge.whereabouts import QueuePlace
from paddock.views.document import iso, iso_or_none

NOTE = 200


class CarView(msgspec.Struct, frozen=True):
    """A member of a run; `again` is how often it had failed by itself before."""

    id: str
    again: int


class RunRow(msgspec.Struct, frozen=True):
    """`kind`: train, screen, search (by halves, of `searched_from`) or main. `ends` is expected, `ended` a fact."""

    run: str
    purpose: str
    kind: str
    slot: int
    members: tuple[CarView, ...]
    started: str
    ended: str | None
    ends: str | None
    result: str | None
    landed: bool
    searched_from: str | None
    base: str
    note: str
    cancelling: bool


class TipRow(msgspec.Struct, frozen=True):
    """A value main took; without `run` it was moved `by` somebody else."""

    at: str
    commit: str
    run: str | None
    members: tuple[str, ...]
    by: str


class PlannedRow(msgspec.Struct, frozen=True):
    """`starts` and `ends` are None while nothing moves."""

    kind: str
    slot: int
    members: tuple[str, ...]
    starts: str | None
    ends: str | None
    searched_from: str | None


class StandingLists(msgspec.Struct, frozen=True):
    """Every queued change is in exactly one of them."""

    waiting: tuple[str, ...]
    screening: tuple[str, ...]
    passed: tuple[str, ...]
    riding: tuple[str, ...]
    suspects: tuple[str, ...]


class ChangeRow(msgspec.Struct, frozen=True):
    """`task` is the page to open; a branch that was queued by name has none."""

    title: str
    words: str
    place: str
    task: str | None
    since: str


class LearntView(msgspec.Struct, frozen=True):
    """Shares are of one; `run_seconds` is None before the first run that passed, `runs_per_landed` before a landing."""

    run_seconds: float | None
    samples: int
    bad_share: float
    clash_share: float
    flake_share: float
    slots_real: int
    failures_to_reject: int
    runs_per_landed: float | None


class MainState(msgspec.Struct, frozen=True):
    """`state`: green, untested, red or unknown."""

    commit: str | None
    state: str
    since: str | None


def view_change(entry: Entry, words: str, place: QueuePlace, before: Mapping[str, ChangeRow]) -> ChangeRow:
    """The same row as before where nothing about it has changed."""
    change = entry.change
    row = ChangeRow(
        printable(change.title, NOTE), printable(words, NOTE), place.value, change.task, iso(entry.queued_at)
    )
    known = before.get(change.id)
    return known if known is not None and known == row else row


def view_main(queue: Queue, recent: RecentQueue) -> MainState:
    health = health_of_main(queue)
    if queue.main is None:
        return MainState(None, health.value, None)
    at = next((tip.at for tip in reversed(recent.tips) if tip.commit == queue.main.commit), None)
    return MainState(queue.main.commit, health.value, iso_or_none(at))


def view_run(run: RecentRun, *, cancelling: bool, ends: float | None) -> RunRow:
    return RunRow(
        run.id,
        run.purpose.value,
        run.kind.value,
        run.slot,
        tuple(CarView(name, tries) for name, tries in zip(run.members, run.tries, strict=True)),
        iso(run.started),
        iso_or_none(run.ended),
        iso_or_none(ends),
        run.result.value if run.result is not None else None,
        run.landed,
        run.searched_from,
        run.base,
        printable(run.note or ", ".join(run.failed), NOTE),
        cancelling,
    )


def view_tip(tip: MainTip) -> TipRow:
    return TipRow(iso(tip.at), tip.commit, tip.run, tip.members, printable(tip.by, NOTE))


def view_standing(places: dict[str, QueuePlace]) -> StandingLists:
    def those(place: QueuePlace) -> tuple[str, ...]:
        return tuple(name for name, where in places.items() if where is place)

    return StandingLists(
        those(QueuePlace.WAITING),
        those(QueuePlace.SCREENING),
        those(QueuePlace.PASSED),
        those(QueuePlace.RIDING),
        those(QueuePlace.SUSPECT),
    )


def view_learnt(queue: Queue, recent: RecentQueue, slots: int) -> LearntView:
    stats = queue.stats
    return LearntView(
        estimate.run_seconds(stats, 0.5),
        len(stats.samples),
        round(estimate.bad_share(stats), 4),
        round(estimate.clash_share(stats), 4),
        round(estimate.flake_share(stats), 4),
        estimate.effective_slots(stats, slots),
        guards.failures_needed(stats),
        _runs_per_landed(recent.runs.values(), recent.tips),
    )


def _runs_per_landed(runs: Iterable[RecentRun], tips: Sequence[MainTip] | Iterable[MainTip]) -> float | None:
    """Over the last day; what was reused or cancelled took no slot to an end."""
    landed = sum(len(tip.members) for tip in tips if tip.run is not None)
    tested = sum(1 for run in runs if run.ended is not None and not run.reused)
    return round(tested / landed, 2) if landed else None

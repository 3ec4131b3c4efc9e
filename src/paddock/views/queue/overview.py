"""The merge queue as JSON: what is tested, what lands next, what was decided, and how its CI behaves."""

from collections.abc import Mapping, Sequence

import msgspec

from paddock.config.schema import Check
from paddock.core.merge.company import REMEDY, Collisions
from paddock.core.merge.estimate import flake_share, run_seconds
from paddock.core.merge.guards import failures_needed
from paddock.core.merge.model import Entry, Queue, Run
from paddock.core.merge.prospects import in_order, state_words
from paddock.core.merge.switches import switches_of
from paddock.core.merge.tallies import CheckTally, Stats
from paddock.git.lock_files import LeftLock
from paddock.git.usertree.notes import CheckoutNotes
from paddock.views.checkouts import StaleView, UndoneView, view_stale, view_undone
from paddock.views.document import Document, iso, view_of
from paddock.views.queue.halts import HaltView, view_halt

LandsIn = Mapping[str, float | None]
"""Seconds until each queued change may land; None if unknown."""


class RunView(msgspec.Struct, frozen=True):
    run: str
    purpose: str
    members: list[str]
    base: str
    commit: str
    tree: str
    since: str
    eta_seconds: float | None
    log: str
    cancelling: bool
    checks: tuple[str, ...] | None


class EntryView(msgspec.Struct, frozen=True):
    id: str
    version: int
    title: str
    head: str
    priority: int
    since: str
    state: str
    waits_on: tuple[str, ...]
    stacked_on: list[str]
    branch: str | None
    eta_seconds: float | None


class DecidedView(msgspec.Struct, frozen=True):
    id: str
    title: str
    version: int
    outcome: str
    at: str
    reason: str
    commit: str | None
    paths: tuple[str, ...]
    against: str | None
    runs: tuple[str, ...]
    lost: bool


class UnreachableView(msgspec.Struct, frozen=True):
    remote: str
    problem: str
    since: str


class CheckView(msgspec.Struct, frozen=True):
    """Counts fade with time: half of what is known is forgotten after about 700 runs."""

    name: str
    paths: tuple[str, ...]
    retry: int
    quarantine: bool
    runs: float
    flakes: float
    quarantined_failures: float


class CollisionsView(msgspec.Struct, frozen=True):
    """Runs of good changes, and how many of them failed, beside another run and alone; `fix` is what helps."""

    beside: int
    failed_beside: int
    alone: int
    failed_alone: int
    fix: str


class SuiteView(msgspec.Struct, frozen=True):
    """`collisions` is there when runs seem to get in each other's way."""

    flake_share: float
    failures_to_reject: int
    checks: list[CheckView]
    collisions: CollisionsView | None


class LockView(msgspec.Struct, frozen=True):
    """A lock file of git's that has been there for too long; `pids` are the processes that have it open."""

    path: str
    age_seconds: int
    pids: Sequence[int]


class QueueView(Document, frozen=True, kw_only=True):
    main: str | None
    verified: bool
    state: str
    reason: str
    halted: HaltView | None
    running: list[RunView]
    next: list[EntryView]
    decided: list[DecidedView]
    typical_seconds: float | None
    unreachable: UnreachableView | None
    behind: list[StaleView]
    undone: list[UndoneView]
    locks: list[LockView]
    ci: SuiteView


def view_queue(
    queue: Queue,
    checks: Sequence[Check],
    checkouts: CheckoutNotes | None,
    *,
    locks: Sequence[LeftLock] = (),
    collisions: Collisions | None = None,
    reason: str,
    lands_in: LandsIn,
    now: float,
) -> QueueView:
    """`reason` is why it stopped, if it did."""
    typical, lost = run_seconds(queue.stats, 0.5), queue.lost_remote
    return QueueView(
        main=queue.main.commit if queue.main else None,
        verified=queue.main is not None and queue.main.verified_by is not None,
        state=switches_of(queue).state,
        reason=reason,
        halted=view_halt(queue.halted) if queue.halted is not None else None,
        running=[_view_run(run, typical, now) for run in queue.running.values()],
        next=[_view_entry(queue, entry, lands_in) for entry in in_order(queue)],
        decided=[view_of(DecidedView, decided, at=iso(decided.at)) for decided in queue.decided],
        typical_seconds=typical,
        unreachable=view_of(UnreachableView, lost, since=iso(lost.at)) if lost is not None else None,
        behind=view_stale(checkouts),
        undone=view_undone(checkouts),
        locks=[LockView(str(one.path), round(one.age_seconds), one.holders) for one in locks],
        ci=_view_suite(checks, queue.stats, collisions),
    )


def _view_run(run: Run, typical: float | None, now: float) -> RunView:
    return view_of(
        RunView,
        run,
        run=run.id,
        members=[member.id for member in run.members],
        since=iso(run.started_at),
        eta_seconds=None if typical is None else max(0.0, round(run.started_at + typical - now, 1)),
        checks=run.checks if run.since else None,
    )


def _view_entry(queue: Queue, entry: Entry, lands_in: LandsIn) -> EntryView:
    change, seconds = entry.change, lands_in.get(entry.change.id)
    return view_of(
        EntryView,
        change,
        priority=entry.priority,
        since=iso(entry.queued_at),
        state=state_words(queue, entry),
        waits_on=entry.waits_on,
        stacked_on=[member.id for member in change.stacked_on if member.id in entry.waits_on],
        branch=change.branch or None,
        eta_seconds=None if seconds is None else round(seconds, 1),
    )


def _view_suite(checks: Sequence[Check], stats: Stats, collisions: Collisions | None) -> SuiteView:
    seen = [_view_check(check, stats.checks.get(check.name, CheckTally())) for check in checks]
    met = view_of(CollisionsView, collisions, fix=REMEDY) if collisions is not None else None
    return SuiteView(round(flake_share(stats), 4), failures_needed(stats), seen, met)


def _view_check(check: Check, tally: CheckTally) -> CheckView:
    counts = {"runs": tally.runs, "flakes": tally.flakes, "quarantined_failures": tally.quarantined}
    return view_of(CheckView, check, **{name: round(count, 1) for name, count in counts.items()})

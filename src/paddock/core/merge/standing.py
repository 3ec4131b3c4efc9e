"""Where a change stands, read off the runs that held it. Nothing of this is stored.

    FRESH ──pass──▶ READY ──train fails──▶ BEHIND ──▶ SUSPECT ──pass──▶ READY
      └─pool fails─▶ LATER ──▶ SINGLE ──fails alone──▶ CONFIRM ──fails again──▶ CONVICTED

Of what failed together half is tried, as SINGLE or SUSPECT, and the rest waits as LATER or BEHIND. When that half
fails again the rest is FRESH or READY as before.

A failure on a base that never passed says nothing. While that base has not landed the change is HELD: tried again
on main, without what it failed with, it would pass and fail in turn for ever.
"""

from dataclasses import dataclass, replace
from enum import Enum

from paddock.core.merge import guards
from paddock.core.merge.groups import Part, Place, place_in
from paddock.core.merge.incidents import lost_too_often
from paddock.core.merge.model import Entry, Purpose, Queue, Result, Run

# After this many failed trains a change is tried alone, so that it cannot meet the same partner for ever.
TRAIN_FAILURES_BEFORE_ALONE = 3


class Stage(Enum):
    FRESH = "fresh"
    SINGLE = "single"
    LATER = "later"
    CONFIRM = "confirm"
    CONVICTED = "convicted"
    READY = "ready"
    SUSPECT = "suspect"
    BEHIND = "behind"
    HELD = "held"
    STUCK = "stuck"


@dataclass(frozen=True, slots=True)
class Standing:
    """`blame` are failures of the change itself, `suspected_in` the failed pool or train it may have broken.

    `open`: a companion in that one has no verdict of its own yet, which may settle the matter.
    """

    stage: Stage
    blame: tuple[str, ...] = ()
    suspected_in: str | None = None
    pool_failures: int = 0
    train_failures: int = 0
    open: bool = False


FRESH = Standing(Stage.FRESH)


def standing_of(queue: Queue, entry: Entry, live: frozenset[str]) -> Standing:
    """`live` are the commits that are main or may still become main."""
    if lost_too_often(entry):
        return Standing(Stage.STUCK)
    runs = [queue.ended[i] for i in entry.evidence if i in queue.ended]
    passed = max((n for n, run in enumerate(runs) if run.result is Result.PASS), default=None)
    standing = FRESH
    if passed is not None:
        failures = sum(1 for run in runs[:passed] if _broke_a_train(queue, run))
        standing = Standing(Stage.READY, train_failures=failures)
        runs = runs[passed + 1 :]
    for run in runs:
        standing = _weigh(queue, standing, run, entry.change.id, live)
    return standing


def _broke_a_train(queue: Queue, run: Run) -> bool:
    several = run.purpose is Purpose.TRAIN and len(run.members) > 1
    return several and run.result is not Result.PASS and guards.base_is_verified(queue, run)


def _weigh(queue: Queue, before: Standing, run: Run, change_id: str, live: frozenset[str]) -> Standing:
    if queue.main is not None and run.base in live and run.base != queue.main.commit:
        return replace(before, stage=Stage.HELD)
    if not guards.base_is_verified(queue, run):
        return before
    if len(run.members) == 1:
        return _blame(before, run.id, guards.failures_needed(queue.stats))
    if run.purpose is Purpose.SCREEN:
        return _weigh_pool(queue, before, run, change_id)
    return _weigh_train(queue, before, run, change_id)


def _blame(before: Standing, run_id: str, needed: int) -> Standing:
    blame = (*before.blame, run_id)
    if len(blame) >= needed:
        return Standing(Stage.CONVICTED, blame, train_failures=before.train_failures)
    stage = Stage.HELD if before.open else Stage.CONFIRM
    return Standing(stage, blame, train_failures=before.train_failures)


def _weigh_pool(queue: Queue, before: Standing, run: Run, change_id: str) -> Standing:
    place = place_in(queue, run, change_id)
    stage = {Part.NEXT: Stage.SINGLE, Part.LATER: Stage.LATER, Part.FREED: Stage.FRESH}[place.part]
    blame = _shared_blame(before, run, place)
    return Standing(stage, blame, run.id, before.pool_failures + 1, before.train_failures, place.open)


def _weigh_train(queue: Queue, before: Standing, run: Run, change_id: str) -> Standing:
    failures = before.train_failures + 1
    place = place_in(queue, run, change_id)
    if place.part is Part.FREED:
        return replace(before, train_failures=failures)
    stage = Stage.SUSPECT if place.part is Part.NEXT else Stage.BEHIND
    blame = _shared_blame(before, run, place)
    return Standing(stage, blame, run.id, before.pool_failures, failures, place.open)


def _shared_blame(before: Standing, run: Run, place: Place) -> tuple[str, ...]:
    """A failure in company counts once everybody else in it has passed; so do those of the larger groups before."""
    return (*before.blame, run.id) if place.last_suspect else before.blame

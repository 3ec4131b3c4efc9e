"""Where a change stands, read off the runs that held it. Nothing of this is stored.

    FRESH ──pass──▶ READY ──train fails──▶ SUSPECT or SINGLE ──pass──▶ READY
      └─pool fails─▶ SINGLE ──fails alone──▶ CONFIRM ──fails again──▶ CONVICTED

A failure on a base that never passed says nothing. While that base has not landed the change is HELD: tried again
on main, without what it failed with, it would pass and fail in turn for ever.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from paddock.core.merge import guards
from paddock.core.merge.model import Entry, Outcome, Purpose, Queue, Result, Run

# After this many failed trains a change is tried alone, so that it cannot meet the same partner for ever.
TRAIN_FAILURES_BEFORE_ALONE = 3
INFRA_RETRIES = 3


class Stage(Enum):
    FRESH = "fresh"
    SINGLE = "single"
    AGAIN = "again"
    CONFIRM = "confirm"
    CONVICTED = "convicted"
    READY = "ready"
    SUSPECT = "suspect"
    HELD = "held"
    STUCK = "stuck"


@dataclass(frozen=True, slots=True)
class Standing:
    """`blame` are failures of the change itself, `suspected_in` the failed train whose first half it was in.

    `pool_open`: a companion in its failed pool has no verdict of its own yet, which may settle the matter.
    """

    stage: Stage
    blame: tuple[str, ...] = ()
    suspected_in: str | None = None
    train_failures: int = 0
    pool_open: bool = False


FRESH = Standing(Stage.FRESH)


def standing_of(queue: Queue, entry: Entry, live: frozenset[str]) -> Standing:
    """`live` are the commits that are main or may still become main."""
    if entry.infra_failures > INFRA_RETRIES:
        return Standing(Stage.STUCK)
    standing = FRESH
    for run_id in entry.evidence:
        run = queue.ended.get(run_id)
        if run is not None:
            standing = _weigh(queue, standing, run, entry.change.id, live)
    return standing


def _weigh(queue: Queue, before: Standing, run: Run, change_id: str, live: frozenset[str]) -> Standing:
    if run.result is Result.PASS:
        return Standing(Stage.READY, train_failures=before.train_failures)
    if queue.main is not None and run.base in live and run.base != queue.main.commit:
        return replace(before, stage=Stage.HELD)
    if not guards.base_is_verified(queue, run):
        return before
    if len(run.members) == 1:
        return _blame(before, run.id)
    if _is_pool(run):
        return _weigh_pool(queue, before, run, change_id)
    return _weigh_train(before, run, change_id)


def _blame(before: Standing, run_id: str) -> Standing:
    blame = (*before.blame, run_id)
    if len(blame) >= guards.FAILURES_TO_REJECT:
        stage = Stage.CONVICTED
    else:
        stage = Stage.HELD if before.pool_open else Stage.CONFIRM
    return Standing(stage, blame, train_failures=before.train_failures)


def _is_pool(run: Run) -> bool:
    return run.purpose is Purpose.SCREEN


def _weigh_pool(queue: Queue, before: Standing, run: Run, change_id: str) -> Standing:
    """A failed pool counts against the one member whose companions have all been cleared since."""
    verdicts = [_verdict_since(queue, member.id, run) for member in run.members if member.id != change_id]
    blame = (run.id,) if all(verdict is True for verdict in verdicts) else ()
    waits = None in verdicts and False not in verdicts
    return Standing(Stage.SINGLE, blame, train_failures=before.train_failures, pool_open=waits)


def _verdict_since(queue: Queue, change_id: str, pool: Run) -> bool | None:
    """Whether a companion was cleared after the pool failed; None while nobody knows."""
    entry = queue.entries.get(change_id)
    if entry is None or pool.id not in entry.evidence:
        return any(d.id == change_id and d.outcome is Outcome.LANDED for d in reversed(queue.decided))
    after = entry.evidence[entry.evidence.index(pool.id) + 1 :]
    results = [queue.ended[i].result for i in after if i in queue.ended]
    if Result.PASS in results:
        return True
    return False if results or entry.infra_failures > INFRA_RETRIES else None


def _weigh_train(before: Standing, run: Run, change_id: str) -> Standing:
    """The first half of a failed train is suspected together, the second half is screened one by one."""
    failures = before.train_failures + 1
    if change_id in first_half(run) and failures < TRAIN_FAILURES_BEFORE_ALONE:
        return Standing(Stage.SUSPECT, suspected_in=run.id, train_failures=failures)
    return Standing(Stage.AGAIN, train_failures=failures)


def first_half(run: Run) -> tuple[str, ...]:
    return tuple(member.id for member in run.members[: (len(run.members) + 1) // 2])


def second_half(run: Run) -> tuple[str, ...]:
    return tuple(member.id for member in run.members[(len(run.members) + 1) // 2 :])

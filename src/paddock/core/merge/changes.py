"""Facts about changes: queued, moved, refused by git, decided."""

from msgspec.structs import replace

from paddock.core.merge import events as ev
from paddock.core.merge import guards, stats
from paddock.core.merge.legal import entry_of, refusal
from paddock.core.merge.model import Decided, Ending, Entry, MergeRefusal, Queue
from paddock.core.merge.passes import drop_dead_passes
from paddock.core.merge.stacks import circle

KEPT_DECIDED = 256
KEPT_REFUSALS = 8
IN_MAIN = (Ending.LANDED, Ending.NOOP)


def _with_entry(queue: Queue, entry: Entry) -> Queue:
    return replace(queue, entries={**queue.entries, entry.change.id: entry})


def queue_change(queue: Queue, event: ev.ChangeQueued, at: float) -> Queue:
    change = event.change
    known = known_version(queue, change.id)
    if known >= change.version:
        raise refusal(event, f"version {known} of `{change.id}` is known, {change.version} is not newer")
    if change.id in change.depends_on:
        raise refusal(event, f"`{change.id}` depends on itself")
    if not guards.person_has_seen(change):
        raise refusal(event, f"`{change.id}` {change.concerns[0]}, and no person has approved it")
    if not guards.reversal_is_wanted(change):
        raise refusal(event, f"`{change.id}` undoes {change.undoes[0]}, and nobody wants that")
    old = queue.entries.get(change.id)
    if old is not None:
        _undecided(queue, event, change.id, old.change.version)
        queue = decide(queue, old, Ending.SUPERSEDED, at, reason=f"version {change.version} was queued")
    waits_on = _unlanded(queue, change.depends_on)
    _refuse_circle(queue, event, change.id, waits_on)
    return _with_entry(queue, Entry(change, at, change.priority, waits_on))


def known_version(queue: Queue, change_id: str) -> int:
    """The newest the queue remembers; 0 for none. What was lost counts as known: it may be held by a ref."""
    if change_id in queue.entries:
        return max(queue.lost_version, queue.entries[change_id].change.version)
    return max((queue.lost_version, *(d.version for d in queue.decided if d.id == change_id)))


def _unlanded(queue: Queue, depends_on: tuple[str, ...]) -> tuple[str, ...]:
    if not depends_on:
        return ()
    landed = {d.id for d in queue.decided if d.outcome in IN_MAIN and not d.lost}
    return tuple(i for i in depends_on if i in queue.entries or i not in landed)


def _refuse_circle(queue: Queue, event: ev.QueueEvent, change_id: str, waits_on: tuple[str, ...]) -> None:
    if found := circle(queue.entries, change_id, waits_on):
        raise refusal(event, f"`{change_id}` would wait for itself: {' → '.join((change_id, *found))}")


def restack_change(queue: Queue, event: ev.ChangeRestacked) -> Queue:
    """Runs without what it turned out to build on say nothing about the change itself."""
    entry = _undecided(queue, event, event.id, event.version)
    waits_on = _unlanded(queue, event.depends_on)
    _refuse_circle(queue, event, event.id, waits_on)
    change = replace(entry.change, depends_on=event.depends_on, stacked_on=event.stacked_on)
    fresh = replace(entry, change=change, waits_on=waits_on, evidence=(), refusals=(), infra_failures=0)
    return drop_dead_passes(_with_entry(queue, fresh))


def mark_lost(queue: Queue, ids: tuple[str, ...], *, lost: bool) -> Queue:
    decided = tuple(
        replace(old, lost=lost) if old.id in ids and old.outcome is Ending.LANDED else old for old in queue.decided
    )
    return replace(queue, decided=decided)


def move_change(queue: Queue, event: ev.ChangeMoved) -> Queue:
    entry = queue.entries.get(event.id)
    if entry is None:
        raise refusal(event, f"change `{event.id}` is not in the queue")
    return _with_entry(queue, replace(entry, priority=event.priority))


def retry_change(queue: Queue, event: ev.ChangeRetried) -> Queue:
    entry = entry_of(queue, event, event.id, event.version)
    return _with_entry(queue, replace(entry, evidence=(), refusals=(), infra_failures=0, lost_in_company=0))


def refuse_composition(queue: Queue, event: ev.CompositionRefused) -> Queue:
    entry = entry_of(queue, event, event.id, event.version)
    refusal = MergeRefusal(event.base, event.cause, event.paths, event.against)
    return _with_entry(queue, replace(entry, refusals=(*entry.refusals, refusal)[-KEPT_REFUSALS:]))


def reject_change(queue: Queue, event: ev.ChangeRejected, at: float) -> Queue:
    entry = _undecided(queue, event, event.id, event.version)
    if event.by is None and not guards.blame_is_enough(queue, event.id, event.runs, event.needed):
        raise refusal(event, f"the runs {event.runs} do not prove `{event.id}` wrong")
    return decide(queue, entry, Ending.REJECTED, at, reason=event.reason, runs=event.runs)


def bounce_change(queue: Queue, event: ev.ChangeConflicted, at: float) -> Queue:
    entry = _undecided(queue, event, event.id, event.version)
    reason = "conflicts with landed work"
    return decide(queue, entry, Ending.CONFLICTED, at, reason=reason, paths=event.paths, against=event.against)


def cancel_change(queue: Queue, event: ev.ChangeCancelled, at: float) -> Queue:
    entry = _undecided(queue, event, event.id, event.version)
    return decide(queue, entry, Ending.CANCELLED, at, reason=event.reason, against=event.fell_with)


def close_empty_change(queue: Queue, event: ev.ChangeFoundEmpty, at: float) -> Queue:
    entry = _undecided(queue, event, event.id, event.version)
    return decide(queue, entry, Ending.NOOP, at, reason="main already has it")


def _undecided(queue: Queue, event: ev.QueueEvent, change_id: str, version: int) -> Entry:
    """The entry, unless main is being moved to a commit that holds it: then its end is known already."""
    if queue.landing is not None and queue.ended[queue.landing.run].holds(change_id):
        raise refusal(event, f"`{change_id}` is landing in `{queue.landing.run}`")
    return entry_of(queue, event, change_id, version)


def decide(
    queue: Queue,
    entry: Entry,
    outcome: Ending,
    at: float,
    *,
    reason: str = "",
    runs: tuple[str, ...] = (),
    commit: str | None = None,
    paths: tuple[str, ...] = (),
    against: str | None = None,
) -> Queue:
    change = entry.change
    every_run = tuple(dict.fromkeys((*entry.evidence, *runs)))
    decided = Decided(
        change.id,
        change.version,
        change.head,
        outcome,
        at,
        entry.queued_at,
        change.task,
        change.author,
        reason,
        every_run,
        commit,
        paths,
        against,
        change.title,
        branch=change.branch,
        reverts=change.reverts,
    )
    entries = {i: e for i, e in queue.entries.items() if i != change.id}
    if outcome in IN_MAIN:
        for i, waiting in entries.items():
            if change.id in waiting.waits_on:
                rest = tuple(w for w in waiting.waits_on if w != change.id)
                entries[i] = replace(waiting, waits_on=rest)
    queue = replace(
        queue,
        entries=entries,
        decided=(*queue.decided, decided)[-KEPT_DECIDED:],
        stats=stats.after_decision(queue, decided),
    )
    return queue if outcome is Ending.LANDED else drop_dead_passes(queue)

"""The last day of the merge queue, folded from its events: which run was in which slot, what it searched, what came of
it. The queue itself forgets its runs once nothing depends on them.
"""

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count

from paddock.core.events import Record
from paddock.core.merge import events as qe
from paddock.core.merge.guards import BLAMING
from paddock.core.merge.model import Purpose, Result, Run

KEPT_SECONDS = 86400.0
KEPT_RUNS = 20_000
KEPT_TIPS = 5_000


class RunKind(StrEnum):
    """What a run is to somebody who looks: part of the chain, of the sieve, of a search by halves, or main itself."""

    TRAIN = "train"
    SCREEN = "screen"
    SEARCH = "search"
    MAIN = "main"


@dataclass(frozen=True, slots=True)
class RecentRun:
    """`slot` counts from 0 and stays. `tries`: how often each member had failed by itself before. `searched_from` is
    the failed run of several changes that this one searches for the culprit."""

    id: str
    purpose: Purpose
    kind: RunKind
    slot: int
    members: tuple[str, ...]
    tries: tuple[int, ...]
    base: str
    started: float
    searched_from: str | None = None
    ended: float | None = None
    result: Result | None = None
    reused: bool = False
    note: str = ""
    failed: tuple[str, ...] = ()
    landed: bool = False


@dataclass(frozen=True, slots=True)
class MainTip:
    """A value main took. `run` tested it; without one somebody else moved it, `by` whom as far as git tells."""

    at: float
    commit: str
    run: str | None
    members: tuple[str, ...] = ()
    by: str = ""


@dataclass(frozen=True, slots=True)
class Switched:
    """Who froze, paused or drained the queue."""

    at: float
    by: str
    reason: str = ""


def kind_of_run(purpose: Purpose, searched_from: str | None) -> RunKind:
    if purpose in (Purpose.BASELINE, Purpose.CONTROL):
        return RunKind.MAIN
    if searched_from is not None:
        return RunKind.SEARCH
    return RunKind.TRAIN if purpose is Purpose.TRAIN else RunKind.SCREEN


def place_run(busy: Collection[int], kind: RunKind, slots: int) -> int:
    """The row a run gets, by what is free. Trains and searches are on top, as many rows as may be trains; screens
    below, where there is room. Never one that is busy."""
    reserved = max(1, -(-slots // 4)) if slots > 1 else 0
    free = [row for row in range(slots) if row not in busy]
    if not free:
        return next(row for row in count(slots) if row not in busy)
    if kind in (RunKind.TRAIN, RunKind.SEARCH):
        return free[0]
    return next((row for row in free if row >= reserved), free[-1])


@dataclass
class RecentQueue:
    """`slots` is how many runs are configured to run at once. Fold records in order; ask for what is left."""

    slots: int
    runs: dict[str, RecentRun] = field(default_factory=dict)
    tips: deque[MainTip] = field(default_factory=lambda: deque(maxlen=KEPT_TIPS))
    switched: dict[str, Switched] = field(default_factory=dict)
    _running: dict[str, int] = field(default_factory=dict)
    _ended: deque[str] = field(default_factory=deque)
    _failures: dict[str, int] = field(default_factory=dict)
    _pools: dict[str, str] = field(default_factory=dict)

    def fold(self, record: Record) -> None:
        at = record.at
        match record.event:
            case qe.RunStarted() as started:
                self._start(started, at)
            case qe.RunEnded() as ended:
                self._end(ended, at)
            case qe.TrainLanded(run=run, new=new):
                known = self.runs.get(run)
                if known is not None:
                    self.runs[run] = replace(known, landed=True)
                self.tips.append(MainTip(at, new, run, known.members if known is not None else ()))
            case qe.MainMoved(commit=commit, by=by):
                self.tips.append(MainTip(at, commit, None))
                if not self.has_just_begun:
                    self.tips[-1] = replace(self.tips[-1], by=by)
            case qe.MainRestored(commit=commit):
                self.tips.append(MainTip(at, commit, None, by=record.actor))
            case qe.ChangeQueued(change=change):
                self._forget(change.id)
            case qe.ChangeRetried(id=name):
                self._forget(name)
            case qe.QueueFrozen(reason=reason):
                self.switched["frozen"] = Switched(at, record.actor, reason)
            case qe.QueuePaused(reason=reason):
                self.switched["paused"] = Switched(at, record.actor, reason)
            case qe.QueueDrained():
                self.switched["draining"] = Switched(at, record.actor)
            case _:
                pass
        self._trim(at)

    def adopt(self, run: Run) -> RecentRun:
        """A run that began before the first record that was folded."""
        members = tuple(member.id for member in run.members)
        searched = run.confirms if run.purpose is Purpose.TRAIN else None
        return self._add(run.id, run.purpose, members, run.base, searched, run.started_at)

    def ended_since(self, at: float) -> Iterator[RecentRun]:
        """Newest first."""
        for name in reversed(self._ended):
            run = self.runs[name]
            if run.ended is None or run.ended < at:
                return
            yield run

    @property
    def has_just_begun(self) -> bool:
        """All that is known is where main was first seen, which nobody has moved."""
        return not self.runs and len(self.tips) <= 1

    @property
    def busy(self) -> frozenset[int]:
        return frozenset(self._running.values())

    def _start(self, event: qe.RunStarted, at: float) -> None:
        members = tuple(member.id for member in event.members)
        if event.purpose is Purpose.TRAIN:
            searched = event.confirms
        else:
            searched = self._pool_of(members) if event.purpose is Purpose.SCREEN else None
        self._add(event.run, event.purpose, members, event.base, searched, at)

    def _add(
        self, name: str, purpose: Purpose, members: tuple[str, ...], base: str, searched: str | None, at: float
    ) -> RecentRun:
        kind = kind_of_run(purpose, searched)
        slot = place_run(self.busy, kind, self.slots)
        tries = tuple(self._failures.get(member, 0) for member in members)
        run = RecentRun(name, purpose, kind, slot, members, tries, base, at, searched)
        self.runs[name] = run
        self._running[name] = slot
        return run

    def _pool_of(self, members: tuple[str, ...]) -> str | None:
        """The failed pool that all of these, and not only these, were in."""
        pools = {self._pools.get(member) for member in members}
        pool = pools.pop() if len(pools) == 1 else None
        known = self.runs.get(pool) if pool is not None else None
        return pool if known is not None and set(members) < set(known.members) else None

    def _end(self, event: qe.RunEnded, at: float) -> None:
        run = self.runs.get(event.run)
        self._running.pop(event.run, None)
        if run is None:
            return
        run = replace(
            run,
            ended=at,
            result=event.result,
            reused=event.reused is not None,
            note=event.note or event.cannot_run,
            failed=event.failed,
        )
        self.runs[run.id] = run
        self._ended.append(run.id)
        if event.result is Result.PASS:
            for member in run.members:
                self._forget(member)
        elif event.result in BLAMING:
            self._note_failure(run)

    def _note_failure(self, run: RecentRun) -> None:
        """Once a part of a failed pool has failed too, the rest of it is as innocent as before."""
        parent = self.runs.get(run.searched_from) if run.searched_from is not None else None
        for member in parent.members if parent is not None else ():
            if member not in run.members and self._pools.get(member) == run.searched_from:
                del self._pools[member]
        if len(run.members) == 1:
            self._failures[run.members[0]] = self._failures.get(run.members[0], 0) + 1
        elif run.purpose is Purpose.SCREEN:
            self._pools.update(dict.fromkeys(run.members, run.id))

    def _forget(self, change: str) -> None:
        self._failures.pop(change, None)
        self._pools.pop(change, None)

    def _trim(self, now: float) -> None:
        while self._ended:
            oldest = self.runs[self._ended[0]]
            if len(self.runs) <= KEPT_RUNS and (oldest.ended or now) >= now - KEPT_SECONDS:
                return
            self._ended.popleft()
            del self.runs[oldest.id]

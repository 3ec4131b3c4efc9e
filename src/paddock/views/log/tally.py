"""What the log adds up to, for ever: counts that only grow, whoever reads them and whenever that began."""

import heapq
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from paddock.core import events as ev
from paddock.core.events import Record
from paddock.core.ids import AttemptId
from paddock.core.merge import events as qe
from paddock.core.merge.model import Ending, Purpose, Result
from paddock.core.tasks.vocabulary import Outcome
from paddock.store.protocol import Ask, Query

KINDS = ("attempt.*", ev.TurnEnded.kind, "queue.*")
BUCKETS = (30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0, 14400.0, 43200.0, 86400.0)
"""Seconds from the queue to main."""
MOST_ENGINES = 50
OTHERS = "other"
MOST_PASSED = 1_000
"""Runs that passed and may still land: more than can be under way."""


@dataclass
class EngineTally:
    """What the turns of one engine used. `input_tokens` are without what came from a cache or was written to one."""

    turns: int = 0
    input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced_turns: int = 0

    def add(self, event: ev.TurnEnded) -> None:
        self.turns += 1
        self.input_tokens += event.input_tokens
        self.cache_write_tokens += event.cache_write_tokens
        self.cache_read_tokens += event.cache_read_tokens
        self.output_tokens += event.output_tokens
        self.cost_usd += event.cost_usd or 0.0
        self.unpriced_turns += event.cost_usd is None


@dataclass
class LogTally:
    """Reads the log once and then what is new. `waits` counts landed changes by bucket of the time they took."""

    attempts: Counter[Outcome] = field(default_factory=Counter)
    engines: dict[str, EngineTally] = field(default_factory=dict)
    runs: Counter[tuple[Purpose, Result]] = field(default_factory=Counter)
    changes: Counter[Ending] = field(default_factory=Counter)
    waits: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    wait_seconds: float = 0.0
    _engine_of: dict[AttemptId, str] = field(default_factory=dict)
    _run: dict[str, tuple[Purpose, tuple[str, ...]]] = field(default_factory=dict)
    _queued_at: dict[str, float] = field(default_factory=dict)
    _passed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _seq: int = 0

    def catch_up(self, ask: Ask, until: int) -> None:
        """Up to that record. For a log that was begun again make another tally."""
        for record in self._new_records(ask, until):
            self.fold(record)
        self._seq = max(self._seq, until)

    def _new_records(self, ask: Ask, until: int) -> Iterator[Record]:
        if until <= self._seq:
            return iter(())
        if self._seq:
            return iter(ask(Query(after=self._seq, until=until)))
        return heapq.merge(*(ask(Query(kind=kind, until=until)) for kind in KINDS), key=lambda record: record.seq)

    def fold(self, record: Record) -> None:
        event = record.event
        match event:
            case ev.AttemptStarted() if record.attempt is not None:
                self._engine_of[record.attempt] = event.engine
            case ev.AttemptEnded() if record.attempt is not None:
                self.attempts[event.outcome] += 1
                self._engine_of.pop(record.attempt, None)
            case ev.TurnEnded() if record.attempt is not None:
                self._tally_of(self._engine_of.get(record.attempt, "unknown")).add(event)
            case qe.ChangeQueued():
                self._queued_at[event.change.id] = record.at
            case qe.RunStarted():
                self._run[event.run] = event.purpose, tuple(member.id for member in event.members)
            case qe.RunEnded():
                self._end_run(event)
            case qe.TrainLanded():
                for change in self._passed.pop(event.run, ()):
                    self._land(change, record.at)
            case qe.ChangeRejected():
                self._decide(event.id, Ending.REJECTED)
            case qe.ChangeConflicted():
                self._decide(event.id, Ending.CONFLICTED)
            case qe.ChangeCancelled():
                self._decide(event.id, Ending.CANCELLED)
            case qe.ChangeFoundEmpty():
                self._decide(event.id, Ending.NOOP)
            case _:
                pass

    def _tally_of(self, engine: str) -> EngineTally:
        """Names come from a configuration that anybody may edit: their number has a bound."""
        known = engine in self.engines or len(self.engines) < MOST_ENGINES
        return self.engines.setdefault(engine if known else OTHERS, EngineTally())

    def _end_run(self, event: qe.RunEnded) -> None:
        found = self._run.pop(event.run, None)
        if found is None:
            return
        purpose, members = found
        self.runs[purpose, event.result] += 1
        if event.result is Result.PASS and members:
            self._passed[event.run] = members
            while len(self._passed) > MOST_PASSED:
                del self._passed[next(iter(self._passed))]

    def _land(self, change: str, at: float) -> None:
        queued = self._queued_at.get(change)
        self._decide(change, Ending.LANDED)
        if queued is not None:
            seconds = max(0.0, at - queued)
            self.wait_seconds += seconds
            self.waits[next((n for n, most in enumerate(BUCKETS) if seconds <= most), len(BUCKETS))] += 1

    def _decide(self, change: str, ending: Ending) -> None:
        self.changes[ending] += 1
        self._queued_at.pop(change, None)

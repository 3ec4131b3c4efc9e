"""What each attempt of the fleet has cost, as the log tells it, and which versions were rejected."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import AttemptId, TaskId, task_of
from paddock.core.merge import events as qe
from paddock.core.review import events as rv
from paddock.core.tasks.vocabulary import Outcome, Role
from paddock.insight.costs.runs import RunCost
from paddock.store.protocol import Ask, Query

KINDS = (
    "attempt.started",
    "attempt.ended",
    "turn.ended",
    "task.rejected",
    "review.sent_back",
    "queue.change_queued",
    "queue.change_rejected",
)


@dataclass(frozen=True, slots=True)
class AttemptCost:
    """`fresh`: its conversation was begun with it, in a session of its own. `outcome` is None while it is at work."""

    run: RunCost
    role: Role = Role.WORK
    outcome: Outcome | None = None
    continues: AttemptId | None = None
    head: str | None = None
    fresh: bool = True
    started: float = 0.0

    @property
    def name(self) -> AttemptId:
        return AttemptId(self.run.run)

    @property
    def task(self) -> TaskId:
        return TaskId(self.run.task)


@dataclass(frozen=True, slots=True)
class FleetCosts:
    """Attempts in the order in which they began. `rejected` are heads that a person, a reviewer or CI turned down."""

    attempts: tuple[AttemptCost, ...] = ()
    rejected: frozenset[str] = frozenset()

    def since(self, at: float) -> "FleetCosts":
        """Those that ended then or later, or are at work."""
        return replace(
            self, attempts=tuple(one for one in self.attempts if one.outcome is None or (one.run.at or 0.0) >= at)
        )

    def of_tasks(self, tasks: Collection[TaskId]) -> "FleetCosts":
        return replace(self, attempts=tuple(one for one in self.attempts if one.task in tasks))


@dataclass
class _Tally:
    attempts: dict[AttemptId, AttemptCost] = field(default_factory=dict)
    queued: dict[tuple[str, int], str] = field(default_factory=dict)
    rejected: set[str] = field(default_factory=set)


def ask_costs(board: Board, ask: Ask) -> FleetCosts:
    return costs_of_attempts(board, records_of(ask))


def records_of(ask: Ask) -> Iterator[ev.Record]:
    """In order. One kind at a time is read, because the log finds these by their kind."""
    found = [record for kind in KINDS for record in ask(Query(kind=kind))]
    yield from sorted(found, key=lambda record: record.seq)


def costs_of_attempts(board: Board, records: Iterable[ev.Record]) -> FleetCosts:
    """`records` are those of KINDS, in order."""
    tally = _Tally()
    for record in records:
        _note(tally, board, record)
    return FleetCosts(tuple(tally.attempts.values()), frozenset(tally.rejected))


def with_traces(costs: FleetCosts, traces: Mapping[str, RunCost]) -> FleetCosts:
    """What only transcripts tell: how many calls, and how much of the start-up context a cache had. `traces` by run."""
    return replace(costs, attempts=tuple(_joined(one, traces.get(one.run.run)) for one in costs.attempts))


def _joined(attempt: AttemptCost, trace: RunCost | None) -> AttemptCost:
    if trace is None:
        return attempt
    run = replace(
        attempt.run,
        calls=trace.calls,
        startup_cached=trace.startup_cached,
        startup_input=trace.startup_input,
        opening_usd=trace.opening_usd,
    )
    return replace(attempt, run=run)


def _note(tally: _Tally, board: Board, record: ev.Record) -> None:
    match record.event:
        case ev.AttemptStarted() as started if record.attempt is not None:
            tally.attempts[record.attempt] = _begin(board, record.attempt, started, record.at)
        case ev.TurnEnded() as turn if record.attempt in tally.attempts:
            attempt = tally.attempts[record.attempt]
            tally.attempts[record.attempt] = replace(attempt, run=_with_turn(attempt.run, turn, record.at))
        case ev.AttemptEnded(outcome=outcome, head=head) if record.attempt in tally.attempts:
            attempt = tally.attempts[record.attempt]
            ended = replace(attempt.run, at=record.at)
            tally.attempts[record.attempt] = replace(attempt, run=ended, outcome=outcome, head=head)
        case ev.TaskRejected(head=head) | rv.ReviewSentBack(head=head):
            tally.rejected.add(head)
        case qe.ChangeQueued(change=change):
            tally.queued[change.id, change.version] = change.head
        case qe.ChangeRejected(id=name, version=version) if (name, version) in tally.queued:
            tally.rejected.add(tally.queued[name, version])
        case _:
            pass


def _begin(board: Board, name: AttemptId, started: ev.AttemptStarted, at: float) -> AttemptCost:
    task = board.tasks.get(task_of(name))
    agent = started.agent or (task.agent if task is not None and started.role is task.role else None) or started.engine
    run = RunCost(name, task_of(name), agent, started.engine, started.model or "", at)
    fresh = started.continues is None and not started.inlined and not started.fork
    return AttemptCost(run, started.role, continues=started.continues, fresh=fresh, started=at)


def _with_turn(run: RunCost, turn: ev.TurnEnded, at: float) -> RunCost:
    """A follow-up turn reads its conversation again, which is start-up too; the first one tells what a start reads."""
    told = turn.startup_tokens or None
    return replace(
        run,
        model=turn.model or run.model,
        at=at,
        input_tokens=run.input_tokens + turn.input_tokens + turn.cache_write_tokens + turn.cache_read_tokens,
        output_tokens=run.output_tokens + turn.output_tokens,
        startup_tokens=told if turn.turn == 1 else run.startup_tokens,
        cost_usd=_plus(run.cost_usd, turn.cost_usd),
        startup_usd=_plus(run.startup_usd, turn.startup_usd if turn.cost_usd is not None else None),
        unpriced=run.unpriced + (turn.cost_source == "unpriced"),
        unknown=run.unknown + (turn.cost_source == "unknown"),
        priceless=(*run.priceless, turn.model or run.model) if turn.cost_source == "unpriced" else run.priceless,
    )


def _plus(so_far: float | None, more: float | None) -> float | None:
    return so_far if more is None else (so_far or 0.0) + more


def of_task(attempts: Sequence[AttemptCost]) -> dict[TaskId, list[AttemptCost]]:
    found: dict[TaskId, list[AttemptCost]] = {}
    for attempt in attempts:
        found.setdefault(attempt.task, []).append(attempt)
    return found

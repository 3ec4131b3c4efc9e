"""What readers print as JSON, schema 1: documented in docs/contracts.md and only ever extended."""

import time
from collections.abc import Sequence

import msgspec

from paddock.cli.attention import Notice
from paddock.cli.text import SCHEMA, iso
from paddock.core.board import Board
from paddock.core.events import Record, Unknown
from paddock.core.ids import TaskId
from paddock.core.money.spending import day_of
from paddock.core.tasks.task import SATISFIED, Attempt, Phase, Task
from paddock.fleet.dispatch.refusals import StoppedEngine
from paddock.fleet.service.presence import Presence, look_for_daemon
from paddock.store.codec import body_of, kind_of


class AttemptView(msgspec.Struct):
    id: str
    outcome: str | None
    engine: str
    started: str | None
    ended: str | None
    head: str | None
    exit: int | None
    reason: str
    session: str | None
    turns: int
    commits: int
    cost_usd: float | None
    input_tokens: int
    output_tokens: int
    inlined: str
    account: str
    new_conversation: str
    worktree: str | None
    model: str | None
    cached_tokens: int
    uncounted_calls: int


class TaskView(msgspec.Struct):
    id: str
    title: str
    phase: str
    reason: str
    since: str | None
    agent: str | None
    engine: str | None
    convoy: str | None
    after: tuple[str, ...]
    priority: int
    branch: str | None
    head: str | None
    attempts: list[AttemptView]
    unblock: str
    paths: tuple[str, ...]
    created: str | None
    attempts_allowed: int
    not_before: str | None
    kind: str | None
    lost: bool = False


class ConvoyView(msgspec.Struct):
    name: str
    title: str
    created: str | None
    total: int
    done: int
    counts: dict[str, int]
    tasks: list[str]


class QueueSwitchView(msgspec.Struct):
    """`state` is open, halted, frozen, paused or draining; `reason` is why it halted."""

    state: str
    reason: str


class TodayView(msgspec.Struct):
    """The day is UTC's; `cost_usd` is None if no agent has worked on it. `assumed_usd` is what budgets count for usage
    that nobody has told."""

    day: str
    cost_usd: float | None
    assumed_usd: float


class NeedsView(msgspec.Struct):
    tasks: list[TaskId]
    notices: list[Notice]


class StatusView(msgspec.Struct):
    schema: int
    seq: int
    counts: dict[str, int]
    convoys: list[ConvoyView]
    tasks: list[TaskView]
    daemon: dict[str, object] | None
    daemon_state: str
    queue: QueueSwitchView
    today: TodayView
    needs_you: NeedsView
    stopped: list[StoppedEngine]
    halted: dict[str, object] | None
    behind: list[dict[str, object]] = []
    undone: list[dict[str, object]] = []


class RecordView(msgspec.Struct):
    seq: int
    at: str | None
    actor: str
    generation: int
    kind: str
    task: str | None
    attempt: str | None
    body: msgspec.Raw
    hash: str
    schema: int = SCHEMA


def view_attempt(attempt: Attempt) -> AttemptView:
    return AttemptView(
        id=attempt.id,
        outcome=attempt.outcome,
        engine=attempt.engine,
        started=iso(attempt.started),
        ended=iso(attempt.ended),
        head=attempt.head,
        exit=attempt.exit,
        reason=attempt.reason,
        session=attempt.session,
        turns=attempt.turn,
        commits=attempt.commits,
        cost_usd=attempt.cost_usd,
        input_tokens=attempt.input_tokens + attempt.cache_write_tokens + attempt.cache_read_tokens,
        output_tokens=attempt.output_tokens,
        inlined=attempt.inlined,
        account=attempt.account,
        new_conversation=attempt.new_conversation,
        worktree=attempt.worktree or None,
        model=attempt.model,
        cached_tokens=attempt.cache_read_tokens,
        uncounted_calls=attempt.uncounted_calls,
    )


def view_task(task: Task) -> TaskView:
    last = task.last
    return TaskView(
        id=task.id,
        title=task.title,
        phase=task.phase.value,
        reason=task.reason,
        since=iso(task.since),
        agent=task.agent,
        engine=task.engine or (last.engine if last else None),
        convoy=task.convoy,
        after=task.after,
        priority=task.priority,
        branch=task.branch,
        head=task.head or (last.head if last else None),
        attempts=[view_attempt(attempt) for attempt in task.attempts],
        unblock=task.unblock,
        paths=task.paths,
        created=iso(task.created),
        attempts_allowed=task.allowed,
        not_before=iso(task.not_before) if task.phase is Phase.READY and task.not_before else None,
        kind=task.work,
        lost=task.lost,
    )


def view_convoy(board: Board, name: str) -> ConvoyView:
    convoy = board.convoys[name]
    found = board.convoy_counts[name]
    counts = {phase.value: found[phase] for phase in Phase if found.get(phase)}
    done = sum(found.get(phase, 0) for phase in SATISFIED)
    members: list[str] = [*board.members[name]]
    return ConvoyView(convoy.name, convoy.title, iso(convoy.created), len(members), done, counts, members)


def view_status(
    board: Board,
    tasks: list[Task],
    convoys: list[str],
    needy: Sequence[TaskId] = (),
    notices: Sequence[Notice] = (),
    stopped: Sequence[StoppedEngine] = (),
) -> StatusView:
    now = time.time()
    switches = board.queue_switches
    cost = board.cost_of_day(day_of(now))
    return StatusView(
        schema=SCHEMA,
        seq=board.seq,
        counts=view_counts(board),
        convoys=[view_convoy(board, name) for name in convoys],
        tasks=[view_task(task) for task in tasks],
        daemon=view_daemon(board),
        daemon_state=look_for_daemon(board, now).presence.value,
        queue=QueueSwitchView(switches.state, switches.halted.reason if switches.halted else ""),
        today=TodayView(day_of(now), round(cost.known, 6) if cost else None, round(cost.assumed, 6) if cost else 0.0),
        needs_you=NeedsView([*needy], [*notices]),
        stopped=[*stopped],
        halted=_view_halt(board),
    )


def _view_halt(board: Board) -> dict[str, object] | None:
    """The merge queue's, whatever is queued."""
    if (halted := board.halted) is None:
        return None
    from paddock.cli.halts import view_halt

    return view_halt(halted)


def view_daemon(board: Board) -> dict[str, object] | None:
    """Who runs the fleet, None when nobody does or its process is known to be gone."""
    seen = look_for_daemon(board, time.time())
    if seen.lease is None or seen.presence is Presence.GONE:
        return None
    holder = seen.lease.holder
    return {
        "pid": holder.pid,
        "host": holder.host,
        "since": iso(seen.lease.since),
        "generation": seen.lease.generation,
    }


def view_counts(board: Board) -> dict[str, int]:
    """Every phase, in the order a task takes them, also those at zero."""
    return {phase.value: board.counts.get(phase, 0) for phase in Phase}


def view_record(record: Record) -> RecordView:
    event = record.event
    return RecordView(
        seq=record.seq,
        at=iso(record.at),
        actor=record.actor,
        generation=record.generation,
        kind=kind_of(event),
        task=record.task,
        attempt=record.attempt,
        body=msgspec.Raw(event.body if isinstance(event, Unknown) else body_of(event)),
        hash=record.hash.hex(),
    )

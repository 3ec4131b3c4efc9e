"""The state every reader shares: `fold(apply, records)`.

The board is the one accumulator that is changed in place, because copying ten thousand tasks per
event would make replay quadratic; what it holds is immutable. `apply` computes before it assigns,
so a record that cannot fold leaves the board as it was.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId, task_id
from paddock.core.tasks.table import TaskTable
from paddock.core.tasks.task import DEAD, FINISHED, NEEDS_HUMAN, SATISFIED, Phase, Task, evolve, illegal, move

if TYPE_CHECKING:
    from paddock.core.leases.lease import Leases
    from paddock.core.merge.model import Halted, Queue
    from paddock.core.merge.switches import QueueSwitches
    from paddock.core.money.budget import DayCost
    from paddock.core.money.spending import Spending

DAEMON_LEASE = "daemon"
DECIDED = DEAD | SATISFIED
LAYOUT = 4
"""Grows when the same records fold to another board; snapshots of another layout are folded again."""


class Convoy(msgspec.Struct, frozen=True, array_like=True):
    name: str
    title: str
    created: float


class BoardState(msgspec.Struct, array_like=True):
    """A board as it goes into a snapshot."""

    seq: int
    at: float
    version: str
    next_task: int
    counts: dict[Phase, int]
    open: list[TaskId]
    ready: list[TaskId]
    live: list[TaskId]
    needy: list[TaskId]
    convoys: dict[str, Convoy]
    members: dict[str, list[TaskId]]
    convoy_counts: dict[str, dict[Phase, int]]
    dependents: dict[TaskId, list[TaskId]]
    unknown: dict[str, int]
    daemon_generation: int
    late_words: int
    leases: msgspec.Raw
    queue: msgspec.Raw
    spending: msgspec.Raw
    task_lengths: list[int]
    tasks: memoryview


_Part = TypeVar("_Part", bound=msgspec.Struct)

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(BoardState).decode


class Board:
    """Mutated only by `apply`. `open` holds the tasks that are not finished, oldest first; `ready` those
    that could start, `live` those with an attempt under way, whatever their phase, `needy` those that
    wait for a person.

    `leases`, `queue` and `spending` stay encoded until somebody asks: most readers never do. `late_words` counts
    what fenced-off daemons still said: recorded, and without effect.
    """

    def __init__(self, state: BoardState | None = None) -> None:
        self.seq = state.seq if state else 0
        self.at = state.at if state else 0.0
        self.version = state.version if state else ""
        self.next_task = state.next_task if state else 1
        self.counts: dict[Phase, int] = state.counts if state else {}
        self.open: dict[TaskId, None] = dict.fromkeys(state.open) if state else {}
        self.ready: dict[TaskId, None] = dict.fromkeys(state.ready) if state else {}
        self.live: dict[TaskId, None] = dict.fromkeys(state.live) if state else {}
        self.needy: dict[TaskId, None] = dict.fromkeys(state.needy) if state else {}
        self.convoys: dict[str, Convoy] = state.convoys if state else {}
        self.members: dict[str, list[TaskId]] = state.members if state else {}
        self.convoy_counts: dict[str, dict[Phase, int]] = state.convoy_counts if state else {}
        self.dependents: dict[TaskId, list[TaskId]] = state.dependents if state else {}
        self.unknown: dict[str, int] = state.unknown if state else {}
        self.daemon_generation = state.daemon_generation if state else 0
        self.late_words = state.late_words if state else 0
        self.tasks = TaskTable(state.task_lengths, state.tasks) if state else TaskTable()
        self._encoded_leases = bytes(state.leases) if state else b""
        self._encoded_queue = bytes(state.queue) if state else b""
        self._encoded_spending = bytes(state.spending) if state else b""
        self._leases: Leases | None = None
        self._queue: Queue | None = None
        self._spending: Spending | None = None

    @property
    def leases(self) -> "Leases":
        if self._leases is None:
            from paddock.core.leases.lease import Leases

            self._leases = _decode_part(self._encoded_leases, Leases)
        return self._leases

    @property
    def queue(self) -> "Queue":
        if self._queue is None:
            from paddock.core.merge.model import Queue

            self._queue = _decode_part(self._encoded_queue, Queue)
        return self._queue

    @property
    def halted(self) -> "Halted | None":
        """Why the merge queue stopped by itself; the rest of it stays encoded."""
        return self.queue_switches.halted

    @property
    def queue_switches(self) -> "QueueSwitches":
        """Whether the queue goes on; the rest of it stays encoded."""
        from paddock.core.merge.switches import QueueSwitches, switches_of

        return _decode_part(self._encoded_queue, QueueSwitches) if self._queue is None else switches_of(self._queue)

    def cost_of_day(self, day: str) -> "DayCost | None":
        """Of the attempts that count towards that day, those at work included; None if there is none."""
        from paddock.core.money.budget import Booked, Cost, DayCost
        from paddock.core.money.spending import day_of

        spending = _decode_part(self._encoded_spending, Booked) if self._spending is None else self._spending
        attempts = (self.tasks[name].live_attempt for name in self.live)
        live = [one for one in attempts if one is not None and day_of(one.started) == day]
        ended, scope = spending.ledger.spent, f"day:{day}"
        if scope not in ended and not live:
            return None
        assumed = spending.ledger.assumed.get(scope, 0.0)
        known = (ended.get(scope, Cost()).money or 0.0) - assumed + sum(one.cost_usd or 0.0 for one in live)
        return DayCost(max(0.0, known), assumed + sum(one.assumed_usd for one in live))

    @property
    def spending(self) -> "Spending":
        if self._spending is None:
            from paddock.core.money.spending import Spending

            self._spending = _decode_part(self._encoded_spending, Spending)
        return self._spending

    def task(self, task: TaskId) -> Task:
        """Raises PaddockError for an id nobody was ever given."""
        try:
            return self.tasks[task]
        except KeyError:
            newest = f"the newest task is `{task_id(self.next_task - 1)}`" if self.next_task > 1 else "there are none"
            raise PaddockError(f"there is no task `{task}`: {newest}", "`paddock status --all` lists them") from None

    def open_tasks(self) -> Iterable[Task]:
        return (self.tasks[task] for task in self.open)

    def apply(self, record: ev.Record) -> None:
        """Folds one record. Raises IllegalTransition, with the board unchanged, if it cannot happen."""
        if record.seq != self.seq + 1:
            raise PaddockError(f"record {record.seq} does not follow record {self.seq}")
        _fold_of(type(record.event))(self, record)
        self.seq = record.seq
        if record.at > self.at:
            self.at = record.at

    def _add(self, task: Task) -> None:
        """A new task has no attempt and waits for no person."""
        name, phase = task.id, task.phase
        self.tasks.add(task)
        _count(self.counts, None, phase)
        if task.convoy is not None:
            self.members[task.convoy].append(name)
            _count(self.convoy_counts[task.convoy], None, phase)
        self.open[name] = None
        if phase is Phase.READY:
            self.ready[name] = None

    def _put(self, task: Task, before: Task) -> None:
        """`before` is the task as the board has it."""
        self.tasks.put(task)
        if task.phase is not before.phase:
            self._move(task, before.phase)
        elif task.live_attempt is None or before.live_attempt is None:
            self._index(task)

    def _move(self, task: Task, before: Phase) -> None:
        _count(self.counts, before, task.phase)
        if task.convoy is not None:
            _count(self.convoy_counts[task.convoy], before, task.phase)
        if task.phase in FINISHED:
            self.open.pop(task.id, None)
        elif task.id not in self.open:
            self.open[task.id] = None
        self._index(task)

    def _index(self, task: Task) -> None:
        _mark(self.ready, task.id, belongs=task.phase is Phase.READY)
        _mark(self.live, task.id, belongs=task.live_attempt is not None)
        _mark(self.needy, task.id, belongs=task.phase in NEEDS_HUMAN and task.blocked_on is None)


def _mark(index: dict[TaskId, None], task: TaskId, *, belongs: bool) -> None:
    if not belongs:
        index.pop(task, None)
    elif task not in index:
        index[task] = None


def _count(counts: dict[Phase, int], before: Phase | None, after: Phase) -> None:
    if before is not None:
        counts[before] -= 1
    counts[after] = counts.get(after, 0) + 1


def encode_board(board: Board) -> bytes:
    lengths, tasks = board.tasks.encode()
    return _encode(
        BoardState(
            seq=board.seq,
            at=board.at,
            version=board.version,
            next_task=board.next_task,
            counts=board.counts,
            open=list(board.open),
            ready=list(board.ready),
            live=list(board.live),
            needy=list(board.needy),
            convoys=board.convoys,
            members=board.members,
            convoy_counts=board.convoy_counts,
            dependents=board.dependents,
            unknown=board.unknown,
            daemon_generation=board.daemon_generation,
            late_words=board.late_words,
            leases=_encode_part(board._leases, board._encoded_leases),
            queue=_encode_part(board._queue, board._encoded_queue),
            spending=_encode_part(board._spending, board._encoded_spending),
            task_lengths=lengths,
            tasks=memoryview(tasks),
        )
    )


def _encode_part(part: msgspec.Struct | None, encoded: bytes) -> msgspec.Raw:
    """A part nobody has written to is nothing, whether somebody has looked at it or not."""
    if part is None:
        return msgspec.Raw(encoded or _encode(None))
    return msgspec.Raw(_encode(None if part == type(part)() else part))


def _decode_part(encoded: bytes, kind: type[_Part]) -> _Part:
    found = msgspec.msgpack.decode(encoded, type=kind | None) if encoded else None
    return kind() if found is None else found


def decode_board(snapshot: bytes | memoryview) -> Board:
    """Raises msgspec.DecodeError on a snapshot that is damaged or of another layout."""
    return Board(_decode(snapshot))


@cache
def _fold_of(event: type[ev.Event]) -> Callable[[Board, ev.Record], None]:
    if (own := _FOLDS.get(event)) is not None:
        return own
    match event.kind.partition(".")[0]:
        case "lease":
            return _fold_lease
        case "queue":
            return _fold_queue
        case "attempt" | "turn":
            return _fold_fenced
        case "budget":
            return _fold_budget
        case _:
            return _apply_to_task


def _fold_lease(board: Board, record: ev.Record) -> None:
    from paddock.core.leases import lease

    event = record.event
    assert isinstance(event, lease.LEASE_EVENTS)
    board._leases = lease.evolve(board.leases, event, record.at)
    if isinstance(event, lease.LeaseGranted) and event.name == DAEMON_LEASE:
        board.daemon_generation = event.generation


def _fold_queue(board: Board, record: ev.Record) -> None:
    from paddock.core.tasks.landing import fold_queue_event

    queue, moved = fold_queue_event(board.queue, board.tasks, record)
    board._queue = queue
    for task in moved:
        board._put(task, board.tasks[task.id])
        _settle_dependents(board, task, record.at)


def _fold_fenced(board: Board, record: ev.Record) -> None:
    """A late word of a daemon that has been succeeded is in the log, and has no effect."""
    if 0 < record.generation < board.daemon_generation:
        board.late_words += 1
        return
    event = record.event
    if isinstance(event, ev.AttemptStarted) and record.task is not None and record.task in board.tasks:
        from paddock.core.money.spending import start

        spending = start(board.spending, board.tasks[record.task], record, event)
        _apply_to_task(board, record)
        board._spending = spending
    elif isinstance(event, ev.AttemptExtended) and record.task is not None and record.task in board.tasks:
        from paddock.core.money.spending import extend

        spending = extend(board.spending, board.tasks[record.task], record.attempt or "", event)
        _apply_to_task(board, record)
        board._spending = spending
    elif isinstance(event, ev.AttemptEnded):
        from paddock.core.money.spending import end

        _apply_to_task(board, record)
        assert record.task is not None
        task = board.tasks[record.task]
        assert task.last is not None
        board._spending = end(board.spending, task, task.last, record.at)
    else:
        _apply_to_task(board, record)


def _fold_budget(board: Board, record: ev.Record) -> None:
    from paddock.core.money.spending import set_budget

    assert isinstance(record.event, ev.BudgetSet)
    board._spending = set_budget(board.spending, record.event)


def _apply_to_task(board: Board, record: ev.Record) -> None:
    try:
        before = board.tasks[record.task or TaskId("")]
    except KeyError:
        raise illegal(record.task or "nothing", "unknown", record.event) from None
    task = evolve(before, record)
    if task.after is not before.after:
        _require_tasks(board, task.after, record.event)
    if task.phase is Phase.READY or (task.after is not before.after and _waits_for_others(task)):
        task = _settle(board, task, record.at)
    if isinstance(record.event, ev.TaskEdited) and record.event.after is not msgspec.UNSET:
        _relink(board, task, before.after)
    board._put(task, before)
    if task.phase is not before.phase and (task.phase in DECIDED or before.phase in DECIDED):
        _settle_dependents(board, task, record.at)


def _require_tasks(board: Board, names: tuple[TaskId, ...], event: ev.Event) -> None:
    for name in names:
        if name not in board.tasks:
            raise illegal(name, "unknown", event)


def _waits_for_others(task: Task) -> bool:
    return task.phase in {Phase.WAITING, Phase.READY} or task.blocked_on is not None


def _settle(board: Board, task: Task, at: float) -> Task:
    """Ready, waiting, or blocked by a dependency that will never land."""
    if not task.after:
        return task if task.phase is Phase.READY else move(task, Phase.READY, at)
    dead = [other for other in task.after if board.tasks[other].phase in DEAD]
    open_ = [other for other in task.after if board.tasks[other].phase not in SATISFIED]
    if dead:
        other = board.tasks[dead[0]]
        reason = f"depends on {other.id}, which {'failed' if other.phase is Phase.FAILED else 'was cancelled'}"
        unblock = f"paddock retry {other.id}"
        return replace(move(task, Phase.BLOCKED, at, reason, unblock), blocked_on=other.id)
    if open_:
        return move(task, Phase.WAITING, at, f"after {', '.join(open_)}")
    return task if task.phase is Phase.READY else move(task, Phase.READY, at)


def _settle_dependents(board: Board, task: Task, at: float) -> None:
    for name in board.dependents.get(task.id, ()):
        dependent = board.tasks[name]
        if _waits_for_others(dependent):
            settled = _settle(board, dependent, at)
            if settled.phase is dependent.phase:
                settled = replace(settled, since=dependent.since)
            board._put(settled, dependent)


def _relink(board: Board, task: Task, before: tuple[TaskId, ...]) -> None:
    for other in dict.fromkeys(before):
        if other not in task.after:
            board.dependents[other].remove(task.id)
    for other in dict.fromkeys(task.after):
        if other not in before:
            board.dependents.setdefault(other, []).append(task.id)


def _add_task(board: Board, record: ev.Record) -> None:
    event = record.event
    assert isinstance(event, ev.TaskAdded)
    if record.task != task_id(board.next_task):
        raise illegal(record.task or "nothing", "already used", event)
    if event.convoy is not None and event.convoy not in board.convoys:
        raise illegal(event.convoy, "not a convoy", event)
    if event.after:
        _require_tasks(board, event.after, event)
    task = Task(
        id=record.task,
        title=event.title,
        brief_seq=record.seq,
        phase=Phase.READY,
        since=record.at,
        created=record.at,
        allowed=event.attempts,
        agent=event.agent,
        engine=event.engine,
        convoy=event.convoy,
        after=event.after,
        priority=event.priority,
        paths=event.paths,
        work=event.work,
    )
    if event.after:
        task = _settle(board, task, record.at)
    board.next_task += 1
    for other in dict.fromkeys(event.after):
        board.dependents.setdefault(other, []).append(task.id)
    board._add(task)


def _add_convoy(board: Board, record: ev.Record) -> None:
    event = record.event
    assert isinstance(event, ev.ConvoyAdded)
    if event.name in board.convoys:
        raise illegal(event.name, "there already", event)
    board.convoys[event.name] = Convoy(event.name, event.title, record.at)
    board.members[event.name] = []
    board.convoy_counts[event.name] = {}


def _set_version(board: Board, record: ev.Record) -> None:
    assert isinstance(record.event, ev.LogCreated | ev.LogUpgraded)
    board.version = record.event.version


def _skip_unknown(board: Board, record: ev.Record) -> None:
    assert isinstance(record.event, ev.Unknown)
    board.unknown[record.event.name] = board.unknown.get(record.event.name, 0) + 1


def _note(board: Board, record: ev.Record) -> None:
    """Kept for people to read; changes nothing."""


_FOLDS: dict[type[ev.Event], Callable[[Board, ev.Record], None]] = {
    ev.LogCreated: _set_version,
    ev.LogUpgraded: _set_version,
    ev.ConvoyAdded: _add_convoy,
    ev.TaskAdded: _add_task,
    ev.WorktreeRemoved: _note,
    ev.Swept: _note,
    ev.DaemonTroubled: _note,
    ev.SettingsAdopted: _note,
    ev.LimitsReset: _note,
    ev.Unknown: _skip_unknown,
}

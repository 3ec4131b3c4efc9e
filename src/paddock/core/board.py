"""The state every reader shares: `fold(apply, records)`.

The board is the one accumulator that is changed in place, because copying ten thousand tasks per
event would make replay quadratic; what it holds is immutable. A fold (`core/folds.py`) computes before it changes
anything, so a record that cannot fold leaves the board as it was.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from paddock.core import events as ev
from paddock.core.errors import NotFound, PaddockError
from paddock.core.given import Given
from paddock.core.ids import TaskId, task_id
from paddock.core.parts import LazyPart
from paddock.core.tasks.table import TaskTable
from paddock.core.tasks.task import FINISHED, NEEDS_HUMAN, Phase, Task

if TYPE_CHECKING:
    from paddock.core.alerts.model import Alert, Alerts
    from paddock.core.causes.model import Causes
    from paddock.core.leases.lease import Leases
    from paddock.core.merge.model import Halted, Queue
    from paddock.core.merge.switches import QueueSwitches
    from paddock.core.money.budget import DayCost
    from paddock.core.money.spending import Spending
    from paddock.core.review.model import Reviews
    from paddock.core.schedules.model import Schedules

DAEMON_LEASE = "daemon"
NODE_LEASES = "node:"
"""What the names of nodes' leases begin with."""


class Convoy(msgspec.Struct, frozen=True, array_like=True):
    name: str
    title: str
    created: float


class SettingsChange(msgspec.Struct, frozen=True, array_like=True):
    """A daemon's configuration became another one; see `SettingsInForce`."""

    at: float
    digest: str
    changes: tuple[str, ...]

    def came_during(self, started: float, ended: float | None) -> bool:
        return bool(self.changes) and started < self.at and (ended is None or self.at < ended)


class Drain(msgspec.Struct, frozen=True, array_like=True):
    """Why a node takes nothing new, since when, and who has said so."""

    since: float
    by: str
    reason: str = ""


class Board:
    """Changed only by `apply`. `open` holds the tasks that are not finished, oldest first; `ready` those
    that could start, `live` those with an attempt under way, whatever their phase, `needy` those that
    wait for a person, `reviewing` those whose change is under review. `drains` are the nodes that take nothing new.
    `identity` and `label` are the log's own, see `LogCreated`; `numbers` are the highest given, apart from those of
    tasks: `given` has all.
    """

    def __init__(self) -> None:
        self.seq = 0
        self.at = 0.0
        self.version = ""
        self.identity = ""
        self.label = ""
        self.numbers = Given()
        self.next_task = 1
        self.tasks = TaskTable()
        self.counts: dict[Phase, int] = {}
        self.open: dict[TaskId, None] = {}
        self.ready: dict[TaskId, None] = {}
        self.live: dict[TaskId, None] = {}
        self.needy: dict[TaskId, None] = {}
        self.reviewing: dict[TaskId, None] = {}
        self.convoys: dict[str, Convoy] = {}
        self.members: dict[str, list[TaskId]] = {}
        self.convoy_counts: dict[str, dict[Phase, int]] = {}
        self.dependents: dict[TaskId, list[TaskId]] = {}
        self.unknown: dict[str, int] = {}
        self.daemon_generation = 0
        self.settings: tuple[SettingsChange, ...] = ()
        self.drains: dict[str, Drain] = {}
        self.lease_part = LazyPart(leases_class)
        self.queue_part = LazyPart(queue_class)
        self.spending_part = LazyPart(spending_class)
        self.review_part = LazyPart(reviews_class)
        self.alert_part = LazyPart(alerts_class)
        self.schedule_part = LazyPart(schedules_class)
        self.cause_part = LazyPart(causes_class)

    @property
    def given(self) -> Given:
        """The highest numbers this log has given."""
        return msgspec.structs.replace(self.numbers, tasks=self.next_task - 1)

    @property
    def leases(self) -> "Leases":
        return self.lease_part.get()

    @property
    def queue(self) -> "Queue":
        return self.queue_part.get()

    @property
    def spending(self) -> "Spending":
        return self.spending_part.get()

    @property
    def reviews(self) -> "Reviews":
        return self.review_part.get()

    @property
    def alerts(self) -> "Alerts":
        return self.alert_part.get()

    @property
    def standing_alerts(self) -> "dict[str, Alert]":
        """Those that are not resolved, by the key of their cause; the others stay encoded."""
        if self.alert_part.is_nothing:
            return {}
        from paddock.core.alerts.model import StandingAlerts, standing_of

        return self.alert_part.view(StandingAlerts, standing_of).standing

    @property
    def schedules(self) -> "Schedules":
        return self.schedule_part.get()

    @property
    def causes(self) -> "Causes":
        return self.cause_part.get()

    @property
    def halted(self) -> "Halted | None":
        """Why the merge queue stopped by itself; the rest of it stays encoded."""
        return self.queue_switches.halted

    @property
    def queue_switches(self) -> "QueueSwitches":
        """Whether the queue goes on; the rest of it stays encoded."""
        from paddock.core.merge.switches import QueueSwitches, switches_of

        return self.queue_part.view(QueueSwitches, switches_of)

    def cost_of_day(self, day: str) -> "DayCost | None":
        """Of the attempts that count towards that day, those at work included; None if there is none."""
        from paddock.core.money.budget import Booked, Cost, DayCost
        from paddock.core.money.spending import booked_of, day_of

        ledger = self.spending_part.view(Booked, booked_of).ledger
        attempts = (self.tasks[name].live_attempt for name in self.live)
        live = [one for one in attempts if one is not None and day_of(one.started) == day]
        scope = f"day:{day}"
        if scope not in ledger.spent and not live:
            return None
        assumed = ledger.assumed.get(scope, 0.0)
        known = (ledger.spent.get(scope, Cost()).money or 0.0) - assumed + sum(one.cost_usd or 0.0 for one in live)
        return DayCost(max(0.0, known), assumed + sum(one.assumed_usd for one in live))

    def task(self, task: TaskId) -> Task:
        """Raises NotFound for an unknown id."""
        try:
            return self.tasks[task]
        except KeyError:
            newest = f"the newest task is `{task_id(self.next_task - 1)}`" if self.next_task > 1 else "there are none"
            raise NotFound(f"there is no task `{task}`: {newest}", "`paddock status --all` lists them") from None

    def open_tasks(self) -> Iterable[Task]:
        return (self.tasks[task] for task in self.open)

    def apply(self, record: ev.Record) -> None:
        """Folds one record. Raises IllegalTransition, with the board unchanged, if it cannot happen."""
        if record.seq != self.seq + 1:
            raise PaddockError(f"record {record.seq} does not follow record {self.seq}")
        _fold_of(type(record.event))(self, record, record.event)
        self.seq = record.seq
        if record.at > self.at:
            self.at = record.at

    def add(self, task: Task) -> None:
        """For folds. A new task has no attempt and waits for no person."""
        name, phase = task.id, task.phase
        self.tasks.add(task)
        self.next_task += 1
        _count(self.counts, None, phase)
        if task.convoy is not None:
            self.members[task.convoy].append(name)
            _count(self.convoy_counts[task.convoy], None, phase)
        self.open[name] = None
        if phase is Phase.READY:
            self.ready[name] = None

    def put(self, task: Task, before: Task) -> None:
        """For folds. `before` is the task as the board has it."""
        self.tasks.put(task)
        if task.phase is not before.phase:
            self._move(task, before.phase)
        elif task.live_attempt is None or before.live_attempt is None or task.question != before.question:
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
        _mark(self.needy, task.id, belongs=_needs_person(task))
        _mark(self.reviewing, task.id, belongs=task.phase is Phase.REVIEWING)


def _needs_person(task: Task) -> bool:
    """An agent that has asked something may be waiting for the answer in the middle of its work. A plan waits for a
    decision when its planner is done."""
    asks = task.question > 0 and task.phase not in FINISHED
    return asks or task.plan_waits or (task.phase in NEEDS_HUMAN and task.blocked_on is None)


@cache
def _fold_of(event: type[ev.Event]) -> Callable[[Board, ev.Record, Any], None]:
    """Folds are imported when the first record is applied: a reader may find all it needs in a snapshot."""
    from paddock.core.folds import fold_of

    return fold_of(event)


def leases_class() -> "type[Leases]":
    from paddock.core.leases.lease import Leases

    return Leases


def queue_class() -> "type[Queue]":
    from paddock.core.merge.model import Queue

    return Queue


def spending_class() -> "type[Spending]":
    from paddock.core.money.spending import Spending

    return Spending


def reviews_class() -> "type[Reviews]":
    from paddock.core.review.model import Reviews

    return Reviews


def alerts_class() -> "type[Alerts]":
    from paddock.core.alerts.model import Alerts

    return Alerts


def schedules_class() -> "type[Schedules]":
    from paddock.core.schedules.model import Schedules

    return Schedules


def causes_class() -> "type[Causes]":
    from paddock.core.causes.model import Causes

    return Causes


def _mark(index: dict[TaskId, None], task: TaskId, *, belongs: bool) -> None:
    if not belongs:
        index.pop(task, None)
    elif task not in index:
        index[task] = None


def _count(counts: dict[Phase, int], before: Phase | None, after: Phase) -> None:
    if before is not None:
        counts[before] -= 1
    counts[after] = counts.get(after, 0) + 1

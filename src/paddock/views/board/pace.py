"""How fast work lands and money goes, remembered from look to look.

Landings are read off the tasks, of which one that finishes is looked at once, and off the queue's last decisions, for
branches that are no task's. Of the log only the last hour's turns and main's landings are read, once.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import TaskId, task_number
from paddock.core.merge import events as qe
from paddock.core.merge.model import Ending, HaltCause
from paddock.core.merge.recent import Switched
from paddock.core.money.day_rate import forecast_day
from paddock.core.tasks.task import FINISHED, Phase
from paddock.store.protocol import Ask, Query

HOUR = 3600.0
DAY = 86400.0
SHOWN_HOURS = 12
KEPT_FINISHED = 200
KEPT_TURNS = 20_000


class LandedView(msgspec.Struct, frozen=True):
    """`today` is UTC's, `per_hour` what landed in the last 60 minutes; the last of `hours` is under way."""

    today: int
    per_hour: int
    hours: tuple[int, ...]


@dataclass
class WorkPace:
    """`finished` are the tasks that finished last, newest first; `landed` when each landed, of the last day. `streak`
    counts landings since main was last red, and `main_at` is when it last moved. `switched` has who last froze, paused
    or drained the queue, as far as that was seen.
    """

    finished: list[TaskId] = field(default_factory=list)
    landed: dict[str, float] = field(default_factory=dict)
    streak: int = 0
    main_at: float | None = None
    switched: dict[str, Switched] = field(default_factory=dict)
    _turns: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=KEPT_TURNS))
    _seq: int = -1
    _open: set[TaskId] = field(default_factory=set)

    def catch_up(self, board: Board, ask: Ask, now: float) -> None:
        """Costs what is new since the last time; the first time, a look at every task."""
        if board.seq == self._seq:
            return
        if self._seq < 0 or board.seq < self._seq:
            self._begin(board, ask, now)
        else:
            self._go_on(board, ask, now)
        self._seq, self._open = board.seq, set(board.open)

    def _begin(self, board: Board, ask: Ask, now: float) -> None:
        self.landed, self.streak, self.main_at = {}, 0, None
        self.switched.clear()
        self._turns.clear()
        done = [name for name in board.tasks if name not in board.open]
        self._note_finished(board, done, now)
        for record in ask(Query(kind=ev.TurnEnded.kind, until=board.seq, since=now - HOUR)):
            self._fold(record)
        halts = ask(Query(kind=qe.QueueHalted.kind, until=board.seq))
        red = max((record.seq for record in halts if _turns_red(record.event)), default=0)
        for kind in (qe.TrainLanded.kind, qe.MainMoved.kind, qe.MainRestored.kind):
            for record in ask(Query(kind=kind, until=board.seq)):
                self.streak += kind == qe.TrainLanded.kind and record.seq > red
                self.main_at = max(self.main_at or 0.0, record.at)

    def _go_on(self, board: Board, ask: Ask, now: float) -> None:
        touched: set[TaskId] = {name for name in self._open if name not in board.open}
        for record in ask(Query(after=self._seq, until=board.seq)):
            self._fold(record)
            if record.task is not None:
                touched.add(record.task)
        if touched:
            self._note_finished(board, touched, now)

    def _fold(self, record: ev.Record) -> None:
        match record.event:
            case ev.TurnEnded(cost_usd=cost) if cost is not None:
                self._turns.append((record.at, cost))
            case qe.TrainLanded():
                self.streak, self.main_at = self.streak + 1, record.at
            case qe.MainMoved() | qe.MainRestored():
                self.main_at = record.at
            case qe.QueueFrozen(reason=reason):
                self.switched["frozen"] = Switched(record.at, record.actor, reason)
            case qe.QueuePaused(reason=reason):
                self.switched["paused"] = Switched(record.at, record.actor, reason)
            case qe.QueueDrained():
                self.switched["draining"] = Switched(record.at, record.actor)
            case event if _turns_red(event):
                self.streak = 0
            case _:
                pass

    def _note_finished(self, board: Board, touched: Iterable[TaskId], now: float) -> None:
        names = {*self.finished, *touched}
        tasks = [board.tasks[name] for name in names if name in board.tasks]
        over = [task for task in tasks if task.phase in FINISHED]
        over.sort(key=lambda task: (task.since, task_number(task.id)), reverse=True)
        self.finished = [task.id for task in over[:KEPT_FINISHED]]
        for task in tasks:
            self.landed.pop(task.id, None)
            if task.phase is Phase.LANDED:
                self.landed[task.id] = task.since
        self.landed = {name: at for name, at in self.landed.items() if at > now - DAY}

    def view_landed(self, board: Board, now: float) -> LandedView:
        branches = [
            old.at for old in board.queue.decided if old.outcome is Ending.LANDED and old.task is None and not old.lost
        ]
        times = [*self.landed.values(), *branches]
        midnight, this_hour = now - now % DAY, int(now // HOUR)
        hours = [0] * SHOWN_HOURS
        for at in times:
            if 0 <= (back := this_hour - int(at // HOUR)) < SHOWN_HOURS:
                hours[SHOWN_HOURS - 1 - back] += 1
        return LandedView(
            today=sum(1 for at in times if at >= midnight),
            per_hour=sum(1 for at in times if now - HOUR < at <= now),
            hours=tuple(hours),
        )

    def forecast(self, spent: float, now: float) -> float | None:
        """The day's dollars if the rest of it goes like the last hour; None before that is worth something."""
        while self._turns and self._turns[0][0] < now - HOUR:
            self._turns.popleft()
        ahead = forecast_day(self._turns, spent, now, now - now % DAY + DAY)
        return None if ahead is None else ahead.expected


def _turns_red(event: ev.Event) -> bool:
    return isinstance(event, qe.QueueHalted) and event.cause is HaltCause.MAIN_RED

"""One row for each convoy: how far it is, what it cost, and the longest way that is left."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from paddock.core.board import Board
from paddock.core.ids import TaskId, printable
from paddock.core.merge.estimate import run_seconds
from paddock.core.money.budget import Cost, limit_of
from paddock.core.money.spending import expect, money_of
from paddock.core.tasks.needs import need_of
from paddock.core.tasks.task import DEAD, FINISHED, SATISFIED, Phase, Task
from paddock.views.document import iso_or_none
from paddock.views.steady import keep_steady

LOOK_SECONDS = 10.0
"""The way ahead is looked at again after this long, and when a task has moved on."""


class ConvoyRow(msgspec.Struct, frozen=True, kw_only=True):
    """`longest` are the tasks of the longest way left, first to do first: by what such work took so far, or by their
    number while nothing is known. `eta` is when all of it may have landed if nobody has to wait for a person; None
    where that is not known, something failed, or no daemon is running. `needs` counts tasks that need a person.
    """

    name: str
    title: str
    total: int
    done: int
    counts: dict[str, int]
    needs: int
    cost_usd: float | None
    budget_usd: float | None
    eta: str | None
    tasks: tuple[str, ...]
    longest: tuple[str, ...]


@dataclass(slots=True)
class _Ahead:
    """As of `at`, when so many tasks were in each phase and so many agents could work. `eta` in epoch seconds."""

    at: float
    counts: dict[Phase, int]
    agents: int
    eta: float | None = None
    longest: tuple[TaskId, ...] = ()


@dataclass
class ConvoyRows:
    """Looks again at the convoys whose tasks have changed, and now and then at the way ahead of the others.

    `engine` is whose pace counts for tasks that name none.
    """

    engine: str = ""
    _rows: dict[str, ConvoyRow] = field(default_factory=dict)
    _ways: dict[str, _Ahead] = field(default_factory=dict)

    def look(self, board: Board, changed: Mapping[str, bool], agents: int, now: float) -> dict[str, ConvoyRow]:
        """`changed` are the convoys with a task that has, and whether any waits for other tasks than before; so many
        `agents` may work at the same time, none without a daemon."""
        found: dict[str, ConvoyRow] = {}
        for name in board.convoys:
            known, way = self._rows.get(name), self._ways.get(name)
            moved = way is None or way.counts != board.convoy_counts[name] or changed.get(name, False)
            moved = moved or way is None or way.agents != agents or not 0 <= now - way.at < LOOK_SECONDS
            if way is None or moved:
                way = self._ways[name] = self._look_ahead(board, name, way, agents, now)
            if known is None or moved or name in changed:
                row = _view_convoy(board, name, way)
                known = row if known is None or known != row else known
            found[name] = known
        self._rows = found
        return found

    def _look_ahead(self, board: Board, name: str, before: _Ahead | None, agents: int, now: float) -> _Ahead:
        eta, longest = self._ahead(board, name, agents, now)
        eta = keep_steady(before.eta if before is not None else None, eta, now)
        return _Ahead(now, dict(board.convoy_counts[name]), agents, eta, longest)

    def _ahead(self, board: Board, name: str, agents: int, now: float) -> tuple[float | None, tuple[TaskId, ...]]:
        left = [task for member in board.members[name] if (task := board.tasks[member]).phase not in FINISHED]
        if not left:
            return None, ()
        knows = bool(board.spending.experience.samples)
        landing = run_seconds(board.queue.stats, 0.5) or 0.0
        seconds = {task.id: self._seconds_left(board, task, landing, now) if knows else 1.0 for task in left}
        way = longest_way(left, seconds)
        stuck = any(task.phase is Phase.BLOCKED or task.phase in DEAD for task in left)
        if stuck or not knows or not agents:
            return None, way
        shared = sum(seconds.values()) / agents
        return now + max(shared, sum(seconds[one] for one in way)), way

    def _seconds_left(self, board: Board, task: Task, landing: float, now: float) -> float:
        """Until it has landed, as such work went so far; of what waits for a person, only the rest."""
        if task.phase in (Phase.APPROVAL, Phase.QUEUED):
            return landing
        learnt = expect(board.spending, task, task.engine or (task.worker.engine if task.worker else self.engine))
        work = learnt.spawn_seconds.median + learnt.work_seconds.median
        done = now - task.live_attempt.started if task.live_attempt is not None else 0.0
        return max(0.0, work - done) + landing


def longest_way(tasks: Iterable[Task], seconds: Mapping[TaskId, float]) -> tuple[TaskId, ...]:
    """The chain of these tasks, each waiting for the one before it, that takes longest. Dependencies have no cycles,
    and a task's own are older or were checked when it was edited."""
    known = {task.id: task for task in tasks}
    best: dict[TaskId, tuple[float, TaskId | None]] = {}
    for start in known:
        stack = [start]
        while stack:
            name = stack[-1]
            before = [other for other in known[name].after if other in known]
            if name not in best and (missing := [other for other in before if other not in best]):
                stack += missing
                continue
            stack.pop()
            if name not in best:
                last = max(before, key=lambda other: best[other][0], default=None)
                best[name] = (best[last][0] if last is not None else 0.0) + seconds[name], last
    way: list[TaskId] = []
    step = max(best, key=lambda name: best[name][0], default=None)
    while step is not None:
        way.append(step)
        step = best[step][1]
    return tuple(reversed(way))


def _view_convoy(board: Board, name: str, ahead: _Ahead) -> ConvoyRow:
    convoy, found, ledger = board.convoys[name], board.convoy_counts[name], board.spending.ledger
    members = board.members[name]
    live = [one for member in members if member in board.live and (one := board.tasks[member].live_attempt)]
    spent, limit = ledger.spent.get(f"convoy:{name}"), limit_of(ledger, f"convoy:{name}")
    cost = (spent or Cost()).money
    known = cost is not None and (spent is not None or any(one.cost_usd is not None for one in live))
    return ConvoyRow(
        name=convoy.name,
        title=printable(convoy.title, 300),
        total=len(members),
        done=sum(found.get(phase, 0) for phase in SATISFIED),
        counts={phase.value: found[phase] for phase in Phase if found.get(phase)},
        needs=sum(1 for member in members if member in board.needy and need_of(board.tasks[member]) is not None),
        cost_usd=round((cost or 0.0) + sum(map(money_of, live)), 2) if known else None,
        budget_usd=limit.money if limit is not None else None,
        eta=iso_or_none(ahead.eta),
        tasks=tuple(members),
        longest=ahead.longest,
    )

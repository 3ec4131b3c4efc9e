"""Which ready tasks start next: dependencies are met, any pause is over, and age slowly beats priority."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.ids import TaskId, task_number
from paddock.core.tasks.task import Task

AGING_SECONDS = 600.0
"""A task gains one point of priority for every ten minutes it has been ready, so nothing waits for ever."""
CLOCK_STEP_SECONDS = 60.0
"""A clock that is set back by no more than this is one that was put right."""


@dataclass(frozen=True, slots=True)
class StartOrder:
    """`start` in order; `wake_at` is when a task that has to wait may start, None if none has."""

    start: tuple[TaskId, ...]
    wake_at: float | None = None


def plan_starts(
    board: Board,
    now: float,
    slots: int,
    *,
    only: Collection[TaskId] | None = None,
    apart: Callable[[Task], bool] = lambda _: False,
) -> StartOrder:
    """Up to `slots` tasks to start now. Those that stand `apart` cannot, however long others stand behind them."""
    waiting: list[Task] = []
    wake_at: float | None = None
    for name in board.ready:
        if only is not None and name not in only:
            continue
        task = board.tasks[name]
        if task.live_attempt is not None:
            continue
        if pauses(task, now):
            wake_at = task.not_before if wake_at is None else min(wake_at, task.not_before)
        elif not apart(task):
            waiting.append(task)
    ordered = in_order(waiting, now)
    return StartOrder(tuple(task.id for task in ordered[: max(slots, 0)]), wake_at)


def pauses(task: Task, now: float) -> bool:
    """Whether it is to be tried again later. If it is earlier than when that was decided, somebody has set the clock,
    and nobody knows how much of the pause is left: it is over."""
    return task.since - CLOCK_STEP_SECONDS <= now < task.not_before


def in_order(tasks: Iterable[Task], now: float) -> list[Task]:
    return sorted(tasks, key=lambda task: (-urgency(task, now), task_number(task.id)))


def urgency(task: Task, now: float) -> int:
    return task.priority + int(max(0.0, now - task.since) / AGING_SECONDS)

"""Which row stands where: first who needs a person, then what moves, then what waits, then what is over."""

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import TypeAlias

from paddock.core.ids import TaskId, task_number
from paddock.views.board.rows import TaskRow

Rank: TypeAlias = tuple[int, float, float]
"""The group, then the place in it."""

_NEEDS = {"approve": 0, "answer": 1, "blocked": 2, "failed": 3}
_PHASES = {"running": 4, "reviewing": 4, "queued": 5, "ready": 6, "waiting": 7}
_OVER = 8


@lru_cache(maxsize=4096)
def moment(iso: str) -> float:
    """Epoch seconds."""
    return datetime.fromisoformat(iso).timestamp()


def rank_of(row: TaskRow) -> Rank:
    """Within a group the oldest come first, except for what is over: there it is the newest."""
    number = float(task_number(TaskId(row.id)))
    if row.need in _NEEDS:
        return _NEEDS[row.need], moment(row.since), number
    group = _PHASES.get(row.phase, _OVER)
    match group:
        case 4:
            return group, 0.0 if row.stuck else 1.0, moment(row.started or row.since)
        case 5:
            return group, float(row.place or 0) or float("inf"), number
        case 6:
            return group, -float(row.priority), number
        case 7:
            return group, number, 0.0
        case _:
            return group, -moment(row.since), number


class Ranking:
    """Keeps rows in order; only rows that are not the same object as before are ranked again."""

    def __init__(self) -> None:
        self._ranks: dict[str, Rank] = {}
        self._rows: Mapping[str, TaskRow] = {}
        self.order: list[str] = []

    def take(self, rows: Mapping[str, TaskRow]) -> bool:
        """Whether the order is another one now."""
        before = self._rows
        moved = len(before) != len(rows)
        for name, row in rows.items():
            if before.get(name) is not row and self._ranks.get(name) != (rank := rank_of(row)):
                self._ranks[name], moved = rank, True
        for name in before.keys() - rows.keys():
            del self._ranks[name]
            moved = True
        self._rows = dict(rows)
        if moved:
            order = sorted(rows, key=self._ranks.__getitem__)
            moved, self.order = order != self.order, order
        return moved

    def group_of(self, name: str) -> int | None:
        return self._ranks[name][0] if name in self._ranks else None

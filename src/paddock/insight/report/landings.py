"""What became of tasks, and how many landed when."""

import msgspec

from paddock.core.board import Board
from paddock.core.tasks.task import DECIDED, Phase

DAY = 86400.0
MOST_BARS = 35


class Bar(msgspec.Struct, frozen=True):
    """Tasks that landed and that failed from `began` on, for `seconds`."""

    began: float
    seconds: float
    landed: int
    failed: int


class Landings(msgspec.Struct, frozen=True):
    """`landed_before` is of the time before, as long as this one; None where all of the log is told."""

    landed: int
    landed_before: int | None
    failed: int
    cancelled: int
    without_change: int
    added: int
    unfinished: int
    bars: tuple[Bar, ...] = ()

    @property
    def decided(self) -> int:
        return self.landed + self.failed + self.cancelled + self.without_change


def count_landings(board: Board, began: float | None, now: float) -> Landings:
    """`began` is None for all of the log."""
    since = began or 0.0
    counts: dict[Phase, int] = {}
    before = added = unfinished = 0
    times: list[tuple[float, Phase]] = []
    for name in board.tasks:
        task = board.tasks[name]
        added += task.created >= since
        unfinished += task.phase not in DECIDED
        if task.phase in DECIDED and task.since >= since:
            counts[task.phase] = counts.get(task.phase, 0) + 1
            times.append((task.since, task.phase))
        elif task.phase is Phase.LANDED and began is not None:
            before += task.since >= began - (now - began)
    first = max(since, min((board.tasks[name].created for name in board.tasks), default=now))
    return Landings(
        landed=counts.get(Phase.LANDED, 0),
        landed_before=before if began is not None else None,
        failed=counts.get(Phase.FAILED, 0),
        cancelled=counts.get(Phase.CANCELLED, 0),
        without_change=counts.get(Phase.NOOP, 0) + counts.get(Phase.DONE, 0),
        added=added,
        unfinished=unfinished,
        bars=_bars(times, first, now),
    )


def _bars(times: list[tuple[float, Phase]], began: float, now: float) -> tuple[Bar, ...]:
    """Hours for two days at most, else days, or as many days as keep it to MOST_BARS. They begin on the hour and at
    midnight (UTC), so that each is what it is called; now is in the last one."""
    span = max(1.0, now - began)
    wide = 3600.0 if span <= MOST_BARS * 3600.0 else DAY * max(1, -(-span // (DAY * MOST_BARS)))
    even = min(wide, DAY)
    first = began - began % even
    count = int((now - first) // wide) + 1
    landed, failed = [0] * count, [0] * count
    for at, phase in times:
        place = min(count - 1, max(0, int((at - first) // wide)))
        landed[place] += phase is Phase.LANDED
        failed[place] += phase is Phase.FAILED
    return tuple(Bar(first + place * wide, wide, landed[place], failed[place]) for place in range(count))

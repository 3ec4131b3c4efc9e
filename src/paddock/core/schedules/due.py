"""What a schedule asks for next: to fire, to let a time wait or pass, or to be looked at again later. Pure.

The daemon asks here again after each step, and once more in the transaction that records one, so it keeps nothing in
mind. A time is late when the daemon was not there for it; how late one may be and still count as on time is
`grace_seconds`.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeAlias

from paddock.core.ids import TaskId
from paddock.core.schedules.events import CatchUp, Overlap, WhySkipped
from paddock.core.schedules.model import MOST_WAITING, Schedule
from paddock.core.schedules.timetable import DAY, Timetable

LATE_SECONDS = 300.0
"""A daemon that lives may be busy for some minutes."""
SETBACK_SECONDS = DAY
"""What is settled may be this far ahead of the clock, because somebody has set it back: no time comes twice. More, and
the clock was wrong before."""
MOST_LOOKED_AT = 1_000


@dataclass(frozen=True, slots=True)
class Fire:
    """For `due`, and `missed` times before it that it stands for, too."""

    due: float
    missed: int = 0


@dataclass(frozen=True, slots=True)
class Queue:
    dues: tuple[float, ...]
    why: WhySkipped


@dataclass(frozen=True, slots=True)
class Skip:
    """Everything up to `due` that is not settled: `times` of them."""

    due: float
    why: WhySkipped
    times: int = 1
    behind: TaskId | None = None


@dataclass(frozen=True, slots=True)
class Rewind:
    to: float


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do before `until`; None: not before something else happens."""

    until: float | None


NextStep: TypeAlias = Fire | Queue | Skip | Rewind | Wait


def next_step(schedule: Schedule, timetable: Timetable, behind: TaskId | None, now: float) -> NextStep:
    """`behind` is an unfinished task of an earlier firing, None if there is none."""
    if schedule.paused is not None:
        return Wait(None)
    if schedule.settled > now + SETBACK_SECONDS:
        return Rewind(now)
    if schedule.waiting and behind is None:
        return Fire(schedule.waiting[0])
    first = timetable.next(schedule.settled)
    if first is None:
        return Wait(None)
    if (at := fire_at(schedule, timetable, first)) > now:
        return Wait(at)
    return _settle_due(schedule, timetable, behind, now)


def fire_at(schedule: Schedule, timetable: Timetable, due: float) -> float:
    """The moment at which it fires for `due`: later by a part of its jitter that is always the same for this time, and
    before the next time comes."""
    if not schedule.jitter_seconds:
        return due
    following = timetable.next(due)
    room = schedule.jitter_seconds if following is None else min(schedule.jitter_seconds, following - due - 1.0)
    digest = blake2b(f"{schedule.name} {due:.0f}".encode(), digest_size=8).digest()
    return due + float(int(int.from_bytes(digest) / 2**64 * room))


def grace_seconds(timetable: Timetable, due: float) -> float:
    """Never longer than half of the time to the next one, so that two are not fired at once."""
    following = timetable.next(due)
    return LATE_SECONDS if following is None else min(LATE_SECONDS, (following - due) / 2)


def _settle_due(schedule: Schedule, timetable: Timetable, behind: TaskId | None, now: float) -> NextStep:
    dues = timetable.between(schedule.settled, now, MOST_LOOKED_AT).times
    if fire_at(schedule, timetable, dues[-1]) > now:
        dues = dues[:-1]
    newest = dues[-1]
    in_time = now <= fire_at(schedule, timetable, newest) + grace_seconds(timetable, newest)
    missed = dues[:-1] if in_time else dues
    if missed:
        match schedule.catch_up:
            case CatchUp.SKIP:
                return Skip(missed[-1], WhySkipped.MISSED, len(missed))
            case CatchUp.ALL:
                return _catch_up(schedule, dues)
            case CatchUp.ONCE:
                pass
    if behind is None and not schedule.waiting:
        return Fire(newest, len(dues) - 1)
    if schedule.overlap is Overlap.QUEUE and not schedule.waiting:
        # One waits for all of them; those before it are told of first.
        older = dues[:-1]
        if older:
            return Skip(older[-1], WhySkipped.OVERLAP, len(older), behind)
        return Queue((newest,), WhySkipped.OVERLAP)
    return Skip(newest, WhySkipped.OVERLAP, len(dues), behind)


def _catch_up(schedule: Schedule, dues: tuple[float, ...]) -> Queue | Skip:
    """The last of them, as many as may wait; those before them are skipped first."""
    room = MOST_WAITING - len(schedule.waiting)
    if len(dues) > room:
        over = dues[: len(dues) - room]
        return Skip(over[-1], WhySkipped.MISSED, len(over))
    return Queue(dues, WhySkipped.MISSED)

"""What each event makes of what is known of schedules; what has no case here cannot happen.

No time is settled twice: this, not the daemon, keeps a schedule from firing twice for one.
"""

from collections.abc import Callable
from typing import assert_never

from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.ids import TaskId
from paddock.core.schedules import events as se
from paddock.core.schedules.model import MOST_SCHEDULES, MOST_WAITING, Failure, Firing, Schedule, Schedules, Skipped
from paddock.core.tasks.task import illegal

IsUnfinished = Callable[[TaskId], bool]


def evolve(schedules: Schedules, event: se.ScheduleEvent, record: ev.Record, is_unfinished: IsUnfinished) -> Schedules:
    """Raises IllegalTransition for what cannot happen. The tasks of a firing are on the board already."""
    if isinstance(event, se.ScheduleAdded):
        if event.name in schedules.by_name or len(schedules.by_name) >= MOST_SCHEDULES:
            raise illegal(event.name, "there already, or one too many", event)
        return _put(schedules, _begin(event, record))
    before = schedules.by_name.get(event.name)
    if before is None:
        raise illegal(event.name, "no schedule", event)
    if isinstance(event, se.ScheduleRemoved):
        return Schedules({name: one for name, one in schedules.by_name.items() if name != event.name})
    return _put(schedules, _change(before, event, record, is_unfinished))


def _begin(event: se.ScheduleAdded, record: ev.Record) -> Schedule:
    return Schedule(
        name=event.name,
        cron=event.cron,
        zone=event.zone,
        work=event.work,
        added=record.at,
        by=record.actor,
        settled=record.at,
        jitter_seconds=event.jitter_seconds,
        catch_up=event.catch_up,
        overlap=event.overlap,
        budget_usd=event.budget_usd,
        forced=event.forced,
    )


def _change(
    before: Schedule,
    event: se.SchedulePaused
    | se.ScheduleResumed
    | se.ScheduleFired
    | se.ScheduleQueued
    | se.ScheduleSkipped
    | se.ScheduleFailed
    | se.ScheduleRewound,
    record: ev.Record,
    is_unfinished: IsUnfinished,
) -> Schedule:
    match event:
        case se.SchedulePaused() if before.paused is None:
            return replace(before, paused=event.reason, paused_at=record.at, waiting=())
        case se.ScheduleResumed() if before.paused is not None:
            return replace(before, paused=None, failure=None, skipped=None, settled=max(before.settled, record.at))
        case se.ScheduleFired() if _may_settle(before, event.due):
            fired = Firing(event.due, record.at, event.tasks, event.convoy, event.missed)
            open_ones = tuple(name for name in (*before.unfinished, *event.tasks) if is_unfinished(name))
            firings = before.firings + 1
            after = replace(before, last=fired, unfinished=open_ones, firings=firings, failure=None, skipped=None)
            return _settle(after, event.due)
        case se.ScheduleQueued() if _may_queue(before, event.dues):
            return replace(before, settled=event.dues[-1], waiting=(*before.waiting, *event.dues))
        case se.ScheduleSkipped() if _may_settle(before, event.due):
            in_a_row = 1 if before.skipped is None else before.skipped.in_a_row + 1
            skipped = Skipped(event.due, event.why, event.behind, in_a_row)
            return _settle(replace(before, skipped=skipped), event.due)
        case se.ScheduleFailed() if _may_settle(before, event.due):
            in_a_row = 1 if before.failure is None else before.failure.in_a_row + 1
            return _settle(replace(before, failure=Failure(record.at, event.reason, in_a_row)), event.due)
        case se.ScheduleRewound() if event.to < before.settled:
            return replace(before, settled=event.to, waiting=tuple(due for due in before.waiting if due <= event.to))
        case (
            se.SchedulePaused()
            | se.ScheduleResumed()
            | se.ScheduleFired()
            | se.ScheduleQueued()
            | se.ScheduleSkipped()
            | se.ScheduleFailed()
            | se.ScheduleRewound()
        ):
            raise illegal(before.name, "settled, paused or not" if before.paused is None else "paused", event)
        case _:
            assert_never(event)


def _may_settle(schedule: Schedule, due: float | None) -> bool:
    """Each time once, and none while it is paused; a person may run it at any time."""
    if due is None:
        return True
    return schedule.paused is None and (due > schedule.settled or due in schedule.waiting)


def _settle(schedule: Schedule, due: float | None) -> Schedule:
    if due is None:
        return schedule
    waiting = tuple(other for other in schedule.waiting if other != due)
    return replace(schedule, settled=max(schedule.settled, due), waiting=waiting)


def _may_queue(schedule: Schedule, dues: tuple[float, ...]) -> bool:
    in_order = all(one < other for one, other in zip((schedule.settled, *dues), dues, strict=False))
    return schedule.paused is None and bool(dues) and in_order and len(schedule.waiting) + len(dues) <= MOST_WAITING


def _put(schedules: Schedules, schedule: Schedule) -> Schedules:
    return Schedules({**schedules.by_name, schedule.name: schedule})

"""What a record of a schedule tells, in one line."""

from typing import assert_never

from paddock.core.ids import printable
from paddock.core.schedules import events as se
from paddock.views.document import iso

WORDS_CHARS = 140


def tell_of_schedule(event: se.ScheduleEvent, by: str) -> str:
    """`by` is whoever wrote it."""
    name = f"schedule {printable(event.name, 60)}"
    match event:
        case se.ScheduleAdded(cron=cron, zone=zone, forced=forced):
            return (
                f"{name} added by {by}: {printable(cron, 60)} ({printable(zone, 40)}){_because(forced, ', although ')}"
            )
        case se.SchedulePaused(reason=reason):
            return f"{name} paused by {by}{_because(reason)}"
        case se.ScheduleResumed():
            return f"{name} resumed by {by}"
        case se.ScheduleRemoved(reason=reason):
            return f"{name} removed by {by}{_because(reason)}"
        case se.ScheduleFired(due=due, tasks=tasks, missed=missed):
            cause = f"run by {by}" if due is None else f"fired for {_told(due)}"
            over = f", and for {missed:,} missed before" if missed else ""
            return f"{name} {cause}{over}: {', '.join(tasks) or 'no tasks'}"
        case se.ScheduleQueued(dues=dues, why=why):
            return f"{name} waits to fire {_times(len(dues))} ({why.value})"
        case se.ScheduleSkipped(due=due, why=why, times=times, behind=behind):
            after = f": {behind} is unfinished" if behind is not None else ""
            return f"{name} skipped {_times(times)} up to {_told(due)} ({why.value}){after}"
        case se.ScheduleFailed(due=due, reason=reason):
            when = f" for {_told(due)}" if due is not None else ""
            return f"{name} could not fire{when}{_because(reason)}"
        case se.ScheduleRewound(to=to):
            return f"{name} goes back to {_told(to)}: the clock had been far ahead"
        case _:
            assert_never(event)


def _told(at: float) -> str:
    """UTC, to the minute."""
    return f"{iso(at)[:16].replace('T', ' ')} UTC"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _because(why: str, word: str = ": ") -> str:
    return f"{word}{printable(' '.join(why.split()), WORDS_CHARS)}" if why else ""

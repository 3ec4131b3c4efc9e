"""What happens to schedules: people add, pause and remove them; the daemon fires what is due, or says why not.

Every time at which a schedule was due is settled by exactly one of these events: fired, skipped or failed. One that
waits for its turn was queued before. A new field has a default; a new meaning is a new event, as in `core/events.py`.
"""

from enum import StrEnum
from typing import ClassVar, TypeAlias

import msgspec

from paddock.core.events import Event
from paddock.core.ids import TaskId


class CatchUp(StrEnum):
    """What becomes of times that went by while no daemon was there: nothing, one firing for all of them, or one for
    each of the last ones."""

    SKIP = "skip"
    ONCE = "once"
    ALL = "all"


class Overlap(StrEnum):
    """What becomes of a time that comes while tasks of an earlier firing are unfinished."""

    SKIP = "skip"
    QUEUE = "queue"


class WorkSort(StrEnum):
    WORKFLOW = "workflow"
    PLAN = "plan"
    TASK = "task"


class WhySkipped(StrEnum):
    MISSED = "missed"
    """No daemon was there."""
    OVERLAP = "overlap"
    """Tasks of an earlier firing were unfinished, or as much as may wait was waiting already."""


class ScheduledWork(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a firing adds. `text` is the name of a workflow, the goal of a plan or the brief of a task; `variables` are
    the workflow's. `engine` is, of a workflow, for steps that name none."""

    sort: WorkSort
    text: str
    variables: dict[str, str] = {}
    title: str | None = None
    agent: str | None = None
    engine: str | None = None
    kind: str | None = None
    labels: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class ScheduleAdded(Event, frozen=True):
    """`cron` has five fields, read by the clocks of `zone`. Each firing may be late by up to `jitter_seconds`.
    `budget_usd` is what it may cost a day. `forced` says which budget its forecast was above when it was added."""

    kind: ClassVar[str] = "schedule.added"
    name: str
    cron: str
    zone: str
    work: ScheduledWork
    jitter_seconds: float = 0.0
    catch_up: CatchUp = CatchUp.ONCE
    overlap: Overlap = Overlap.SKIP
    budget_usd: float | None = None
    forced: str = ""


class SchedulePaused(Event, frozen=True):
    """By a person, or with a `reason` because it has failed again and again."""

    kind: ClassVar[str] = "schedule.paused"
    name: str
    reason: str = ""


class ScheduleResumed(Event, frozen=True):
    """Times that went by while it was paused are not made up for."""

    kind: ClassVar[str] = "schedule.resumed"
    name: str


class ScheduleRemoved(Event, frozen=True):
    kind: ClassVar[str] = "schedule.removed"
    name: str
    reason: str = ""


class ScheduleFired(Event, frozen=True):
    """Its `tasks` were added in the same transaction. `due` is the time it was for, None when a person ran it. `missed`
    are earlier times that it stands for, too."""

    kind: ClassVar[str] = "schedule.fired"
    name: str
    due: float | None
    tasks: tuple[TaskId, ...] = ()
    convoy: str | None = None
    missed: int = 0


class ScheduleQueued(Event, frozen=True):
    """It fires for these times as soon as the tasks of its earlier firings are finished. `why` is told of those that
    were missed or that overlapped."""

    kind: ClassVar[str] = "schedule.queued"
    name: str
    dues: tuple[float, ...]
    why: WhySkipped = WhySkipped.OVERLAP


class ScheduleSkipped(Event, frozen=True):
    """It does not fire for `due`, nor for any time before it that is not settled: `times` of them in all, or more if
    there were very many. `behind` is an unfinished task of an earlier firing."""

    kind: ClassVar[str] = "schedule.skipped"
    name: str
    due: float
    why: WhySkipped
    times: int = 1
    behind: TaskId | None = None


class ScheduleFailed(Event, frozen=True):
    """It could not add its tasks; it is tried again at its next time."""

    kind: ClassVar[str] = "schedule.failed"
    name: str
    due: float | None
    reason: str


class ScheduleRewound(Event, frozen=True):
    """The clock had been far ahead, and so was what is settled: from `to` on its times count again."""

    kind: ClassVar[str] = "schedule.rewound"
    name: str
    to: float


ScheduleEvent: TypeAlias = (
    ScheduleAdded
    | SchedulePaused
    | ScheduleResumed
    | ScheduleRemoved
    | ScheduleFired
    | ScheduleQueued
    | ScheduleSkipped
    | ScheduleFailed
    | ScheduleRewound
)

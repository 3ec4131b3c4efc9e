"""Schedules as JSON: when they are due, what they have done, and what a day of them may cost."""

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.schedules.cron import Cron
from paddock.core.schedules.due import Wait, fire_at, next_step
from paddock.core.schedules.model import Firing, Schedule
from paddock.core.schedules.progress import find_unfinished
from paddock.core.schedules.timetable import Timetable, timetable_of
from paddock.insight.forecast.figures import DayForecast, EvidenceFigures, Forecast, Range, ScheduleForecast
from paddock.insight.forecast.limits import Excess, Thinning
from paddock.insight.forecast.outlook import Outlook
from paddock.views.document import Document, iso, iso_or_none


class DayForecastView(msgspec.Struct, frozen=True):
    """`day` is in UTC. Half of such days stay at or below `p50`, nine out of ten below `p90`. Start-up and work have
    ranges of their own, which need not add up. `firings` are those of `due` that are not expected to be skipped because
    earlier tasks are still at work."""

    day: str
    due: int
    firings: int
    usd: Range
    startup_usd: Range
    work_usd: Range
    tokens: Range
    startup_tokens: Range
    work_tokens: Range


class ForecastView(msgspec.Struct, frozen=True):
    """`fullest` is the day on which it is due most often of those that were looked at, or else the next day on which it
    is due at all. `is_guess`: no task of its own sort has been seen yet, so the spread is wide."""

    fullest: DayForecastView | None
    is_guess: bool
    evidence: tuple[EvidenceFigures, ...]
    days: tuple[DayForecastView, ...] = ()


class ThinningView(msgspec.Struct, frozen=True):
    """Sparser times that fit. `saves` is a mean a day, `saves_startup` the part of it that is start-up context. Both,
    and `p90`, are in dollars, or in tokens where `unit` says so."""

    cron: str
    merged: int
    runs_before: int
    runs_after: int
    unit: str
    p90: float
    saves: float
    saves_startup: float


class ExcessView(msgspec.Struct, frozen=True):
    """Which budget the p90 is above: `schedule`, its own, or `day`, that of all schedules together."""

    scope: str
    unit: str
    limit: float
    p90: float
    day: str | None
    thinning: ThinningView | None = None


class WorkView(msgspec.Struct, frozen=True):
    """`sort` is `workflow`, `plan` or `task`; `text` is the name of the workflow, the goal or the brief."""

    sort: str
    text: str
    variables: Mapping[str, str]
    title: str | None
    agent: str | None
    engine: str | None
    kind: str | None
    labels: tuple[str, ...]
    paths: tuple[str, ...]


class FiringView(msgspec.Struct, frozen=True):
    """`due` is null where a person ran it. `missed` are earlier times that it stands for."""

    due: str | None
    at: str
    tasks: tuple[str, ...]
    convoy: str | None
    missed: int


class SkippedView(msgspec.Struct, frozen=True):
    """`why` is `missed` or `overlap`; `behind` is the unfinished task that it was skipped for."""

    due: str
    why: str
    behind: str | None
    in_a_row: int


class FailureView(msgspec.Struct, frozen=True):
    at: str
    reason: str
    in_a_row: int


class ScheduleView(msgspec.Struct, frozen=True):
    """`next` is when it fires next, null if it is paused, waits for its own tasks, or is never due again; `means` are
    its times in words. `behind` is an unfinished task of an earlier firing. `paused` is why, empty if nobody said, and
    null if it is not. `problem` is why it could not be forecast: then it could not fire, either."""

    name: str
    cron: str
    means: str
    zone: str
    next: str | None
    work: WorkView
    jitter_seconds: float
    catch_up: str
    overlap: str
    budget_usd: float | None
    forced: str
    added: str
    by: str
    firings: int
    waiting: tuple[str, ...]
    behind: str | None
    last: FiringView | None
    skipped: SkippedView | None
    failure: FailureView | None
    paused: str | None
    paused_since: str | None
    forecast: ForecastView | None = None
    over: ExcessView | None = None
    problem: str = ""


class SchedulesView(Document, frozen=True, kw_only=True):
    """`total` are the days ahead with all schedules that are not paused."""

    schedules: list[ScheduleView]
    total: tuple[DayForecastView, ...] = ()


def view_schedule(board: Board, schedule: Schedule, now: float) -> ScheduleView:
    """Without its forecast."""
    problem, timetable = "", None
    try:
        timetable = timetable_of(schedule.cron, schedule.zone)
    except PaddockError as error:
        problem = error.message
    behind = find_unfinished(board, schedule)
    skipped, failure = schedule.skipped, schedule.failure
    return ScheduleView(
        name=schedule.name,
        cron=schedule.cron,
        means=Cron(schedule.cron).words,
        zone=schedule.zone,
        next=None if timetable is None else iso_or_none(next_firing(schedule, timetable, now)),
        work=WorkView(
            schedule.work.sort.value, schedule.work.text, schedule.work.variables, schedule.work.title,
            schedule.work.agent, schedule.work.engine, schedule.work.kind, schedule.work.labels, schedule.work.paths,
        ),
        jitter_seconds=schedule.jitter_seconds,
        catch_up=schedule.catch_up.value,
        overlap=schedule.overlap.value,
        budget_usd=schedule.budget_usd,
        forced=schedule.forced,
        added=iso(schedule.added),
        by=schedule.by,
        firings=schedule.firings,
        waiting=tuple(map(iso, schedule.waiting)),
        behind=behind,
        last=None if schedule.last is None else _view_firing(schedule.last),
        skipped=None
        if skipped is None
        else SkippedView(iso(skipped.due), skipped.why.value, skipped.behind, skipped.in_a_row),
        failure=None if failure is None else FailureView(iso(failure.at), failure.reason, failure.in_a_row),
        paused=schedule.paused,
        paused_since=iso(schedule.paused_at) if schedule.paused is not None else None,
        problem=problem,
    )  # fmt: skip


def view_schedule_with(
    board: Board, schedule: Schedule, outlook: Outlook, now: float, *, with_days: bool = False
) -> ScheduleView:
    """With its forecast, as far as there is one."""
    view, forecast = view_schedule(board, schedule, now), outlook.of(schedule.name)
    excess = outlook.excesses.get(schedule.name)
    return msgspec.structs.replace(
        view,
        forecast=None if forecast is None else view_forecast(forecast, with_days=with_days),
        over=None if excess is None else view_excess(excess, None),
        problem=view.problem or outlook.problems.get(schedule.name, ""),
    )


def view_outlook(board: Board, outlook: Outlook, now: float, *, with_days: bool = False) -> SchedulesView:
    known = [] if board.schedule_part.is_nothing else list(board.schedules.by_name.values())
    rows = [view_schedule_with(board, one, outlook, now, with_days=with_days) for one in known]
    return SchedulesView(schedules=rows, total=view_totals(outlook.forecast) if known else ())


def next_firing(schedule: Schedule, timetable: Timetable, now: float) -> float | None:
    """When it fires next if nothing is in its way. What is late fires as soon as a daemon is there."""
    step = next_step(schedule, timetable, None, now)
    if isinstance(step, Wait):
        return step.until
    due = timetable.next(schedule.settled)
    return now if due is None else max(now, fire_at(schedule, timetable, due))


def view_forecast(forecast: ScheduleForecast, *, with_days: bool = False) -> ForecastView:
    days = tuple(map(view_day, forecast.days)) if with_days else ()
    fullest = None if forecast.fullest is None else view_day(forecast.fullest)
    return ForecastView(fullest, forecast.is_guess, forecast.evidence, days)


def view_totals(forecast: Forecast) -> tuple[DayForecastView, ...]:
    return tuple(map(view_day, forecast.total))


def view_day(day: DayForecast) -> DayForecastView:
    told = day.figures
    return DayForecastView(
        day_name(day.day),
        day.due,
        day.firings,
        told.usd,
        told.startup_usd,
        told.work_usd,
        told.tokens,
        told.startup_tokens,
        told.work_tokens,
    )


def view_excess(excess: Excess, thinning: Thinning | None) -> ExcessView:
    return ExcessView(
        excess.scope.value,
        _unit(excess.in_tokens),
        excess.limit,
        excess.p90,
        None if excess.day is None else day_name(excess.day),
        None if thinning is None else view_thinning(thinning),
    )


def view_thinning(thinning: Thinning) -> ThinningView:
    return ThinningView(
        cron=thinning.cron,
        merged=thinning.merged,
        runs_before=thinning.runs_before,
        runs_after=thinning.runs_after,
        unit=_unit(thinning.in_tokens),
        p90=thinning.p90,
        saves=thinning.saves,
        saves_startup=thinning.saves_startup,
    )


def day_name(day: float) -> str:
    return datetime.fromtimestamp(day, UTC).date().isoformat()


def _view_firing(firing: Firing) -> FiringView:
    return FiringView(iso_or_none(firing.due), iso(firing.at), firing.tasks, firing.convoy, firing.missed)


def _unit(in_tokens: bool) -> str:
    return "tokens" if in_tokens else "usd"

"""What can be read and asked for about schedules: the same as `paddock schedule`, decided and recorded as there."""

from typing import Annotated

from msgspec import Meta, field

from paddock.core.errors import Misuse
from paddock.core.events import Record
from paddock.core.ids import printable
from paddock.core.intent.schedules import pause_schedule, remove_schedule, require_schedule, resume_schedule
from paddock.core.intent.tasks import added_in
from paddock.core.schedules.events import CatchUp, Overlap, ScheduleAdded, ScheduleFired
from paddock.fleet.schedules.requests import (
    WantedSchedule,
    prepare_schedule,
    read_wanted,
    record_schedule,
    run_now,
)
from paddock.insight.forecast.forecast import DAYS, MOST_DAYS
from paddock.insight.forecast.outlook import judge, look_ahead, look_at_one, require_room
from paddock.views.document import Document
from paddock.views.schedules import (
    ExcessView,
    ForecastView,
    SchedulesView,
    ScheduleView,
    view_excess,
    view_forecast,
    view_outlook,
    view_schedule,
    view_schedule_with,
)
from paddock.web.endpoint import Asked, NoBody, NoQuery, Visit
from paddock.web.endpoints.answers import Text
from paddock.web.endpoints.task_requests import AddedView

MOST_VARIABLES = 100
Word = Annotated[str, Meta(max_length=200)]


class ForecastQuery(Asked, frozen=True):
    """With `days`, so many days ahead are told one by one."""

    days: Annotated[int, Meta(ge=1, le=MOST_DAYS)] | None = None


class SchedulePage(Document, frozen=True, kw_only=True):
    schedule: ScheduleView


def read_schedules(visit: Visit[ForecastQuery, NoBody]) -> SchedulesView:
    workspace, days = visit.workspace, visit.query.days
    board = workspace.board()
    outlook = look_ahead(workspace, board, visit.now, days or DAYS)
    return view_outlook(board, outlook, visit.now, with_days=days is not None)


def read_schedule(visit: Visit[ForecastQuery, NoBody]) -> SchedulePage:
    workspace, days = visit.workspace, visit.query.days
    board = workspace.board()
    schedule = require_schedule(board, visit.path["name"])
    outlook = look_at_one(workspace, board, schedule, visit.now, days or DAYS)
    return SchedulePage(schedule=view_schedule_with(board, schedule, outlook, visit.now, with_days=days is not None))


class ScheduleBody(Asked, frozen=True):
    """`cron` has five fields, or is a word such as `@daily`. One of `workflow`, `plan` (a goal) and `task` (a brief) is
    given. `zone` is null for that of the server's machine. With `force` it is added although its forecast is above a
    budget, for the reason in `message`. A `dry_run` tells the forecast, and adds nothing."""

    cron: Annotated[str, Meta(max_length=1_000)]
    workflow: Word | None = None
    plan: Text | None = None
    task: Text | None = None
    zone: Word | None = None
    name: Word | None = None
    variables: dict[str, Text] = field(default_factory=dict)
    title: Word | None = None
    agent: Word | None = None
    engine: Word | None = None
    kind: Word | None = None
    labels: tuple[Word, ...] = ()
    paths: tuple[Word, ...] = ()
    jitter_seconds: float = 0.0
    catch_up: CatchUp = CatchUp.ONCE
    overlap: Overlap = Overlap.SKIP
    budget_usd: float | None = None
    force: bool = False
    message: Text = ""
    dry_run: bool = False


class AddedSchedule(Document, frozen=True, kw_only=True):
    """`over` is the budget that its forecast is above, null if there is none. `seq` is 0 on a `dry_run`."""

    name: str
    next: str | None
    forecast: ForecastView
    over: ExcessView | None
    forced: str = ""
    seq: int = 0
    dry_run: bool = False


def add(visit: Visit[NoQuery, ScheduleBody]) -> AddedSchedule:
    body, workspace = visit.body, visit.workspace
    if len(body.variables) > MOST_VARIABLES:
        raise Misuse(f"there are {len(body.variables):,} variables; the limit is {MOST_VARIABLES}")
    board = workspace.board()
    prepared = prepare_schedule(workspace, board, read_wanted(_wanted(body)))
    judgement = judge(workspace, board, prepared, visit.now)
    over = None if judgement.excess is None else view_excess(judgement.excess, judgement.thinning)
    forecast = view_forecast(judgement.forecast, with_days=True)
    if body.dry_run:
        return AddedSchedule(name=prepared.name, next=None, forecast=forecast, over=over, dry_run=True)
    if not body.force:
        require_room(judgement, prepared.name)
    because = f": {body.message}" if body.message else ""
    forced = printable(f"{judgement.words}{because}", 500) if judgement.excess is not None else ""
    records = record_schedule(workspace, prepared, forced)
    name = next(record.event.name for record in records if isinstance(record.event, ScheduleAdded))
    after = workspace.board()
    view = view_schedule(after, require_schedule(after, name), visit.now)
    return AddedSchedule(name=name, next=view.next, forecast=forecast, over=over, forced=forced, seq=records[-1].seq)


def _wanted(body: ScheduleBody) -> WantedSchedule:
    return WantedSchedule(
        cron=body.cron,
        workflow=body.workflow,
        plan=body.plan,
        task=body.task,
        zone=body.zone,
        name=body.name,
        variables=body.variables,
        title=body.title,
        agent=body.agent,
        engine=body.engine,
        kind=body.kind,
        labels=body.labels,
        paths=body.paths,
        jitter_seconds=body.jitter_seconds,
        catch_up=body.catch_up,
        overlap=body.overlap,
        budget_usd=body.budget_usd,
    )


class ReasonBody(Asked, frozen=True):
    """`message` is why; kept in the log."""

    message: Text = ""


class ScheduleAnswer(Document, frozen=True, kw_only=True):
    name: str
    seq: int


def run(visit: Visit[NoQuery, NoBody]) -> AddedView:
    records = run_now(visit.workspace, visit.path["name"])
    convoy = next((record.event.convoy for record in records if isinstance(record.event, ScheduleFired)), None)
    return AddedView(ids=added_in(records), convoy=convoy, seq=records[-1].seq)


def pause(visit: Visit[NoQuery, ReasonBody]) -> ScheduleAnswer:
    name, why = visit.path["name"], visit.body.message
    return _answer(name, visit.workspace.record(lambda board: pause_schedule(board, name, why)))


def resume(visit: Visit[NoQuery, NoBody]) -> ScheduleAnswer:
    name = visit.path["name"]
    return _answer(name, visit.workspace.record(lambda board: resume_schedule(board, name)))


def remove(visit: Visit[NoQuery, ReasonBody]) -> ScheduleAnswer:
    name, why = visit.path["name"], visit.body.message
    return _answer(name, visit.workspace.record(lambda board: remove_schedule(board, name, why)))


def _answer(name: str, records: list[Record]) -> ScheduleAnswer:
    return ScheduleAnswer(name=name, seq=records[-1].seq)

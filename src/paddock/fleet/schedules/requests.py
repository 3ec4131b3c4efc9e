"""What people ask of schedules, wherever they ask it: texts are read, and what a firing would add is looked up."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from paddock.core.board import Board
from paddock.core.errors import Misuse
from paddock.core.events import Record
from paddock.core.ids import printable
from paddock.core.intent.schedules import (
    Contents,
    ScheduleRequest,
    add_schedule,
    choose_name,
    require_schedule,
    run_schedule,
)
from paddock.core.schedules.cron import parse_cron
from paddock.core.schedules.events import CatchUp, Overlap, ScheduledWork, WorkSort
from paddock.core.schedules.zones import find_zone
from paddock.fleet.schedules.contents import prepare_contents
from paddock.fleet.schedules.machine_zone import FALLBACK, machine_zone
from paddock.fleet.workspace import Workspace

ONE_OF = '--workflow NAME, --plan "goal" or --task "brief"'


@dataclass(frozen=True, slots=True)
class WantedSchedule:
    """As it was said. One of `workflow`, `plan` and `task` is given; without a `zone` it is the machine's."""

    cron: str
    workflow: str | None = None
    plan: str | None = None
    task: str | None = None
    zone: str | None = None
    name: str | None = None
    variables: dict[str, str] = field(default_factory=dict)
    title: str | None = None
    agent: str | None = None
    engine: str | None = None
    kind: str | None = None
    labels: Sequence[str] = ()
    paths: Sequence[str] = ()
    jitter_seconds: float = 0.0
    catch_up: CatchUp = CatchUp.ONCE
    overlap: Overlap = Overlap.SKIP
    budget_usd: float | None = None


@dataclass(frozen=True, slots=True)
class PreparedSchedule:
    """`name` is the one it would get now, `contents` what it would add."""

    request: ScheduleRequest
    name: str
    contents: Contents


def read_wanted(wanted: WantedSchedule) -> ScheduleRequest:
    """Raises Misuse for the first thing that is wrong with it by itself."""
    work = _work_of(wanted)
    cron = parse_cron(wanted.cron)
    zone = wanted.zone or machine_zone() or FALLBACK
    find_zone(zone)
    return ScheduleRequest(
        cron=cron,
        zone=zone,
        work=work,
        name=wanted.name,
        jitter_seconds=wanted.jitter_seconds,
        catch_up=wanted.catch_up,
        overlap=wanted.overlap,
        budget_usd=wanted.budget_usd,
    )


def _work_of(wanted: WantedSchedule) -> ScheduledWork:
    given = [
        (sort, text)
        for sort, text in (
            (WorkSort.WORKFLOW, wanted.workflow),
            (WorkSort.PLAN, wanted.plan),
            (WorkSort.TASK, wanted.task),
        )
        if text is not None
    ]
    if not given:
        raise Misuse("the schedule has no work", f"give it some with {ONE_OF}")
    if len(given) > 1:
        named = " and ".join(f"--{sort.value}" for sort, _ in given)
        raise Misuse(f"{named} cannot be used together", "use one schedule for each")
    [(sort, text)] = given
    _refuse_unused(wanted, sort)
    return ScheduledWork(
        sort,
        text.strip() if sort is WorkSort.WORKFLOW else text,
        wanted.variables,
        wanted.title,
        wanted.agent,
        wanted.engine,
        wanted.kind,
        tuple(wanted.labels),
        tuple(wanted.paths),
    )


_UNUSED: dict[WorkSort, tuple[str, ...]] = {
    WorkSort.WORKFLOW: ("title", "agent", "kind", "paths"),
    WorkSort.PLAN: ("title", "kind", "variables"),
    WorkSort.TASK: ("variables",),
}
_OPTIONS = {"variables": "var", "labels": "label"}


def _refuse_unused(wanted: WantedSchedule, sort: WorkSort) -> None:
    for name in _UNUSED[sort]:
        if getattr(wanted, name):
            hint = "its steps say that" if sort is WorkSort.WORKFLOW else "omit it"
            hint = "variables are those of a workflow; omit it" if name == "variables" else hint
            raise Misuse(f"--{_OPTIONS.get(name, name)} has no effect with --{sort.value}", hint)


def prepare_schedule(workspace: Workspace, board: Board, request: ScheduleRequest) -> PreparedSchedule:
    """Raises PaddockError for what cannot be added: a workflow that is not there, a name that is taken."""
    name = choose_name(board, request)
    contents = prepare_contents(workspace.repo, workspace.config, workspace.known, request.work, name)
    prepared = PreparedSchedule(request, name, contents)
    add_schedule(board, request, contents, workspace.known)
    return prepared


def record_schedule(workspace: Workspace, prepared: PreparedSchedule, forced: str = "") -> list[Record]:
    """Where somebody has taken the name that was derived meanwhile, it gets another."""
    known, request = workspace.known, replace(prepared.request, forced=forced)
    return workspace.record(lambda board: add_schedule(board, request, prepared.contents, known))


def run_now(workspace: Workspace, name: str) -> list[Record]:
    schedule = require_schedule(workspace.board(), name)
    known = workspace.known
    contents = prepare_contents(workspace.repo, workspace.config, known, schedule.work, schedule.name)
    return workspace.record(lambda board: run_schedule(board, name, contents, known))


def read_variable(text: str) -> tuple[str, str]:
    """`NAME=VALUE`. Raises Misuse."""
    name, equals, value = text.partition("=")
    if not equals:
        raise Misuse(f"`-v {printable(text, 80)}` has no value", "write `-v name=value`")
    return name.strip(), value

"""What can be read of the fleet as it is now: each as the command of that name prints it."""

from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta

from paddock import __version__
from paddock.core.admission.controls import Controls
from paddock.core.admission.host import HostSample
from paddock.core.board import DAEMON_LEASE
from paddock.core.errors import Misuse
from paddock.core.ids import TaskId, parse_task, task_number
from paddock.core.intent.selection import require_convoy
from paddock.core.merge.prospects import landing_seconds
from paddock.core.tasks.needs import needs_of
from paddock.core.tasks.task import Phase
from paddock.engines.registry import engine_names
from paddock.fleet.dispatch.gate import read_limits
from paddock.fleet.landing.unseen_loss import tell_lost_work
from paddock.fleet.outlook import know_checkouts, know_collisions, look_around
from paddock.fleet.service.presence import look_for_daemon
from paddock.fleet.task_filter import read_filter
from paddock.git.lock_files import find_left_locks
from paddock.store.location import may_write
from paddock.views.costs import BudgetView, view_budgets
from paddock.views.document import Document, to_json
from paddock.views.fleet.leases import LeasesView, view_leases
from paddock.views.fleet.limits import LimitRow, view_limits
from paddock.views.notices import find_notices
from paddock.views.queue.halts import why_stopped
from paddock.views.queue.overview import QueueView, view_queue
from paddock.views.status import view_status
from paddock.views.tasks.task import ConvoyView, TaskView, view_convoy, view_task
from paddock.web.endpoint import Asked, FilterText, NoBody, NoQuery, Printed, Visit

MOST_TASKS = 500


class SessionView(Document, frozen=True, kw_only=True):
    """Whose repository this is, and who writes what is asked for here."""

    repo: str
    folder: str
    branch: str
    version: str
    author: str
    read_only: bool
    daemon: str


def read_session(visit: Visit[NoQuery, NoBody]) -> SessionView:
    workspace = visit.workspace
    return SessionView(
        repo=workspace.repo.name,
        folder=str(workspace.top),
        branch=workspace.config.landing_branch,
        version=__version__,
        author=workspace.person,
        read_only=not may_write(workspace.log),
        daemon=look_for_daemon(visit.board, visit.now).presence.value,
    )


class StatusQuery(Asked, frozen=True):
    """Only the tasks of a `convoy`, or those that match the filter `where`, such as `phase=blocked and age>2h`."""

    convoy: str | None = None
    where: FilterText = ""


def read_status(visit: Visit[StatusQuery, NoBody]) -> Printed:
    """On a board of its own: work that is lost from main is told on it, ahead of the log."""
    workspace, convoy = visit.workspace, visit.query.convoy
    board = workspace.board()
    if convoy is not None:
        require_convoy(board, convoy)
    tell_lost_work(workspace, board)
    outlook = look_around(workspace, board, visit.now)
    members = None if convoy is None else board.members[convoy]
    where = visit.query.where
    only = read_filter(workspace, where, visit.now).pick(board, members) if where else members
    needy, notices = needs_of(board, None if only is None else set(only)), find_notices(board, outlook)
    shown = view_status(workspace, board, outlook, needy=needy, notices=notices, convoy=convoy, only=only)
    return Printed(to_json(shown) + b"\n")


def read_queue(visit: Visit[NoQuery, NoBody]) -> QueueView:
    workspace = visit.workspace
    board = workspace.board()
    tell_lost_work(workspace, board)
    queue, land = board.queue, workspace.config.land
    is_up = DAEMON_LEASE in board.leases.held
    return view_queue(
        queue,
        land.checks,
        know_checkouts(workspace),
        locks=find_left_locks(workspace.repo.common_dir),
        collisions=know_collisions(workspace, queue.stats.company),
        reason=why_stopped(queue, visit.store.records),
        lands_in=landing_seconds(queue, land.runs_at_once, visit.now) if is_up else {},
        now=visit.now,
    )


class TasksQuery(Asked, frozen=True):
    """`before` is a task: only older ones, the newest first. `where` is a filter as on the board and the command line:
    `phase=blocked and age>2h`, words, `-word`. `text` is its older name."""

    phase: str | None = None
    convoy: str | None = None
    before: str | None = None
    where: FilterText = ""
    text: FilterText = ""
    limit: Annotated[int, Meta(ge=1, le=MOST_TASKS)] = 100


class TasksView(Document, frozen=True, kw_only=True):
    seq: int
    tasks: list[TaskView]
    more: bool


def read_tasks(visit: Visit[TasksQuery, NoBody]) -> TasksView:
    board, query = visit.board, visit.query
    if query.phase is not None and query.phase not in {phase.value for phase in Phase}:
        raise Misuse(f"there is no phase `{query.phase[:40]}`", f"phases: {', '.join(phase.value for phase in Phase)}")
    if query.convoy is not None:
        require_convoy(board, query.convoy)
    below = task_number(parse_task(query.before)) if query.before is not None else board.next_task
    names: Iterable[TaskId] = board.members[query.convoy] if query.convoy is not None else board.tasks
    if where := query.where or query.text:
        names = read_filter(visit.workspace, where, visit.now).pick(board, names)
    wanted: list[TaskId] = []
    for name in sorted(names, key=task_number, reverse=True):
        if task_number(name) < below and query.phase in (None, board.tasks[name].phase.value):
            wanted.append(name)
            if len(wanted) > query.limit:
                break
    shown = [view_task(board.tasks[name], board) for name in wanted[: query.limit]]
    return TasksView(seq=board.seq, tasks=shown, more=len(wanted) > query.limit)


class ConvoysView(Document, frozen=True, kw_only=True):
    convoys: list[ConvoyView]


class ConvoyPage(Document, frozen=True, kw_only=True):
    convoy: ConvoyView
    tasks: list[TaskView]


def read_convoys(visit: Visit[NoQuery, NoBody]) -> ConvoysView:
    board = visit.board
    return ConvoysView(convoys=[view_convoy(board, name) for name in board.convoys])


def read_convoy(visit: Visit[NoQuery, NoBody]) -> ConvoyPage:
    board, name = visit.board, visit.path["name"]
    require_convoy(board, name)
    tasks = [view_task(board.tasks[task], board) for task in board.members[name]]
    return ConvoyPage(convoy=view_convoy(board, name), tasks=tasks)


class BudgetsView(Document, frozen=True, kw_only=True):
    budgets: list[BudgetView]


def read_budgets(visit: Visit[NoQuery, NoBody]) -> BudgetsView:
    return BudgetsView(budgets=view_budgets(visit.board, visit.now))


def read_leases(visit: Visit[NoQuery, NoBody]) -> LeasesView:
    return view_leases(visit.board.leases, visit.now)


class LimitsView(Document, frozen=True, kw_only=True):
    """As the daemon last wrote it down; `at` is None before one has run."""

    at: float | None
    controls: Controls
    waiting: dict[str, str]
    host: HostSample | None
    limits: list[LimitRow]


def read_limits_view(visit: Visit[NoQuery, NoBody]) -> LimitsView:
    kept = read_limits(visit.workspace.state_dir)
    rows = view_limits(visit.workspace.site, visit.board, kept, visit.now)
    if kept is None:
        return LimitsView(at=None, controls=Controls(), waiting={}, host=None, limits=rows)
    return LimitsView(at=kept.at, controls=kept.controls, waiting=kept.waiting, host=kept.host, limits=rows)


class AgentChoice(msgspec.Struct, frozen=True):
    name: str
    engine: str
    model: str
    brief: str
    kinds: tuple[str, ...]


class ChoicesView(Document, frozen=True, kw_only=True):
    """What a form for new tasks offers."""

    agents: list[AgentChoice]
    engines: list[str]
    engine: str
    kinds: list[str]
    attempts: int
    convoys: list[str]


def read_config(visit: Visit[NoQuery, NoBody]) -> ChoicesView:
    workspace = visit.workspace
    config = workspace.config
    return ChoicesView(
        agents=[
            AgentChoice(name, one.engine, one.model, one.brief[:400], one.kinds) for name, one in config.agents.items()
        ],
        engines=sorted({*engine_names(), *config.engines}),
        engine=config.engine,
        kinds=sorted(workspace.known.kinds),
        attempts=config.limits.attempts,
        convoys=list(visit.board.convoys),
    )

"""What people ask about plans: to have one made, to let it become tasks, to drop it."""

from dataclasses import dataclass

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import TaskId, task_id
from paddock.core.intent.tasks import Batch, Known, TaskSpec, add_tasks, choose_agent
from paddock.core.plan.plan import MOST_TASKS, Plan
from paddock.core.routing import PLANNER, Work
from paddock.core.tasks.task import Phase, Task
from paddock.core.tasks.vocabulary import Role
from paddock.core.wording import check_brief, check_known, check_labels, check_numbers, check_paths, derive_title

PLANNING = "plan"
"""The kind of work that plans are: how long they take says nothing about other work."""


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """`paths` are what the plan may touch; none means anything. `max_tasks` 0 means as many as is usual. A planner has
    one attempt, in which it may correct itself: somebody waits for it, and can ask again."""

    goal: str
    paths: tuple[str, ...] = ()
    agent: str | None = None
    engine: str | None = None
    max_tasks: int = 0
    attempts: int = 1
    labels: tuple[str, ...] = ()
    series: str = ""


def request_plan(board: Board, request: PlanRequest, known: Known) -> list[ev.Draft]:
    """The task whose answer is the plan."""
    check_brief(request.goal, "the goal")
    check_paths(request.paths)
    check_labels(request.labels)
    check_numbers(attempts=request.attempts)
    if not 0 <= request.max_tasks <= MOST_TASKS:
        raise Misuse(
            f"{request.max_tasks} tasks is not between 1 and {MOST_TASKS}", "plan a large goal in several parts"
        )
    if request.agent is not None:
        check_known("agent", request.agent, known.agents)
    if request.engine is not None:
        check_known("engine", request.engine, known.engines)
    added = ev.TaskAdded(
        title=f"Plan: {derive_title(request.goal)}",
        brief=request.goal,
        agent=_planner(board, request, known),
        engine=request.engine,
        paths=request.paths,
        attempts=request.attempts,
        task_kind=PLANNING,
        role=Role.PLAN,
        max_tasks=request.max_tasks,
        labels=request.labels,
        series=request.series,
    )
    return [ev.Draft(added, task=task_id(board.next_task))]


def _planner(board: Board, request: PlanRequest, known: Known) -> str | None:
    """The one that was named, or else the planner that fits best, or the first by name; None if there is no planner."""
    chosen = choose_agent(board, Work(request.paths, PLANNING, agent=request.agent, role=PLANNER), known).agent
    return chosen or min((one.name for one in known.roster if one.role == PLANNER), default=None)


def plan_task(board: Board, name: TaskId) -> Task:
    """The task, if its answer is a plan. Raises PaddockError."""
    task = board.task(name)
    if task.role is not Role.PLAN:
        raise PaddockError(f"task `{name}` makes no plan", 'to have one made, run `paddock plan "goal"`')
    return task


def require_open_plan(board: Board, name: TaskId, seq: int | None = None) -> Task:
    """The task with a plan that waits for a person. Raises PaddockError for a plan that is not there yet, or was
    decided about, or is not the one in record `seq` any more."""
    task = plan_task(board, name)
    if task.phase is not Phase.DONE or not task.answer_seq:
        raise PaddockError(f"task `{name}` {task.phase.words}: there is no plan to decide about", _look(task))
    if seq is not None and task.answer_seq != seq:
        raise PaddockError(
            f"task `{name}` has a newer plan than the one you decided about",
            f"`paddock plan --show {name}` shows it; then decide again",
        )
    if task.decided == task.answer_seq:
        again = f'paddock message {name} "…"'
        raise PaddockError(f"task `{name}`: {task.reason}", f"to have another one made, run `{again}`")
    return task


def accept_plan(board: Board, name: TaskId, seq: int, plan: Plan, known: Known, *, attempts: int = 3) -> list[ev.Draft]:
    """The tasks of the plan in record `seq`, as it was or as a person has edited it, with the fact that it was
    accepted: all of it or nothing."""
    require_open_plan(board, name, seq)
    drafts = add_tasks(board, batch_of(plan, attempts=attempts), known)
    tasks = tuple(draft.task for draft in drafts if draft.task is not None)
    return [*drafts, ev.Draft(ev.PlanAccepted(seq, tasks, plan.convoy), task=name)]


def drop_plan(board: Board, name: TaskId, seq: int | None = None, reason: str = "") -> list[ev.Draft]:
    """The plan in record `seq`, or without one the newest."""
    task = require_open_plan(board, name, seq)
    return [ev.Draft(ev.PlanDropped(task.answer_seq, reason), task=name)]


def batch_of(plan: Plan, *, attempts: int = 3) -> Batch:
    specs = tuple(
        TaskSpec(
            brief=task.brief,
            title=task.title,
            key=task.key,
            agent=task.agent,
            after=task.after,
            paths=task.paths,
            attempts=attempts,
            where=f"task `{task.key}`",
            kind=task.kind,
            accept=task.accept,
            labels=task.labels,
        )
        for task in plan.tasks
    )
    return Batch(specs, plan.convoy, plan.title)


def _look(task: Task) -> str:
    if task.phase in (Phase.READY, Phase.WAITING, Phase.RUNNING):
        return f"`paddock tail -f {task.id}` shows what its planner is doing"
    return f"`paddock show {task.id}` tells why"

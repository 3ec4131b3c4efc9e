"""What a planner is told of this fleet, and what its plan may name."""

from paddock.config.schema import Config
from paddock.core.board import Board
from paddock.core.ids import TaskId, task_number
from paddock.core.plan.overlaps import OpenTask
from paddock.core.plan.plan import DEFAULT_MAX_TASKS, PlanLimits
from paddock.core.plan.prompt import AgentNote, planning_section
from paddock.core.routing import WORKER
from paddock.core.tasks.task import Task
from paddock.core.tasks.vocabulary import Role


def plan_limits(config: Config, board: Board, task: Task) -> PlanLimits:
    """`task` is the one whose answer the plan is."""
    return PlanLimits(
        max_tasks=task.max_tasks or DEFAULT_MAX_TASKS,
        fence=task.paths,
        agents=frozenset(name for name, agent in config.agents.items() if agent.role == WORKER),
        kinds=frozenset(kind for agent in config.agents.values() for kind in agent.kinds),
        tasks=frozenset(board.tasks) - {task.id},
    )


def describe_fleet(config: Config, board: Board, task: Task) -> str:
    """What the prompt of a planner has besides the goal."""
    limits = plan_limits(config, board, task)
    notes = [
        AgentNote(name, agent.description, agent.owns, agent.kinds)
        for name, agent in config.agents.items()
        if name in limits.agents
    ]
    return planning_section(limits, notes, open_tasks(board, task.id))


def open_tasks(board: Board, planner: TaskId | None = None) -> list[OpenTask]:
    """What is under way or waiting and will change files, besides the planner itself."""
    found = (task for task in board.open_tasks() if task.id != planner and task.role is Role.WORK)
    return [OpenTask(task.id, task.title, task.paths) for task in sorted(found, key=lambda one: task_number(one.id))]

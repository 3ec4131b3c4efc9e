"""A new task from another's branch and conversation: pure decisions over the board.

The other task may be at work, ended, landed or cancelled; it keeps its branch and its conversation as they are. Where
the fork begins is decided when its first attempt starts: at what the other has committed by then, or at main if that
has landed.
"""

from dataclasses import dataclass

from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId
from paddock.core.intent.obstacles import FOLLOWED
from paddock.core.intent.tasks import Batch, Known, TaskSpec, add_tasks
from paddock.core.tasks.task import Task
from paddock.core.tasks.vocabulary import Role


@dataclass(frozen=True, slots=True)
class ForkSpec:
    """What the new task has of its own; None is as the other task has it."""

    brief: str
    title: str | None = None
    agent: str | None = None
    engine: str | None = None
    kind: str | None = None
    labels: tuple[str, ...] | None = None
    paths: tuple[str, ...] | None = None
    convoy: str | None = None
    role: Role | None = None
    priority: int | None = None
    after: tuple[str, ...] = ()
    attempts: int = 3
    needs: tuple[str, ...] | None = None


def fork_task(board: Board, name: TaskId, spec: ForkSpec, known: Known) -> list[ev.Draft]:
    """Raises PaddockError for a task that no agent has worked on, Misuse for what is wrong with the new one."""
    task = board.task(name)
    origin = task.worker
    if origin is None:
        raise PaddockError(
            f"task `{name}` has had no agent yet: there is nothing to fork", "add another task: `paddock add …`"
        )
    inherited = TaskSpec(
        brief=spec.brief,
        title=spec.title,
        agent=spec.agent or task.agent,
        engine=spec.engine or task.engine,
        after=spec.after,
        priority=task.priority if spec.priority is None else spec.priority,
        paths=task.paths if spec.paths is None else spec.paths,
        attempts=spec.attempts,
        kind=spec.kind or task.kind,
        labels=task.labels if spec.labels is None else spec.labels,
        role=spec.role or task.role,
        needs=task.needs if spec.needs is None else spec.needs,
    )
    drafts = add_tasks(board, Batch((inherited,), spec.convoy or task.convoy), known)
    return [
        replace(draft, event=replace(draft.event, forks=origin.id)) if isinstance(draft.event, ev.TaskAdded) else draft
        for draft in drafts
    ]


def needs_follow_up(task: Task) -> bool:
    """Whether a message to it, or a person who wants to work with its agent, needs another task."""
    return task.phase in FOLLOWED and task.worker is not None


def follow_up(board: Board, name: TaskId, text: str, known: Known, attempts: int = 3) -> list[ev.Draft]:
    """The task in which the agent of a task that has landed or was cancelled goes on, told `text`.

    Raises PaddockError where the task's own agent can still be told."""
    task = board.task(name)
    if not needs_follow_up(task):
        raise PaddockError(
            f"task `{name}` {task.phase.words}: it needs no follow-up task",
            f"send it a message: `paddock message {name} …`",
        )
    return fork_task(board, name, ForkSpec(text, attempts=attempts), known)


def told_of_follow_up(task: Task, new: TaskId | None) -> str:
    """`new` is the task; None before there is one."""
    goes_on = f"goes on in {new}" if new is not None else "would go on in a new task"
    return f"{task.id} {task.phase.words}: its agent {goes_on}"

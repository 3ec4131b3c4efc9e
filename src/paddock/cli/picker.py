"""Choosing a task to connect to, from a list: most urgent first."""

from collections.abc import Sequence
from functools import partial

import click

from paddock.cli.terminal.text import cut, paint
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId, parse_task, printable, task_number
from paddock.core.intent.obstacles import TaskAction, find_obstacle
from paddock.core.tasks.needs import Need, need_of
from paddock.core.tasks.task import Phase, Task

MOST_ROWS = 30
_NEEDS = {Need.ANSWER: 0, Need.BLOCKED: 1, Need.FAILED: 2, Need.APPROVE: 3}
_PHASES = {Phase.RUNNING: 4, Phase.REVIEWING: 5, Phase.READY: 6, Phase.WAITING: 6}
_WORDS = {Need.ANSWER: "needs answer", Need.APPROVE: "approval"}


def pick_task(board: Board, person: str) -> TaskId:
    """Raises PaddockError where there is nothing to choose from."""
    names = connectable(board, person)
    if not names:
        raise PaddockError("there is no agent to connect to", "`paddock add` adds a task, `paddock run` starts agents")
    for number, name in enumerate(names[:MOST_ROWS], 1):
        task = board.tasks[name]
        click.echo(
            f"{number:>3}  {name:<5} {paint(f'{_state(task):<13}', bold=True)} {cut(_title(task), 70)}", err=True
        )
    if len(names) > MOST_ROWS:
        click.echo(f"     … and {len(names) - MOST_ROWS} more: type the id of any task", err=True)
    chosen: TaskId = click.prompt("connect to (a number or an id)", err=True, value_proc=partial(_choose, names))
    return chosen


def _choose(names: Sequence[TaskId], said: str) -> TaskId:
    """Raises UsageError, after which the question is put again."""
    said = said.strip()
    try:
        name = names[int(said) - 1] if said.isdecimal() and 1 <= int(said) <= len(names) else parse_task(said)
    except PaddockError:
        most = min(len(names), MOST_ROWS)
        raise click.UsageError(f"`{printable(said, 40)}` is none of them: type 1 to {most}, or an id") from None
    return name


def connectable(board: Board, person: str) -> list[TaskId]:
    """Those that somebody could connect to, and those that they are connected to already; the most urgent first, then
    the newest."""
    able = [task for task in board.open_tasks() if _is_open(board, task, person)]
    return [task.id for task in sorted(able, key=_urgency)]


def _is_open(board: Board, task: Task, person: str) -> bool:
    live = task.live_attempt
    is_own = live is not None and live.held is not None and live.held.by == person
    return is_own or find_obstacle(board, task, TaskAction.CONNECT) is None


def _urgency(task: Task) -> tuple[int, float, int]:
    need = need_of(task)
    rank = _NEEDS[need] if need is not None else _PHASES.get(task.phase, 7)
    return rank, -task.since, -task_number(task.id)


def _state(task: Task) -> str:
    live = task.live_attempt
    if live is not None and live.held is not None:
        return "held by you"
    need = need_of(task)
    return _WORDS.get(need, need.value) if need is not None else task.phase.value


def _title(task: Task) -> str:
    return f"{task.title}: {task.reason}" if task.reason else task.title

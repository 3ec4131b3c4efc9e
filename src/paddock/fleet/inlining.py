"""Small tasks of one convoy and agent, done in turn by one warm session where fanning out does not pay.

Which task follows which is worked out anew whenever tasks become ready; nothing of it needs to be remembered.
What was done is in the log: an inlined attempt says so, and why.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.fanout import FanOut, Piece, Spawn, decide_fan_out
from paddock.core.ids import TaskId
from paddock.core.spending import USEFUL, expect
from paddock.core.task import Attempt, Task
from paddock.fleet.site import Site

MOST_IN_A_ROW = 20


@dataclass(frozen=True, slots=True)
class Link:
    """`after` is the task whose session a task goes on with; `why` is for people."""

    after: TaskId
    why: str


def decide(board: Board, tasks: Sequence[Task], engine: str, slots: int | None) -> FanOut:
    """The arithmetic for tasks of one agent, with what has been learnt about it."""
    learnt = [expect(board.spending, task, engine) for task in tasks]
    pieces = [
        Piece(task.id, e.work_seconds.median, e.work_seconds.spread) for task, e in zip(tasks, learnt, strict=True)
    ]
    first = learnt[0]
    money = first.spawn_money.median if first.spawn_money is not None else None
    return decide_fan_out(pieces, Spawn(first.spawn_seconds.median, first.spawn_tokens.median, money), slots)


def link_tasks(site: Site, board: Board, ready: Sequence[Task], slots: int) -> dict[TaskId, Link]:
    """For each task that should wait for another one's session: which, and why."""
    groups: dict[tuple[str, str | None, str], list[Task]] = {}
    for task in ready:
        key = _group(site, task)
        if key is not None:
            groups.setdefault(key, []).append(task)
    links: dict[TaskId, Link] = {}
    for (_, _, engine), tasks in groups.items():
        if len(tasks) < 2:
            continue
        outcome = decide(board, tasks, engine, max(slots, 1))
        why = outcome.reasons[0] if outcome.reasons else "fanning out does not pay"
        for share in outcome.chosen.shares:
            chain = share[:MOST_IN_A_ROW]
            for before, name in pairwise(chain):
                links[TaskId(name)] = Link(TaskId(before), why)
    return links


def _group(site: Site, task: Task) -> tuple[str, str | None, str] | None:
    """Only fresh tasks of a convoy, for an engine that can go on with a conversation."""
    if task.convoy is None or task.started:
        return None
    try:
        engine = site.engine_name(task)
        resumes = site.engine(engine).capabilities.resume
    except PaddockError:
        return None
    return (task.convoy, task.agent, engine) if resumes else None


def warm_session(board: Board, link: Link, engine: str) -> Attempt | None:
    """The ended attempt whose session can go on, None if there is none to go on with."""
    attempt = board.tasks[link.after].last
    if attempt is None or attempt.live or attempt.engine != engine or attempt.outcome not in USEFUL:
        return None
    return attempt if attempt.session else None

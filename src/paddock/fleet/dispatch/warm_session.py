"""Small tasks of one convoy and agent, done in turn by one warm session where fanning out is not worth it.

Which task follows which is worked out again whenever tasks become ready, end, or slots come free; nothing of it
needs to be remembered. What was done is in the log: an inlined attempt says so, and why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from paddock.core.board import Board
from paddock.core.durations import format_duration
from paddock.core.economics.fanout import FanOut, Piece, Spawn, Worth, decide_fan_out
from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId
from paddock.core.money.spending import expect
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.core.tasks.vocabulary import USEFUL
from paddock.fleet.dispatch.pricing import spawn_money
from paddock.fleet.site import Site

# A conversation grows with every task, so a longer series starts another one.
MOST_IN_A_ROW = 20

Group = tuple[str, str | None, str]
"""Convoy, agent and engine."""


@dataclass(frozen=True, slots=True)
class Link:
    """`after` is the task whose session a task goes on with; `why` is for people."""

    after: TaskId
    why: str


Links = Mapping[TaskId, Link]


def decide(
    site: Site, board: Board, tasks: Sequence[Task], engine: str, slots: int | None, worth: Worth | None = None
) -> FanOut:
    """The arithmetic for tasks of one agent, with what has been learnt about it. `worth` is the user's own if None."""
    learnt = [expect(board.spending, task, engine) for task in tasks]
    pieces = [
        Piece(task.id, e.work_seconds.median, e.work_seconds.spread) for task, e in zip(tasks, learnt, strict=True)
    ]
    first = learnt[0]
    money = spawn_money(site, first, tasks[0], engine, site.clock.now())
    spawn = Spawn(first.spawn_seconds.median, first.spawn_tokens.median, money)
    return decide_fan_out(
        pieces, spawn, slots, worth or Worth(site.config.limits.hour_usd, site.config.limits.hour_tokens)
    )


def link_tasks(site: Site, board: Board, ready: Sequence[Task], slots: int, links: Links) -> dict[TaskId, Link]:
    """For each task that should go on with another one's session: which, and why.

    `slots` are the free ones; `links` are those so far: a task whose turn has come keeps the session it waited for.
    """
    groups: dict[Group, list[Task]] = {}
    for task in ready:
        if (key := _group(site, task)) is not None and not task.started:
            groups.setdefault(key, []).append(task)
    found: dict[TaskId, Link] = {}
    for key, tasks in groups.items():
        due = [task for task in tasks if _is_due(board, links.get(task.id))]
        found |= {task.id: links[task.id] for task in due}
        working = [task for task in _at_work(site, board, key) if task not in tasks]
        anchors = [*working, *due]
        rest = [task for task in tasks if task not in due]
        if rest and len(anchors) + len(rest) > 1:
            outcome = decide(site, board, [*anchors, *rest], key[2], max(1, slots + len(working)))
            found |= _share_out(outcome, {task.id for task in anchors}, [task.id for task in rest])
    return found


def _share_out(outcome: FanOut, anchors: set[TaskId], rest: Sequence[TaskId]) -> dict[TaskId, Link]:
    """Rows of tasks as the plan has them; those of a share that begins with sessions at work are dealt out to them."""
    why, links = _why(outcome), {}
    for share in outcome.chosen.shares:
        names = [TaskId(name) for name in share]
        heads = [name for name in names if name in anchors]
        queue = [name for name in rest if name in names]
        lanes = [[head, *queue[place :: len(heads)]] for place, head in enumerate(heads)] or [queue]
        for lane in lanes:
            for begin in range(0, len(lane), MOST_IN_A_ROW):
                for before, name in pairwise(lane[begin : begin + MOST_IN_A_ROW]):
                    links[name] = Link(before, why)
    return links


def _why(outcome: FanOut) -> str:
    if outcome.pays:
        agents, pieces = outcome.chosen.agents, sum(len(share) for share in outcome.chosen.shares)
        return f"{agents} agents share {pieces} tasks"
    if not outcome.plans:
        return "no slot is free for another agent"
    best = max(outcome.plans, key=lambda plan: plan.gain_seconds)
    times = f"{format_duration(best.wall_seconds)} against {format_duration(outcome.serial.wall_seconds)}"
    dearer = f", ${best.extra_money:.2f} more" if best.price_seconds and best.extra_money else ""
    return f"{best.agents} agents would not be worth it ({times}{dearer})"


def _group(site: Site, task: Task) -> Group | None:
    """Only tasks of a convoy, for an engine that can go on with a conversation."""
    if task.convoy is None or task.forks is not None:
        return None
    try:
        engine = site.engine_name(task)
        resumes = site.engine(engine).capabilities.resume
    except PaddockError:
        return None
    return (task.convoy, task.agent, engine) if resumes else None


def _at_work(site: Site, board: Board, key: Group) -> list[Task]:
    """Tasks of the group whose first attempt is under way: their sessions may be gone on with."""
    tasks = (board.tasks[name] for name in board.live if board.tasks[name].convoy == key[0])
    return [task for task in tasks if task.started == 1 and _group(site, task) == key]


def _is_due(board: Board, link: Link | None) -> bool:
    """The session the task waited for is free: its turn has come."""
    return link is not None and not is_awaited(board.tasks[link.after]) and board.tasks[link.after].started > 0


def is_awaited(task: Task) -> bool:
    """A first attempt is waited for; what comes after a failed one may take long and begins a session of its own."""
    if task.started == 0:
        return task.phase is Phase.READY
    return task.started == 1 and task.live_attempt is not None


def warm_session(board: Board, link: Link, engine: str) -> Attempt | None:
    """The ended attempt whose session can go on, None if there is none to go on with."""
    task = board.tasks[link.after]
    attempt = task.worker
    if attempt is None or attempt.live or attempt.engine != engine or attempt.outcome not in USEFUL:
        return None
    return attempt if attempt.session and not sessions_at_work(board, attempt.session) else None


def sessions_at_work(board: Board, session: str) -> list[Attempt]:
    """Attempts under way that use this conversation: it has only one thread. A copy is not it."""
    live = (board.tasks[name].live_attempt for name in board.live)
    return [attempt for attempt in live if attempt is not None and attempt.session == session and not attempt.fork]

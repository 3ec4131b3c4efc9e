"""Tasks, their attempts and convoys, as JSON."""

import msgspec

from paddock.core.board import Board
from paddock.core.ids import printable
from paddock.core.nodes.tenure import node_of
from paddock.core.review.open_count import count_open
from paddock.core.tasks.task import SATISFIED, Attempt, Phase, Task
from paddock.core.tasks.vocabulary import Role
from paddock.views.document import iso, iso_or_none, view_of


class AttemptView(msgspec.Struct, frozen=True):
    id: str
    outcome: str | None
    engine: str
    started: str
    ended: str | None
    head: str | None
    exit: int | None
    reason: str
    session: str | None
    turns: int
    commits: int
    cost_usd: float | None
    input_tokens: int
    output_tokens: int
    inlined: str
    account: str
    new_conversation: str
    worktree: str | None
    model: str | None
    cached_tokens: int
    uncounted_calls: int
    fence: str
    files: int
    insertions: int
    deletions: int
    refused: tuple[str, ...] = ()
    role: str = Role.WORK.value
    agent: str | None = None
    outside: tuple[str, ...] = ()
    held_by: str | None = None
    held_since: str | None = None
    causes: tuple[str, ...] = ()
    node: str | None = None


class TaskView(msgspec.Struct, frozen=True):
    """So many findings are open, and so many of these keep it from landing."""

    id: str
    title: str
    phase: str
    reason: str
    since: str
    agent: str | None
    engine: str | None
    convoy: str | None
    after: tuple[str, ...]
    priority: int
    branch: str | None
    head: str | None
    attempts: list[AttemptView]
    unblock: str
    paths: tuple[str, ...]
    created: str
    attempts_allowed: int
    not_before: str | None
    kind: str | None
    lost: bool = False
    role: str = Role.WORK.value
    inputs: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    open_findings: int = 0
    blocking_findings: int = 0
    forks: str | None = None
    needs: tuple[str, ...] = ()


class ConvoyView(msgspec.Struct, frozen=True):
    name: str
    title: str
    created: str
    total: int
    done: int
    counts: dict[str, int]
    tasks: list[str]


def role_words(attempt: Attempt) -> str:
    """`review by reviewer`; empty for an attempt that works on its task."""
    if not attempt.role.only_reads:
        return ""
    return f"{attempt.role.value} by {printable(attempt.agent, 40)}" if attempt.agent else attempt.role.value


def view_attempt(attempt: Attempt) -> AttemptView:
    return view_of(
        AttemptView,
        attempt,
        started=iso(attempt.started),
        ended=iso_or_none(attempt.ended),
        turns=attempt.turn,
        input_tokens=attempt.input_tokens + attempt.cache_write_tokens + attempt.cache_read_tokens,
        worktree=attempt.worktree or None,
        cached_tokens=attempt.cache_read_tokens,
        held_by=attempt.held.by if attempt.held is not None else None,
        held_since=iso(attempt.held.since) if attempt.held is not None else None,
        node=node_of(attempt.host_id),
    )


def view_task(task: Task, board: Board, reason: str | None = None) -> TaskView:
    """`reason` is more recent than the log's."""
    worker, (findings, blocking) = task.worker, count_open(board, task)
    return view_of(
        TaskView,
        task,
        reason=task.reason if reason is None else reason,
        since=iso(task.since),
        engine=task.engine or (worker.engine if worker else None),
        head=task.head or (worker.head if worker else None),
        attempts=[view_attempt(attempt) for attempt in task.attempts],
        created=iso(task.created),
        attempts_allowed=task.allowed,
        not_before=iso(task.not_before) if task.phase is Phase.READY and task.not_before else None,
        open_findings=findings,
        blocking_findings=blocking,
    )


def view_convoy(board: Board, name: str) -> ConvoyView:
    convoy = board.convoys[name]
    found = board.convoy_counts[name]
    counts = {phase.value: found[phase] for phase in Phase if found.get(phase)}
    done = sum(found.get(phase, 0) for phase in SATISFIED)
    members: list[str] = [*board.members[name]]
    return ConvoyView(convoy.name, convoy.title, iso(convoy.created), len(members), done, counts, members)

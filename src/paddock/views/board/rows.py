"""One row for each task, as every live board shows it."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from paddock.core.board import Board
from paddock.core.ids import TaskId, printable
from paddock.core.intent.obstacles import possible_actions
from paddock.core.review.open_count import count_open
from paddock.core.tasks.needs import need_of
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.glance import AgentGlance, Glance
from paddock.fleet.outlook import Outlook
from paddock.views.document import iso, iso_or_none

STEP = 200
REASON = 400


class TaskRow(msgspec.Struct, frozen=True, kw_only=True):
    """`need` is what it needs a person for: approve, answer, blocked or failed, else empty; `may` is what people may
    ask now. `attempt` is the one at work or the last; `started`, `step` and `stuck` are of one at work.

    `cost_usd` is of all its attempts, None where none is known. `insertions`, `deletions` and `files` are of its last
    attempt that changes files: an estimate while that works. `place` counts from 1; `eta` is when it may land. `role`
    is work, or what it answers with: review, plan or report. So many findings about it are open, and so many of these
    keep it from landing. `outcome` is that of its newest attempt at the work; `held` is the person who holds the live
    one. Both are empty where there is none.
    """

    id: str
    title: str
    phase: str
    need: str
    reason: str
    unblock: str
    since: str
    created: str
    agent: str | None
    engine: str | None
    model: str | None
    convoy: str | None
    after: tuple[str, ...]
    priority: int
    kind: str | None
    role: str
    labels: tuple[str, ...]
    attempt: str | None
    attempts: int
    attempts_allowed: int
    turn: int
    started: str | None
    step: str
    step_at: str | None
    stuck: str
    cost_usd: float | None
    insertions: int
    deletions: int
    files: int
    head: str | None
    lost: bool
    inbox: int
    place: int | None
    eta: str | None
    not_before: str | None
    may: tuple[str, ...]
    open_findings: int = 0
    blocking_findings: int = 0
    outcome: str = ""
    held: str = ""


@dataclass(frozen=True, slots=True)
class QueueSpot:
    """Where a queued task stands, and when it may land, in epoch seconds; None if unknown."""

    place: int
    lands_at: float | None


@dataclass(slots=True)
class _Known:
    """A row with what it was made from. One that `rests` depends on its task and its findings alone."""

    task: Task
    row: TaskRow
    agent: AgentGlance | None
    reason: str
    spot: QueueSpot | None
    findings: tuple[int, int]
    rests: bool


@dataclass
class TaskRows:
    """Makes a row again only when what it tells of has changed.

    Most looks follow an event: what stands beside the board is then the same objects as before.
    """

    _known: dict[TaskId, _Known] = field(default_factory=dict)
    _beside: tuple[object, ...] = (None, None, None)
    _reviews: object = None

    def look(
        self,
        board: Board,
        names: Iterable[TaskId],
        outlook: Outlook,
        glance: Glance,
        spots: Mapping[str, QueueSpot],
        reason_of: Callable[[Task], str],
    ) -> dict[str, TaskRow]:
        """`reason_of` tells why a task stands where it does."""
        known, tasks, reviewed = self._known, board.tasks, self._reviewed(board)
        before, self._beside = self._beside, (outlook.waiting, glance, spots)
        is_same = all(one is other for one, other in zip(before, self._beside, strict=True))
        rows: dict[str, TaskRow] = {}
        for name in names:
            task, old = tasks[name], known.get(name)
            if old is None or old.task is not task or not (is_same or old.rests) or name in reviewed:
                old = known[name] = _look_at(board, task, old, reason_of(task), glance, spots)
            rows[name] = old.row
        if len(known) > len(rows):
            self._known = {name: one for name, one in known.items() if name in rows}
        return rows

    def _reviewed(self, board: Board) -> Collection[TaskId]:
        """The tasks of whose reviews there may be something new."""
        if board.review_part.is_nothing:
            return ()
        before, self._reviews = self._reviews, board.reviews
        return () if before is board.reviews else board.reviews.tasks.keys()


def _look_at(
    board: Board,
    task: Task,
    old: _Known | None,
    reason: str,
    glance: Glance,
    spots: Mapping[str, QueueSpot],
) -> _Known:
    live, findings = task.live_attempt, count_open(board, task)
    agent = glance.agents.get(live.id) if live is not None else None
    spot = spots.get(task.id) if task.phase is Phase.QUEUED else None
    made_from = (agent, reason, spot, findings)
    if old is not None and old.task is task and (old.agent, old.reason, old.spot, old.findings) == made_from:
        return old
    rests = live is None and task.phase not in (Phase.READY, Phase.QUEUED, Phase.REVIEWING)
    return _Known(task, view_row(board, task, agent, reason, spot), agent, reason, spot, findings, rests)


def view_row(
    board: Board, task: Task, agent: AgentGlance | None = None, reason: str | None = None, spot: QueueSpot | None = None
) -> TaskRow:
    """`reason` is more recent than the log's; `agent` is what the daemon tells of the attempt at work."""
    last, live, worker, need = task.last, task.live_attempt, task.worker, need_of(task)
    findings, blocking = count_open(board, task)
    changes = live is not None and not live.role.only_reads
    edits = agent if agent is not None and agent.files and changes else worker
    return TaskRow(
        id=task.id,
        title=printable(task.title, 300),
        phase=task.phase.value,
        need=need.value if need is not None else "",
        reason=printable(task.reason if reason is None else reason, REASON),
        unblock=task.unblock,
        since=iso(task.since),
        created=iso(task.created),
        agent=task.agent,
        engine=task.engine or (worker.engine if worker is not None else None),
        model=worker.model if worker is not None else None,
        convoy=task.convoy,
        after=task.after,
        priority=task.priority,
        kind=task.kind,
        role=task.role.value,
        labels=task.labels,
        attempt=last.id if last is not None else None,
        attempts=task.started,
        attempts_allowed=task.allowed,
        turn=agent.turn if agent is not None else last.turn if last is not None else 0,
        started=iso(live.started) if live is not None else None,
        step=printable(agent.step, STEP) if agent is not None else "",
        step_at=iso_or_none(agent.step_at) if agent is not None else None,
        stuck=printable(agent.stuck, STEP) if agent is not None else "",
        cost_usd=task.cost_so_far(agent.cost_usd if agent is not None else None),
        insertions=edits.insertions if edits is not None else 0,
        deletions=edits.deletions if edits is not None else 0,
        files=edits.files if edits is not None else 0,
        head=task.head,
        lost=task.lost,
        inbox=len(task.inbox),
        place=spot.place if spot is not None else None,
        eta=iso_or_none(spot.lands_at) if spot is not None else None,
        not_before=iso(task.not_before) if task.phase is Phase.READY and task.not_before else None,
        may=tuple(action.value for action in possible_actions(board, task)),
        open_findings=findings,
        blocking_findings=blocking,
        outcome=worker.outcome.value if worker is not None and worker.outcome is not None else "",
        held=printable(live.held.by, 80) if live is not None and live.held is not None else "",
    )

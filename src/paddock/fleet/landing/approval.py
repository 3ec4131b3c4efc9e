"""A person's approval: changes are held, put where they belong in the merge queue, and recorded, whoever asks."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

from msgspec.structs import replace

from paddock.core.board import DAEMON_LEASE, Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft
from paddock.core.ids import TaskId, branch_change, resolve_folder
from paddock.core.intent.landing import require_seen, require_wanted
from paddock.core.intent.obstacles import TaskAction, require_possible
from paddock.core.intent.queue import base_named, last_end
from paddock.core.intent.reverts import require_not_reverted
from paddock.core.intent.selection import RefusedTask
from paddock.core.merge.model import Change
from paddock.core.tasks.task import Phase
from paddock.fleet.landing.entrance import (
    hold_branch,
    hold_task,
    landable_head,
    lineage_of,
    look_at,
    open_needs,
    queue_change,
)
from paddock.fleet.landing.examination import subject_of
from paddock.fleet.landing.lineage import Lineage
from paddock.fleet.landing.unseen_loss import record_lost_work
from paddock.fleet.workspace import Workspace
from paddock.git.worktrees.delivery import bring_home
from paddock.git.worktrees.release import release
from paddock.store.protocol import Store


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """`message` is kept in the log. A change that `repairs` main is tested although main is red. `after` are queued
    changes that all of these wait for. With `undo` they may take landed work back. `expected` are the versions that
    were seen, commit ids or beginnings of them: a task that is at another one is refused as Outdated. A person has made
    the versions `revised` of what waited. The branches are the reverse of the landed change `reverts`. `along` is
    recorded with each of the changes, or not at all."""

    tasks: Sequence[TaskId] = ()
    branches: Sequence[str] = ()
    message: str = ""
    repairs: bool = False
    after: Sequence[str] = ()
    undo: bool = False
    expected: Mapping[TaskId, str] = field(default_factory=dict)
    revised: Mapping[TaskId, str] = field(default_factory=dict)
    reverts: str = ""
    along: tuple[Draft, ...] = ()


@dataclass(frozen=True, slots=True)
class Approved:
    """`waits_on` are the changes before each in the queue; `is_up` tells that a daemon will test them."""

    changes: Sequence[Change]
    waits_on: Mapping[str, Sequence[str]]
    is_up: bool
    refused: list[RefusedTask] = field(default_factory=list)


def approve(workspace: Workspace, request: ApprovalRequest) -> Approved:
    """Queues what can be queued. Raises the refusal where only one task was asked for."""
    with closing(workspace.write()) as store:
        return _approve(workspace, store, request)


def _approve(workspace: Workspace, store: Store, request: ApprovalRequest) -> Approved:
    site, who = workspace.site, workspace.author
    waits_for = [name for said in request.after if (name := base_named(store.board(), said)) is not None]
    for name in (*request.tasks, *map(branch_change, request.branches)):
        bring_home(site.root, resolve_folder(name))
    record_lost_work(workspace, store, request.tasks)
    held, refused = _hold_tasks(workspace, store, request)
    for branch in request.branches:
        change = _as_reverse(store.board(), hold_branch(site, store.board(), branch, who.name), request.reverts)
        require_wanted(change, f"--branch {branch}", undo=request.undo)
        held.append(change)
    changes = [
        replace(
            change,
            repairs=request.repairs,
            depends_on=tuple(dict.fromkeys((*change.depends_on, *waits_for))),
            approved_by=who.name,
            reviewed_by=store.board().reviews.passed_by(TaskId(change.id), change.head),
            may_undo=change.may_undo or request.undo,
        )
        for change in held
    ]
    lineage = lineage_of(site)
    for change in changes:
        lineage.queue(store.board().queue, change)
    queued = []
    for change in changes:
        try:
            store.append(partial(_decide, change=change, lineage=lineage, request=request), who)
        except PaddockError as error:
            if change.task is None or len(request.tasks) == 1:
                raise
            refused.append(RefusedTask(TaskId(change.task), error))
            continue
        queued.append(change)
        release(site.root, resolve_folder(change.id), "its conflict was resolved")
    board = store.board()
    waits = {name: entry.waits_on for name, entry in board.queue.entries.items()}
    return Approved(queued, waits, DAEMON_LEASE in board.leases.held, refused)


def _as_reverse(board: Board, change: Change, reverts: str) -> Change:
    """A branch that was queued as the reverse of a landed change is that when it is queued again, too."""
    last = last_end(board, change.branch)
    of = reverts or (last.reverts if last is not None else "")
    return replace(change, reverts=of, may_undo=True) if of else change


def _decide(board: Board, change: Change, lineage: Lineage, request: ApprovalRequest) -> Sequence[Draft]:
    """Others may have decided about the task since it was looked at."""
    if change.task is not None:
        task = board.task(TaskId(change.task))
        require_possible(board, task, TaskAction.APPROVE)
        if task.phase is Phase.APPROVAL and task.head is not None:
            require_seen(
                task.id, request.expected.get(task.id) if task.id in request.revised else change.head, task.head
            )
    if change.reverts:
        require_not_reverted(board, change.reverts)
    return [*queue_change(board, change, lineage, request.message), *request.along]


def _hold_tasks(workspace: Workspace, store: Store, request: ApprovalRequest) -> tuple[list[Change], list[RefusedTask]]:
    changes: list[Change] = []
    refused: list[RefusedTask] = []
    site = workspace.site
    for name in request.tasks:
        board = store.board()
        try:
            task = board.task(name)
            head = landable_head(site, board, task)
            require_seen(name, request.expected.get(name), head)
            head = request.revised.get(name, head)
            examined = look_at(site, subject_of(store, task, head))
            change = hold_task(site, board.queue, task, head, open_needs(board, task), examined)
            require_wanted(change, name, undo=request.undo)
            changes.append(change)
        except PaddockError as error:
            if len(request.tasks) == 1:
                raise
            refused.append(RefusedTask(name, error))
    return changes, refused

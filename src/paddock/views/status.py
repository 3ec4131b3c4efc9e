"""What there is to do, what runs and what needs a person, as JSON."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import msgspec

from paddock.core.board import Board
from paddock.core.ids import TaskId
from paddock.core.money.spending import day_of
from paddock.core.tasks.task import Phase
from paddock.fleet.dispatch.refusals import StoppedEngine
from paddock.fleet.fence_note import FenceNote
from paddock.fleet.outlook import Outlook
from paddock.fleet.service.presence import DaemonSighting, Presence
from paddock.views.alerts import AlertView, shown_alerts, view_alert
from paddock.views.checkouts import StaleView, UndoneView, view_stale, view_undone
from paddock.views.document import Document, iso
from paddock.views.notices import Notice
from paddock.views.queue.halts import HaltView, view_halt
from paddock.views.standing import reason_of
from paddock.views.tasks.task import ConvoyView, TaskView, view_convoy, view_task

if TYPE_CHECKING:
    from paddock.fleet.review.policy import Configured


class QueueSwitchView(msgspec.Struct, frozen=True):
    """`state` is open, halted, frozen, paused or draining; `reason` is why it halted."""

    state: str
    reason: str


class TodayView(msgspec.Struct, frozen=True):
    """The day is UTC's; `cost_usd` is None if no agent has worked on it. `assumed_usd` is what budgets count for
    unreported usage."""

    day: str
    cost_usd: float | None
    assumed_usd: float


class NeedsView(msgspec.Struct, frozen=True):
    tasks: Sequence[TaskId]
    notices: Sequence[Notice]


class DaemonView(msgspec.Struct, frozen=True):
    pid: int
    host: str
    since: str
    generation: int


class NodeCountsView(msgspec.Struct, frozen=True):
    """`slots` and `used` are of nodes that take work; None where the daemon that knows them is on another machine."""

    nodes: int
    slots: int | None
    used: int | None
    drained: tuple[str, ...]


class StatusView(Document, frozen=True, kw_only=True):
    seq: int
    counts: dict[str, int]
    convoys: list[ConvoyView]
    tasks: list[TaskView]
    daemon: DaemonView | None
    daemon_state: str
    queue: QueueSwitchView
    today: TodayView
    needs_you: NeedsView
    stopped: Sequence[StoppedEngine]
    halted: HaltView | None
    fence: FenceNote | None
    behind: list[StaleView]
    undone: list[UndoneView]
    alerts: list[AlertView]
    nodes: NodeCountsView | None


def view_status(
    workspace: "Configured",
    board: Board,
    outlook: Outlook,
    *,
    needy: Sequence[TaskId] = (),
    notices: Sequence[Notice] = (),
    convoy: str | None = None,
    only: Collection[TaskId] | None = None,
) -> StatusView:
    """With a convoy only its tasks, or `only` these, but everything else; `needy` are the tasks that wait for a
    person."""
    switches, halted = board.queue_switches, board.halted
    names = only if only is not None else board.members[convoy] if convoy is not None else board.tasks
    return StatusView(
        seq=board.seq,
        counts={phase.value: board.counts.get(phase, 0) for phase in Phase},
        convoys=[view_convoy(board, name) for name in ([convoy] if convoy is not None else board.convoys)],
        tasks=[
            view_task(task, board, reason_of(workspace, board, outlook, task))
            for task in map(board.tasks.__getitem__, names)
        ],
        daemon=view_daemon(outlook.daemon),
        daemon_state=outlook.daemon.presence.value,
        queue=QueueSwitchView(switches.state, switches.halted.reason if switches.halted else ""),
        today=_view_today(board, day_of(outlook.now)),
        needs_you=NeedsView(needy, notices),
        stopped=outlook.stopped,
        halted=view_halt(halted) if halted is not None else None,
        fence=outlook.fence,
        behind=view_stale(outlook.checkouts),
        undone=view_undone(outlook.checkouts),
        alerts=[view_alert(alert) for alert in shown_alerts(board)],
        nodes=_view_counts(outlook),
    )


def _view_counts(outlook: Outlook) -> NodeCountsView | None:
    told = outlook.nodes
    return NodeCountsView(told.nodes, told.slots, told.used, told.drained) if told is not None else None


def _view_today(board: Board, day: str) -> TodayView:
    cost = board.cost_of_day(day)
    return TodayView(day, round(cost.known, 6) if cost else None, round(cost.assumed, 6) if cost else 0.0)


def view_daemon(seen: DaemonSighting) -> DaemonView | None:
    """The daemon; None if there is none or its process is known to be gone."""
    if seen.lease is None or seen.presence is Presence.GONE:
        return None
    holder = seen.lease.holder
    return DaemonView(holder.pid, holder.host, iso(seen.lease.since), seen.lease.generation)

"""The board as a live page shows it: who needs a person, every open task, the convoys, and the state of the fleet.

All times are absolute, and estimates keep still while they are about right, so that nothing changes as long as nothing
happens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

import msgspec

from paddock.core.board import Board
from paddock.core.ids import TaskId, printable
from paddock.core.intent.alerts import open_alerts
from paddock.core.merge.main_health import MainHealth, health_of_main
from paddock.core.merge.model import Queue
from paddock.core.money.budget import limit_of
from paddock.core.money.spending import day_of
from paddock.core.tasks.needs import needs_of
from paddock.core.tasks.task import FINISHED, Phase
from paddock.fleet.glance import Glance
from paddock.fleet.service.presence import Presence
from paddock.views.alerts import AlertView, view_alert
from paddock.views.board.convoys import ConvoyRow, ConvoyRows
from paddock.views.board.pace import LandedView, WorkPace
from paddock.views.board.rows import TaskRow, TaskRows
from paddock.views.board.strip import QueueStrip, StripView
from paddock.views.document import Document, iso, iso_or_none
from paddock.views.notices import Notice, find_notices
from paddock.views.sight import Sight
from paddock.views.standing import reason_of

SUM_SECONDS = 1.0


class AgentsView(msgspec.Struct, frozen=True):
    """`cap` may work at the same time. `limit` is what keeps the `ready` from starting, in a word, with its `reason`
    and `until` when; empty if nothing does."""

    running: int
    cap: int
    ready: int
    limit: str
    reason: str
    until: str | None


class SpendView(msgspec.Struct, frozen=True):
    """Of one `day` in UTC, agents at work included; `cost_usd` is None if none has worked. `assumed_usd` is what
    budgets count for unreported usage, `forecast_usd` the whole day's if it goes on like the last hour, None if
    unknown, `per_landed_usd` today's for each change that landed today."""

    day: str
    cost_usd: float | None
    assumed_usd: float
    budget_usd: float | None
    forecast_usd: float | None
    per_landed_usd: float | None


class MainView(msgspec.Struct, frozen=True):
    """`state`: green, untested, red or unknown. `streak` counts the landings since main was last found red."""

    commit: str | None
    state: str
    since: str | None
    streak: int


class DaemonState(msgspec.Struct, frozen=True):
    """`state`: running, silent, gone or none."""

    state: str
    since: str | None
    host: str


class BoardView(Document, frozen=True, kw_only=True):
    """`tasks` are all that are not finished and those that finished last; `older` is how many more there are. `needs`
    are those that need a person, who is asked first first, `alerts` those that nobody has acknowledged. `words` would
    do if nothing else were shown. `nodes` counts nodes and their slots in words; empty where agents run on the machine
    of the daemon."""

    seq: int
    repo: str
    branch: str
    words: str
    counts: dict[str, int]
    needs: list[TaskId]
    notices: list[Notice]
    alerts: list[AlertView]
    tasks: dict[str, TaskRow]
    convoys: dict[str, ConvoyRow]
    older: int
    agents: AgentsView
    spend: SpendView
    queue: StripView
    landed: LandedView
    main: MainView
    daemon: DaemonState
    nodes: str


@dataclass
class LiveBoard:
    """Looks at every task once; from then on at what is new."""

    _rows: TaskRows = field(default_factory=TaskRows)
    _convoys: ConvoyRows = field(default_factory=ConvoyRows)
    _pace: WorkPace = field(default_factory=WorkPace)
    _strip: QueueStrip = field(default_factory=QueueStrip)
    _tasks: dict[str, TaskRow] = field(default_factory=dict)
    _summed: tuple[float, tuple[SpendView, LandedView]] | None = None

    def look(self, sight: Sight) -> BoardView:
        board, now = sight.board, sight.now
        config = sight.workspace.config
        self._pace.catch_up(board, sight.ask, now)
        strip = self._strip.look(sight, self._pace.switched)
        names = chain(board.open, self._pace.finished)
        told = partial(reason_of, sight.workspace, board, sight.outlook)
        tasks = self._rows.look(board, names, sight.outlook, sight.glance, self._strip.spots, told)
        changed = _convoys_of_changed(self._tasks, tasks)
        self._tasks = tasks
        self._convoys.engine = config.engine
        cap = sight.glance.cap or config.limits.max_agents
        needs, notices = needs_of(board), find_notices(board, sight.outlook)
        daemon, (spend, landed) = _view_daemon(sight), self._figures(board, sight.glance, now)
        return BoardView(
            seq=board.seq,
            repo=printable(sight.workspace.top.name, 100),
            branch=config.landing_branch,
            words=_words(board, daemon, strip, needs, notices),
            counts={phase.value: board.counts.get(phase, 0) for phase in Phase},
            needs=needs,
            notices=notices,
            alerts=_view_alerts(board),
            tasks=tasks,
            convoys=self._convoys.look(board, changed, cap if daemon.state == Presence.RUNNING else 0, now),
            older=sum(board.counts.get(phase, 0) for phase in FINISHED) - len(self._pace.finished),
            agents=_view_agents(board, sight.glance, cap),
            spend=spend,
            queue=strip,
            landed=landed,
            main=_view_main(board.queue, self._pace),
            daemon=daemon,
            nodes=printable(sight.outlook.nodes.words, 80) if sight.outlook.nodes is not None else "",
        )

    def _figures(self, board: Board, glance: Glance, now: float) -> tuple[SpendView, LandedView]:
        """Sums over the day, at most once a second."""
        if self._summed is None or not 0 <= now - self._summed[0] < SUM_SECONDS:
            landed = self._pace.view_landed(board, now)
            self._summed = now, (_view_spend(board, glance, self._pace, landed.today, now), landed)
        return self._summed[1]


def _view_spend(board: Board, glance: Glance, pace: WorkPace, landed: int, now: float) -> SpendView:
    day = day_of(now)
    cost, limit = board.cost_of_day(day), limit_of(board.spending.ledger, f"day:{day}")
    spent = None if cost is None else cost.known + not_booked_yet(board, glance, day)
    ahead = pace.forecast(spent, now) if spent is not None else None
    return SpendView(
        day=day,
        cost_usd=None if spent is None else round(spent, 2),
        assumed_usd=round(cost.assumed, 2) if cost is not None else 0.0,
        budget_usd=limit.money if limit is not None else None,
        forecast_usd=None if ahead is None else round(ahead) if ahead >= 10 else round(ahead, 1),
        per_landed_usd=round(spent / landed, 2) if spent is not None and landed else None,
    )


def _convoys_of_changed(before: Mapping[str, TaskRow], after: Mapping[str, TaskRow]) -> dict[str, bool]:
    """The convoys of rows that are new or other ones, and whether any of these waits for other tasks than before."""
    changed: dict[str, bool] = {}
    for name, row in after.items():
        old = before.get(name)
        if old is not row and row.convoy is not None:
            rewired = old is None or old.after != row.after
            changed[row.convoy] = changed.get(row.convoy, False) or rewired
    return changed


def not_booked_yet(board: Board, glance: Glance, day: str) -> float:
    """What the turns under way have cost by now."""
    more = 0.0
    for name in board.live:
        attempt = board.tasks[name].live_attempt
        agent = glance.agents.get(attempt.id) if attempt is not None else None
        if attempt is None or agent is None or agent.cost_usd is None or day_of(attempt.started) != day:
            continue
        more += max(0.0, agent.cost_usd - (attempt.cost_usd or 0.0))
    return more


def _view_agents(board: Board, glance: Glance, cap: int) -> AgentsView:
    return AgentsView(
        running=len(board.live),
        cap=cap,
        ready=len(board.ready),
        limit=glance.limit,
        reason=printable(glance.limit_reason, 300),
        until=iso_or_none(glance.limit_until),
    )


def _view_alerts(board: Board) -> list[AlertView]:
    return [] if board.alert_part.is_nothing else [view_alert(alert) for alert in open_alerts(board)]


def _view_main(queue: Queue, pace: WorkPace) -> MainView:
    health = health_of_main(queue)
    if queue.main is None:
        return MainView(None, health.value, None, pace.streak)
    streak = 0 if health is MainHealth.RED else pace.streak
    return MainView(queue.main.commit, health.value, iso_or_none(pace.main_at), streak)


def _view_daemon(sight: Sight) -> DaemonState:
    presence, lease = sight.outlook.daemon
    if lease is None:
        return DaemonState(presence.value, None, "")
    return DaemonState(presence.value, iso(lease.since), lease.holder.host)


def _words(
    board: Board, daemon: DaemonState, queue: StripView, needs: Sequence[TaskId], notices: Sequence[Notice]
) -> str:
    if not board.tasks:
        return "Nothing to do yet: add a task, and an agent takes it."
    waiting = f"{len(needs)} task{'s need' if len(needs) != 1 else ' needs'} you" if needs else "Nobody waits for you"
    also = f", and {len(notices)} other thing{'s need' if len(notices) != 1 else ' needs'} a look" if notices else ""
    return f"{waiting}{also}. {_working(board, daemon)}{_stopped(queue)}"


def _working(board: Board, daemon: DaemonState) -> str:
    live, ready = len(board.live), len(board.ready)
    if daemon.state != Presence.RUNNING:
        seen = f" {live} agent{'s were' if live != 1 else ' was'} at work when one last ran." if live else ""
        return f"No daemon is running, so nothing starts or lands: `paddock up` starts one.{seen}"
    if not live and not ready:
        return "No agent is at work." if board.open else "All tasks are finished."
    agents = f"{live} agent{'s are' if live != 1 else ' is'} at work"
    return f"{agents}, {ready} task{'s are' if ready != 1 else ' is'} ready to start." if ready else f"{agents}."


def _stopped(queue: StripView) -> str:
    return "" if queue.state == "open" else f" The merge queue is {queue.state}: {queue.reason or 'nothing lands'}."

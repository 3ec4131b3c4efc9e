"""The fleet: how many agents, which limit is full and until when, whether today's money lasts, and on what machines."""

from collections import Counter
from dataclasses import dataclass, field

import msgspec

from paddock.core.admission.controls import Controls
from paddock.core.admission.ladder import Rung, binding_rung, rungs_of
from paddock.core.events import TurnEnded
from paddock.core.ids import printable
from paddock.core.money.budget import limit_of
from paddock.core.money.day_rate import Spent
from paddock.core.money.spending import day_of
from paddock.core.upkeep.survey import SlotState
from paddock.fleet.dispatch.gate import LimitsFile, read_limits, running_by_account, take_snapshot
from paddock.fleet.nodes.register import read_register
from paddock.fleet.samples import Series, read_samples
from paddock.fleet.service.presence import Presence
from paddock.git.worktrees.upkeep import look_at_worktrees
from paddock.store.protocol import Query
from paddock.views.document import Document, iso_or_none
from paddock.views.fleet.limits import LimitRow, view_rung
from paddock.views.fleet.nodes import Census, NodesView, NodeView, ToolDrift, view_cluster
from paddock.views.fleet.rows import (
    DAY_SECONDS,
    WORDS,
    AccountRow,
    AgentsNow,
    LeaseRow,
    MachineNow,
    NodeRow,
    SpendToday,
    WorktreeCounts,
    view_accounts,
    view_lease_rows,
    view_machine,
    view_nodes,
    view_spend,
    waiters_of,
)
from paddock.views.sight import Sight

WORKTREES_EVERY_SECONDS = 15.0
MOST_HOURS = 7 * 24
POINTS = 240
TURNS_A_SECOND = 20_000
"""So many turns are summed up in a second at most: a day of very many is summed up less often."""
LEAST_SERIES_SECONDS = 600.0


class ClusterNow(msgspec.Struct, frozen=True):
    """Where agents run on nodes; see `NodesView`."""

    address: str
    is_current: bool
    machine: str
    words: str
    drift: tuple[ToolDrift, ...]


class FleetView(Document, frozen=True, kw_only=True):
    words: str
    daemon: str
    since: str | None
    agents: AgentsNow
    limits: tuple[LimitRow, ...]
    accounts: dict[str, AccountRow]
    spend: SpendToday
    machine: MachineNow | None
    worktrees: WorktreeCounts | None
    leases: dict[str, LeaseRow]
    waiting: int
    nodes: dict[str, NodeRow]
    cluster: ClusterNow | None
    cluster_nodes: dict[str, NodeView]


class FleetSeries(msgspec.Struct, frozen=True):
    """Columns of equal length, `at` in epoch seconds; None where no daemon looked. `bound` names the limit that kept
    tasks from starting."""

    at: list[float]
    running: list[int | None]
    most: list[int | None]
    cap: list[int | None]
    bound: list[str | None]
    busy: list[float | None]
    free_memory_bytes: list[int | None]
    free_disk_bytes: list[int | None]


class FleetDocument(FleetView, frozen=True, kw_only=True):
    hours: float
    series: FleetSeries


@dataclass
class _FleetMemory:
    """What is kept from one look to the next."""

    seq: int = 0
    day: str = ""
    spent: list[Spent] = field(default_factory=list)
    spend: SpendToday | None = None
    spend_at: float = 0.0
    worktrees: WorktreeCounts | None = None
    worktrees_at: float = float("-inf")


class LiveFleet:
    def __init__(self) -> None:
        self._memory = _FleetMemory()

    def look(self, sight: Sight) -> FleetView:
        memory, board, now = self._memory, sight.board, sight.now
        self._catch_up(sight)
        self._count_worktrees(sight)
        site, glance = sight.workspace.site, sight.glance
        known = read_limits(sight.workspace.state_dir) or LimitsFile(0.0, Controls(), {})
        running = running_by_account(site, board)
        cap = glance.cap if glance.at else sight.workspace.config.limits.max_agents
        rungs = rungs_of(take_snapshot(site, board, known, running, cap, now), now)
        bound = binding_rung(rungs, glance.limit, glance.limit_on)
        agents = _view_agents(sight, running.total(), cap)
        daemon = sight.outlook.daemon
        waits = waiters_of(board)
        register = read_register(sight.workspace.state_dir)
        cluster = view_cluster(Census(board, register, daemon, now), sight.workspace.config)
        return FleetView(
            words=_opening_words(sight, agents, bound),
            daemon=daemon.presence.value,
            since=iso_or_none(daemon.lease.since if daemon.lease is not None else None),
            agents=agents,
            limits=_view_limits(sight, rungs, bound),
            accounts=view_accounts(rungs, known.controls, running, bound, now),
            spend=self._sum_up(sight),
            machine=view_machine(sight, known),
            worktrees=memory.worktrees,
            leases=view_lease_rows(board, waits, now),
            waiting=sum(len(names) for names in waits.values()),
            nodes=view_nodes(sight),
            cluster=_view_cluster_now(cluster),
            cluster_nodes=cluster.nodes,
        )

    def whole(self, sight: Sight, hours: float) -> FleetDocument:
        """With the series of the last hours, since the first sample in them. No stream sends it."""
        hours = max(0.1, min(MOST_HOURS, hours))
        view = self.look(sight)
        since = sight.now - 3600.0 * hours
        series = read_samples(sight.workspace.state_dir, since, sight.now, POINTS)
        first = next((sample.at for sample in series.samples if sample is not None), since)
        if first - since > series.step_seconds:
            begins = min(first, sight.now - LEAST_SERIES_SECONDS)
            series = read_samples(sight.workspace.state_dir, max(since, begins), sight.now, POINTS)
        fields = {name: getattr(view, name) for name in view.__struct_fields__}
        return FleetDocument(**fields, hours=hours, series=_view_series(series))

    def _catch_up(self, sight: Sight) -> None:
        """What was paid for today; a new day begins with nothing."""
        memory, day, seq = self._memory, day_of(sight.now), sight.board.seq
        query = Query(kind=TurnEnded.kind, after=memory.seq, until=seq)
        if memory.day != day or memory.seq > seq:
            memory.day, memory.spent, memory.spend = day, [], None
            query = Query(kind=TurnEnded.kind, until=seq, since=_midnight(sight.now))
        elif memory.seq == seq:
            return
        for record in sight.ask(query):
            event = record.event
            if isinstance(event, TurnEnded) and event.cost_usd:
                memory.spent.append((record.at, event.cost_usd))
        memory.seq = seq

    def _sum_up(self, sight: Sight) -> SpendToday:
        memory, now = self._memory, sight.now
        limit = limit_of(sight.board.spending.ledger, f"day:{memory.day}")
        budget = limit.money if limit is not None else None
        known, rests = memory.spend, len(memory.spent) / TURNS_A_SECOND
        if known is None or known.budget_usd != budget or not 0 <= now - memory.spend_at < rests:
            known = memory.spend = view_spend(sight.board, sight.glance, memory.spent, now)
            memory.spend_at = now
        return known

    def _count_worktrees(self, sight: Sight) -> None:
        memory = self._memory
        if 0 <= sight.now - memory.worktrees_at < WORKTREES_EVERY_SECONDS:
            return
        memory.worktrees_at = sight.now
        states = Counter(one.state for one in look_at_worktrees(sight.workspace.site.root) if one.present)
        in_use = states[SlotState.CLAIMED] + states[SlotState.READY]
        memory.worktrees = WorktreeCounts(states.total(), states[SlotState.IDLE], in_use, states[SlotState.KEPT])


def _view_cluster_now(seen: NodesView) -> ClusterNow | None:
    """None where agents run on the machine of the daemon, and nothing is left on any node."""
    if "ray" not in (seen.runner, seen.ci) and not seen.nodes:
        return None
    return ClusterNow(seen.address, seen.is_current, seen.machine, seen.words, seen.drift)


def _view_agents(sight: Sight, running: int, cap: int) -> AgentsNow:
    glance = sight.glance
    return AgentsNow(
        running,
        cap,
        glance.most if glance.at else None,
        len(sight.board.ready),
        glance.limit,
        printable(glance.limit_reason, WORDS),
        iso_or_none(glance.limit_until),
    )


def _view_limits(sight: Sight, rungs: tuple[Rung, ...], bound: Rung | None) -> tuple[LimitRow, ...]:
    """The one that binds first, with the gate's own reason; then the fullest."""
    words, until = sight.glance.limit_reason, sight.glance.limit_until
    first = [view_rung(bound, binds=True, words=words, until=until)] if bound is not None else []
    return (*first, *(view_rung(rung) for rung in rungs if rung is not bound))


def _opening_words(sight: Sight, agents: AgentsNow, bound: Rung | None) -> str:
    """What a reader needs if nothing else loads."""
    count = f"{agents.running} of {agents.cap} agents."
    ready = f"{agents.ready} task{'s' * (agents.ready != 1)} could start"
    if sight.outlook.daemon.presence is not Presence.RUNNING:
        live = agents.running
        seen = f" {live} agent{'s were' if live != 1 else ' was'} at work when one last ran." if live else ""
        waiting = f" {ready}." if agents.ready else ""
        return f"No daemon is running, so nothing starts or lands: `paddock up` starts one.{seen}{waiting}"
    if not agents.ready:
        return f"{count} Nothing waits to start."
    if agents.limit:
        what = f"; {bound.name} binds" if bound is not None else ""
        return f"{count} {ready}{what}: {agents.reason}."
    return f"{count} {ready}, and nothing holds them back."


def _view_series(series: Series) -> FleetSeries:
    seen = series.samples
    return FleetSeries(
        [round(series.since + (number + 1) * series.step_seconds, 1) for number in range(len(seen))],
        [None if one is None else one.running for one in seen],
        [None if one is None else one.most for one in seen],
        [None if one is None else one.cap for one in seen],
        [None if one is None else one.limit for one in seen],
        [None if one is None else one.busy for one in seen],
        [None if one is None else one.free_memory_bytes for one in seen],
        [None if one is None else one.free_disk_bytes for one in seen],
    )


def _midnight(now: float) -> float:
    return now - now % DAY_SECONDS

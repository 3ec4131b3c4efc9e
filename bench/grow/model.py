"""How far a fleet grows: what N agents ask of everything they share, as a share of what that can do.

    python -m bench.grow.model            prints the tables of docs/scale.md
    python -m bench.grow.model --write    writes them there

Pure arithmetic with the numbers of bench/grow/constants.py.
"""

import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bench.grow import constants as of

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
SIZES = (10, 100, 1_000, 10_000)
DAY_SECONDS = 86_400
GB, TB = 1e9, 1e12
MOST_AGENTS = 1e9


@dataclass(frozen=True, slots=True)
class Shape:
    """What a team has chosen and bought. `logs` is the number of repositories that the agents are divided among, each
    with a log, a daemon, a merge queue, nodes and a git remote of its own; the rest is for each of these, other than
    people, who look after all, and accounts."""

    logs: int = 1
    people: int = 5
    share_approved_by_people: float = 1.0
    ci_slots: int = 32
    ci_minutes: float = 10.0
    calls_per_minute: float = 4_000.0
    connections: int = 97
    slots_per_node: int = 40
    node_cores: int = 8
    node_gb: float = 32.0
    board_gb: float = 4.0
    board_days: float = 30.0
    disk_tb: float = 1.0
    disk_days: float = 14.0
    daemon_cores: int = 4
    remote_cores: int = 4


@dataclass(frozen=True, slots=True)
class Load:
    """What `agents` at work do to one log, in a second."""

    agents: float
    shape: Shape

    @property
    def attempts(self) -> float:
        return self.agents / (60 * of.ATTEMPT_MINUTES)

    @property
    def deliveries(self) -> float:
        return self.attempts * of.DELIVERED_SHARE

    @property
    def nodes(self) -> float:
        return self.agents / self.shape.slots_per_node

    @property
    def events(self) -> float:
        work = self.attempts * (of.EVENTS_PER_ATTEMPT + of.TURNS * of.EVENTS_PER_TURN)
        return work + self.deliveries * of.EVENTS_PER_LANDING + (self.nodes + 1) / of.RENEWAL_SECONDS

    @property
    def rounds(self) -> float:
        """Wake-ups that come closer together than a round are one."""
        return min(self.events, of.ROUNDS_PER_SECOND)

    @property
    def open_tasks(self) -> float:
        """Those at work, and as many that wait or are being landed."""
        return 2 * self.agents

    @property
    def megabytes(self) -> float:
        return self.agents * of.TRANSCRIPT_BYTES_PER_SECOND / 1e6


Use = Callable[[Load], float]


@dataclass(frozen=True, slots=True)
class Resource:
    """`use` is a share of what there is, 1 when nothing is left. `shared` is one for all logs."""

    name: str
    use: Use
    remedy: str
    shared: bool = False

    def used(self, agents: float, shape: Shape) -> float:
        return self.use(Load(agents if self.shared else agents / shape.logs, shape))

    def full_at(self, shape: Shape) -> float:
        """The number of agents that use it up; infinite where that never happens."""
        low, high = 0.0, MOST_AGENTS
        if self.used(high, shape) < 1:
            return math.inf
        while high - low > 0.5:
            middle = (low + high) / 2
            low, high = (middle, high) if self.used(middle, shape) < 1 else (low, middle)
        return high


def people(load: Load) -> float:
    approvals = 3600 * load.deliveries * load.shape.share_approved_by_people
    return approvals / (load.shape.people * of.APPROVALS_PER_HOUR)


def merge_queue(load: Load) -> float:
    return load.deliveries * 60 * load.shape.ci_minutes / of.LANDED_PER_RUN[load.shape.ci_slots]


def provider(load: Load) -> float:
    return load.agents * of.CALLS_PER_MINUTE / load.shape.calls_per_minute


def log_appends(load: Load) -> float:
    """Deputies write apart from each other, so nothing is grouped."""
    return load.events / of.APPENDS_PER_SECOND


def connections(load: Load) -> float:
    return of.CONNECTIONS * (load.nodes + 1) / load.shape.connections


def board(load: Load) -> float:
    finished = load.deliveries * load.shape.board_days * DAY_SECONDS
    held = finished * of.BYTES_PER_FINISHED_TASK + load.open_tasks * of.BYTES_PER_OPEN_TASK
    return held / (load.shape.board_gb * GB)


def daemon(load: Load) -> float:
    own = load.attempts * of.DAEMON_ATTEMPT_SECONDS + load.deliveries * of.LANDING_SECONDS
    following = load.events * of.FOLLOW_SECONDS + load.rounds * load.open_tasks * of.ROUND_SECONDS_PER_TASK
    reading = load.megabytes * of.COPY_SECONDS_PER_MB + load.agents * of.STEPS_PER_SECOND * of.STEP_SECONDS
    return own + following + reading


def daemon_git(load: Load) -> float:
    return load.attempts * of.DAEMON_GIT_SECONDS / load.shape.daemon_cores


def placer(load: Load) -> float:
    """Of a cluster that has seen many attempts: Ray tells of all their slots, so reading takes what it may."""
    return load.attempts * of.GROUP_SECONDS + of.READING_SHARE + load.megabytes * of.PLACER_SECONDS_PER_MB


def control_store(load: Load) -> float:
    """Reading is its part of what the placer waits for then."""
    return load.attempts * of.GCS_GROUP_SECONDS + of.READING_SHARE * of.GCS_TABLE_SECONDS / of.TABLE_SECONDS


def deputy(load: Load) -> float:
    here = min(load.agents, load.shape.slots_per_node) / (60 * of.ATTEMPT_MINUTES)
    waking = load.rounds * (of.DEPUTY_WAKE_SECONDS + 2 * load.agents * of.PASS_SECONDS)
    return here * of.DEPUTY_ATTEMPT_SECONDS + waking + load.events * of.FOLLOW_SECONDS


def node_cores(load: Load) -> float:
    """Of the fullest node."""
    return min(load.agents, load.shape.slots_per_node) / (load.shape.node_cores * of.AGENTS_PER_CORE)


def node_memory(load: Load) -> float:
    agents = min(load.agents, load.shape.slots_per_node) * of.AGENT_MB
    return (agents + of.DEPUTY_MB) * 1e6 / (load.shape.node_gb * GB)


def remote(load: Load) -> float:
    pushes = load.attempts * (1 + of.COMMITS) + load.deliveries
    each = of.PUSH_SECONDS + load.open_tasks * of.PUSH_SECONDS_PER_REF
    return pushes * each / load.shape.remote_cores


def transcripts(load: Load) -> float:
    kept = load.megabytes * 1e6 * load.shape.disk_days * DAY_SECONDS
    return kept / (load.shape.disk_tb * TB)


RESOURCES = (
    Resource(
        "people who approve",
        people,
        'have agents review, and people see only what `land.gate` names: `approval = "review"`',
        shared=True,
    ),
    Resource("merge queue", merge_queue, "more CI slots, on nodes; shorter CI; checks by path; then more repositories"),
    Resource("provider's account", provider, "more accounts, or a higher limit", shared=True),
    Resource("disk for transcripts", transcripts, "a larger disk, or keep them for fewer days"),
    Resource("memory for the board", board, "a new log every few weeks, or more memory for daemon and nodes"),
    Resource("PostgreSQL: connections", connections, "`max_connections`; more slots on each node"),
    Resource("daemon: its one thread", daemon, "more repositories, each with a daemon"),
    Resource("placer", placer, "more repositories, each with a placer"),
    Resource("Ray's control store", control_store, "more Ray clusters"),
    Resource("git remote: pushes", remote, "a larger server; a remote for nodes alone: `sessions.remote`"),
    Resource("deputy: following the log", deputy, "more repositories: each deputy follows one log"),
    Resource("daemon: git", daemon_git, "more cores for the daemon"),
    Resource("PostgreSQL: appends", log_appends, "a faster disk; a server nearby; more repositories"),
    Resource("cores of a node", node_cores, "fewer slots on a node"),
    Resource("memory of a node", node_memory, "fewer slots on a node"),
)
TODAY = Shape()
A_THOUSAND = Shape(
    logs=7,
    share_approved_by_people=0.02,
    ci_slots=64,
    ci_minutes=5.0,
    calls_per_minute=5_000.0,
)
TEN_THOUSAND = replace(A_THOUSAND, logs=64, people=40, calls_per_minute=50_000.0)


def by_limit(shape: Shape) -> list[Resource]:
    """What is used up first comes first."""
    return sorted(RESOURCES, key=lambda one: one.full_at(shape))


def dollars_per_hour(agents: float, shape: Shape) -> float:
    nodes = shape.logs * math.ceil(agents / shape.logs / shape.slots_per_node)
    return agents * of.DOLLARS_PER_AGENT_HOUR + nodes * of.DOLLARS_PER_NODE_HOUR


def logs_needed(agents: float, shape: Shape) -> int:
    """So many that no merge queue is asked for more than it lands."""
    return math.ceil(merge_queue(Load(agents, shape)))


def use_table(shape: Shape) -> Iterator[str]:
    yield f"| used, of what there is | {' | '.join(f'{size:,}' for size in SIZES)} | full at | then |"
    yield "|---|" + "---|" * (len(SIZES) + 2)
    for one in by_limit(shape):
        cells = [_share(one.used(size, shape)) for size in SIZES]
        yield f"| {one.name} | {' | '.join(cells)} | {_agents(one.full_at(shape))} | {one.remedy} |"
    yield f"| nodes | {' | '.join(f'{math.ceil(size / shape.slots_per_node):,}' for size in SIZES)} | | |"
    yield f"| events a second | {' | '.join(_events(size, shape) for size in SIZES)} | | |"
    yield f"| $ an hour | {' | '.join(f'{dollars_per_hour(size, shape):,.0f}' for size in SIZES)} | | |"


def _events(size: int, shape: Shape) -> str:
    return f"{shape.logs * Load(size / shape.logs, shape).events:,.1f}"


def _share(used: float) -> str:
    text = f"{100 * used:,.0f} %" if used >= 0.01 else f"{100 * used:.1g} %"
    return f"**{text}**" if used >= 1 else text


def _agents(count: float) -> str:
    if math.isinf(count):
        return "never"
    digits = max(0, int(math.log10(count)) - 1)
    return f"{round(count, -digits):,.0f}"


def constant_table() -> Iterator[str]:
    yield "| what | value | from |"
    yield "|---|---|---|"
    for one in of.KNOWN:
        origin = "" if one.origin is of.Origin.MEASURED else "**assumed**: "
        yield f"| {one.name} | {_value(one)} | {origin}{one.source} |"
    landed = ", ".join(f"{slots} slots {count}" for slots, count in of.LANDED_PER_RUN.items())
    yield f"| changes that land in the time of a CI run | {landed} | {of.LANDED_SOURCE} |"


def _value(one: of.Constant) -> str:
    value, unit = one.value, one.unit
    if unit == "s" and value < 1:
        value, unit = (value * 1e3, "ms") if value >= 1e-3 else (value * 1e6, "µs")
    if unit.startswith("$"):
        return f"${value:.2f}{unit[1:]}"
    return f"{value:,.4g} {unit}".strip() if value < 1000 else f"{value:,.0f} {unit}".strip()


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "today": lambda: use_table(TODAY),
    "a_thousand": lambda: use_table(A_THOUSAND),
    "ten_thousand": lambda: use_table(TEN_THOUSAND),
    "constants": constant_table,
}
_PLACE = re.compile(r"(?s)(<!-- table: (\w+) -->\n).*?(<!-- end -->)")


def with_tables(page: str) -> str:
    """The page with its tables as they are by now."""
    return _PLACE.sub(lambda found: found[1] + "\n".join(TABLES[found[2]]()) + "\n" + found[3], page)


def main() -> None:
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(with_tables(PAGE.read_text()))
        return
    for name, table in TABLES.items():
        print(f"\n{name}\n", *table(), sep="\n")


if __name__ == "__main__":
    main()

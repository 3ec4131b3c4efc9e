"""What one agent, one event, one push costs: the numbers that the capacity model is made of, and where each is from.

All times are processor time on one core of the machine that docs/benchmarks.md was measured on, so that a busy moment
does not count.
"""

from dataclasses import dataclass
from enum import StrEnum


class Origin(StrEnum):
    MEASURED = "measured"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True)
class Constant:
    name: str
    value: float
    unit: str
    origin: Origin
    source: str


KNOWN: list[Constant] = []


def measured(name: str, value: float, unit: str, source: str) -> float:
    KNOWN.append(Constant(name, value, unit, Origin.MEASURED, source))
    return value


def assumed(name: str, value: float, unit: str, source: str) -> float:
    KNOWN.append(Constant(name, value, unit, Origin.ASSUMED, source))
    return value


FLEET_RUN = "160 against 40 scripted attempts on two Ray nodes, log in PostgreSQL"
IDLE_RUN = "60 silent agents on two Ray nodes"
GROUPS_RUN = "2,000 placement groups on four Ray nodes"
COSTS = "`python -m bench.grow.costs`"
NODES = "`python -m bench.grow.nodes`"
LOCAL_RUN = "60 scripted tasks from `paddock add` to landed, CI `true`, on one machine"

# The work. Yours differs: change these first.
ATTEMPT_MINUTES = assumed("length of an attempt", 15, "min", "a task of a real agent")
TURNS = assumed("turns of an attempt", 3, "", "work, and two follow-ups")
COMMITS = assumed("commits pushed while an attempt works", 2, "", "each is kept within 5 s")
DELIVERED_SHARE = assumed("share of attempts that deliver", 0.8, "", "the rest fails, or answers")
CALLS_PER_MINUTE = assumed("model calls of an agent", 4, "/min", "one tool call between two")
TRANSCRIPT_BYTES_PER_SECOND = assumed("transcript of an agent", 800, "B/s", "a step of 4 kB every 5 s")
STEPS_PER_SECOND = assumed("steps of an agent", 0.2, "/s", "the same")
APPROVALS_PER_HOUR = assumed("changes one person can judge", 20, "/h", "3 minutes each")
DOLLARS_PER_AGENT_HOUR = assumed("model calls of an agent", 2.0, "$/h", "your bill says")
DOLLARS_PER_NODE_HOUR = assumed("a node", 0.27, "$/h", "8 cores, 32 GB, on demand")

# The log.
EVENTS_PER_ATTEMPT = measured("events of an attempt, besides turns", 2, "", FLEET_RUN)
EVENTS_PER_TURN = measured("events of a turn", 2, "", FLEET_RUN)
EVENTS_PER_LANDING = measured("events of a task until it is claimed, and from approval to landed", 7, "", LOCAL_RUN)
RENEWAL_SECONDS = measured("a lease is renewed every", 20, "s", "`fleet/ledger.py`")
APPENDS_PER_SECOND = measured("transactions of one event, PostgreSQL", 1777, "/s", "`python -m bench grow`")
GROUPED_PER_SECOND = measured("events in groups of 8 writers, PostgreSQL", 8893, "/s", "`python -m bench grow`")
FOLLOW_SECONDS = measured("to follow one event", 6.7e-6, "s", COSTS)
BYTES_PER_FINISHED_TASK = measured("a finished task in memory", 1340, "B", COSTS)
BYTES_PER_OPEN_TASK = measured("an open task in memory", 5200, "B", "a board of 20,000 tasks, each of them looked at")
CONNECTIONS = measured("connections of a daemon or a deputy", 2, "", f"`pg_stat_activity`; {FLEET_RUN}")

# The daemon, and what is beside it.
DAEMON_ATTEMPT_SECONDS = measured("the daemon's own work for an attempt on a node", 3.6e-3, "s", FLEET_RUN)
DAEMON_GIT_SECONDS = measured("git for it, beside the daemon", 34e-3, "s", FLEET_RUN)
LANDING_SECONDS = measured(
    "the daemon's own work for a change that lands alone", 26e-3, "s", f"{LOCAL_RUN}, less what a deputy does"
)
ROUND_SECONDS_PER_TASK = measured("a round of the daemon, per open task", 1.1e-6, "s", "`python -m bench review`")
ROUNDS_PER_SECOND = measured("rounds at most", 50, "/s", "`fleet/daemon.py`")
STEP_SECONDS = measured("insight, per step", 67e-6, "s", "`python -m bench insight`")
COPY_SECONDS_PER_MB = measured("the daemon's part of a copied MB", 1.9e-3, "s", "32 MB from a node")

# Nodes.
DEPUTY_ATTEMPT_SECONDS = measured("a deputy's own work for an attempt", 20e-3, "s", FLEET_RUN)
DEPUTY_GIT_SECONDS = measured("git for it, on the node", 48e-3, "s", FLEET_RUN)
DEPUTY_WAKE_SECONDS = measured("a deputy woken by a record", 2e-3, "s", f"{IDLE_RUN}; an upper bound")
PASS_SECONDS = measured("one look at a live attempt", 0.28e-6, "s", COSTS)
DEPUTY_MB = measured("a deputy and a manager", 121, "MB", FLEET_RUN)
AGENT_MB = measured("an agent, `claude`, before it has done anything", 218, "MB", "one turn of the real CLI")
AGENTS_PER_CORE = measured("real agent CLIs that a core bears", 6, "", "about a dozen on two cores")

# Ray.
GROUP_SECONDS = measured("the placer's part of a slot reserved and released", 2.75e-3, "s", NODES)
TABLE_SECONDS = measured("the placer's look at all slots, per slot there ever was", 18.5e-6, "s", GROUPS_RUN)
READING_SHARE = measured("share of the placer's time for such looks, at most", 0.05, "", "`fleet/nodes/slots.py`")
GCS_GROUP_SECONDS = measured("Ray's control store, per slot reserved", 0.54e-3, "s", GROUPS_RUN)
GCS_TABLE_SECONDS = measured("Ray's control store, per slot looked at", 8.5e-6, "s", GROUPS_RUN)
PLACER_SECONDS_PER_MB = measured("the placer's part of a copied MB", 3.4e-3, "s", "32 MB from a node")

# The git remote.
PUSH_SECONDS = measured("a push, on the server", 10e-3, "s", "a bare repository on the same machine")
PUSH_SECONDS_PER_REF = measured("the same, per ref there", 1.5e-6, "s", f"{COSTS}: half of both sides")

# The merge queue: changes that land per CI run's length, by CI slots; 10 % bad, 1 % flakes, 2 % clashing.
LANDED_PER_RUN = {1: 1.43, 4: 5.11, 8: 9.58, 16: 16.13, 32: 24.53, 64: 42.88}
LANDED_SOURCE = "`python -m bench queue`, 600 waiting; 64 slots with 2,560 waiting, one seed"

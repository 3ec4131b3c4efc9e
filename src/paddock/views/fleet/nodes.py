"""The nodes that agents run on: how each one is doing, by what the daemon has seen of it and by what the log tells.

The daemon notes what it sees in a file beside its log (`fleet/nodes/register.py`). Where that is missing or old,
because the daemon is on another machine or there is none, the log still tells who looks after which node, what is at
work there and what is drained.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from paddock.config.schema import Config
from paddock.core.board import Board, Drain
from paddock.core.ids import printable
from paddock.core.leases.lease import Lease, log_time
from paddock.core.nodes.tenure import node_of, tenure_of
from paddock.fleet.ledger import LEASE_SECONDS
from paddock.fleet.nodes.messages import NodeFacts
from paddock.fleet.nodes.placing import NodeSeen
from paddock.fleet.nodes.register import NodeRegister
from paddock.fleet.nodes.tally import FRESH_SECONDS
from paddock.fleet.service.presence import DaemonSighting, Presence
from paddock.views.document import Document, iso, iso_or_none

FORGOTTEN_SECONDS = 86400.0
"""A node that was left alone for longer than this, with nothing at work, is not listed any more."""
WORDS = 300
UP, DRAINING, DRAINED, PROBLEM, AWAY = "up", "draining", "drained", "problem", "away"
RAYS_OWN = ("ray.io/node-id", "paddock-node")
"""Labels that say no more than the node's name."""


class DrainView(msgspec.Struct, frozen=True):
    since: str
    by: str
    reason: str


class NodeView(msgspec.Struct, frozen=True, kw_only=True):
    """`state`: up, draining (it takes nothing new and is still at work), drained, problem, or away (out of reach).
    `words` say what is wrong with it. `slots` are what it offers, of which `used` are taken. What only the daemon has
    seen is None, or empty, where that is not known here."""

    name: str
    state: str
    words: str
    away_since: str | None
    drain: DrainView | None
    slots: int | None
    used: int | None
    agents: tuple[str, ...]
    runs: tuple[str, ...]
    labels: dict[str, str]
    version: str
    tools: dict[str, str]
    cores: int | None
    load: float | None
    free_memory_bytes: int | None
    memory_bytes: int | None
    free_disk_bytes: int | None
    worktrees: dict[str, int]


class ToolDrift(msgspec.Struct, frozen=True):
    """A tool that is not the same on all nodes. `versions` tell on which nodes each is; the empty one is for those
    that do not have it."""

    tool: str
    versions: dict[str, tuple[str, ...]]


class NodesView(Document, frozen=True, kw_only=True):
    """`runner` says where agents run, and `ci` where CI does: local or ray. `at` is when the daemon last looked, as far
    as this machine knows; `is_current` tells whether that holds now. `machine` is where the daemon is. `slots` and
    `used` are those of nodes that are up; `words` sum it up."""

    runner: str
    ci: str
    address: str
    at: str | None
    is_current: bool
    machine: str
    words: str
    slots: int | None
    used: int | None
    nodes: dict[str, NodeView]
    drift: tuple[ToolDrift, ...]


@dataclass(frozen=True, slots=True)
class Census:
    """What is known of the nodes, and from where."""

    board: Board
    register: NodeRegister | None
    daemon: DaemonSighting
    now: float

    @property
    def is_current(self) -> bool:
        return (
            self.register is not None
            and self.now - self.register.at < FRESH_SECONDS
            and self.daemon.presence is Presence.RUNNING
        )


def view_cluster(census: Census, config: Config) -> NodesView:
    register = census.register
    seen = {one.name: one for one in register.nodes} if register is not None else {}
    facts = register.facts if register is not None else {}
    at_work = _at_work(census.board)
    names = _names(census, seen, at_work)
    nodes = {
        name: _view_node(census, name, seen.get(name), facts.get(name), at_work.get(name, _NOTHING)) for name in names
    }
    offered = [one for one in nodes.values() if one.state == UP]
    slots = sum(one.slots or 0 for one in offered) if register is not None else None
    used = sum(one.used or 0 for one in offered) if register is not None else None
    holder = census.daemon.lease.holder.host if census.daemon.lease is not None else ""
    return NodesView(
        runner=config.sessions.runner,
        ci=config.land.runner,
        address=config.sessions.address,
        at=iso_or_none(register.at if register is not None else None),
        is_current=census.is_current,
        machine=printable(holder, WORDS),
        words=summary(nodes.values(), slots, used),
        slots=slots,
        used=used,
        nodes=nodes,
        drift=find_drift({name: facts[name] for name in nodes if name in facts and nodes[name].state != AWAY}),
    )


def summary(nodes: Iterable[NodeView], slots: int | None, used: int | None) -> str:
    """`3 nodes, 12 of 48 slots in use, 1 draining`"""
    found = list(nodes)
    counts = {state: sum(one.state == state for one in found) for state in (DRAINING, DRAINED, PROBLEM, AWAY)}
    count = f"{len(found)} node{'s' * (len(found) != 1)}" if found else "no nodes"
    words = [f"{used} of {slots} slots in use"] if slots else []
    names = {DRAINING: "draining", DRAINED: "drained", PROBLEM: "with a problem", AWAY: "out of reach"}
    words += [f"{counts[state]} {said}" for state, said in names.items() if counts[state]]
    return ", ".join((count, *words))


def find_drift(facts: Mapping[str, NodeFacts]) -> tuple[ToolDrift, ...]:
    """Of what is on several nodes in several versions, or on some of them only."""
    found = []
    told = {name: {"paddock": one.version, **one.tools} for name, one in facts.items()}
    for tool in dict.fromkeys(tool for tools in told.values() for tool in tools):
        versions: dict[str, list[str]] = defaultdict(list)
        for name, tools in sorted(told.items()):
            versions[tools.get(tool, "")].append(name)
        if len(versions) > 1:
            most_first = sorted(versions.items(), key=lambda one: (not one[0], -len(one[1]), one[0]))
            found.append(ToolDrift(tool, {version: tuple(names) for version, names in most_first}))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _AtWork:
    agents: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


_NOTHING = _AtWork()


def _at_work(board: Board) -> dict[str, _AtWork]:
    agents: dict[str, list[str]] = defaultdict(list)
    runs: dict[str, list[str]] = defaultdict(list)
    for name in board.live:
        attempt = board.tasks[name].live_attempt
        if attempt is not None and (node := node_of(attempt.host_id)) is not None:
            agents[node].append(attempt.id)
    for run in board.queue.running.values():
        if (node := node_of(run.host_id)) is not None:
            runs[node].append(run.id)
    return {node: _AtWork(tuple(agents[node]), tuple(runs[node])) for node in {*agents, *runs}}


def _names(census: Census, seen: Mapping[str, NodeSeen], at_work: Mapping[str, _AtWork]) -> list[str]:
    board, here = census.board, seen if census.is_current else {}
    held = [
        node
        for name, lease in board.leases.held.items()
        if (node := node_of(name)) is not None and _silent_for(census, lease) < FORGOTTEN_SECONDS
    ]
    return sorted({*here, *held, *at_work, *board.drains})


def _view_node(census: Census, name: str, seen: NodeSeen | None, facts: NodeFacts | None, work: _AtWork) -> NodeView:
    drain, lease = census.board.drains.get(name), tenure_of(census.board, name)
    is_there = seen is not None if census.is_current else lease is not None and _silent_for(census, lease) < 0
    problem = (seen.problem if seen is not None else "") or (facts.problem if facts is not None else "")
    if not census.is_current:
        problem = ""
    state = _state(drain, work, problem, is_there=is_there)
    since = None if is_there or lease is None else census.now - _silent_for(census, lease) - LEASE_SECONDS
    return NodeView(
        name=name,
        state=state,
        words=printable(problem or _away_words(is_there=is_there, is_current=census.is_current), WORDS),
        away_since=iso_or_none(since),
        drain=DrainView(iso(drain.since), drain.by, drain.reason) if drain is not None else None,
        slots=seen.slots if seen is not None else None,
        used=seen.used if seen is not None else None,
        agents=work.agents,
        runs=work.runs,
        labels=seen.labels if seen is not None else {},
        version=facts.version if facts is not None else "",
        tools=facts.tools if facts is not None else {},
        cores=facts.cores if facts is not None else None,
        load=round(facts.load, 1) if facts is not None else None,
        free_memory_bytes=facts.free_memory_bytes if facts is not None else None,
        memory_bytes=facts.memory_bytes if facts is not None else None,
        free_disk_bytes=facts.free_disk_bytes if facts is not None else None,
        worktrees=facts.worktrees if facts is not None else {},
    )


def _state(drain: Drain | None, work: _AtWork, problem: str, *, is_there: bool) -> str:
    busy = bool(work.agents or work.runs)
    if drain is not None and not busy:
        return DRAINED
    if not is_there:
        return AWAY
    if drain is not None:
        return DRAINING
    return PROBLEM if problem else UP


def _away_words(*, is_there: bool, is_current: bool) -> str:
    if is_there:
        return ""
    return "it is not in the cluster" if is_current else "nothing is heard of it"


def _silent_for(census: Census, lease: Lease) -> float:
    """Since its lease has run out; negative before that."""
    return log_time(census.board.leases, census.now) - lease.expires_at


def shown_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Those that tell something, by name."""
    return {key: labels[key] for key in sorted(labels) if key not in RAYS_OWN}

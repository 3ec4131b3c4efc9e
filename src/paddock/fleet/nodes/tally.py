"""How many nodes there are and how many of their slots are taken, for a line of `paddock status`: little is loaded."""

from pathlib import Path

import msgspec

from paddock.core.board import NODE_LEASES, Board
from paddock.core.leases.lease import log_time
from paddock.fleet.service.presence import DaemonSighting, Presence
from paddock.sessions.hints import read_hint

FILE = "nodes.json"
FRESH_SECONDS = 20.0
"""The daemon looks at its nodes every five seconds at least; some take a while to answer."""


class NodeTally(msgspec.Struct, frozen=True):
    """`slots` and `used`, of nodes that take work, are None where the daemon that knows them is on another machine."""

    nodes: int
    slots: int | None = None
    used: int | None = None
    drained: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """`3 nodes, 12 of 48 slots, n2 drained`"""
        parts = [f"{self.nodes} node{'s' * (self.nodes != 1)}"] if self.nodes or not self.drained else []
        parts += [f"{self.used} of {self.slots} slots"] if self.slots is not None else []
        parts += [f"{', '.join(self.drained[:3])}{' …' * (len(self.drained) > 3)} drained"] if self.drained else []
        return ", ".join(parts)


class _Seen(msgspec.Struct, frozen=True):
    name: str
    slots: int
    used: int
    problem: str = ""


class _Register(msgspec.Struct, frozen=True):
    """Of a `NodeRegister`, what is counted."""

    at: float
    nodes: tuple[_Seen, ...]


def count_nodes(state_dir: Path, board: Board, daemon: DaemonSighting, now: float) -> NodeTally | None:
    """None where agents run on the machine of the daemon, as far as anybody can tell."""
    drained = tuple(sorted(board.drains))
    told = read_hint(state_dir / FILE, _Register) if (state_dir / FILE).exists() else None
    if told is not None and daemon.presence is Presence.RUNNING and now - told.at < FRESH_SECONDS:
        usable = [one for one in told.nodes if not one.problem and one.name not in board.drains]
        return NodeTally(len(told.nodes), sum(one.slots for one in usable), sum(one.used for one in usable), drained)
    time = log_time(board.leases, now)
    tended = sum(1 for name, one in board.leases.held.items() if name.startswith(NODE_LEASES) and one.expires_at > time)
    return NodeTally(tended, drained=drained) if tended or drained else None

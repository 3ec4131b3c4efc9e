"""The nodes as the daemon saw them last, in a small file for whoever looks: `paddock nodes`, the pages."""

from pathlib import Path

import msgspec

from paddock.fleet.nodes.messages import NodeFacts
from paddock.fleet.nodes.placing import NodeSeen
from paddock.fleet.nodes.tally import FILE
from paddock.sessions.hints import read_hint, write_hint


class NodeRegister(msgspec.Struct, frozen=True):
    """`reserved` maps an attempt or CI run to the node that has a slot for it, empty while none has."""

    at: float
    nodes: tuple[NodeSeen, ...]
    facts: dict[str, NodeFacts]
    reserved: dict[str, str]


def write_register(state_dir: Path, register: NodeRegister) -> None:
    """Raises OSError."""
    write_hint(state_dir / FILE, register)


def read_register(state_dir: Path) -> NodeRegister | None:
    return read_hint(state_dir / FILE, NodeRegister)

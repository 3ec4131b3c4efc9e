"""What happens to nodes, the machines of a cluster that run agents. Who looks after one is told by its lease."""

from typing import ClassVar, TypeAlias

from paddock.core.events import Event


class NodeDrained(Event, frozen=True):
    """From now on nothing starts on the node; what runs there goes on to its end."""

    kind: ClassVar[str] = "node.drained"
    node: str
    reason: str = ""


class NodeReopened(Event, frozen=True):
    """Agents may start on the node again."""

    kind: ClassVar[str] = "node.reopened"
    node: str


NodeEvent: TypeAlias = NodeDrained | NodeReopened

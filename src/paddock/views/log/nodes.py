"""What a record of a node tells, in one line."""

from paddock.core.ids import printable
from paddock.core.nodes.events import NodeDrained, NodeEvent


def tell_of_node(event: NodeEvent, by: str) -> str:
    node = f"node {printable(event.node, 60)}"
    if isinstance(event, NodeDrained):
        why = f": {printable(event.reason, 120)}" if event.reason else ""
        return f"{node} drained by {by}{why}"
    return f"{node} used again, says {by}"

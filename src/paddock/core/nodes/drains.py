"""Which nodes take nothing new, because a person has said so."""

from collections.abc import Mapping

from paddock.core.board import Drain
from paddock.core.nodes.events import NodeDrained, NodeEvent


def evolve_drains(drains: Mapping[str, Drain], event: NodeEvent, actor: str, at: float) -> dict[str, Drain]:
    """A node that is drained again keeps the time of the first."""
    if isinstance(event, NodeDrained):
        since = drains[event.node].since if event.node in drains else at
        return {**drains, event.node: Drain(since, actor, event.reason)}
    return {node: drain for node, drain in drains.items() if node != event.node}

"""What people may ask of nodes: that nothing new starts on one, and that it is used again."""

from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import Draft
from paddock.core.ids import recordable
from paddock.core.nodes.events import NodeDrained, NodeReopened

LONGEST_NAME = 100


def node_name(text: str) -> str:
    """Raises Misuse for what cannot be a node's name."""
    if not text or len(text) > LONGEST_NAME or not text.isprintable() or any(one.isspace() for one in text):
        raise Misuse(f"`{text[:LONGEST_NAME]!r}` is no node's name", "`paddock nodes` lists them")
    return text


def drain_node(board: Board, node: str, reason: str = "") -> list[Draft]:
    """Nothing new if it is drained for that reason already."""
    drained = board.drains.get(node_name(node))
    if drained is not None and drained.reason == reason:
        return []
    return [Draft(NodeDrained(node, recordable(reason)[:500]))]


def reopen_node(board: Board, node: str) -> list[Draft]:
    if node_name(node) not in board.drains:
        raise PaddockError(f"node `{node}` is not drained", "`paddock nodes` shows which are")
    return [Draft(NodeReopened(node))]

"""What people may ask of nodes: that nothing new starts on some, and that they are used again."""

from collections.abc import Collection, Iterable

from paddock.core.board import Board
from paddock.core.errors import Misuse, NotFound, PaddockError
from paddock.core.events import Draft
from paddock.core.ids import printable, recordable
from paddock.core.nodes.events import NodeDrained, NodeReopened
from paddock.core.nodes.tenure import told_nodes
from paddock.core.wording import did_you_mean

LONGEST_NAME = 100
LONGEST_REASON = 500
_LIST = "`paddock nodes` lists them"
_NONE = "no node is known: `paddock nodes` says where agents run"


def drain_nodes(board: Board, nodes: Iterable[str], seen: Collection[str], reason: str = "") -> list[Draft]:
    """Nothing new for one that is drained for that reason already. `seen` are the nodes that the log need not know."""
    why = recordable(reason)[:LONGEST_REASON]
    drafts = []
    for node in dict.fromkeys(nodes):
        _require_node(board, node, seen)
        drained = board.drains.get(node)
        if drained is None or drained.reason != why:
            drafts.append(Draft(NodeDrained(node, why)))
    return drafts


def reopen_nodes(board: Board, nodes: Iterable[str], seen: Collection[str]) -> list[Draft]:
    drafts = []
    for node in dict.fromkeys(nodes):
        _require_node(board, node, seen)
        if node not in board.drains:
            drained = f"drained: {', '.join(sorted(board.drains))}" if board.drains else "no node is"
            raise PaddockError(f"node `{node}` is not drained", drained)
        drafts.append(Draft(NodeReopened(node)))
    return drafts


def _require_node(board: Board, node: str, seen: Collection[str]) -> None:
    if not node or len(node) > LONGEST_NAME or not node.isprintable() or any(one.isspace() for one in node):
        raise Misuse(f"`{printable(node, LONGEST_NAME)}` cannot be the name of a node", _LIST)
    known = {*seen, *told_nodes(board)}
    if node not in known:
        hint = did_you_mean(node, sorted(known), f"known: {', '.join(sorted(known))}") if known else _NONE
        raise NotFound(f"there is no node `{node}`", hint)

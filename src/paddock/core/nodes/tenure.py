"""Who looks after a node: the holder of its lease, whose records count as long as nobody has taken it over.

A node's deputy drives the attempts and CI runs whose host is that node, and records what becomes of them under the
lease `node:NAME`, which is also what it signs its records with. Ray chooses on which node something starts; the lease
decides who may act there.
"""

from paddock.core.board import NODE_LEASES, Board
from paddock.core.leases.lease import Lease, Leases, latest_generation, log_time
from paddock.core.tasks.task import Attempt
from paddock.core.tasks.vocabulary import Outcome


def node_lease(node: str) -> str:
    """Also the `host_id` of whatever runs there."""
    return f"{NODE_LEASES}{node}"


def node_of(name: str) -> str | None:
    """The node whose lease, or whose deputy's signature, that is."""
    return name.removeprefix(NODE_LEASES) if name.startswith(NODE_LEASES) else None


def is_superseded(leases: Leases, name: str, generation: int) -> bool:
    """Whether the lease has been granted again since it was held under this generation."""
    held = leases.held.get(name)
    return generation < (held.generation if held is not None else latest_generation(leases, name))


def tenure_of(board: Board, node: str) -> Lease | None:
    """The lease of whoever looks after the node, also if it has run out."""
    return board.leases.held.get(node_lease(node))


def is_tended(board: Board, node: str, now: float) -> bool:
    """Whether somebody looks after the node, as far as the log tells."""
    held = tenure_of(board, node)
    return held is not None and held.expires_at > log_time(board.leases, now)


def told_nodes(board: Board) -> tuple[str, ...]:
    """All that the log tells of, by name: those that somebody looks after, has looked after lately or has drained, and
    those with something at work."""
    hosts = [live.host_id for name in board.live if (live := board.tasks[name].live_attempt) is not None]
    hosts += [run.host_id for run in board.queue.running.values()]
    names = (*board.leases.held, *board.leases.generations, *hosts)
    return tuple(sorted({*board.drains, *(node for name in names if (node := node_of(name)) is not None)}))


def was_lost(attempt: Attempt) -> bool:
    """With its node. Its agent may have worked on unheard, so its conversation knows of work that is not there."""
    return node_of(attempt.host_id) is not None and attempt.outcome is Outcome.LOST


def working_nodes(board: Board) -> set[str]:
    """Those with an attempt or a CI run at work."""
    live = (board.tasks[name].live_attempt for name in board.live)
    hosts = [*(one.host_id for one in live if one is not None), *(run.host_id for run in board.queue.running.values())]
    return {node for host in hosts if (node := node_of(host)) is not None}

"""Nodes that are drained by people: which there are to name, and waiting until nothing is at work on them."""

from collections.abc import Collection, Iterable, Iterator

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.nodes.tenure import is_tended, node_of
from paddock.fleet.nodes.register import read_register
from paddock.fleet.service.presence import ABSENT, look_for_daemon
from paddock.fleet.workspace import Workspace


def seen_nodes(workspace: Workspace) -> tuple[str, ...]:
    """Those that the daemon of this machine has seen, which may be unknown to the log so far."""
    register = read_register(workspace.state_dir)
    return tuple(node.name for node in register.nodes) if register is not None else ()


def at_work_on(board: Board, nodes: Collection[str]) -> tuple[str, ...]:
    """The attempts and CI runs there."""
    attempts = (board.tasks[name].live_attempt for name in board.live)
    names = [one.id for one in attempts if one is not None and node_of(one.host_id) in nodes]
    return (*names, *(run.id for run in board.queue.running.values() if node_of(run.host_id) in nodes))


def require_progress(board: Board, nodes: Iterable[str], now: float) -> None:
    """Raises PaddockError where what is at work there could go on for ever: nobody looks after the node, and there is
    no daemon to find that it is lost."""
    if look_for_daemon(board, now).presence not in ABSENT:
        return
    for node in nodes:
        if at_work_on(board, (node,)) and not is_tended(board, node, now):
            raise PaddockError(
                f"node `{node}` is out of reach, and no daemon is running that would take its work back",
                "`paddock up` starts one",
            )


def until_empty(boards: Iterable[Board], nodes: Collection[str]) -> Iterator[tuple[str, ...]]:
    """Each change of what is at work there; the last is that nothing is, or when the boards ended."""
    before: tuple[str, ...] | None = None
    for board in boards:
        left = at_work_on(board, nodes)
        if left != before:
            before = left
            yield left
        if not left:
            return

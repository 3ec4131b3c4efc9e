"""Nodes that are lost: whose deputy has not renewed its lease for so long that nobody waits for it any more.

First the lease is granted again, which fences the deputy off, wherever it is; in the same transaction its attempts end
as `lost`. Their tasks go on elsewhere from what was pushed last.
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, TurnEnded
from paddock.core.ids import AttemptId
from paddock.core.intent.resurrection import AttemptLoss, Plight, resurrect
from paddock.core.leases import lease
from paddock.core.nodes.tenure import node_lease, node_of, tenure_of
from paddock.core.summary import TurnSummary
from paddock.core.tasks.task import Attempt
from paddock.fleet.attempts.traces import end_unseen
from paddock.fleet.attempts.turn import open_turn, read_again
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.ledger import LEASE_SECONDS, Ledger
from paddock.fleet.nodes.exchange import Exchange
from paddock.fleet.nodes.placement import START_SECONDS
from paddock.fleet.site import Site
from paddock.sessions.host import this_process


@dataclass
class Losses:
    site: Site
    ledger: Ledger
    exchange: Exchange
    _began: float = field(init=False)
    """Before that nobody could have seen who renews a lease: the log itself may have been away."""
    _alone_since: dict[str, float] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._began = self.site.clock.now()

    async def settle(self, board: Board, seen: Collection[str]) -> list[str]:
        """Takes back what lost nodes had, and names them. `seen` are those that answer."""
        at_work = _work_by_node(board)
        now = self.site.clock.now()
        self._alone_since = {node: at for node, at in self._alone_since.items() if node in at_work}
        lost = [node for node in at_work if self._is_lost(board, node, now, is_seen=node in seen)]
        for node in lost:
            await self._take_back(node, at_work[node])
        return lost

    def _is_lost(self, board: Board, node: str, now: float, *, is_seen: bool) -> bool:
        patience = self.site.config.sessions.lost_after
        held = tenure_of(board, node)
        if held is None:
            since = self._alone_since.setdefault(node, now)
            return now - since > (max(patience, START_SECONDS) if is_seen else patience)
        renewed = max(held.expires_at - LEASE_SECONDS, self._began)
        return lease.log_time(board.leases, now) - renewed > patience

    async def _take_back(self, node: str, attempts: Sequence[Attempt]) -> None:
        losses = {one.id: await self._loss(one, node) for one in attempts}
        checkpoint("nodes.lost")
        await self.ledger.record(lambda board: self._decide(board, node, losses))
        checkpoint("nodes.taken_back")

    async def _loss(self, attempt: Attempt, node: str) -> AttemptLoss:
        try:
            head = await asyncio.to_thread(self.exchange.collect, attempt, None)
        except (PaddockError, OSError):
            head = None
        ended = await self._ended(attempt, node) if attempt.turn_open else None
        return AttemptLoss(Plight.ELSEWHERE, ended, head)

    async def _ended(self, attempt: Attempt, node: str) -> TurnEnded:
        try:
            engine = self.site.engine(attempt.engine)
            summary = await read_again(engine, self.site.sessions, open_turn(attempt))
        except (PaddockError, OSError):
            summary = TurnSummary()
        return end_unseen(self.site, self.ledger.board, attempt, f"its node `{node}` is lost", summary)

    def _decide(self, board: Board, node: str, losses: dict[AttemptId, AttemptLoss]) -> list[Draft]:
        """Nothing if its deputy has been heard of since."""
        now = self.site.clock.now()
        if not self._is_lost(board, node, now, is_seen=False):
            return []
        runs = [run.id for run in board.queue.running.values() if node_of(run.host_id) == node]
        names = [
            name for name in board.live if (live := board.tasks[name].live_attempt) is not None and live.id in losses
        ]
        return [*self._fence_off(board, node, now), *resurrect(board, losses, now, names, runs)]

    def _fence_off(self, board: Board, node: str, now: float) -> list[Draft]:
        name, held = node_lease(node), tenure_of(board, node)
        why = f"node `{node}` is lost"
        gone = [lease.LeaseReleased(name, held.generation, why)] if held is not None else []
        generation = lease.latest_generation(board.leases, name) + 1
        granted = lease.LeaseGranted(name, generation, this_process("daemon"), 1.0)
        return [Draft(event) for event in (*gone, granted, lease.LeaseReleased(name, generation, why))]


def _work_by_node(board: Board) -> dict[str, list[Attempt]]:
    found: dict[str, list[Attempt]] = {}
    for name in board.live:
        attempt = board.tasks[name].live_attempt
        if attempt is not None and (node := node_of(attempt.host_id)) is not None:
            found.setdefault(node, []).append(attempt)
    for run in board.queue.running.values():
        if (node := node_of(run.host_id)) is not None:
            found.setdefault(node, [])
    return found

"""Copies of what turns write on nodes, in the folders where a local turn would have written it: whoever reads output
here, the pages, `paddock tail`, insight, needs no node for it."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from paddock.core.board import Board
from paddock.core.ids import RUN_OWNER, AttemptId, task_of
from paddock.core.nodes.tenure import node_of
from paddock.core.tasks.task import Attempt
from paddock.fleet.nodes.cluster import Cluster
from paddock.fleet.nodes.messages import FileAt, ReadAnswer, ReadWish, decode, encode
from paddock.fleet.nodes.placing import Read, ReadDone
from paddock.fleet.nodes.turn_files import keep_chunk, sizes_of
from paddock.fleet.site import Site

MOST_BYTES = 1 << 20
MOST_READS = 8
"""Of one node, before the others have their turn."""
EXPECTED_SECONDS = 60.0


@dataclass
class TurnCopies:
    site: Site
    cluster: Cluster
    _expected: dict[str, float] = field(default_factory=dict, init=False)
    """Until when each may still begin."""
    _followed: dict[str, str] = field(default_factory=dict, init=False)
    _have: dict[str, dict[str, int]] = field(default_factory=dict, init=False)

    def expect(self, owners: Iterable[str]) -> None:
        """They may begin, and end, before it is copied again."""
        until = self.site.clock.now() + EXPECTED_SECONDS
        self._expected.update((owner, until) for owner in owners)

    async def copy(self, live: Sequence[Attempt], board: Board) -> bool:
        """Of all that is at work on nodes, and of what has ended since the last time. Whether of the latter nothing is
        missing any more."""
        self._follow_expected(board)
        now = {str(one.id): node for one in live if (node := node_of(one.host_id)) is not None}
        for run in board.queue.running.values():
            if (node := node_of(run.host_id)) is not None:
                now[f"{RUN_OWNER}{run.id}"] = node
        ended = {owner: node for owner, node in self._followed.items() if owner not in now}
        self._followed |= now
        by_node: dict[str, list[str]] = defaultdict(list)
        for owner, node in self._followed.items():
            by_node[node].append(owner)
        for done in await asyncio.gather(*(self._copy(node, owners) for node, owners in by_node.items())):
            for owner in done & ended.keys():
                self._followed.pop(owner, None)
                self._have.pop(owner, None)
        return not ended.keys() & self._followed.keys()

    def _follow_expected(self, board: Board) -> None:
        now = self.site.clock.now()
        begun = {owner: node for owner in self._expected if (node := _node_of(board, owner)) is not None}
        self._followed |= begun
        self._expected = {owner: until for owner, until in self._expected.items() if owner not in begun and now < until}

    async def _copy(self, node: str, owners: Sequence[str]) -> set[str]:
        """The owners of which nothing is missing any more."""
        for _ in range(MOST_READS):
            have = await asyncio.to_thread(self._what_is_here, owners)
            wish = ReadWish(tuple(owners), have, MOST_BYTES)
            done = await self.cluster.ask(Read(node, encode(wish)))
            if not isinstance(done, ReadDone) or not done.answer:
                return set()
            answer = decode(done.answer, ReadAnswer)
            await asyncio.to_thread(self._keep, answer)
            if not answer.more:
                return set(owners)
        return set()

    def _what_is_here(self, owners: Sequence[str]) -> tuple[FileAt, ...]:
        for owner in owners:
            if owner not in self._have:
                found = sizes_of(owner, self.site.owner_folder(owner))
                self._have[owner] = {one.name: one.offset for one in found}
        return tuple(FileAt(owner, name, at) for owner in owners for name, at in self._have[owner].items())

    def _keep(self, answer: ReadAnswer) -> None:
        for chunk in answer.chunks:
            if chunk.owner not in self._have:
                continue  # nobody has asked for it
            keep_chunk(self.site.owner_folder(chunk.owner), chunk)
            end = len(chunk.content) if chunk.whole else chunk.offset + len(chunk.content)
            self._have[chunk.owner][chunk.name] = end


def _node_of(board: Board, owner: str) -> str | None:
    """Where the attempt or CI run is, or was; None also where it has not begun."""
    name = owner.removeprefix(RUN_OWNER)
    if name != owner:
        run = board.queue.running.get(name) or board.queue.ended.get(name)
        return node_of(run.host_id) if run is not None else None
    task = board.tasks.get(task_of(AttemptId(owner)))
    return next((node_of(one.host_id) for one in task.attempts if one.id == owner), None) if task is not None else None

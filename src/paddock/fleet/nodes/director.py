"""The daemon's hand on the nodes: it has slots reserved where agents are to start, brings commits there and back, hears
how they are doing, and takes back the work of a node that is lost.

It decides nothing about a node's attempts while a deputy holds that node's lease; it only claims new ones for it.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import RUN_OWNER, AttemptId, TaskId, attempt_id, task_of
from paddock.core.intent.tasks import stop_tasks
from paddock.core.lead import Succeeded
from paddock.core.nodes.labels import OS
from paddock.core.nodes.tenure import node_of
from paddock.core.tasks.task import Attempt, Task
from paddock.fleet.attempts.attempt import Ear
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.glance import AgentGlance
from paddock.fleet.ledger import Ledger
from paddock.fleet.nodes.cluster import Cluster
from paddock.fleet.nodes.copies import TurnCopies
from paddock.fleet.nodes.exchange import CommitsGone, Exchange
from paddock.fleet.nodes.hearsay import Place, repeat_heard
from paddock.fleet.nodes.losses import Losses
from paddock.fleet.nodes.messages import NodeFacts, NodeNews, encode
from paddock.fleet.nodes.order import order_for
from paddock.fleet.nodes.placement import Placement
from paddock.fleet.nodes.placing import Dismiss, Look, Looked
from paddock.fleet.nodes.refs import start_ref, work_ref
from paddock.fleet.nodes.register import NodeRegister, write_register
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
from paddock.fleet.workspace import Workspace
from paddock.sessions.host import Host

LOOK_SECONDS = 1.0
QUIET_SECONDS = 5.0
TIDY_SECONDS = 600.0
DISMISS_SECONDS = 5.0
LAST_COPY_SECONDS, COPY_AGAIN_SECONDS = 5.0, 0.1
LOOKING = "asking the nodes"
COLLECTING = "fetching what nodes have made"
TIDYING = "removing refs that nodes need no more"

_NO_PLACE = encode(Place())


@dataclass
class NodeDirector:
    workspace: Workspace
    site: Site
    ledger: Ledger
    cluster: Cluster
    exchange: Exchange
    ear: Ear
    troubles: Troubles
    news: dict[str, NodeNews] = field(default_factory=dict, init=False)
    _facts: dict[str, NodeFacts] = field(default_factory=dict, init=False)
    """Of all nodes that are there, as they told last."""
    _places: dict[str, bytes] = field(default_factory=dict, init=False)
    _uncollected: set[TaskId] | None = field(default=None, init=False)
    """Tasks that had agents on nodes when it was looked last; None before the first look."""
    _collected: dict[AttemptId, str | None] = field(default_factory=dict, init=False)
    """Of those, the former attempts whose commits are here."""
    _tidied_at: float = field(default=float("-inf"), init=False)

    def __post_init__(self) -> None:
        self._called = asyncio.Event()
        self.placement = Placement(self.site, self.ledger, self.cluster)
        self._losses = Losses(self.site, self.ledger, self.exchange)
        self._copies = TurnCopies(self.site, self.cluster)

    async def place(self, board: Board, tasks: Iterable[TaskId]) -> tuple[dict[TaskId, str], dict[TaskId, str]]:
        hosts, why = await self.placement.place(board, tasks)
        if why:
            self._called.set()
        return hosts, why

    async def host_of_run(self, run: str) -> Host | None:
        self._copies.expect([f"{RUN_OWNER}{run}"])
        return await self.placement.host_of_run(run)

    async def send_beginnings(
        self, board: Board, main: str, names: Iterable[TaskId], others: Iterable[str] = ()
    ) -> None:
        """Has the remote hold all that the tasks may begin at. Raises CommitsStuck."""
        names = tuple(names)
        starts = [*others, *(sha for name in names for sha in _beginnings(board.task(name)))]
        await asyncio.to_thread(self.exchange.publish, starts, main)
        if self._uncollected is not None:
            self._uncollected.update(names)
        self._copies.expect(attempt_id(name, board.task(name).newest + 1) for name in names)
        checkpoint("nodes.published")

    async def send(self, commits: Iterable[str]) -> None:
        """Has the remote hold these. Raises CommitsStuck."""
        await asyncio.to_thread(self.exchange.publish, commits)
        checkpoint("nodes.published")

    async def collect(self, board: Board) -> None:
        """What nodes have made is in the repository before anybody decides about it. Raises CommitsStuck."""
        if self._uncollected is None:
            self._uncollected = set(board.open)
        self._uncollected |= {task_of(one.id) for one in self.live(board)}
        tasks = [board.tasks[name] for name in sorted(self._uncollected)]
        ended = [one for task in tasks for one in _delivered_on_nodes(task)]
        fresh = [one for one in ended if self._collected.get(one.id) != one.head]
        if len(fresh) > 1:
            await asyncio.to_thread(self.exchange.fetch, fresh)
        for attempt in fresh:
            with suppress(CommitsGone):  # whoever needs them says so
                await asyncio.to_thread(self.exchange.collect, attempt, attempt.head)
                checkpoint("nodes.collected")
        self._uncollected.difference_update(task.id for task in tasks if task.live_attempt is None)
        self._collected = {one.id: one.head for one in ended if task_of(one.id) in self._uncollected}

    def has_work_of(self, task: Task) -> bool:
        """Whether all of it is in the repository; false also for what may have been delivered since the last look."""
        if self._uncollected is not None and task.id not in self._uncollected:
            return True
        return all(self._collected.get(one.id) == one.head for one in _delivered_on_nodes(task))

    def live(self, board: Board) -> list[Attempt]:
        """The attempts on nodes."""
        attempts = (board.tasks[name].live_attempt for name in board.live)
        return [one for one in attempts if one is not None and _is_on_node(one)]

    def count(self, board: Board) -> Counter[str]:
        """Those, by the account that they draw on."""
        return Counter(one.account or self.site.account_of(one.engine) for one in self.live(board))

    def is_busy(self, board: Board) -> bool:
        """Whether anything on nodes is at work."""
        return bool(self.live(board)) or any(node_of(run.host_id) for run in board.queue.running.values())

    async def stop_all(self) -> None:
        """Has every attempt on nodes ended by its deputy."""
        names = [task_of(one.id) for one in self.live(self.ledger.board) if one.stop_requested is None]
        await self.ledger.record(lambda board: stop_tasks(board, _still_live(board, names), "`paddock down --now`"))

    def agents(self) -> dict[str, AgentGlance]:
        return {name: agent for news in self.news.values() for name, agent in news.agents.items()}

    async def keep(self) -> None:
        """For ever."""
        self._copies.expect(_without_copy(self.site, self.ledger.board))
        try:
            while True:
                again = await self.troubles.attempt(LOOKING, self._look)
                await self.troubles.attempt(TIDYING, self._tidy)
                pause = LOOK_SECONDS if again is None else max(0.0, again - self.site.clock.now())
                self._called.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._called.wait(), min(pause, QUIET_SECONDS))
        finally:
            await self._leave()

    async def _leave(self) -> None:
        """Nodes with nothing to do are told that nobody will ask them."""
        with suppress(PaddockError, Succeeded):
            self.site.lead.require()
            board = self.ledger.read()  # what has ended in the meantime leaves nothing behind
            await self._copy_the_rest(board)
            await self.placement.release_unused(board, leaving=True)
            if not self.is_busy(board):
                await self.cluster.ask(Dismiss(), DISMISS_SECONDS)
        await self.cluster.close()

    async def _copy_the_rest(self, board: Board) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_COPY_SECONDS):
                while not await self._copies.copy(self.live(board), board):
                    await asyncio.sleep(COPY_AGAIN_SECONDS)

    async def _look(self) -> float | None:
        board = self.ledger.board
        order = order_for(self.workspace, await asyncio.to_thread(self.exchange.url))
        answer = await self.cluster.ask(Look(msgspec.json.encode(order), self._places, self.placement.resting()))
        assert isinstance(answer, Looked)
        self._hear(answer)
        await self.placement.release_unused(board)
        for node in await self._losses.settle(board, {node.name for node in answer.nodes if not node.problem}):
            self.placement.give_up(node)
        live = self.live(board)
        await self._copies.copy(live, board)
        return None if live or board.ready or board.queue.entries else self.site.clock.now() + QUIET_SECONDS

    def _hear(self, answer: Looked) -> None:
        self.placement.see(
            answer.nodes, answer.reserved, {name: one.facts.tools.get(OS, "") for name, one in answer.news.items()}
        )
        for node, news in answer.news.items():
            repeat_heard(news.heard, self.ear)
            self._places[node] = encode(news.place)
        self.news = answer.news
        here = {node.name for node in answer.nodes}
        told = {node: one for node, one in self._facts.items() if node in here}
        self._facts = {node: msgspec.structs.replace(one, deputy=False, problem="") for node, one in told.items()}
        self._facts |= {node: news.facts for node, news in self.news.items()}
        now, reserved = self.site.clock.now(), self.placement.reserved
        write_register(self.site.state_dir, NodeRegister(now, answer.nodes, self._facts, reserved))

    async def _tidy(self) -> float | None:
        """Work that was collected and is settled is not kept on the remote for ever."""
        now = self.site.clock.now()
        if now - self._tidied_at > TIDY_SECONDS:
            await asyncio.to_thread(self.exchange.tidy, _needed_refs(self.exchange.identity, self.ledger.board), now)
            self._tidied_at = now
        return None


def _needed_refs(identity: str, board: Board) -> set[str]:
    tasks = [board.tasks[name] for name in board.open]
    works = {work_ref(identity, attempt.id) for task in tasks for attempt in task.attempts if _is_on_node(attempt)}
    commits = {sha for task in tasks for sha in _beginnings(task)}
    commits |= {sha for run in board.queue.running.values() for sha in (run.base, run.commit)}
    return works | {start_ref(identity, sha) for sha in commits}


def _still_live(board: Board, names: Iterable[TaskId]) -> list[TaskId]:
    return [name for name in names if board.task(name).live_attempt is not None]


def _is_on_node(attempt: Attempt) -> bool:
    return node_of(attempt.host_id) is not None


def _without_copy(site: Site, board: Board) -> list[AttemptId]:
    """What has ended on nodes while no daemon copied it, of tasks that are still open."""
    attempts = (one for name in board.open for one in board.tasks[name].attempts[-2:] if _is_on_node(one))
    return [one.id for one in attempts if not (site.owner_folder(one.id) / f"turn-{one.turn}.exit").exists()]


def _delivered_on_nodes(task: Task) -> list[Attempt]:
    """Of the latest two: a reviewer's attempt may follow the one whose work it looks at."""
    return [attempt for attempt in task.attempts[-2:] if _is_on_node(attempt) and attempt.head is not None]


def _beginnings(task: Task) -> list[str]:
    """The commits that its next attempt may begin at, other than main and what attempts on nodes have pushed."""
    pushed = {attempt.head for attempt in task.attempts if _is_on_node(attempt)}
    found = [task.start, task.head, *(attempt.head for attempt in task.attempts), *(one.base for one in task.attempts)]
    return [sha for sha in dict.fromkeys(found) if sha and sha not in pushed]

"""The daemon's hand on the nodes: it has slots reserved where agents are to start, brings commits there and back, hears
how they are doing, and takes back the work of a node that is lost.

It decides nothing about a node's attempts while a deputy holds that node's lease; it only claims new ones for it.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from paddock.core.board import Board
from paddock.core.ids import TaskId, attempt_id, task_of
from paddock.core.intent.tasks import stop_tasks
from paddock.core.nodes.labels import OS
from paddock.core.nodes.tenure import node_of
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.fleet.attempts.attempt import Ear
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.glance import AgentGlance
from paddock.fleet.ledger import Ledger
from paddock.fleet.nodes.cluster import Cluster
from paddock.fleet.nodes.copies import TurnCopies
from paddock.fleet.nodes.exchange import Exchange
from paddock.fleet.nodes.hearsay import Place, repeat_heard
from paddock.fleet.nodes.losses import Losses
from paddock.fleet.nodes.messages import NodeNews, encode
from paddock.fleet.nodes.needs import needs_of, needs_of_ci, selector, why_no_slot
from paddock.fleet.nodes.order import order_for
from paddock.fleet.nodes.placing import Look, Looked, NodeSeen, Release, Reservations, Reserve, Wish
from paddock.fleet.nodes.register import NodeRegister, write_register
from paddock.fleet.review.starts import due_reviewer, for_reviewer
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
from paddock.fleet.workspace import Workspace
from paddock.sessions.host import Host, host_of

LOOK_SECONDS = 1.0
QUIET_SECONDS = 5.0
WANTED_SECONDS = 60.0
"""So long a slot stays asked for that nobody has asked for again: an autoscaler has time to see it."""
LOOKING = "asking the nodes"
COLLECTING = "fetching what nodes have made"

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
    nodes: tuple[NodeSeen, ...] = field(default=(), init=False)
    news: dict[str, NodeNews] = field(default_factory=dict, init=False)
    _reserved: dict[str, str] = field(default_factory=dict, init=False)
    _wanted: dict[str, float] = field(default_factory=dict, init=False)
    _places: dict[str, bytes] = field(default_factory=dict, init=False)
    _uncollected: set[TaskId] | None = field(default=None, init=False)
    """Tasks with agents on nodes now or at the last look; None before the first."""

    def __post_init__(self) -> None:
        self._losses = Losses(self.site, self.ledger, self.exchange)
        self._copies = TurnCopies(self.site, self.cluster)
        self._stirred = asyncio.Event()

    async def place(self, board: Board, tasks: Iterable[TaskId]) -> tuple[dict[TaskId, str], dict[TaskId, str]]:
        """On which node each is to start, and why the others cannot start yet. Raises ClusterSilent."""
        now = self.site.clock.now()
        wishes = {name: self._wish(board, board.task(name)) for name in tasks}
        self._wanted.update((wish.name, now) for wish in wishes.values())
        granted = await self._reserve(board, tuple(wishes.values()))
        hosts = {name: granted[wish.name] for name, wish in wishes.items() if granted.get(wish.name)}
        why = {name: self._why_no_slot(wish) for name, wish in wishes.items() if name not in hosts}
        checkpoint("nodes.placed")
        return hosts, why

    async def host_of_run(self, run: str) -> Host | None:
        """The node for a CI run; None while none has a slot. Raises ClusterSilent."""
        self._wanted[run] = self.site.clock.now()
        wish = Wish(run, self.labels_of_ci())
        node = (await self._reserve(self.ledger.board, (wish,))).get(run)
        checkpoint("nodes.run_placed")
        return host_of(node) if node else None

    async def send_beginnings(
        self, board: Board, main: str, names: Iterable[TaskId], others: Iterable[str] = ()
    ) -> None:
        """Has the remote hold all that the tasks may begin at. Raises CommitsStuck."""
        starts = [*others, *(sha for name in names for sha in _beginnings(board.task(name)))]
        await asyncio.to_thread(self.exchange.publish, starts, main)
        checkpoint("nodes.published")

    async def send(self, commits: Iterable[str]) -> None:
        """Has the remote hold these. Raises CommitsStuck."""
        await asyncio.to_thread(self.exchange.publish, commits)
        checkpoint("nodes.published")

    async def collect(self, board: Board) -> None:
        """What nodes have made is in the repository before anybody decides about it. Raises CommitsStuck."""
        live = {task_of(one.id) for one in self.live(board)}
        for name in tuple(self._uncollected if self._uncollected is not None else board.open):
            for attempt in board.tasks[name].attempts[-2:]:
                if _is_on_node(attempt) and attempt.head is not None:
                    await asyncio.to_thread(self.exchange.collect, attempt, attempt.head)
                    checkpoint("nodes.collected")
            if self._uncollected is not None and name not in live:
                self._uncollected.discard(name)
        self._uncollected = (self._uncollected or set()) | live

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
        try:
            while True:
                again = await self.troubles.attempt(LOOKING, self._look)
                pause = LOOK_SECONDS if again is None else max(0.0, again - self.site.clock.now())
                await asyncio.sleep(min(pause, QUIET_SECONDS))
        finally:
            await self.cluster.close()

    async def _look(self) -> float | None:
        board = self.ledger.board
        order = order_for(self.workspace, await asyncio.to_thread(self.exchange.url))
        answer = await self.cluster.ask(Look(msgspec.json.encode(order), self._places))
        assert isinstance(answer, Looked)
        self.nodes = answer.nodes
        self._reserved = {one.name: one.node for one in answer.reserved}
        for node, news in answer.news.items():
            repeat_heard(news.heard, self.ear)
            self._places[node] = encode(news.place)
        self.news = answer.news
        self._publish(board)
        await self._release_unused(board)
        await self._losses.settle(board, {node.name for node in answer.nodes if not node.problem})
        await self._copies.copy(self.live(board), board)
        return None if self.live(board) or board.ready else self.site.clock.now() + QUIET_SECONDS

    def _publish(self, board: Board) -> None:
        """For `paddock nodes` and the pages."""
        facts = {node: news.facts for node, news in self.news.items()}
        write_register(self.site.state_dir, NodeRegister(self.site.clock.now(), self.nodes, facts, self._reserved))

    async def _reserve(self, board: Board, wishes: tuple[Wish, ...]) -> Mapping[str, str]:
        most = self.site.config.sessions.agent_slots
        answer = await self.cluster.ask(Reserve(wishes, tuple(board.drains), most))
        assert isinstance(answer, Reservations)
        found = {one.name: one.node for one in answer.reserved}
        self._reserved.update(found)
        return found

    def _wish(self, board: Board, task: Task) -> Wish:
        """Where its conversation is, if that goes on and the node can take it."""
        name = attempt_id(task.id, task.newest + 1)
        last = task.worker
        home = node_of(last.host_id) if last is not None and last.session is not None else None
        usable = {node.name for node in self.nodes if not node.problem and node.used < node.slots}
        near = home if home in usable and home not in board.drains else None
        return Wish(name, self.labels_of(task), near or "")

    def labels_of(self, task: Task) -> dict[str, str]:
        """The labels that a node must have to run it, or its reviewer."""
        if task.phase is Phase.REVIEWING:
            reviewer = due_reviewer(self.site, self.ledger.board, task, self.site.clock.now())
            task = for_reviewer(task, reviewer) if reviewer is not None else task
        return selector(needs_of(self.site.config, task), self.nodes, self._systems())

    def labels_of_ci(self) -> dict[str, str]:
        """The labels that a node must have to run CI."""
        return selector(needs_of_ci(self.site.config), self.nodes, self._systems())

    def _systems(self) -> dict[str, str]:
        return {name: news.facts.tools.get(OS, "") for name, news in self.news.items()}

    def _why_no_slot(self, wish: Wish) -> str:
        return why_no_slot(wish.labels, wish.near, self.nodes, self.ledger.board.drains)

    async def _release_unused(self, board: Board) -> None:
        """Slots of what has ended, or was not claimed after all."""
        now = self.site.clock.now()
        used = {str(one.id) for one in self.live(board)} | set(board.queue.running)
        self._wanted = {name: at for name, at in self._wanted.items() if now - at < WANTED_SECONDS}
        unused = tuple(name for name in self._reserved if name not in used and name not in self._wanted)
        ended = tuple(name for name in self._wanted if _has_ended(board, name))
        for name in ended:
            del self._wanted[name]
        if unused or ended:
            await self.cluster.ask(Release((*unused, *ended)))
            for name in (*unused, *ended):
                self._reserved.pop(name, None)


def _has_ended(board: Board, name: str) -> bool:
    """Whether the attempt or CI run of that name has been and gone."""
    task = board.tasks.get(TaskId(name.partition(".")[0]))
    if task is None:
        return name in board.queue.ended
    return any(attempt.id == name and not attempt.live for attempt in task.attempts)


def _still_live(board: Board, names: Iterable[TaskId]) -> list[TaskId]:
    return [name for name in names if board.task(name).live_attempt is not None]


def _is_on_node(attempt: Attempt) -> bool:
    return node_of(attempt.host_id) is not None


def _beginnings(task: Task) -> list[str]:
    """The commits that its next attempt may begin at, other than main and what attempts on nodes have pushed."""
    pushed = {attempt.head for attempt in task.attempts if _is_on_node(attempt)}
    found = [task.start, task.head, *(attempt.head for attempt in task.attempts), *(one.base for one in task.attempts)]
    return [sha for sha in dict.fromkeys(found) if sha and sha not in pushed]

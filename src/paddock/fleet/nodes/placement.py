"""Which node each start gets: a slot that Ray keeps for it, on a node that somebody looks after.

Ray chooses among the nodes that have what is needed. Left out are drained nodes, and those whose deputy has not shown
up, or was given up: Ray may still see their machine.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from paddock.core.board import Board
from paddock.core.ids import TaskId, attempt_id
from paddock.core.nodes.labels import unmet
from paddock.core.nodes.tenure import is_tended, node_of, was_lost, working_nodes
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.ledger import Ledger
from paddock.fleet.nodes.cluster import Cluster
from paddock.fleet.nodes.needs import needs_of, needs_of_ci, selector, why_no_slot
from paddock.fleet.nodes.placing import NodeSeen, Release, Reservations, Reserve, Reserved, Wish
from paddock.fleet.review.starts import due_reviewer, for_reviewer
from paddock.fleet.site import Site
from paddock.sessions.host import Host, host_of

WANTED_SECONDS = 60.0
"""So long a slot stays asked for that nobody has asked for again: an autoscaler has time to see it."""
START_SECONDS = 60.0
"""So long a node may take until it has a deputy; then it is left out."""


@dataclass
class Placement:
    """`nodes` and `systems`, what they run, are as they were seen last; `reserved` maps an attempt or CI run to the
    node that has a slot for it, empty while none has."""

    site: Site
    ledger: Ledger
    cluster: Cluster
    nodes: tuple[NodeSeen, ...] = field(default=(), init=False)
    systems: dict[str, str] = field(default_factory=dict, init=False)
    reserved: dict[str, str] = field(default_factory=dict, init=False)
    _wanted: dict[str, float] = field(default_factory=dict, init=False)
    _used_at: dict[str, float] = field(default_factory=dict, init=False)
    _untended: dict[str, float] = field(default_factory=dict, init=False)
    """Since when each has had no deputy."""

    def see(self, nodes: tuple[NodeSeen, ...], reserved: Iterable[Reserved], systems: dict[str, str]) -> None:
        now, board = self.site.clock.now(), self.ledger.board
        self.nodes, self.systems = nodes, systems
        self.reserved = {one.name: one.node for one in reserved}
        busy = {*self.reserved.values(), *working_nodes(board)}
        self._used_at = {one.name: now if one.name in busy else self._used_at.get(one.name, now) for one in nodes}
        resting = self.resting()
        alone = [one.name for one in nodes if one.name not in resting and not is_tended(board, one.name, now)]
        self._untended = {name: self._untended.get(name, now) for name in alone}

    def resting(self) -> tuple[str, ...]:
        """Nodes with nothing to do for a while: nobody has to look after them until they get a slot again."""
        since, wanted = self.site.clock.now() - self.site.config.sessions.lost_after, {*self.reserved.values()}
        return tuple(name for name, at in self._used_at.items() if at < since and name not in wanted)

    def give_up(self, node: str) -> None:
        """It takes nothing until somebody looks after it again."""
        self._untended[node] = float("-inf")

    async def place(self, board: Board, tasks: Iterable[TaskId]) -> tuple[dict[TaskId, str], dict[TaskId, str]]:
        """On which node each is to start, and why the others cannot start yet. Raises ClusterSilent."""
        wishes = {name: self._wish(board, board.task(name)) for name in tasks}
        granted = await self._reserve(board, tuple(wishes.values()))
        hosts = {name: node for name, wish in wishes.items() if (node := granted[wish.name]) and self._is_ready(node)}
        why = {name: self._why_not(wish, granted[wish.name]) for name, wish in wishes.items() if name not in hosts}
        checkpoint("nodes.placed")
        return hosts, why

    async def host_of_run(self, run: str) -> Host | None:
        """The node for a CI run; None while none has a slot. Raises ClusterSilent."""
        needs = selector(needs_of_ci(self.site.config), self.nodes, self.systems)
        node = (await self._reserve(self.ledger.board, (Wish(run, needs),)))[run]
        checkpoint("nodes.run_placed")
        return host_of(node) if node and self._is_ready(node) else None

    async def release_unused(self, board: Board, *, leaving: bool = False) -> None:
        """Slots of what has ended, or was not claimed after all. Who is `leaving` asks for none any more."""
        now, used = self.site.clock.now(), _at_work(board)
        seconds = 0.0 if leaving else WANTED_SECONDS
        self._wanted = {
            name: at for name, at in self._wanted.items() if now - at < seconds and not _has_ended(board, name)
        }
        unused = tuple(name for name in self.reserved if name not in used and name not in self._wanted)
        if unused:
            await self.cluster.ask(Release(unused))
            for name in unused:
                self.reserved.pop(name, None)

    async def _reserve(self, board: Board, wishes: tuple[Wish, ...]) -> dict[str, str]:
        now = self.site.clock.now()
        self._wanted.update((wish.name, now) for wish in wishes)
        missing = {name for name, since in self._untended.items() if now - since > START_SECONDS}
        avoid = tuple(sorted({*board.drains, *missing}))
        answer = await self.cluster.ask(Reserve(wishes, avoid, self.site.config.sessions.agent_slots))
        assert isinstance(answer, Reservations)
        found = {one.name: one.node for one in answer.reserved}
        self.reserved.update(found)
        return found

    def _wish(self, board: Board, task: Task) -> Wish:
        """Where its conversation is, if that goes on and the node can take it."""
        name = attempt_id(task.id, task.newest + 1)
        last = task.worker
        goes_on = last is not None and last.session is not None and not was_lost(last)
        home = node_of(last.host_id) if last is not None and goes_on else None
        labels = self._labels_of(task)
        fit = (one for one in self.nodes if not one.problem and not unmet(labels, one.labels))
        usable = {one.name for one in fit if one.used < one.slots}
        near = home if home in usable - board.drains.keys() - self._untended.keys() else None
        return Wish(name, labels, near or "")

    def _labels_of(self, task: Task) -> dict[str, str]:
        """The labels that a node must have to run it, or its reviewer."""
        if task.phase is Phase.REVIEWING:
            reviewer = due_reviewer(self.site, self.ledger.board, task, self.site.clock.now())
            task = for_reviewer(task, reviewer) if reviewer is not None else task
        return selector(needs_of(self.site.config, task), self.nodes, self.systems)

    def _is_ready(self, node: str) -> bool:
        return is_tended(self.ledger.board, node, self.site.clock.now())

    def _why_not(self, wish: Wish, granted: str) -> str:
        if granted:
            return f"it has a slot on node {granted}, which is getting ready"
        return why_no_slot(wish.labels, wish.near, self.nodes, self.ledger.board.drains, self.systems)


def _at_work(board: Board) -> set[str]:
    """The attempts and CI runs on nodes."""
    live = (board.tasks[name].live_attempt for name in board.live)
    return {str(one.id) for one in live if one is not None} | set(board.queue.running)


def _has_ended(board: Board, name: str) -> bool:
    """Whether the attempt or CI run of that name has been and gone."""
    task = board.tasks.get(TaskId(name.partition(".")[0]))
    if task is None:
        return name in board.queue.ended
    return any(attempt.id == name and not attempt.live for attempt in task.attempts)

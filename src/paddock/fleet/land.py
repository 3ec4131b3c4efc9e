"""The merge queue's effects: what the planner asks for is done here, and what came of it is recorded.

Every action may be repeated after a crash. A run is recorded before its process exists, a landing before
main moves; the next daemon reads both from the board and goes on.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, TaskBlocked
from paddock.core.ids import TaskId
from paddock.core.merge import actions as act
from paddock.core.merge import events as qe
from paddock.core.merge.estimate import timeout_seconds
from paddock.core.merge.model import Queue, Result, reusable_pass
from paddock.core.merge.plan import plan
from paddock.core.task import Phase, Task
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.ci_runs import CiCrew, CiRun, RunResult
from paddock.fleet.followups import SentBack
from paddock.fleet.ledger import Ledger
from paddock.fleet.queueing import ci_of, hold_task, main_ref, queue_change
from paddock.fleet.site import Site
from paddock.git.audit import Move
from paddock.git.compose import Composed, Policy, Unit, compose
from paddock.git.held import hold_unit, release_unit
from paddock.git.history import observe_main
from paddock.git.landing import Landed, LandResult, MainMoved, Unsound
from paddock.git.landing import land as move_main
from paddock.git.messages import Part
from paddock.git.workbench import open_workbench

ROUNDS = 1000
FETCH_SECONDS = 15.0
RETRY_SECONDS = 20.0


@dataclass
class Lander:
    site: Site
    ledger: Ledger
    crew: CiCrew
    spawn: Callable[["CiRun"], None]
    runs: dict[str, CiRun] = field(default_factory=dict)
    fetched_at: float = 0.0
    blocked_until: float = 0.0

    def __post_init__(self) -> None:
        self._sent_back = SentBack(self.site, self.ledger)

    async def step(self) -> float | None:
        """Does all there is to do now; returns when to look again even if nothing happens, if at all."""
        board = self.ledger.board
        await self._queue_approved(board)
        await self._sent_back.look_after(board)
        queue = self.ledger.board.queue
        if not queue.entries and not queue.running and queue.landing is None:
            return None
        if time.time() < self.blocked_until:
            return self.blocked_until
        for _ in range(ROUNDS):
            board = self.ledger.board
            self._adopt(board.queue)
            facts = await self._look(board.queue)
            actions = plan(board.queue, facts, time.time())
            if not actions:
                break
            for action in actions:
                if not await self._perform(action):
                    self.blocked_until = time.time() + RETRY_SECONDS
                    return self.blocked_until
        await self._sent_back.look_after(self.ledger.board)
        return time.time() + FETCH_SECONDS if self.site.config.land.remote else None

    async def _queue_approved(self, board: Board) -> None:
        """With approval by nobody, what was delivered is queued at once."""
        if self.site.config.land.approval != "none":
            return
        needy = [board.tasks[name] for name in board.needy]
        waiting = [task for task in needy if task.phase is Phase.APPROVAL and task.head is not None]
        for task in waiting:
            try:
                change = await asyncio.to_thread(hold_task, self.site, board, task, str(task.head))
            except PaddockError as error:
                await self._block(task, error)
                continue
            checkpoint("queue.held")
            await self.ledger.record(lambda fresh, change=change: queue_change(fresh, change, "policy"))  # type: ignore[misc]
            checkpoint("queue.queued")

    async def _block(self, task: Task, error: PaddockError) -> None:
        event = TaskBlocked(error.message, unblock=error.hint or f"paddock retry {task.id}")
        await self.ledger.record(lambda _board: [Draft(event, task=task.id)])

    async def _look(self, queue: Queue) -> act.Facts:
        land = self.site.config.land
        if land.remote and time.time() - self.fetched_at > FETCH_SECONDS:
            await asyncio.to_thread(self.site.repo.fetch, land.remote, self.site.config.landing_branch)
            self.fetched_at = time.time()
        known = queue.main.commit if queue.main is not None else None
        seen = await asyncio.to_thread(observe_main, self.site.repo, main_ref(self.site), known)
        if seen.commit is None or seen.tree is None:
            raise PaddockError(f"`{main_ref(self.site)}` is gone", "create it again, or set `main` in paddock.toml")
        return act.Facts(
            main_commit=seen.commit,
            main_tree=seen.tree,
            ci=ci_of(self.site).digest,
            slots=land.slots,
            main_descends=seen.descends,
            timeout_floor_seconds=land.timeout,
        )

    async def _perform(self, action: act.Action) -> bool:
        """False when the world outside did not let us: try again later."""
        match action:
            case act.StartRun():
                await self._start(action)
            case act.CancelRun(run=run, reason=reason):
                await self._record(qe.RunCancelAsked(run, reason))
                if run in self.runs:
                    self.runs[run].cancelled = reason or "cancelled"
                    self.runs[run].changed.set()
            case act.Land():
                return await self._land(action)
            case _:
                event = act.decision_event(action)
                assert event is not None
                await self._record(event)
        return True

    async def _start(self, action: act.StartRun) -> None:
        composed = await asyncio.to_thread(self._compose, action)
        if isinstance(composed, qe.CompositionRefused):
            await self._record(composed)
            return
        commit, tree = composed
        checkpoint("run.composed")
        digest = ci_of(self.site).digest
        started = qe.RunStarted(
            action.run, action.purpose, action.base, action.base_tree, action.members, tree, commit, digest,
            str(self.site.run_folder(action.run)), action.confirms,
        )  # fmt: skip
        reused = reusable_pass(self.ledger.board.queue, action.purpose, tree, digest)
        events: list[qe.QueueEvent] = [started]
        if reused is not None:
            events.append(qe.RunEnded(action.run, Result.PASS, reused=reused))
        await self._record(*events)
        checkpoint("run.started_in_log")

    def _compose(self, action: act.StartRun) -> tuple[str, str] | qe.CompositionRefused:
        if not action.members:
            return action.base, action.base_tree
        entries = self.ledger.board.queue.entries
        parts = tuple(
            Part(member, entries[member.id].change.title if member.id in entries else "") for member in action.members
        )
        unit = Unit(action.base, parts, Policy(self.site.config.land.policy))
        composed = compose(open_workbench(self.site.repo), unit, checkpoint)
        if isinstance(composed, Composed):
            hold_unit(self.site.repo, composed.commit)
            return composed.commit, composed.tree
        member = composed.member
        return qe.CompositionRefused(
            action.base, action.members, member.id, member.version, composed.cause, composed.paths, composed.against
        )

    def _adopt(self, queue: Queue) -> None:
        """Every run that has not ended has somebody who drives it."""
        for name, run in queue.running.items():
            if name in self.runs:
                continue
            limit = timeout_seconds(queue.stats, self.site.config.land.timeout)
            driver = CiRun(self.crew, run, limit)
            driver.cancelled = "cancelled" if run.cancelling else ""
            self.runs[name] = driver
            self.spawn(driver)

    async def finish(self, driver: CiRun) -> None:
        """Drives a run and records its end."""
        try:
            ended = await driver.drive()
        except PaddockError as error:
            ended = RunResult(Result.INFRA, None, error.message)
        run = driver.run.id
        checkpoint("run.over")
        event = qe.RunEnded(run, ended.result, ended.exit, note=ended.note)
        await self.ledger.record(lambda board: [Draft(event)] if run in board.queue.running else [])
        checkpoint("run.ended_in_log")
        self.runs.pop(run, None)

    async def _land(self, action: act.Land) -> bool:
        if self.ledger.board.queue.landing is None:
            await self._record(qe.LandingStarted(action.run, action.old, action.new))
            checkpoint("land.announced")
        land = self.site.config.land
        move = Move(
            self.site.config.landing_branch, action.old, action.new, action.tree, action.members, Policy(land.policy)
        )
        result = await asyncio.to_thread(move_main, self.site.repo, move, land.remote or None, checkpoint=checkpoint)
        checkpoint("land.done")
        event = _landing_event(action, result)
        if event is None:
            return False
        await self._record(event)
        checkpoint("land.recorded")
        if isinstance(event, qe.TrainLanded):
            await asyncio.to_thread(self._tidy, action)
        return True

    def _tidy(self, action: act.Land) -> None:
        release_unit(self.site.repo, action.new)
        if self.site.config.land.keep_branches:
            return
        board = self.ledger.board
        for member in action.members:
            task = board.tasks.get(TaskId(member.id))
            if task is not None and task.branch is not None:
                self.site.repo.update_ref(f"refs/heads/{task.branch}", "0" * 40, member.head, "paddock: landed")

    async def _record(self, *events: qe.QueueEvent) -> None:
        await self.ledger.record(lambda _board: [Draft(event) for event in events])


def _landing_event(action: act.Land, result: LandResult) -> qe.TrainLanded | qe.LandingRefused | None:
    match result:
        case Landed():
            return qe.TrainLanded(action.run, action.old, action.new)
        case MainMoved(actual=actual):
            reason = f"main is at {actual or 'nothing'}"
            return qe.LandingRefused(action.run, action.old, action.new, reason)
        case Unsound(problems=problems):
            reason = "; ".join(problems[:5])
            return qe.LandingRefused(action.run, action.old, action.new, reason, audit_failed=True)
        case _:
            return None

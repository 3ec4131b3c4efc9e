"""The merge queue's effects: what the planner asks for is done here, and what came of it is recorded.

Every action may be repeated after a crash. A run is recorded before its process exists, a landing before
main moves; the next daemon reads both from the board and goes on.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from msgspec.structs import replace

from paddock.core.board import Board
from paddock.core.errors import IllegalTransition, PaddockError, words_of
from paddock.core.events import Draft, TaskBlocked
from paddock.core.ids import TaskId, recordable
from paddock.core.merge import actions as act
from paddock.core.merge import events as qe
from paddock.core.merge.estimate import timeout_seconds
from paddock.core.merge.halts import heals_itself
from paddock.core.merge.health import INFRA_BEFORE_CONTROL
from paddock.core.merge.incidents import lost_too_often
from paddock.core.merge.model import Change, Entry, Queue, Result
from paddock.core.merge.passes import reusable_pass, tree_to_lean_on
from paddock.core.merge.plan import plan
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.drives import Drives
from paddock.fleet.landing.aftermath import Aftermath
from paddock.fleet.landing.checkouts import Checkouts
from paddock.fleet.landing.ci_run import CiCrew, CiRun, RunResult
from paddock.fleet.landing.conflicts import landed_against
from paddock.fleet.landing.entrance import ci_of, hold_task, lineage_of, main_ref, open_needs, queue_change
from paddock.fleet.landing.lineage import Lineage
from paddock.fleet.landing.lost_work import loss_events
from paddock.fleet.ledger import Ledger, Succeeded
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
from paddock.git.landing.audit import Move
from paddock.git.landing.compose import Composed, Policy, Unit, compose
from paddock.git.landing.held import hold_unit
from paddock.git.landing.history import observe_main
from paddock.git.landing.land import Landed, LandResult, StaleMain, Stuck, Unsound
from paddock.git.landing.land import land as move_main
from paddock.git.landing.lost import compare_landed
from paddock.git.landing.messages import NamedMember
from paddock.git.landing.publish import Rejected, Unreachable
from paddock.git.landing.workbench import open_workbench
from paddock.sessions.host import Host

ROUNDS = 1000
STALE_PLANS = 20
FETCH_SECONDS = 15.0
LANDING = "landing"
TENDING = "tending the merge queue"


@dataclass
class Lander:
    site: Site
    ledger: Ledger
    crew: CiCrew
    drives: Drives
    troubles: Troubles
    runs: dict[str, CiRun] = field(default_factory=dict)
    fetched_at: float = 0.0

    def __post_init__(self) -> None:
        self._began = self.site.clock.now()
        self._aftermath = Aftermath.of(self.site, self.ledger)
        self._checkouts = Checkouts(self.site)

    async def step(self) -> float | None:
        """Does all there is to do now; returns when to look again even if nothing happens, if at all."""
        tended_at = await self.troubles.attempt(TENDING, self._tend)
        landed_at = await self.troubles.attempt(LANDING, self._advance)
        return min((at for at in (tended_at, landed_at) if at is not None), default=None)

    async def _tend(self) -> None:
        await self._aftermath.sent_back.block_unchanged(self.ledger.board)
        await self._queue_approved(self.ledger.board)
        await self._look_after()

    async def _advance(self) -> float | None:
        if _is_at_rest(self.ledger.board.queue):
            return None
        await self._act()
        await self._give_up_lost(self.ledger.board.queue)
        await self._look_after()
        return self.site.clock.now() + FETCH_SECONDS if self.site.config.land.remote else None

    async def _act(self) -> None:
        """Plans and performs until nothing is left to do; PaddockError where the world outside does not let us."""
        stale = 0
        for _ in range(ROUNDS):
            await self._drop_cancelled(self.ledger.board)
            queue = self.ledger.board.queue
            self._adopt(queue)
            actions = plan(queue, await self._look(queue), self.site.clock.now())
            if not actions:
                break
            try:
                for action in actions:
                    await self._perform(action)
            except IllegalTransition:
                # Something changed while we acted on an older board (a cancel, a run's end): plan again.
                stale += 1
                if stale > STALE_PLANS:
                    raise

    async def _look_after(self) -> None:
        looks = (("reporting what landed", self._aftermath), ("bringing a checkout up to date", self._checkouts))
        for what, whoever in looks:
            if (problem := await whoever.look_after()) is not None:
                await self.troubles.observe(what, problem)

    async def _note_remote(self, remote: str, problem: str) -> None:
        """Once when it is lost and once when it is back; empty: it answered."""
        lost = self.ledger.board.queue.lost_remote
        if problem and lost is None:
            await self._record(qe.RemoteLost(remote, recordable(problem)[:2000]))
        elif not problem and lost is not None:
            await self._record(qe.RemoteReached(remote))

    async def _queue_approved(self, board: Board) -> None:
        """If no approval is required, what was delivered is queued at once."""
        if self.site.config.land.approval != "none":
            return
        needy = [board.tasks[name] for name in board.needy]
        for task in [task for task in needy if _waits_for_nobody(task)]:
            try:
                needs = open_needs(board, task)
                change = await asyncio.to_thread(hold_task, self.site, board.queue, task, str(task.head), needs)
                lineage = await asyncio.to_thread(self._lineage, board.queue, change)
            except PaddockError as error:
                await self._block(task, error)
                continue
            checkpoint("queue.held")
            await self.ledger.record(partial(_queue_if_it_still_waits, change, lineage))
            checkpoint("queue.queued")

    def _lineage(self, queue: Queue, change: Change) -> Lineage:
        """Read outside the log's transaction; raises PaddockError where the change would wait for itself."""
        lineage = lineage_of(self.site)
        lineage.queue(queue, change)
        return lineage

    async def _block(self, task: Task, error: PaddockError) -> None:
        reason = f"{error.message}; {error.hint}" if error.hint else error.message
        event = TaskBlocked(reason, unblock=f"paddock land {task.id}")
        await self.ledger.record(lambda _board: [Draft(event, task=task.id)])

    async def _drop_cancelled(self, board: Board) -> None:
        """A cancelled task takes its change with it, unless main is already being moved to it."""
        queue = board.queue
        landing = queue.ended[queue.landing.run] if queue.landing is not None else None
        unwanted = [entry for entry in queue.entries.values() if _task_is_cancelled(board, entry)]
        for entry in unwanted:
            if landing is not None and landing.holds(entry.change.id):
                continue
            event = qe.ChangeCancelled(entry.change.id, entry.change.version, "its task was cancelled")
            await self._record(event)

    async def _give_up_lost(self, queue: Queue) -> None:
        """A change whose runs keep getting lost, on a machine that passes others, needs a person."""
        if queue.infra_streak >= INFRA_BEFORE_CONTROL or queue.halted is not None:
            return
        for entry in [entry for entry in queue.entries.values() if lost_too_often(entry)]:
            change = entry.change
            lost = [run for run in queue.ended.values() if run.result is Result.INFRA and run.holds(change.id)]
            why = lost[-1].note if lost else "no verdict"
            reason = f"its CI was lost {entry.infra_failures} times while main passes: {why}"
            await self._record(qe.ChangeCancelled(change.id, change.version, reason))

    async def _look(self, queue: Queue) -> act.Facts:
        land = self.site.config.land
        if land.remote and self.site.clock.now() - self.fetched_at > FETCH_SECONDS:
            fetched = await asyncio.to_thread(self.site.repo.fetch, land.remote, self.site.config.landing_branch)
            await self.troubles.observe("fetching from", fetched.problem, land.remote)
            await self._note_remote(land.remote, fetched.problem)
            self.fetched_at = self.site.clock.now()
        known = queue.main.commit if queue.main is not None else None
        seen = await asyncio.to_thread(observe_main, self.site.repo, main_ref(self.site), known)
        if seen is None:
            raise PaddockError(f"`{main_ref(self.site)}` is gone", "create it again, or set `main` in paddock.toml")
        return act.Facts(
            main_commit=seen.commit,
            main_tree=seen.tree,
            ci=ci_of(self.site).digest,
            slots=land.slots,
            main_descends=seen.descends,
            watched_since=self._began,
        )

    async def _perform(self, action: act.Action) -> None:
        match action:
            case act.StartRun():
                await self._start(action)
            case act.CancelRun(run=run, reason=reason):
                await self._record(qe.RunCancelAsked(run, reason))
                if run in self.runs:
                    self.runs[run].cancelled = reason or "cancelled"
                    self.runs[run].changed.set()
            case act.Land():
                await self._land(action)
            case qe.ChangeConflicted():
                await self._bounce(action)
            case qe.MainMoved():
                await self._record_main(action)
            case _:
                await self._record(action)

    async def _record_main(self, moved: qe.MainMoved) -> None:
        """With what it means for work that had landed, in one transaction."""
        known, changes = self.ledger.board.queue.main, []
        if known is not None:
            compared = await asyncio.to_thread(compare_landed, self.site.repo, known.commit, moved.commit)
            changes = loss_events(self.ledger.board, moved.commit, compared)
        await self._record(moved, *changes)

    async def _bounce(self, conflict: qe.ChangeConflicted) -> None:
        entry = self.ledger.board.queue.entries.get(conflict.id)
        if entry is None:
            return
        whom = await asyncio.to_thread(landed_against, self.site, entry.change.head, conflict.base, conflict.paths)
        await self._record(replace(conflict, against=whom))

    async def _start(self, action: act.StartRun) -> None:
        composed = await asyncio.to_thread(self._compose, action, self.ledger.board.queue.entries)
        if isinstance(composed, qe.CompositionRefused):
            await self._record(composed)
            return
        commit, tree = composed
        checkpoint("run.composed")
        digest = ci_of(self.site).digest
        queue = self.ledger.board.queue
        since = tree_to_lean_on(queue, action.purpose, digest)
        checks, since = await asyncio.to_thread(self._choose_checks, action, queue.entries, tree, since)
        started = qe.RunStarted(
            action.run, action.purpose, action.base, action.base_tree, action.members, tree, commit, digest,
            str(self.site.run_folder(action.run)), action.confirms, checks, since, self.site.config.land.policy,
            *self.site.sessions.host,
        )  # fmt: skip
        reused = reusable_pass(self.ledger.board.queue, action.purpose, tree, digest)
        events: list[qe.QueueEvent] = [started]
        if reused is not None:
            events.append(qe.RunEnded(action.run, Result.PASS, reused=reused))
        await self._record(*events)
        checkpoint("run.started_in_log")
        self._adopt(self.ledger.board.queue)

    def _choose_checks(
        self, action: act.StartRun, entries: Mapping[str, Entry], tree: str, since: str
    ) -> tuple[tuple[str, ...], str]:
        """The checks to run and the tree on which the others have passed; empty and none when all are to run.

        Compared is with the tree that passed, not with the base: what trains below bring counts as well.
        """
        definition = ci_of(self.site)
        if not since or not any(check.paths for check in definition.checks):
            return (), ""
        members = [entries[member.id].change.paths for member in action.members if member.id in entries]
        changed = {*self.site.repo.changed_paths(since, tree), *(path for paths in members for path in paths)}
        chosen = definition.checks_for(changed)
        return ((), "") if chosen == definition.checks else (tuple(check.name for check in chosen), since)

    def _compose(self, action: act.StartRun, entries: Mapping[str, Entry]) -> tuple[str, str] | qe.CompositionRefused:
        if not action.members:
            return action.base, action.base_tree
        parts = tuple(
            NamedMember(member, entries[member.id].change.title if member.id in entries else "")
            for member in action.members
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
        """Every run that has not ended has somebody who drives it: a daemon that reaches its host."""
        for name, run in queue.running.items():
            if name in self.runs or not self.site.sessions.reaches(Host(run.host, run.host_id)):
                continue
            limit = timeout_seconds(queue.stats, self.site.config.land.timeout)
            driver = CiRun(self.crew, run, limit)
            driver.cancelled = "cancelled" if run.cancelling else ""
            self.runs[name] = driver
            self.drives.start(name, partial(self.finish, driver))

    async def finish(self, driver: CiRun) -> None:
        """Drives a run and records its end."""
        try:
            ended = await driver.drive()
        except Succeeded:
            raise
        except Exception as error:
            # No change is to blame. The queue has bounded rules for lost runs.
            ended = RunResult(Result.INFRA, None, recordable(words_of(error))[:2000])
        run = driver.run.id
        checkpoint("run.over")
        event = qe.RunEnded(
            run, ended.result, ended.exit, None, ended.note, ended.cannot_run,
            ended.ran, ended.failed, ended.flaked, ended.quarantined,
        )  # fmt: skip
        await self.ledger.record(lambda board: [Draft(event)] if run in board.queue.running else [])
        checkpoint("run.ended_in_log")
        self.runs.pop(run, None)

    async def _land(self, action: act.Land) -> None:
        if self.ledger.board.queue.landing is None:
            await self._record(qe.LandingStarted(action.run, action.old, action.new))
            checkpoint("land.announced")
        land = self.site.config.land
        # The policy may have been edited since the commit was written, and the audit asks for the shape it has.
        policy = Policy(self.ledger.board.queue.ended[action.run].policy or land.policy)
        move = Move(self.site.config.landing_branch, action.old, action.new, action.tree, action.members, policy)
        follow = land.checkout == "update"
        result = await asyncio.to_thread(
            move_main, self.site.repo, move, land.remote or None, checkpoint=checkpoint, update_checkouts=follow
        )
        checkpoint("land.done")
        events = _landing_events(action, result)
        if not events:
            assert isinstance(result, Unreachable | Stuck)
            words = f"main cannot be moved: {result.reason}"
            if isinstance(result, Stuck) and self._is_last_try():
                refused = qe.LandingRefused(action.run, action.old, action.new, words)
                return await self._record(refused, qe.QueueHalted(recordable(words)[:2000], (action.run,)))
            if isinstance(result, Unreachable):
                await self._note_remote(land.remote, result.reason)
            raise PaddockError(words)
        if land.remote and isinstance(result, Landed):
            await self._note_remote(land.remote, "")
            await asyncio.to_thread(self._track, action)
        elif land.remote:
            self.fetched_at = 0.0
        await self._record(*events)
        checkpoint("land.recorded")

    def _is_last_try(self) -> bool:
        """What is in the way on this machine does not go away by itself; a remote may come back."""
        before = self.troubles.book.find(LANDING)
        return before is not None and before.times + 1 >= self.troubles.patience.tries

    def _track(self, action: act.Land) -> None:
        """A push whose answer was lost leaves our picture of the remote behind; that must not look like a rewind."""
        if self.site.repo.resolve(main_ref(self.site)) == action.old:
            self.site.repo.update_ref(main_ref(self.site), action.new, action.old, "paddock: pushed")

    async def _record(self, *events: qe.QueueEvent) -> None:
        await self.ledger.record(lambda _board: [Draft(event) for event in events])


def _is_at_rest(queue: Queue) -> bool:
    """Nothing is queued, and no halt waits for main or CI to recover."""
    heals = queue.halted is not None and heals_itself(queue.halted)
    return not queue.entries and not queue.running and queue.landing is None and not heals


def _waits_for_nobody(task: Task) -> bool:
    """Delivered and not queued yet. What a person took out of the queue is approved already and stays out."""
    return task.phase is Phase.APPROVAL and task.head is not None and task.approved != task.head


def _queue_if_it_still_waits(change: Change, lineage: Lineage, board: Board) -> Sequence[Draft]:
    """A person may have rejected or cancelled the task since it was looked at."""
    task = board.task(TaskId(change.id))
    waits = _waits_for_nobody(task) and task.head == change.head
    return queue_change(board, change, lineage) if waits else []


def _task_is_cancelled(board: Board, entry: Entry) -> bool:
    task = board.tasks.get(TaskId(entry.change.task)) if entry.change.task else None
    return task is not None and task.phase is Phase.CANCELLED


def _landing_events(action: act.Land, result: LandResult) -> tuple[qe.QueueEvent, ...]:
    """What to record; nothing if that is not known yet, or if it may work later."""
    run, old, new = action.run, action.old, action.new
    match result:
        case Landed():
            return (qe.TrainLanded(run, old, new),)
        case StaleMain(actual=actual):
            return (qe.LandingRefused(run, old, new, f"main is at {actual or 'nothing'}"),)
        case Unsound(problems=problems):
            return (qe.LandingRefused(run, old, new, "; ".join(problems[:5]), audit_failed=True),)
        case Rejected(reason=reason):
            words = f"the remote rejected it: {reason}"
            return (qe.LandingRefused(run, old, new, words), qe.QueueHalted(words, (run,)))
        case _:
            return ()

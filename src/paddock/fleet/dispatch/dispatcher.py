"""Deciding what starts: order, fan-out, admission; then the claim, in one transaction."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Protocol

from paddock.core.admission.admit import Admission, LimitedBy, Refusal
from paddock.core.board import Board
from paddock.core.causes.measures import TURNS
from paddock.core.errors import PaddockError
from paddock.core.group.sight import Wanted
from paddock.core.ids import TaskId
from paddock.core.leases.decisions import Blocker
from paddock.core.tasks.dispatch import StartOrder, plan_starts
from paddock.core.tasks.task import Task
from paddock.core.tasks.vocabulary import NO_FAILURE
from paddock.fleet.attempts.forks import fork_starts
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.chores import HOLD_SECONDS, Inquest
from paddock.fleet.dispatch.claims import (
    Claims,
    claim_tasks,
    folder_awaited,
    lease_in_the_way,
    session_awaited,
    unrunnable,
)
from paddock.fleet.dispatch.gate import TICK_SECONDS, Gate
from paddock.fleet.dispatch.machine_needs import MachineNeeds
from paddock.fleet.dispatch.warm_session import Link, link_tasks
from paddock.fleet.group.membership import ASK_SECONDS, Membership
from paddock.fleet.ledger import Ledger
from paddock.fleet.review.starts import due_reviews
from paddock.fleet.site import Site

NO_CLOCK_HELPS = frozenset({LimitedBy.BUDGET, LimitedBy.AUTH, LimitedBy.BREAKER, LimitedBy.CAP, LimitedBy.MERGE_QUEUE})
"""Only a person, or the end of something running, can help; the log reports both."""
HELD_UP_BY_OTHERS = frozenset({LimitedBy.GROUP, LimitedBy.GROUP_BUDGET, LimitedBy.TURN})
"""What ends in another repository, of which the own log tells nothing."""
CANDIDATES_PER_SLOT = 4
INQUEST_SECONDS = 1.0
SLOT_SECONDS = 1.0
"""Until it is asked again whether a node has a slot."""
SHOW_SECONDS = 0.25
"""How often a full fleet re-examines waiting tasks: none can start, it only updates the reasons."""

Wait = tuple[str, float | None]
"""Why a task waits, and until when at most."""


class Placement(Protocol):
    """Where agents run on other machines: slots there, and the commits that they begin at."""

    async def place(self, board: Board, tasks: Iterable[TaskId]) -> tuple[dict[TaskId, str], dict[TaskId, str]]:
        """The node of each task that has a slot now, and why the others have none."""

    async def send_beginnings(
        self, board: Board, main: str, names: Iterable[TaskId], others: Iterable[str] = ()
    ) -> None:
        """Has the nodes find what these tasks begin at: main, and whatever else."""


@dataclass
class Dispatcher:
    site: Site
    ledger: Ledger
    gate: Gate
    inquest: Inquest
    nodes: "Placement | None" = None
    links: dict[TaskId, Link] = field(default_factory=dict)
    linked_for: tuple[object, ...] = ()
    stale_because: str = ""
    """Why the remote's main could not be fetched; agents then start where it was last seen."""
    shown_at: float = 0.0

    def __post_init__(self) -> None:
        self._needs = MachineNeeds(self.site)

    async def start(
        self, board: Board, running: Counter[str], cap: int, only: frozenset[TaskId] | None
    ) -> float | None:
        """Starts what may start; returns when to look again, None if only a change in the log can help."""
        now = self.site.clock.now()
        room = cap - running.total()
        if cap > 0 >= room and 0 <= now - self.shown_at < SHOW_SECONDS:
            return self.shown_at + SHOW_SECONDS
        self.shown_at = now
        most = max(room, 1) * CANDIDATES_PER_SLOT + 16
        unmet = self._needs.begin_round(now, here=self.nodes is None)
        plan = plan_starts(board, now, most, only=only, apart=unmet.holds)
        tasks = await self._runnable(board, plan)
        # What is under review is nearly done: it goes before what has not begun.
        reviews = [one for one in due_reviews(self.site, board, now, most, only) if not unmet.holds(one)]
        if not tasks and not reviews and not unmet.waits:
            self.gate.rest()
            return plan.wake_at
        free, waiting = self._unhindered(board, tasks, max(room, 0), now)
        waiting |= unmet.waits
        group = self.gate.group
        sight = await group.look(board, self.gate.controls) if group is not None else None
        admission = self.gate.admit(board, [*reviews, *free], running, cap, sight)
        self.gate.waiting |= {name: reason for name, (reason, _) in waiting.items()}
        self.gate.save() if admission.starts else self.gate.show()
        checkpoint("dispatch.admitted")
        accounts = {TaskId(start.attempt.partition(".")[0]): start.account for start in admission.starts}
        times = [plan.wake_at, *(until for _, until in waiting.values())]
        lets_go = sight is not None and sight.may_let_go
        again = _ask_again(admission.refusals, [at for at in times if at is not None], now, others=lets_go)
        hosts = await self._place(board, accounts, [*reviews, *free])
        if self.nodes is not None and len(hosts) < len(accounts):
            accounts = {name: account for name, account in accounts.items() if name in hosts}
            again = min(now + SLOT_SECONDS, again or inf)
        if not accounts:
            return again
        try:
            near = self.site.near_tip()
            tip = near if near is not None else await asyncio.to_thread(self.site.main_tip, self._note_fetch)
        except PaddockError as error:
            self.gate.waiting |= dict.fromkeys(accounts, f"no commit to start from: {error.message}")
            self.gate.save()
            raise PaddockError(f"no commit to start from: {error.message}", error.hint) from error
        starts = await self._fork_starts(board, accounts)
        checkpoint("dispatch.decided")
        if group is not None:
            accounts = await self._set_aside(group, admission, accounts)
        if self.nodes is not None:
            await self.nodes.send_beginnings(board, tip, accounts, starts.values())
        claims = Claims(accounts, self.links, tip, now, starts, hosts)
        await self.ledger.record(lambda fresh: claim_tasks(self.site, fresh, claims))
        checkpoint("dispatch.claimed")
        if group is not None:
            await group.tell(self.ledger.board, self.gate.controls)
        return again if len(accounts) == len(admission.starts) else min(now + ASK_SECONDS, again or inf)

    async def _place(self, board: Board, accounts: Mapping[TaskId, str], tasks: Collection[Task]) -> dict[TaskId, str]:
        """The node of each task for which one has a slot; nothing where all agents run here."""
        if not accounts or self.nodes is None:
            return {}
        hosts, unplaced = await self.nodes.place(board, accounts)
        if unplaced:
            self._needs.note(tasks, unplaced, self.site.clock.now())
            self.gate.waiting.update((str(name), reason) for name, reason in unplaced.items())
            self.gate.show()
        return hosts

    async def _set_aside(
        self, group: Membership, admission: Admission, accounts: dict[TaskId, str]
    ) -> dict[TaskId, str]:
        """Those of the admitted for which the group has room in the very moment that this is written down there."""
        starts = (one for one in admission.starts if one.attempt.partition(".")[0] in accounts)
        wanted = [Wanted(start.attempt, start.account, start.cost) for start in starts]
        dropped = await group.set_aside(self.ledger.board, self.gate.controls, wanted)
        reasons = {attempt.partition(".")[0]: unfit.reason for attempt, unfit in dropped.items()}
        if reasons:
            self.gate.waiting.update(reasons)
            self.gate.save()
        return {name: account for name, account in accounts.items() if name not in reasons}

    async def _fork_starts(self, board: Board, names: Iterable[TaskId]) -> Mapping[TaskId, str]:
        """Where forks begin: git is asked only if there is one."""
        forks = [name for name in names if board.task(name).forks is not None]
        return await asyncio.to_thread(fork_starts, self.site, board, forks) if forks else {}

    def _note_fetch(self, problem: str) -> None:
        self.stale_because = problem

    async def _runnable(self, board: Board, plan: StartOrder) -> list[Task]:
        """Tasks with an engine; the others are blocked, because nothing can run them."""
        tasks = []
        for name in plan.start:
            try:
                self.site.engine_for(board.tasks[name])
            except PaddockError as error:
                draft = unrunnable(name, error)
                await self.ledger.record(lambda _board, draft=draft: [draft])  # type: ignore[misc]
            else:
                tasks.append(board.tasks[name])
        return tasks

    def _unhindered(
        self, board: Board, tasks: list[Task], room: int, now: float
    ) -> tuple[list[Task], dict[TaskId, Wait]]:
        """Those that wait neither for another's session or folder nor for another's lease, and why the rest wait."""
        if self.site.config.limits.inline and self.nodes is None:
            self._link(board, [task for task in tasks if not task.role.only_reads], room)
        found = ((task.id, self._waits_for(board, task, now)) for task in tasks)
        waiting = {name: wait for name, wait in found if wait is not None}
        return [task for task in tasks if task.id not in waiting], waiting

    def _waits_for(self, board: Board, task: Task, now: float) -> Wait | None:
        if self.inquest.goes_on and (failed := _just_failed(task, now)):
            return f"why {failed} failed is looked into first", now + INQUEST_SECONDS
        link = self.links.get(task.id)
        if reason := session_awaited(self.site, board, link, task):
            return reason, None
        if reason := folder_awaited(self.site, board, link, task):
            return reason, now + TICK_SECONDS
        if (held := lease_in_the_way(self.site, board, task, now)) is not None:
            blocker, words = held
            return _told_of_lease(blocker, words), now + max(TICK_SECONDS, blocker.expires_in_seconds)
        return None

    def _link(self, board: Board, tasks: list[Task], room: int) -> None:
        """Only when something has changed: most wakings of the daemon change nothing here."""
        stand = (room, tuple(board.live), tuple(task.id for task in tasks))
        if stand != self.linked_for:
            self.links = link_tasks(self.site, board, tasks, room, self.links)
            self.linked_for = stand


def _just_failed(task: Task, now: float) -> str:
    """Its latest attempt, if that has failed so lately that nobody may have looked into it yet."""
    last = task.last
    if last is None or last.ended is None or last.outcome in NO_FAILURE:
        return ""
    return last.id if 0 <= now - last.ended < HOLD_SECONDS else ""


def _told_of_lease(blocker: Blocker, words: str) -> str:
    if blocker.name.startswith(TURNS):
        return f"takes turns over {words}: it is the turn of {blocker.holder.name}"
    return f"{blocker.holder.name} holds {blocker.name}"


def _ask_again(refusals: tuple[Refusal, ...], times: list[float], now: float, *, others: bool) -> float | None:
    """`others` tells whether other repositories may soon let go of something."""
    for refusal in refusals:
        if refusal.by in HELD_UP_BY_OTHERS:
            times += [now + ASK_SECONDS] if others else []
        elif refusal.by not in NO_CLOCK_HELPS:
            times.append(refusal.until if refusal.until is not None else now + TICK_SECONDS)
    return min(times, default=None)

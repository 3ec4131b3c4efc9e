"""What follows from a decision: what landed is released, what was returned goes to its agent, a notifier is called."""

import asyncio
import os
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from paddock.core.ids import TaskId
from paddock.core.merge.model import Decided, Ending, Queue
from paddock.core.tasks.task import Task
from paddock.fleet.landing.followups import SentBack
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.git.landing.held import held_units, release_unit
from paddock.git.repo import ABSENT
from paddock.git.worktrees.release import release

MOST_AT_ONCE = 32
TOLD = (Ending.LANDED, Ending.REJECTED, Ending.CONFLICTED)


@dataclass
class Decisions:
    """Each daemon handles those the queue remembers once more: the one before may have died first."""

    site: Site
    ledger: Ledger
    sent_back: SentBack
    notices: "Notices"
    seen: frozenset[tuple[str, float]] = frozenset()

    @classmethod
    def since(cls, site: Site, ledger: Ledger) -> "Decisions":
        return cls(site, ledger, SentBack(site, ledger), Notices.since(site, ledger.board.queue))

    async def look_after(self) -> str | None:
        """Handles every decision once; returns why a notifier could not be called, None if none had to be."""
        queue = self.ledger.board.queue
        fresh = [new for new in queue.decided if (new.id, new.at) not in self.seen]
        await self.sent_back.look_after(self.ledger.board, fresh)
        await self._let_go([new for new in fresh if new.outcome is Ending.LANDED])
        self.seen = frozenset((old.id, old.at) for old in queue.decided)
        return self.notices.tell(queue, fresh)

    async def _let_go(self, landed: Sequence[Decided]) -> None:
        if landed:
            tasks = [] if self.site.config.land.keep_branches else list(filter(None, map(self._task_of, landed)))
            await asyncio.to_thread(_let_go, self.site, {old.commit for old in landed}, tasks)

    def _task_of(self, old: Decided) -> tuple[Task, str] | None:
        """Whose branch it is, and where it was; one that a person queued by name is theirs to delete."""
        task = self.ledger.board.tasks.get(TaskId(old.task)) if old.task else None
        return (task, old.head) if task is not None and task.branch is not None else None


def _let_go(site: Site, units: Collection[str | None], tasks: Sequence[tuple[Task, str]]) -> None:
    """A branch that has gained commits since then stays."""
    for unit in held_units(site.repo):
        if unit in units:
            release_unit(site.repo, unit)
    present = site.repo.refs("refs/heads/") if tasks else {}
    for task, head in tasks:
        ref = f"refs/heads/{task.branch}"
        if present.get(ref) == head:
            _give_back(site, task)
            site.repo.update_ref(ref, ABSENT, head, "paddock: landed")


def _give_back(site: Site, task: Task) -> None:
    """A worktree that is still on its way to the pool: without its branch all its files would look uncommitted."""
    for attempt in task.attempts:
        if not attempt.live:
            release(site.root, attempt.id, f"{attempt.id} ended")


@dataclass
class Notices:
    """The command of `[land] notify`, detached: one that is missing, fails or hangs disturbs nothing. What was decided
    while no daemon lived is not told.

    `before` are decisions that were there already; `halted_at` is the last halt that was, or that has been told.
    """

    site: Site
    before: frozenset[tuple[str, float]]
    halted_at: float = 0.0
    running: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @classmethod
    def since(cls, site: Site, queue: Queue) -> "Notices":
        halted_at = queue.halted.at if queue.halted is not None else 0.0
        return cls(site, frozenset((old.id, old.at) for old in queue.decided), halted_at)

    def tell(self, queue: Queue, decisions: Sequence[Decided]) -> str | None:
        """Starts a notifier for each new decision; why one could not be started, "" when all were, None without any."""
        told: list[str] = []
        halted = queue.halted if queue.halted is not None and queue.halted.at != self.halted_at else None
        self.halted_at = halted.at if halted is not None else self.halted_at
        if not self.site.config.land.notify:
            return None
        self.running = [process for process in self.running if process.poll() is None]
        for decided in (new for new in decisions if new.outcome in TOLD and (new.id, new.at) not in self.before):
            commit = decided.commit or decided.head
            told.append(self._start(decided.id, decided.outcome.value, commit, decided.reason))
        if halted is not None and queue.main is not None:
            told.append(self._start("", "halted", queue.main.commit, halted.reason))
        return max(told, default=None)

    def _start(self, change: str, outcome: str, commit: str, reason: str) -> str:
        if len(self.running) >= MOST_AT_ONCE:
            return f"{MOST_AT_ONCE} notifiers are still running: {change} {outcome} was not announced"
        env = {
            **os.environ,
            "PADDOCK_CHANGE": change,
            "PADDOCK_OUTCOME": outcome,
            "PADDOCK_COMMIT": commit,
            "PADDOCK_REASON": reason.replace("\0", ""),
        }
        place = self.site.repo.main or self.site.repo.common_dir
        quiet = subprocess.DEVNULL
        argv = self.site.config.land.notify
        self.site.lead.require()
        try:
            process = subprocess.Popen(
                argv, cwd=place, env=env, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
            )
        except OSError as error:
            return f"the notifier `{argv[0]}` cannot be started: {error.strerror or error}"
        self.running.append(process)
        return ""

"""The checks of delivered changes that this daemon runs: started once for each version, found again after a crash.

What a run is to do decides its name, so nothing has to be recorded before it begins: whoever asks for the checks of a
version again finds the run that is under way, or goes on where it was left.
"""

import asyncio
import hashlib
from dataclasses import dataclass, field
from functools import partial

import msgspec

from paddock.core.board import Board
from paddock.core.errors import PaddockError, words_of
from paddock.core.events import Acceptance
from paddock.core.ids import TaskId, check_run, recordable
from paddock.core.lead import Succeeded
from paddock.core.review.checks import CheckResult, record_check
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.acceptance import read_acceptance
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.drives import Drives
from paddock.fleet.landing.sandbox_run import CiCrew
from paddock.fleet.ledger import Ledger
from paddock.fleet.review.check_run import CannotRun, CheckPlan, CheckRun
from paddock.fleet.site import Site
from paddock.git.disk import remove_tree
from paddock.git.patches import ChangedFile, changed_lines, list_changes
from paddock.git.sandboxes.ci import define_sandbox

PAUSES_SECONDS = (1.0, 10.0)
"""Between tries to run what the machine did not let run."""


@dataclass
class CheckRuns:
    """At most as many at once as the merge queue may have CI runs, beside those. `driven` is by run."""

    site: Site
    ledger: Ledger
    crew: CiCrew
    drives: Drives
    driven: dict[str, CheckRun] = field(default_factory=dict)
    _tasks: dict[TaskId, str] = field(default_factory=dict)
    """The head that each task's checks are being run on."""

    def start(self, task: Task, names: tuple[str, ...]) -> None:
        """Has these checks run on the task's head, and what came of them recorded. Nothing new while that is under way,
        or too many others are: ask again."""
        if task.head is None or task.id in self._tasks or len(self._tasks) >= self.site.config.land.runs_at_once:
            return
        self._tasks[task.id] = task.head
        self.drives.start(f"checks of {task.id}", partial(self._drive, task, task.head, names))

    def steer(self, board: Board) -> None:
        """Stops those whose change is not under review any more, or is another version now."""
        for run in self.driven.values():
            if not _is_due(board, run.plan.task, run.plan.head):
                run.inside.cancel("the change is not under review any more")

    async def _drive(self, task: Task, head: str, names: tuple[str, ...]) -> None:
        try:
            results = await self._results(task, head, names)
            checkpoint("checks.over")
            least = self.site.config.review.blocking
            # What could not be run comes last: it ends the review, and the others are worth knowing.
            for result in sorted(results, key=lambda one: bool(one.unable)):
                if result.name in names:
                    await self.ledger.record(partial(record_check, task=task.id, head=head, result=result, least=least))
                    checkpoint("checks.recorded")
        finally:
            self._tasks.pop(task.id, None)

    async def _results(self, task: Task, head: str, names: tuple[str, ...]) -> list[CheckResult]:
        """None of them where the review is over meanwhile."""
        problem = ""
        for pause in (0.0, *PAUSES_SECONDS):
            await asyncio.sleep(pause)
            try:
                return await self._try(task, head)
            except Succeeded:
                raise
            except (PaddockError, OSError) as error:
                problem = recordable(words_of(error))
            if not _is_due(self.ledger.read(), task.id, head):
                return []
        return [CheckResult(name, unable=problem) for name in names]

    async def _try(self, task: Task, head: str) -> list[CheckResult]:
        """Raises CannotRun or another PaddockError where it should be tried again, from the beginning."""
        accept = read_acceptance(self.ledger.store, task)
        plan = await asyncio.to_thread(self._plan, task, head, accept)
        run = self.driven[plan.run] = CheckRun(self.crew, plan)
        try:
            results = await run.drive()
        except CannotRun:
            await asyncio.to_thread(remove_tree, self.site.run_folder(plan.run))
            raise
        finally:
            self.driven.pop(plan.run, None)
        if any(result.unable for result in results):
            await asyncio.to_thread(remove_tree, self.site.run_folder(plan.run))
        return results

    def _plan(self, task: Task, head: str, accept: Acceptance | None) -> CheckPlan:
        """Blocks on git: called in a thread."""
        config, repo = self.site.config, self.site.repo
        base = task.base or head
        definition = define_sandbox(config.land)
        checks = config.review.checks
        parts = (accept, checks, definition.setup, definition.env)
        digest = hashlib.sha256(msgspec.json.encode(parts)).hexdigest()
        changes = list_changes(repo, base, head)
        return CheckPlan(
            run=check_run(task.id, head, digest),
            task=task.id,
            head=head,
            base=base,
            accept=accept,
            checks=checks,
            definition=definition,
            changed=_letters(changes),
            touched={recordable(path): lines for path, lines in changed_lines(repo, base, head).items()},
            accept_seconds=config.land.timeout,
        )


def _letters(changes: list[ChangedFile]) -> dict[str, str]:
    """git's letter for each path; where a file moved, its old path is one that is gone."""
    moved = {recordable(one.old_path): "D" for one in changes if one.old_path is not None}
    return {**moved, **{recordable(one.path): one.status for one in changes}}


def _is_due(board: Board, name: TaskId, head: str) -> bool:
    task = board.tasks.get(name)
    return task is not None and task.phase is Phase.REVIEWING and task.head == head

"""The attempts this daemon drives: every live one on a host that it reaches has a run, whoever started it."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from paddock.core.board import Board
from paddock.core.errors import words_of
from paddock.core.ids import TaskId
from paddock.core.lead import Succeeded
from paddock.core.tasks.task import Attempt, Phase
from paddock.core.tasks.vocabulary import EndedBy
from paddock.fleet.attempts.attempt import AttemptRun, Crew
from paddock.fleet.attempts.holding import LOOK_SECONDS, is_left, is_theirs
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.drives import Drives
from paddock.fleet.troubles import Troubles
from paddock.git.command import GitKilled
from paddock.sessions.host import Host

DRIVING = "driving"
MACHINE_PAUSE_SECONDS = 600.0
"""Before a task is tried again whose git was killed over and over. That is nobody's fault, so nobody has to ask."""


@dataclass
class AttemptRuns:
    crew: Crew
    troubles: Troubles
    drives: Drives
    by_task: dict[TaskId, AttemptRun] = field(default_factory=dict)

    def adopt(self, board: Board) -> None:
        """Those that people hold are left to them."""
        for name in list(board.live):
            task = board.tasks[name]
            attempt = task.live_attempt
            if name in self.by_task or attempt is None or not self._reaches(attempt):
                continue
            if not is_theirs(self.crew.site, task, attempt):
                run = self.by_task[name] = AttemptRun(self.crew, name, attempt.id)
                self.drives.start(f"attempt {attempt.id}", partial(self._drive, run))
                checkpoint("daemon.adopted")

    def _reaches(self, attempt: Attempt) -> bool:
        return self.crew.site.sessions.reaches(Host(attempt.host, attempt.host_id))

    def steer(self, board: Board) -> None:
        """Passes on people's requests to them."""
        for name, run in self.by_task.items():
            task = board.tasks[name]
            attempt = task.live_attempt
            if attempt is None or run.wish.stop:
                continue
            if task.phase is Phase.CANCELLED or attempt.stop_requested is not None:
                _stop(run, EndedBy.STOP)
                checkpoint("daemon.steered")
            elif attempt.turn_open and attempt.held is not None and run.wish.interrupted != attempt.turn:
                run.wish.interrupt_turn(attempt.turn, EndedBy.HELD)
                checkpoint("daemon.steered")
            elif attempt.turn_open and run.mail_seen != (task.inbox, task.question):
                run.mail_seen = (task.inbox, task.question)
                run.wish.changed.set()

    def held(self) -> frozenset[str]:
        """The attempts on hosts that we reach, by their ids, that people hold."""
        board = self.crew.ledger.board
        live = (board.tasks[name].live_attempt for name in board.live)
        return frozenset(one.id for one in live if one is not None and one.held is not None and self._reaches(one))

    async def watch_seats(self, gone: Callable[[], None]) -> None:
        """Calls `gone` when somebody who held an attempt is no longer there: nothing in the log tells of that."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            board = self.crew.ledger.board
            for name in list(board.live):
                live = board.tasks[name].live_attempt
                if live is not None and live.held is not None and is_left(self.crew.site, live.held):
                    gone()

    def stop_all(self) -> None:
        for run in self.by_task.values():
            _stop(run, EndedBy.DOWN)

    def count(self, board: Board) -> Counter[str]:
        """Counts by the account they draw on."""
        return Counter(self._account(board, name) for name in self.by_task)

    def _account(self, board: Board, name: TaskId) -> str:
        attempt = board.tasks[name].last
        assert attempt is not None
        return attempt.account or self.crew.site.account_of(attempt.engine)

    async def _drive(self, run: AttemptRun) -> None:
        """Retries whatever goes wrong, and leaves it to a person if that does not help."""
        try:
            while not await self._drive_once(run):
                pass
        finally:
            self.by_task.pop(run.task_id, None)

    async def _drive_once(self, run: AttemptRun) -> bool:
        """Whether there is nothing left to do for it."""
        try:
            await run.drive()
        except (Succeeded, asyncio.CancelledError):
            raise
        except Exception as error:
            trouble = await self.troubles.note(DRIVING, words_of(error), run.attempt_id)
            if not trouble.hopeless and not run.wish.stop:
                await run.pause(trouble.retry_at - self.crew.site.clock.now())
                return False
            later = self.crew.site.clock.now() + MACHINE_PAUSE_SECONDS
            await run.give_up(trouble, later if isinstance(error, GitKilled) else None)
        self.troubles.heal(DRIVING, run.attempt_id)
        return True


def _stop(run: AttemptRun, why: EndedBy) -> None:
    run.wish.stop = why
    run.wish.changed.set()

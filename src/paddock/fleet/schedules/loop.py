"""The daemon's part in schedules: whatever is due is settled, one transaction for each time.

Nothing is kept here that the board does not tell: each step is asked for (`core/schedules/due.py`), and asked for again
where it is recorded. So a daemon that dies leaves a board, and the next one goes on; of two daemons one is refused.
"""

import asyncio
from dataclasses import dataclass, field
from functools import partial

from paddock.config.schema import Config
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft
from paddock.core.ids import TaskId
from paddock.core.intent.schedules import Contents, settle
from paddock.core.intent.tasks import Known
from paddock.core.schedules.due import Fire, NextStep, Wait, next_step
from paddock.core.schedules.model import Schedule
from paddock.core.schedules.progress import find_unfinished
from paddock.core.schedules.timetable import Timetable, timetable_of
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.ledger import Ledger
from paddock.fleet.schedules.contents import known_in, prepare_contents
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
from paddock.git.command import GitKilled

SCHEDULING = "firing schedules"
READING_CLOCK = "reading the clock of schedule"
MOST_STEPS = 64
"""Of one schedule in one round: more than may wait for their turn."""


@dataclass(frozen=True, slots=True)
class _Rest:
    """There is nothing to do for this schedule before `until`, unless it or the unfinished task changes."""

    schedule: Schedule
    behind: TaskId | None
    since: float
    until: float | None

    def lasts(self, schedule: Schedule, behind: TaskId | None, now: float) -> bool:
        """Not if it has not begun yet: somebody has set the clock back."""
        in_time = self.since <= now and (self.until is None or now < self.until)
        return in_time and self.schedule is schedule and self.behind == behind


@dataclass
class ScheduleLoop:
    site: Site
    ledger: Ledger
    troubles: Troubles
    _rests: dict[str, _Rest] = field(default_factory=dict)
    _known: tuple[Config, Known] | None = None

    async def step(self, board: Board) -> float | None:
        """Does all there is to do now; returns when something is due next."""
        if board.schedule_part.is_nothing:
            return None
        names = tuple(board.schedules.by_name)
        times = [await self._settle(name) for name in names]
        self._rests = {name: rest for name, rest in self._rests.items() if name in names}
        return min((at for at in times if at is not None), default=None)

    async def _settle(self, name: str) -> float | None:
        """Until nothing more is due of this one; returns when it is next."""
        for _ in range(MOST_STEPS):
            board, now = self.ledger.board, self.site.clock.now()
            schedule = board.schedules.by_name.get(name)
            if schedule is None:
                return None
            behind, rest = find_unfinished(board, schedule), self._rests.get(name)
            if rest is not None and rest.lasts(schedule, behind, now):
                return rest.until
            timetable = await self._timetable(schedule)
            if timetable is None:
                return None
            step = next_step(schedule, timetable, behind, now)
            if isinstance(step, Wait):
                self._rests[name] = _Rest(schedule, behind, now, step.until)
                return step.until
            await self._record(schedule, step, timetable)
        return self.site.clock.now()

    async def _timetable(self, schedule: Schedule) -> Timetable | None:
        """None, and a trouble, where this machine does not know the zone."""
        before = self.troubles.book.find(READING_CLOCK, schedule.name)
        if before is not None and not before.is_due(self.site.clock.now()):
            return None
        try:
            timetable = timetable_of(schedule.cron, schedule.zone)
        except PaddockError as problem:
            await self.troubles.observe(READING_CLOCK, problem.message, schedule.name)
            return None
        self.troubles.heal(READING_CLOCK, schedule.name)
        return timetable

    async def _record(self, schedule: Schedule, step: NextStep, timetable: Timetable) -> None:
        contents = await self._prepare(schedule) if isinstance(step, Fire) else None
        checkpoint("schedule.due")
        known = self._known_now()
        decide = partial(self._decide, schedule.name, step, timetable, contents, known)
        await self.ledger.record(decide)
        checkpoint(f"schedule.{type(step).__name__.lower()}")

    def _decide(
        self,
        name: str,
        step: NextStep,
        timetable: Timetable,
        contents: Contents | PaddockError | None,
        known: Known,
        board: Board,
    ) -> list[Draft]:
        return settle(board, name, step, timetable, contents, known, self.site.clock.now())

    async def _prepare(self, schedule: Schedule) -> Contents | PaddockError:
        """What it would add, or why it cannot; a git that was killed says neither."""
        prepare = partial(
            prepare_contents, self.site.repo, self.site.config, self._known_now(), schedule.work, schedule.name
        )
        try:
            return await asyncio.to_thread(prepare)
        except GitKilled:
            raise
        except PaddockError as problem:
            return problem

    def _known_now(self) -> Known:
        config = self.site.config
        if self._known is None or self._known[0] is not config:
            self._known = config, known_in(config)
        return self._known[1]

"""A schedule on a board in memory, and a daemon's part in it: steps are asked for and recorded until there is none."""

from dataclasses import dataclass, field

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import AttemptId, TaskId
from paddock.core.intent.schedules import contents_of, settle
from paddock.core.intent.tasks import Known
from paddock.core.schedules import events as se
from paddock.core.schedules.due import Fire, NextStep, Wait, next_step
from paddock.core.schedules.model import Schedule
from paddock.core.schedules.progress import find_unfinished
from paddock.core.schedules.timetable import Timetable, timetable_of
from paddock.core.tasks.vocabulary import Outcome, Role, Step

KNOWN = Known()
NAME = "watch"
WORK = se.ScheduledWork(se.WorkSort.TASK, "Look around.")
MOST_STEPS = 100
START = 1_790_000_000.0 - 1_790_000_000.0 % 86400.0


@dataclass
class Clockwork:
    """`now` is what the clock shows."""

    now: float = START
    board: Board = field(default_factory=Board)
    records: list[ev.Record] = field(default_factory=list)

    @property
    def schedule(self) -> Schedule:
        return self.board.schedules.by_name[NAME]

    @property
    def timetable(self) -> Timetable:
        return timetable_of(self.schedule.cron, self.schedule.zone)

    def write(self, *drafts: ev.Draft) -> None:
        for draft in drafts:
            seq = self.board.seq + 1
            record = ev.Record(seq, self.now, "ana@host", 0, draft.task, draft.attempt, draft.event, bytes(20))
            self.board.apply(record)
            self.records.append(record)

    def add(
        self,
        cron: str = "0 * * * *",
        catch_up: se.CatchUp = se.CatchUp.ONCE,
        overlap: se.Overlap = se.Overlap.SKIP,
        jitter: float = 0.0,
        zone: str = "UTC",
    ) -> None:
        added = se.ScheduleAdded(NAME, cron, zone, WORK, jitter_seconds=jitter, catch_up=catch_up, overlap=overlap)
        self.write(ev.Draft(added))

    def ask(self) -> NextStep:
        return next_step(self.schedule, self.timetable, find_unfinished(self.board, self.schedule), self.now)

    def step(self) -> NextStep:
        """What a daemon does once."""
        step = self.ask()
        contents = contents_of(WORK, NAME, None, 3) if isinstance(step, Fire) else None
        self.write(*settle(self.board, NAME, step, self.timetable, contents, KNOWN, self.now))
        return step

    def settle(self) -> Wait:
        """Until there is nothing more to do."""
        for _ in range(MOST_STEPS):
            if isinstance(step := self.step(), Wait):
                return step
        raise AssertionError(f"it goes on for ever: {step}")

    def finish(self) -> None:
        """Whatever it has added is done."""
        for name in list(self.board.open):
            task = self.board.tasks[name]
            attempt = ev.AttemptStarted("claude", "b" * 40, f"paddock/{name}", role=Role.WORK)
            number = AttemptId(f"{name}.{task.started + 1}")
            self.write(ev.Draft(attempt, task=name, attempt=number))
            ended = ev.AttemptEnded(Outcome.NOOP, Step.NOOP, counted=False, base="b" * 40)
            self.write(ev.Draft(ended, task=name, attempt=number))

    def told(self, kind: type[se.ScheduleFired] = se.ScheduleFired) -> list[se.ScheduleFired]:
        return [record.event for record in self.records if isinstance(record.event, kind)]

    @property
    def fired(self) -> list[float]:
        """For which times, in hours since the beginning."""
        return [(event.due - START) / 3600 for event in self.told() if event.due is not None]

    def unfinished(self) -> TaskId | None:
        return find_unfinished(self.board, self.schedule)

"""Where time went, counted on from the last look: the same as if all of the log had been folded."""

from pathlib import Path

from paddock.core.events import Draft, LogCreated
from paddock.insight.report.phase_times import clock_phases, time_use
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from paddock.web.running_clock import RunningClock
from tests.insight.fleet_log import FleetLog


class KeptLog:
    """A log on disk that is given the records of a made-up one, at their times."""

    def __init__(self, path: Path, log: FleetLog) -> None:
        self.log, self.told, self.now = log, 0, 0.0
        self.store = SqliteStore(path, create=True, clock=lambda: self.now)

    def take(self) -> SqliteStore:
        for record in self.log.records[self.told :]:
            self.now = record.at
            draft = Draft(record.event, task=record.task, attempt=record.attempt)
            self.store.append(lambda _, draft=draft: [draft], Author("daemon"))  # type: ignore[misc]
        self.told = len(self.log.records)
        return self.store


def finish(log: FleetLog, seconds: float) -> str:
    task = log.add()
    log.attempt(task, seconds=seconds)
    log.land(task)
    return task


def test_what_is_new_is_added_to_what_was_counted(tmp_path: Path) -> None:
    log, clock = FleetLog(), RunningClock()
    kept = KeptLog(tmp_path / "log.db", log)
    log.begin_queue()
    finish(log, 60)
    first = clock.time_use(kept.take(), 0.0)
    assert first.use == time_use(clock_phases(log.records))
    slow = finish(log, 900)
    second = clock.time_use(kept.take(), 0.0)
    assert second.use == time_use(clock_phases(log.records))
    assert second.use is not None
    assert second.use.tasks == 2
    assert second.longest["running"][0][1] == slow
    kept.store.close()


def test_another_log_is_counted_from_its_beginning(tmp_path: Path) -> None:
    clock = RunningClock()
    for name, tasks in (("one", 1), ("other", 3)):
        log = FleetLog()
        log.write(LogCreated("0.1.0", name))
        kept = KeptLog(tmp_path / f"{name}.db", log)
        log.begin_queue()
        for _ in range(tasks):
            finish(log, 60)
        use = clock.time_use(kept.take(), 0.0).use
        assert use is not None
        assert use.tasks == tasks
        kept.store.close()

"""Schedules by a clock that jumps: what is due is fired once, whoever dies, sleeps, or sets the clock."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from paddock.core.board import Board
from paddock.core.events import Draft
from paddock.core.intent.tasks import cancel_tasks
from paddock.core.schedules import events as se
from paddock.fleet.daemon import Daemon, Orders
from paddock.fleet.site import Site
from paddock.git.repo import Repo
from tests.simulation.stage import Stage, set_stage
from tests.simulation.virtual import START, VirtualTime
from tests.simulation.world import LONGEST_HOURS, PERSON
from tests.store.memory import MemoryStore

HOUR, DAY = 3600.0, 86400.0
WORK = se.ScheduledWork(se.WorkSort.TASK, "Look around.")


@dataclass
class Watch(Stage):
    """Its daemons wait for what is due, until their hours are over."""

    hours_each: float = 6.0

    async def _run(self, site: Site, store: MemoryStore) -> None:
        wishes = asyncio.gather(self._wish(), self._jolt())
        async with asyncio.timeout(LONGEST_HOURS * 3600):
            ledger = await self._lead(store, self.seat_of(site))
            daemon = Daemon(site, ledger, Orders())
            asyncio.get_running_loop().call_later(self.hours_each * HOUR, daemon.end, "its hours are over")
            await daemon.run()
        ledger.give_up()
        wishes.cancel()

    def schedule(self, cron: str = "0 * * * *", **more: object) -> None:
        added = se.ScheduleAdded("watch", cron, "UTC", WORK, **more)  # type: ignore[arg-type]
        self.people.append(lambda _board: [Draft(added)], PERSON)

    @property
    def fired(self) -> list[se.ScheduleFired]:
        return [event for event in self.events(se.ScheduleFired) if isinstance(event, se.ScheduleFired)]

    @property
    def hours_fired(self) -> list[int]:
        first = START - START % HOUR
        return [round((event.due - first) / HOUR) for event in self.fired if event.due is not None]


def begin(repo: Repo, folder: Path, hours: float = 6.0) -> Watch:
    stage = set_stage(repo, folder)
    return Watch(0, repo, folder, stage.config, ("delivers",), hours_each=hours)


def assert_sound(world: Watch) -> None:
    """No time fires twice, each firing has its tasks, and whatever was due is told of."""
    assert world.violations == []
    assert set(Counter(event.due for event in world.fired).values()) <= {1}
    assert all(event.tasks for event in world.fired)
    assert [name for event in world.fired for name in event.tasks] == list(world.board.tasks)
    assert world.people.verify().bad is None


def finish_all(world: Watch, until: float) -> None:
    """Somebody lets whatever waits for approval go, every ten minutes."""
    world.wishes = [
        (600.0 * number, lambda board: cancel_tasks(board, list(board.needy), "seen"))
        for number in range(1, int(until / 600))
    ]


def let_go(board: Board) -> Sequence[Draft]:
    return cancel_tasks(board, list(board.needy), "seen")


def test_what_is_due_is_fired_by_a_daemon_that_lives(repo: Repo, stage: Path) -> None:
    world = begin(repo, stage, 6.0)
    world.schedule()
    finish_all(world, 6 * HOUR)
    assert world.live()
    assert world.hours_fired == [1, 2, 3, 4, 5, 6]
    lateness = [
        record.at - record.event.due
        for record in world.records()
        if isinstance(record.event, se.ScheduleFired) and record.event.due is not None
    ]
    assert max(lateness) < 1.0
    assert_sound(world)


def test_a_fleet_that_only_waits_for_a_schedule_turns_in_no_circles(repo: Repo, stage: Path) -> None:
    world = begin(repo, stage, 4.0)
    world.schedule("30 12 1 1 *")
    assert world.live()
    assert world.fired == []
    assert world.steps < 4 * 10_000


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 20))])
def test_daemons_that_die_at_any_step_fire_each_time_once(repo: Repo, stage: Path, seed: int) -> None:
    world, chance = begin(repo, stage, 12.0), Random(seed)
    world.schedule("*/20 * * * *", overlap=se.Overlap.QUEUE, catch_up=se.CatchUp.ALL, jitter_seconds=300.0)
    finish_all(world, 12 * HOUR)
    while world.time.seconds < 3 * HOUR:
        world.live(kill_at=round(2 ** chance.uniform(3.0, 13.0)))
    world.hours_each = 1.0
    assert world.live()
    assert_sound(world)
    settled = len(world.fired) + sum(
        event.times for event in world.events(se.ScheduleSkipped) if isinstance(event, se.ScheduleSkipped)
    )
    assert settled + len(world.board.schedules.by_name["watch"].waiting) >= 3 * 3


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))])
def test_of_two_daemons_one_fires(repo: Repo, stage: Path, seed: int) -> None:
    world = begin(repo, stage, 2.0)
    world.schedule("*/10 * * * *", overlap=se.Overlap.QUEUE)
    finish_all(world, 4 * HOUR)
    chance = Random(seed)
    world.live_beside(chance.randint(200, 3000), chance)
    assert world.fired
    assert_sound(world)


def test_times_that_pass_while_the_machine_sleeps_become_one(repo: Repo, stage: Path) -> None:
    world = begin(repo, stage, 4.0)
    world.schedule()
    finish_all(world, 4 * HOUR)
    world.jolts = [(1.5 * HOUR, lambda time: time.sleep(10 * HOUR))]
    assert world.live()
    assert world.hours_fired[:2] == [1, 11]
    assert [event.missed for event in world.fired][:2] == [0, 9]
    assert world.hours_fired[-1] == 14
    assert_sound(world)


def test_a_clock_that_is_set_back_fires_nothing_again(repo: Repo, stage: Path) -> None:
    world = begin(repo, stage, 8.0)
    world.schedule()
    finish_all(world, 8 * HOUR)
    world.jolts = [(3.5 * HOUR, lambda time: time.set_clock(-2 * HOUR))]
    assert world.live()
    assert world.hours_fired == [1, 2, 3, 4, 5, 6], "the hours that come again are settled already"
    assert_sound(world)


def test_a_clock_that_was_far_ahead_is_believed_again_when_it_is_right(repo: Repo, stage: Path) -> None:
    world = begin(repo, stage, 8.0)
    world.schedule()
    finish_all(world, 8 * HOUR)
    ahead, back = (2.5 * HOUR, 30 * DAY), (4.5 * HOUR, -30 * DAY)
    world.jolts = [(at, set_clock(by)) for at, by in (ahead, back)]
    assert world.live()
    assert world.events(se.ScheduleRewound)
    assert world.hours_fired[-1] == 8
    assert_sound(world)


def set_clock(by: float) -> Callable[[VirtualTime], None]:
    return lambda time: time.set_clock(by)

"""What a fleet with nothing to do costs, and how soon it notices that there is something: by a clock that jumps."""

from pathlib import Path
from random import Random

import pytest

from paddock.core.events import Record
from paddock.core.leases.lease import LeaseRenewed
from paddock.fleet import daemon
from paddock.fleet.daemon import SLOW_CLOCK_SECONDS
from paddock.fleet.dispatch.gate import read_limits
from paddock.fleet.dispatch.refusals import read_waiting
from paddock.fleet.ledger import RENEW_SECONDS
from paddock.git.repo import Repo
from tests.simulation.seeded import world_of
from tests.simulation.test_simulation import WISHES, seeds
from tests.simulation.vigil import HOUR, vigil
from tests.simulation.world import World

WAKE_UP_SECONDS = 0.1


def after_the_first_minute(world: World) -> list[Record]:
    records = world.records()
    return [record for record in records if record.at > records[0].at + 60.0]


def test_an_idle_daemon_records_nothing_but_its_lease_and_asks_the_machine_nothing(repo: Repo, stage: Path) -> None:
    world = vigil(repo, stage)
    asked: list[int] = []
    written: list[int] = []
    limits = stage / "state" / "limits.json"
    for at in (60.0, 3 * HOUR - 1.0):
        world.events.append((at, lambda: asked.append(world.gauge.asked)))
        world.events.append((at, lambda: written.append(limits.stat().st_ino)))
    assert world.live()
    assert asked == [1, 1]
    assert written[0] == written[1], "the file is the one that was written first"
    *renewals, released = after_the_first_minute(world)
    assert all(isinstance(record.event, LeaseRenewed) for record in renewals)
    assert len(renewals) <= 3 * HOUR / RENEW_SECONDS
    assert released.event.kind == "lease.released"


def test_a_task_starts_at_once_after_hours_of_nothing(repo: Repo, stage: Path) -> None:
    world = vigil(repo, stage)
    world.events.append((2 * HOUR, world.add_task))
    assert world.live()
    assert world.started_after() <= 2 * HOUR + WAKE_UP_SECONDS


def test_a_lost_wake_up_costs_at_most_the_slow_clock(repo: Repo, stage: Path) -> None:
    world = vigil(repo, stage)
    world.events += [(2 * HOUR, world.deafen), (2 * HOUR + 2.0, world.add_task)]
    assert world.live()
    assert world.started_after() <= 2 * HOUR + 2.0 + SLOW_CLOCK_SECONDS + WAKE_UP_SECONDS


def test_what_waits_for_memory_starts_within_the_slow_clock_and_status_knows_why_it_waits(
    repo: Repo, stage: Path
) -> None:
    world = vigil(repo, stage)
    free_at = 2 * HOUR + 17.0
    world.gauge.memory = lambda now: 2**36 if now >= world.time.now() - world.time.seconds + free_at else 0
    why: list[str] = []
    world.events += [(10.0, world.add_task), (HOUR, lambda: why.extend(read_waiting(stage / "state").values()))]
    assert world.live()
    assert why
    assert "memory" in why[0]
    assert free_at <= world.started_after() <= free_at + SLOW_CLOCK_SECONDS + WAKE_UP_SECONDS
    assert read_waiting(stage / "state") == {}


def test_what_agents_teach_is_kept_while_they_run_and_after_the_last(repo: Repo, stage: Path) -> None:
    world = vigil(repo, stage)
    world.add_task()
    assert world.live()
    kept = read_limits(stage / "state")
    assert kept is not None
    ended = max(played.ends_at or 0.0 for played in world.troupe.turns.values())
    assert kept.controls.accounts["claude"].quota.stepped_at >= ended
    assert kept.controls.accounts["claude"].quota.used == {}


@seeds(5, 30)
def test_rounds_that_are_left_out_change_nothing(
    seed: int, repo: Repo, stage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every fleet takes the same course, to the second, as with a daemon that acts in every round."""
    courses = []
    for lull in (SLOW_CLOCK_SECONDS, daemon.LULL_SECONDS):
        monkeypatch.setattr(daemon, "LULL_SECONDS", lull)
        world = world_of(seed, repo, stage / str(lull))
        chance = Random(f"{seed} wishes")
        names = list(world.board.tasks)
        for at in sorted(chance.uniform(0.0, 2 * HOUR) for _ in range(8)):
            world.wishes.append((at, chance.choice(WISHES)(chance.choice(names))))
        assert world.live()
        courses.append([record for record in world.records() if not is_lease(record)])
    one, other = ([(record.event.kind, record.task) for record in course] for course in courses)
    assert one == other
    assert max(abs(first.at - second.at) for first, second in zip(*courses, strict=True)) < WAKE_UP_SECONDS


def is_lease(record: Record) -> bool:
    return record.event.kind.startswith("lease.")

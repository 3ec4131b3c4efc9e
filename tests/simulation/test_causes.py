"""Causes of failures by a clock that jumps: somebody finds out why attempts failed, and the fleet acts on it."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from paddock.core.board import Board
from paddock.core.causes.decide import Diagnosis, record_diagnosis, waits_for_diagnosis
from paddock.core.causes.events import CauseFound
from paddock.core.causes.strikes import NETWORK_BASE_SECONDS, RECOVERY_SECONDS, TRIAL_BASE_SECONDS
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.events import AttemptStarted, Draft, Record, TaskAdded
from paddock.core.ids import TaskId, task_id
from paddock.core.intent.causes import clear_causes
from paddock.core.tasks.vocabulary import NO_FAILURE
from paddock.fleet.chores import Chore, Deck
from paddock.fleet.daemon import Daemon, Orders
from paddock.fleet.site import Site
from paddock.git.repo import Repo
from tests.simulation.parts import MODEL, cannot_start, crashes
from tests.simulation.stage import Role, Stage, set_stage
from tests.simulation.troupe import Part
from tests.simulation.world import LONGEST_HOURS, PERSON
from tests.store.memory import MemoryStore

NETWORK, DEPENDENCY, CONTENTION = FailureCause.NETWORK, FailureCause.DEPENDENCY, FailureCause.CONTENTION
NEVER_RAN, SATURATION = FailureCause.NEVER_RAN, FailureCause.SATURATION


@dataclass
class Clinic(Stage):
    """`planted` are the causes of what fails, by task. `hours` is how long a daemon lives; 0 is until it is idle."""

    planted: Mapping[str, FailureCause] = field(default_factory=dict)
    at_work: int = 0
    hours_each: float = 0.0

    def chore(self) -> Chore:
        """In the place of the keeper of traces, which has none to read here."""

        async def look(deck: Deck) -> None:
            deck.inquest.attended = True
            if waits_for_diagnosis(deck.ledger.read(), deck.site.clock.now() - 600.0):
                deck.inquest.report()
            while True:
                await deck.inquest.wait(5.0)
                deck.inquest.open()
                await asyncio.sleep(0.3)
                for cause in dict.fromkeys(self.planted.values()):
                    await deck.ledger.record(partial(self.diagnose, cause))
                deck.inquest.close()

        return look

    def diagnose(self, cause: FailureCause, board: Board) -> list[Draft]:
        tasks = [board.tasks[TaskId(name)] for name, planted in self.planted.items() if planted is cause]
        failed = [
            one.id for task in tasks for one in task.attempts if one.outcome not in {None, *NO_FAILURE} and one.ended
        ]
        at_work: dict[str, int] = dict.fromkeys(failed, self.at_work)
        return record_diagnosis(board, Diagnosis(f"f-{cause.value}", cause, failed, "planted", at_work=at_work))

    async def _run(self, site: Site, store: MemoryStore) -> None:
        wishes = asyncio.gather(self._wish(), self._jolt())
        async with asyncio.timeout(LONGEST_HOURS * 3600):
            ledger = await self._lead(store, self.seat_of(site))
            daemon = Daemon(site, ledger, Orders(until_idle=not self.hours_each), chores=(self.chore(),))
            if self.hours_each:
                asyncio.get_running_loop().call_later(self.hours_each * 3600, daemon.end, "its hours are over")
            await daemon.run()
        ledger.give_up()
        wishes.cancel()

    def starts(self, *tasks: str) -> list[Record]:
        started = (record for record in self.records() if isinstance(record.event, AttemptStarted))
        return [record for record in started if not tasks or record.task in tasks]

    def phases(self) -> list[str]:
        board = self.board
        return [board.tasks[name].phase.value for name in board.tasks]


def begin(
    repo: Repo, folder: Path, planted: Mapping[str, FailureCause], cast: dict[str, Role], hours: float = 0.0
) -> Clinic:
    stage = set_stage(repo, folder, cast, max_agents=8)
    return Clinic(0, repo, folder, stage.config, ("delivers",), cast=cast, planted=planted, hours_each=hours)


def more_tasks(count: int, board: Board) -> list[Draft]:
    names = [task_id(board.next_task + number) for number in range(count)]
    return [Draft(TaskAdded(f"Task {name}", "Do it."), task=name) for name in names]


def fails_soon(_chance: Random, session: str) -> Part:
    """After half a minute, having called a model."""
    usage = {"input_tokens": 100, "output_tokens": 10}
    message = {"id": "m", "model": MODEL, "content": [{"type": "text", "text": "on it"}], "usage": usage}
    said = json.dumps({"type": "assistant", "session_id": session, "message": message})
    return Part(((5.0, said),), 30.0, code=1)


def failing_first(*tasks: str, times: int = 1, role: Role = crashes) -> dict[str, Role]:
    return {f"{task}.{number}": role for task in tasks for number in range(1, times + 1)}


def test_what_the_network_failed_goes_on_for_nothing_after_a_pause_of_the_whole_fleet(repo: Repo, stage: Path) -> None:
    names = ("t1", "t2")
    world = begin(repo, stage, dict.fromkeys(names, NETWORK), failing_first(*names, role=fails_soon))
    world.add(2, attempts=1)
    world.wishes = [(35.0, partial(more_tasks, 2))]
    assert world.live()
    assert world.phases() == ["approval"] * 4
    assert [world.task(name).counted for name in names] == [0, 0]
    [struck] = [cause.struck for cause in world.board.causes.standing.values()]
    assert min(record.at for record in world.starts("t3", "t4")) >= struck + NETWORK_BASE_SECONDS
    world.assert_nothing_is_left()


def test_those_that_fought_never_work_at_the_same_time_again(repo: Repo, stage: Path) -> None:
    names = tuple(f"t{number}" for number in range(1, 6))
    world = begin(repo, stage, dict.fromkeys(names, CONTENTION), failing_first(*names, times=2))
    world.add(6)
    assert world.live()
    assert world.phases() == ["approval"] * 6
    found = min(record.at for record in world.records() if isinstance(record.event, CauseFound))
    spans = [
        (one.started, one.ended or 0.0)
        for name in names
        for one in world.task(name).attempts
        if one.started > found + 60.0
    ]
    spans.sort()
    assert len(spans) >= 5
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    world.assert_nothing_is_left()


def test_what_is_missing_is_met_once_and_nothing_is_tried_until_somebody_says_it_is_there(
    repo: Repo, stage: Path
) -> None:
    names = ("t1", "t2")
    world = begin(repo, stage, dict.fromkeys(names, DEPENDENCY), failing_first(*names))
    world.add(3)
    assert world.live()
    assert world.phases() == ["blocked", "blocked", "approval"]
    assert [world.task(name).started for name in names] == [1, 1]
    world.people.append(lambda board: clear_causes(board, ["c1"]), PERSON)
    assert world.live()
    assert world.phases() == ["approval"] * 3
    world.assert_nothing_is_left()


def test_a_stopped_engine_is_tried_by_one_agent_after_a_while_and_goes_on_if_that_runs(repo: Repo, stage: Path) -> None:
    names = ("t1", "t2", "t3", "t4")
    cast = failing_first("t1", "t2", "t3", times=1, role=cannot_start)
    world = begin(repo, stage, dict.fromkeys(names, NEVER_RAN), cast, hours=2.0)
    world.config = replace(world.config, limits=replace(world.config.limits, max_agents=1))
    world.add(4)
    assert world.live()
    assert world.phases() == ["approval"] * 4
    starts = [record.at for record in world.starts()]
    assert starts[3] - starts[2] >= TRIAL_BASE_SECONDS, "nothing began until one was let try"
    assert world.board.causes.streaks == {}
    world.assert_nothing_is_left()


def test_a_trial_that_does_not_run_either_is_the_only_one_for_twice_as_long(repo: Repo, stage: Path) -> None:
    names = ("t1", "t2", "t3", "t4")
    world = begin(repo, stage, dict.fromkeys(names, NEVER_RAN), dict.fromkeys(names, cannot_start), hours=1.4)
    world.config = replace(world.config, limits=replace(world.config.limits, max_agents=1))
    world.add(4)
    assert world.live()
    starts = [record.at for record in world.starts()]
    pauses = [after - before for before, after in pairwise(starts)]
    assert len(starts) == 6
    assert [int(pause / TRIAL_BASE_SECONDS) for pause in pauses[2:]] == [1, 2, 4]
    world.assert_nothing_is_left()


def test_a_saturated_host_has_fewer_agents_until_it_has_recovered(repo: Repo, stage: Path) -> None:
    names = ("t1", "t2")
    world = begin(repo, stage, dict.fromkeys(names, SATURATION), failing_first(*names, role=fails_soon))
    world.at_work = 4
    world.config = replace(world.config, limits=replace(world.config.limits, max_agents=4))
    world.add(2)
    world.wishes = [(35.0, partial(more_tasks, 10))]
    assert world.live()
    assert set(world.phases()) == {"approval"}
    [cause] = world.board.causes.standing.values()
    tasks = (world.task(str(name)) for name in world.board.tasks)
    spans = [(one.started, one.ended or 0.0) for task in tasks for one in task.attempts]

    def most(since: float, until: float) -> int:
        begun = [start for start, _ in spans if since < start < until]
        return max((sum(start <= at < end for start, end in spans) for at in begun), default=0)

    assert most(cause.struck, cause.struck + RECOVERY_SECONDS / 4) == 2
    assert most(cause.struck + RECOVERY_SECONDS, float("inf")) == 4
    world.assert_nothing_is_left()


@pytest.mark.parametrize("seed", range(3))
def test_daemons_killed_at_any_step_record_each_cause_once_and_come_to_the_same_end(
    repo: Repo, stage: Path, seed: int
) -> None:
    names = {"t1": NETWORK, "t2": NETWORK, "t3": CONTENTION, "t4": CONTENTION, "t5": DEPENDENCY, "t6": DEPENDENCY}
    world = begin(repo, stage, names, failing_first(*names, times=2))
    world.seed = seed
    world.add(8, attempts=1)
    chance = Random(seed)
    for _ in range(40):
        if world.live(kill_at=round(2 ** chance.uniform(3.0, 11.0))):
            break
    assert world.live()
    assert world.phases() == ["approval"] * 4 + ["blocked"] * 2 + ["approval"] * 2
    assert [world.task(name).counted for name in names] == [0] * 6
    found = [(record.attempt, record.event.id) for record in world.records() if isinstance(record.event, CauseFound)]
    assert len(found) == len(set(found))
    assert world.people.verify().bad is None
    world.assert_nothing_is_left()

"""The whole daemon by a clock that jumps: real dispatch, admission, attempts, judge and core, over many seeds."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from paddock.core.events import AttemptEnded, AttemptStarted, DaemonTroubled, TurnEnded, TurnStarted
from paddock.core.ids import TaskId
from paddock.core.intent.budget import set_budget
from paddock.core.intent.messages import send_message
from paddock.core.intent.tasks import cancel_tasks, retry_tasks, stop_tasks
from paddock.core.money.spending import money_of
from paddock.core.tasks.task import Phase
from paddock.fleet.ledger import LEASE_SECONDS
from paddock.git.repo import Repo
from tests.simulation.parts import PARTS
from tests.simulation.seeded import world_of
from tests.simulation.troupe import Part
from tests.simulation.world import PERSON, Wish, World

MOST_STEPS_PER_HOUR = 10_000
"""Of the event loop: a round every five seconds is some 3,000, what agents say comes on top."""
DEAREST_CALL_USD = 0.8
RESTS = {Phase.APPROVAL, Phase.FAILED, Phase.BLOCKED, Phase.CANCELLED, Phase.NOOP, Phase.WAITING}


def check(world: World) -> None:
    """What holds of every fleet that has come to rest, however often its daemon died."""
    assert world.violations == [], why(world)
    board, records = world.board, world.records()
    started = Counter(r.attempt for r in records if isinstance(r.event, AttemptStarted))
    ended = Counter(r.attempt for r in records if isinstance(r.event, AttemptEnded))
    assert started == ended, why(world)
    assert set(started.values()) <= {1}
    turns = Counter((r.attempt, r.event.turn) for r in records if isinstance(r.event, TurnStarted))
    over = Counter((r.attempt, r.event.turn) for r in records if isinstance(r.event, TurnEnded))
    assert turns == over
    assert set(turns.values()) <= {1}
    assert {task.phase for task in board.tasks.values()} <= RESTS, why(world)
    assert not world.troupe.running()
    assert not world.ground.folders, "every folder was given back"
    assert world.people.verify().bad is None
    troubles = [r.event for r in records if isinstance(r.event, DaemonTroubled)]
    assert len(troubles) <= 3 * world.lives, troubles
    times = world.config.timeouts
    longest = times.turn + times.grace + LEASE_SECONDS * 2 * world.lives
    lasted = [
        played.ends_at - played.started_at for played in world.troupe.turns.values() if played.ends_at is not None
    ]
    assert max(lasted, default=0.0) <= longest, why(world)
    assert world.steps <= 2_000 * world.lives + MOST_STEPS_PER_HOUR * world.hours, "it turns in circles"


def outcomes(world: World) -> dict[str, list[str]]:
    return {
        name: [str(attempt.outcome) for attempt in task.attempts] + [task.phase.value]
        for name, task in world.board.tasks.items()
    }


def why(world: World) -> str:
    """How to see it again."""
    return f"replay: pytest tests/simulation -k seed{world.seed} (world {world.seed}, {world.lives} daemons)"


def survive(world: World, chance: Random, deaths: int) -> None:
    """Daemons that are killed at any step of theirs, and one that is not."""
    for _ in range(deaths):
        if world.live(kill_at=round(2 ** chance.uniform(1.0, 13.0))):
            return
    assert world.live()


def seeds(quick: int, all_of_them: int) -> pytest.MarkDecorator:
    """The first few in every test run, the rest where there is time for it."""
    rest = [pytest.param(seed, marks=pytest.mark.slow, id=f"seed{seed}") for seed in range(quick, all_of_them)]
    return pytest.mark.parametrize("seed", [*(pytest.param(n, id=f"seed{n}") for n in range(quick)), *rest])


@seeds(5, 60)
def test_a_fleet_of_any_temper_comes_to_rest(seed: int, repo: Repo, stage: Path) -> None:
    world = world_of(seed, repo, stage)
    assert world.live(), why(world)
    check(world)


@seeds(4, 60)
def test_daemons_killed_at_any_step_come_to_the_same_end_as_one_that_lives(seed: int, repo: Repo, stage: Path) -> None:
    """Parts that open the engine's breaker are left out: who is kept waiting by it depends on who came first."""
    kinds = tuple(kind for kind in PARTS if kind not in ("cannot_start", "never_speaks"))
    undisturbed = world_of(seed, repo, stage / "one", kinds)
    assert undisturbed.live(), why(undisturbed)
    check(undisturbed)
    killed = world_of(seed, repo, stage / "other", kinds)
    survive(killed, Random(f"{seed} deaths"), 8)
    check(killed)
    assert outcomes(killed) == outcomes(undisturbed), why(killed)


@seeds(5, 60)
def test_whatever_people_ask_for_meanwhile_every_attempt_ends_once(seed: int, repo: Repo, stage: Path) -> None:
    world = world_of(seed, repo, stage)
    chance = Random(f"{seed} wishes")
    names = list(world.board.tasks)
    for at in sorted(chance.uniform(0.0, 4 * 3600.0) for _ in range(12)):
        world.wishes.append((at, chance.choice(WISHES)(chance.choice(names))))
    survive(world, chance, 4)
    check(world)


@seeds(4, 60)
def test_one_that_was_suspended_until_another_led_does_nothing_when_it_goes_on(
    seed: int, repo: Repo, stage: Path
) -> None:
    world = world_of(seed, repo, stage)
    chance = Random(f"{seed} split")
    world.live_beside(round(2 ** chance.uniform(2.0, 11.0)), chance)
    check(world)


@seeds(2, 40)
def test_a_budget_is_overspent_by_less_than_one_call(seed: int, repo: Repo, stage: Path) -> None:
    world = world_of(seed, repo, stage, ("spends", "never_ends"))
    limit = Random(f"{seed} budget").choice((3.0, 8.0))
    world.people.append(lambda board: set_budget(board, "fleet", limit, None, lift=False), PERSON)
    assert world.live(), why(world)
    spent = sum(money_of(attempt) for task in world.board.tasks.values() for attempt in task.attempts)
    assert 0.0 < spent <= limit + DEAREST_CALL_USD, why(world)


@seeds(1, 20)
def test_a_turn_that_paddock_itself_cannot_run_costs_its_task_and_not_the_daemon(
    seed: int, repo: Repo, stage: Path
) -> None:
    world = world_of(seed, repo, stage, ("delivers",))
    world.troupe.write_part = lambda turn, order: (
        Part(breaks="Input/output error") if turn.owner == "t1.1" else world.write_part(turn, order)
    )
    assert world.live(), why(world)
    first = world.board.tasks[TaskId("t1")]
    assert first.phase is Phase.BLOCKED
    assert "Input/output error" in first.reason
    others = {name: task.phase for name, task in world.board.tasks.items() if name != "t1" and "t1" not in task.after}
    assert Phase.APPROVAL in others.values()


WISHES: tuple[Callable[[TaskId], Wish], ...] = (
    lambda name: lambda board: send_message(board, [name], "And the other half?"),
    lambda name: lambda board: stop_tasks(board, [name], "enough"),
    lambda name: lambda board: cancel_tasks(board, [name], "not wanted"),
    lambda name: lambda board: retry_tasks(board, [name], 2, "again"),
)

"""A month of a fleet, with something going wrong on some days: each is one alert, and no other day has any."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from paddock.core import events as ev
from paddock.core.alerts.events import AlertRaised
from paddock.core.ids import AttemptId, task_of
from paddock.core.schedules import events as se
from paddock.core.tasks.vocabulary import Outcome
from paddock.core.trace import TokenUsage
from paddock.insight.trace import CostSource, Facts, Step
from tests.insight.alerts.traffic import Fate, Traffic
from tests.insight.alerts.world import DAY, HOUR, MINUTE, START, World, failed_step, steps_of

SILENT = 80 * MINUTE


@dataclass(frozen=True, slots=True)
class Incident:
    """Begins at noon of its day. `rules` are those of which one may tell of it first."""

    day: int
    rules: tuple[str, ...]
    happen: Callable[[Traffic], None]


def fate_for(traffic: Traffic, seconds: float, fate: Callable[[AttemptId], Fate | None]) -> None:
    """What ends within that time, ends so."""
    traffic.fate = fate
    traffic.pass_time(seconds)
    traffic.fate = lambda _: None


def engine_is_gone(traffic: Traffic) -> None:
    fate_for(traffic, HOUR, lambda _: (Outcome.NEVER_RAN, "claude: command not found", {}))


def provider_refuses(traffic: Traffic) -> None:
    def fate(_: AttemptId) -> Fate | None:
        return (Outcome.THROTTLED, "429 too many requests", {}) if traffic.world.random.random() < 0.9 else None

    fate_for(traffic, 2 * HOUR, fate)


def model_is_worse(traffic: Traffic) -> None:
    def fate(_: AttemptId) -> Fate | None:
        random = traffic.world.random
        words = random.sample(["total", "order", "price", "user", "cart", "date", "name", "page", "item", "list"], 3)
        error = f"{words[0]} of {words[1]} is wrong: {words[2]} differs"
        return (Outcome.CRASHED, error, {}) if random.random() < 0.75 else None

    fate_for(traffic, 8 * HOUR, fate)


def agent_hangs(traffic: Traffic) -> None:
    name = traffic.world.start()
    traffic.world.step(name, steps_of(traffic.world.random, traffic.world.now - 60.0, 3))
    traffic.pass_time(SILENT)
    traffic.world.end(name, Outcome.KILLED)


def agent_repeats_itself(traffic: Traffic) -> None:
    name = traffic.world.start()
    for count in range(1, 9):
        traffic.world.step(name, [failed_step("make: no rule to make target `all`")] * count)
        traffic.pass_time(5 * MINUTE)
    traffic.world.end(name, Outcome.KILLED)


def package_is_missing(traffic: Traffic) -> None:
    for _ in range(6):
        traffic.world.run(Outcome.CRASHED, "ModuleNotFoundError: no module named 'yaml'")
        traffic.pass_time(5 * MINUTE)


def model_has_no_price(traffic: Traffic) -> None:
    used = TokenUsage(1_000, 0, 40_000, 2_000)
    told = {"usage": used, "cost_source": CostSource.UNKNOWN, "model": "new-model-9"}
    fate_for(traffic, HOUR, lambda _: (Outcome.DELIVERED, "", dict(told)))


def agent_skips_checks(traffic: Traffic) -> None:
    traffic.world.run(facts=Facts(no_verify=True))
    traffic.pass_time(HOUR)


def tools_are_unknown(traffic: Traffic) -> None:
    odd = tuple(Step(tool="frobnicate", activity="OTHER") for _ in range(60))
    fate_for(traffic, 45 * MINUTE, lambda _: (Outcome.DELIVERED, "", {"steps": odd}))


def budget_runs_out(traffic: Traffic) -> None:
    traffic.world.write(ev.BudgetSet("day", money=1_000.0))
    for _ in range(12):
        name = traffic.world.start()
        traffic.world.write(ev.TurnEnded(1, exit=0, cost_usd=75.0, cost_source="engine"), task_of(name), name)
        traffic.world.end(name, usage=TokenUsage(1_000, 0, 40_000, 2_000, cost_usd=75.0))
        traffic.pass_time(10 * MINUTE)


def schedule_fails(traffic: Traffic) -> None:
    world = traffic.world
    world.write(se.ScheduleAdded("nightly", "0 * * * *", "UTC", se.ScheduledWork(se.WorkSort.TASK, "tidy up")))
    world.write(se.ScheduleFailed("nightly", world.now + 1, "there is no workflow `nightly`"))
    traffic.pass_time(HOUR)
    world.write(se.ScheduleFired("nightly", world.now))


def everybody_is_silent(traffic: Traffic) -> None:
    hung = [traffic.world.start() for _ in range(6)]
    traffic.world.changed.clear()
    for name in traffic.live:
        traffic.live[name] = traffic.world.now + 30 * DAY
    per_hour, traffic.per_hour, traffic.is_silent = traffic.per_hour, 0.0, True
    traffic.pass_time(SILENT)
    traffic.per_hour, traffic.is_silent = per_hour, False
    for name in hung:
        traffic.world.end(name, Outcome.KILLED)
    for name in traffic.live:
        traffic.live[name] = traffic.world.now


def incidents() -> list[Incident]:
    return [
        Incident(3, ("never-ran",), engine_is_gone),
        Incident(5, ("alike", "cause-share", "infrastructure"), provider_refuses),
        Incident(8, ("success", "drift"), model_is_worse),
        Incident(11, ("stuck",), agent_hangs),
        Incident(12, ("stuck",), agent_repeats_itself),
        Incident(14, ("new-failure",), package_is_missing),
        Incident(16, ("unpriced",), model_has_no_price),
        Incident(18, ("hard-rule",), agent_skips_checks),
        Incident(20, ("other-steps",), tools_are_unknown),
        Incident(22, ("budget-forecast", "budget-burn", "budget-used"), budget_runs_out),
        Incident(24, ("schedule-missed",), schedule_fails),
        Incident(26, ("telemetry",), everybody_is_silent),
    ]


def play(world: World, days: int, planted: list[Incident]) -> None:
    traffic = Traffic(world)
    for one in planted:
        traffic.pass_time(START + one.day * DAY + DAY / 2 - world.now)
        one.happen(traffic)
    traffic.pass_time(START + days * DAY - world.now)


def assert_each_is_one_alert(world: World, planted: list[Incident]) -> None:
    left = [(record.at, record.event) for record in world.records if isinstance(record.event, AlertRaised)]
    for one in planted:
        begun = START + one.day * DAY + DAY / 2
        mine = [event for at, event in left if begun <= at < begun + DAY]
        assert len(mine) == 1, (one.day, [(event.rule, event.title) for event in mine])
        assert mine[0].rule in one.rules
        left = [(at, event) for at, event in left if event is not mine[0]]
    assert left == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_each_thing_that_goes_wrong_in_a_month_is_one_alert_and_no_other_day_has_any(tmp_path: Path, seed: int) -> None:
    world, planted = World(tmp_path, seed=seed), incidents()
    play(world, 30, planted)
    assert_each_is_one_alert(world, planted)
    assert [one.rule for one in world.open()] == ["hard-rule"]
    world.close()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 16))
def test_a_quiet_month_has_no_alerts(tmp_path: Path, seed: int) -> None:
    world = World(tmp_path, seed=seed)
    play(world, 30, [])
    assert world.raised() == []
    world.close()


def test_a_quiet_day_has_no_alerts_and_an_hour_without_an_engine_has_one(tmp_path: Path) -> None:
    world, planted = World(tmp_path, seed=1), [Incident(1, ("never-ran",), engine_is_gone)]
    play(world, 2, planted)
    assert_each_is_one_alert(world, planted)
    assert world.open() == []
    world.close()

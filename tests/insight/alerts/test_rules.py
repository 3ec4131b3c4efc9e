"""What each rule sees of a fleet, and that it sees nothing else."""

from collections.abc import Sequence

import pytest

from paddock.config.schema import AlertRuleSettings, Config
from paddock.core import events as ev
from paddock.core.alerts.events import AlertSeverity
from paddock.core.alerts.model import AlertState
from paddock.core.causes.events import CauseCleared
from paddock.core.ids import AttemptId, TaskId, task_of
from paddock.core.money.spending import day_of
from paddock.core.schedules import events as se
from paddock.core.tasks.vocabulary import Outcome
from paddock.core.tasks.vocabulary import Step as Next
from paddock.core.trace import TokenUsage
from paddock.insight.alerts.ended import EndedRun, EndedRuns
from paddock.insight.trace import CostSource, Facts, ModelCall, Step
from tests.insight.alerts.conftest import NewWorld
from tests.insight.alerts.world import DAY, HOUR, MINUTE, World, failed_step

MISSING = "mini: command not found"


def work(world: World, runs: int, *, every: float = 300.0, error: str = "", **more: object) -> None:
    """So many runs, each as usual unless it fails."""
    outcome = Outcome.CRASHED if error else Outcome.DELIVERED
    for _ in range(runs):
        world.run(outcome, error, seconds=every - 30.0, **more)
        world.look()


def told(world: World) -> list[tuple[str, str]]:
    return [(alert.rule, alert.severity.value) for alert in world.open()]


def test_a_fleet_at_work_raises_nothing(world: World) -> None:
    work(world, 60)
    assert world.raised() == []


@pytest.mark.parametrize("with_causes", [False, True])
def test_two_agents_that_never_ran_page_somebody(new_world: NewWorld, with_causes: bool) -> None:
    world = new_world(with_causes=with_causes)
    work(world, 30)
    for _ in range(2):
        world.run(Outcome.NEVER_RAN, MISSING)
    world.looks(2 * MINUTE)
    assert told(world) == [("never-ran", "page")]
    assert MISSING in world.open()[0].title


def test_one_task_that_cannot_be_set_up_pages_nobody(world: World) -> None:
    work(world, 30)
    name = world.run(Outcome.NEVER_RAN, "set-up failed: make: no such target")
    again = world.start(task=task_of(AttemptId(name)))
    world.end(again, Outcome.NEVER_RAN, "set-up failed: make: no such target")
    world.looks(2 * MINUTE)
    assert told(world) == [("never-ran", "ticket")]


def test_an_engine_that_runs_again_has_no_alert_any_more(world: World) -> None:
    work(world, 30)
    for _ in range(2):
        world.run(Outcome.NEVER_RAN, MISSING)
    world.looks(2 * MINUTE)
    work(world, 12)
    assert world.open() == []
    assert world.resolved() == 1


def test_a_cause_that_somebody_has_cleared_is_no_alert_any_more_until_it_comes_back(new_world: NewWorld) -> None:
    world = new_world(with_causes=True)
    work(world, 30)
    for _ in range(3):
        world.run(Outcome.NEVER_RAN, MISSING)
    world.looks(2 * MINUTE)
    assert told(world) == [("never-ran", "page")]
    [cause] = world.board.causes.standing.values()
    world.write(CauseCleared(cause.id, "installed it"))
    world.looks(5 * MINUTE)
    assert (told(world), world.resolved()) == ([], 1)
    for _ in range(2):
        world.run(Outcome.NEVER_RAN, MISSING)
    world.looks(2 * MINUTE)
    assert told(world) == [("never-ran", "page")], "it came back"


@pytest.mark.parametrize("with_causes", [False, True])
def test_a_failure_that_nobody_has_seen_is_one_alert_for_all_rules(new_world: NewWorld, with_causes: bool) -> None:
    """It is new, it is far more than chance, and it makes most of the failures."""
    world = new_world(with_causes=with_causes)
    work(world, 60)
    for number in range(6):
        world.run(Outcome.CRASHED, f"ModuleNotFoundError: no module named 'yaml' (attempt {number})")
        world.look()
    world.looks(3 * MINUTE)
    assert [rule for rule, _ in told(world)] == ["new-failure"]
    assert len(world.raised()) == 1


def test_a_failure_that_always_comes_up_is_not_new(world: World) -> None:
    for _ in range(20):
        work(world, 9)
        work(world, 1, error="flaky: timed out waiting for the port")
    assert world.raised() == []


def test_many_more_of_a_usual_failure_are_told(world: World) -> None:
    for _ in range(20):
        work(world, 9, every=120.0)
        work(world, 1, error="flaky: timed out waiting for the port", every=120.0)
    work(world, 12, error="flaky: timed out waiting for the port", every=60.0)
    world.looks(2 * MINUTE)
    assert [rule for rule, _ in told(world)] == ["alike"]


def test_a_goal_that_is_missed_for_many_reasons_pages_somebody(world: World) -> None:
    work(world, 60)
    for number in range(40):
        work(world, 1, error=f"{'abcdefghijklmnopqrst'[number % 20] * 9} is wrong", every=120.0)
    assert ("success", "page") in told(world)
    assert [rule for rule, _ in told(world)] == ["success"]


def test_a_goal_of_nearly_all_says_how_little_it_allows(new_world: NewWorld) -> None:
    rules = {name: AlertRuleSettings(on=False) for name in ("new-failure", "alike", "cause-share")}
    world = new_world(Config(alerts={"success": AlertRuleSettings(limit=0.999), **rules}))
    for number in range(20):
        work(world, 1, error=f"{'abcdefghijklmnopqrst'[number] * 9} is wrong")
    assert "the goal allows 0.1%" in world.open()[0].title


def test_a_goal_of_ones_own_is_looked_at(new_world: NewWorld) -> None:
    config = Config(alerts={"success": AlertRuleSettings(limit=0.5), "new-failure": AlertRuleSettings(on=False)})
    world = new_world(config)
    for _ in range(20):
        work(world, 1)
        work(world, 1, error=f"{world.random.random()}")
    assert "success" not in [rule for rule, _ in told(world)]


def test_a_rule_that_is_off_raises_nothing_and_resolves_what_it_raised(new_world: NewWorld) -> None:
    world = new_world()
    work(world, 30)
    for _ in range(2):
        world.run(Outcome.NEVER_RAN, MISSING)
    world.looks(2 * MINUTE)
    world.site.config = Config(alerts={"never_ran": AlertRuleSettings(on=False)})
    world.looks(MINUTE)
    assert "never-ran" not in [rule for rule, _ in told(world)]
    assert world.resolved() == 1


def test_an_agent_that_does_nothing_for_long_is_stuck_and_one_at_work_is_not(world: World) -> None:
    work(world, 40)
    stuck, busy = world.start(), world.start()
    done = (Step(tool="T", activity="EDIT:src", target="a.py", at=world.now),)
    world.step(stuck, done)
    world.looks(20 * MINUTE, do=lambda: world.step(busy, done))
    assert [(alert.key, alert.severity.value) for alert in world.open()] == [(f"stuck:{stuck}", "ticket")]
    world.step(stuck, done)
    world.looks(4 * MINUTE, do=lambda: world.step(busy, done))
    assert world.open() == []


def test_an_agent_that_waits_for_a_person_is_not_stuck(world: World) -> None:
    work(world, 40)
    name = world.start()
    world.write(ev.TurnEnded(1, exit=0), task_of(name), name)
    world.looks(HOUR)
    assert world.raised() == []


def test_a_machine_that_slept_has_no_stuck_agents(world: World) -> None:
    work(world, 40)
    world.start()
    world.look()
    world.look(after=9 * HOUR)
    world.looks(3 * MINUTE)
    assert world.raised() == []


def test_an_agent_that_meets_one_error_again_and_again_is_stuck(world: World) -> None:
    work(world, 40)
    name = world.start()
    steps: list[Step] = []
    for number in range(5):
        steps.append(failed_step(f"line {number}: make: no rule to make target"))
        world.step(name, steps)
        world.look()
    assert [alert.key for alert in world.open()] == [f"stuck:{name}"]
    assert "5 times" in world.open()[0].title


def test_an_agent_that_tries_something_else_in_between_is_not_stuck(world: World) -> None:
    work(world, 40)
    name = world.start()
    steps: list[Step] = []
    for number in range(30):
        steps.append(failed_step("1 failed") if number % 3 == 0 else Step(tool="T", activity="EDIT:src"))
        world.step(name, steps)
        world.look()
    assert world.raised() == []


def test_many_agents_that_do_nothing_are_one_alert(world: World) -> None:
    """Nothing is heard of anybody: that is not the agents' doing."""
    work(world, 40)
    for _ in range(6):
        world.start()
    world.looks(20 * MINUTE)
    assert [alert.key for alert in world.open()] == ["telemetry:fleet"]


def test_several_agents_of_one_engine_that_are_stuck_are_one_alert(world: World) -> None:
    work(world, 40)
    for _ in range(4):
        world.start("codex")
    busy = world.start()
    world.looks(20 * MINUTE, do=lambda: world.changed.add(busy))
    assert [(alert.key, alert.count) for alert in world.open()] == [("stuck:silent:codex", 4)]


def test_a_budget_that_runs_out_is_one_alert_that_becomes_graver(world: World) -> None:
    world.now += 12 * HOUR
    world.write(ev.BudgetSet("day", money=10.0))
    spend(world, 8.5)
    world.looks(MINUTE)
    scope = f"day:{day_of(world.now)}"
    assert [(one.key, one.rule, one.severity) for one in world.open()] == [
        (f"budget:{scope}", "budget-used", AlertSeverity.TICKET)
    ]
    spend(world, 2.0)
    world.looks(MINUTE)
    assert [one.severity for one in world.open()] == [AlertSeverity.PAGE]
    assert len(world.raised()) == 1
    world.looks(DAY, every=600.0)
    assert world.open() == []


def spend(world: World, dollars: float) -> None:
    name = world.start()
    task = task_of(name)
    world.write(ev.TurnEnded(1, exit=0, cost_usd=dollars, cost_source="engine"), task, name)
    world.end(name, usage=TokenUsage(1_000, 0, 40_000, 2_000, cost_usd=dollars))


def test_a_day_that_will_cost_too_much_is_told_before_it_has(world: World) -> None:
    world.now += 6 * HOUR
    world.write(ev.BudgetSet("day", money=100.0))
    busy = [world.start() for _ in range(100)]
    for _ in range(24):
        spend(world, 1.5)
        world.looks(5 * MINUTE, every=60.0, do=lambda: world.changed.update(busy))
    assert [one.rule for one in world.raised()] == ["budget-forecast"]


def test_a_day_with_little_left_to_do_costs_no_more_than_that(world: World) -> None:
    world.now += 6 * HOUR
    world.write(ev.BudgetSet("day", money=100.0))
    for _ in range(24):
        spend(world, 1.5)
        for task in list(world.board.open):
            world.write(ev.TaskCancelled("done"), task)
        world.looks(5 * MINUTE, every=60.0)
    assert world.raised() == []


def test_what_a_day_has_cost_is_put_together_once_a_look(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.now += 6 * HOUR
    world.write(ev.BudgetSet("day", money=100.0))
    spend(world, 60.0)
    passes: list[float] = []
    since = EndedRuns.since

    def note_pass(ended: EndedRuns, at: float) -> Sequence[EndedRun]:
        passes.append(at)
        return since(ended, at)

    monkeypatch.setattr(EndedRuns, "since", note_pass)
    world.looks(HOUR, every=HOUR)
    assert passes.count(0.0) == 2, "what ended, and what a task costs"


def test_a_model_without_a_price_is_told_once(world: World) -> None:
    for _ in range(8):
        used = TokenUsage(1_000, 0, 40_000, 2_000)
        work(world, 1, usage=used, cost_source=CostSource.UNKNOWN, model="new-model-9")
    assert [(one.key, one.rule) for one in world.raised()] == [("unpriced:new-model-9", "unpriced")]


def test_a_run_that_used_nothing_does_not_give_its_model_a_price(world: World) -> None:
    used = TokenUsage(1_000, 0, 40_000, 2_000)
    world.run(usage=used, cost_source=CostSource.UNKNOWN, model="new-model-9")
    world.run(usage=TokenUsage(), model="new-model-9")
    world.looks(2 * MINUTE)
    assert [one.key for one in world.open()] == ["unpriced:new-model-9"]


def test_steps_of_no_known_sort_are_told(world: World) -> None:
    odd = tuple(Step(tool="frobnicate", activity="OTHER") for _ in range(20))
    work(world, 12, steps=odd)
    assert [(one.key, one.rule) for one in world.raised()] == [("other-steps:claude", "other-steps")]


def test_calls_that_do_not_add_up_are_told(world: World) -> None:
    twice = tuple(ModelCall(id=str(n), usage=TokenUsage(1_000, 0, 40_000, 2_000)) for n in range(3))
    work(world, 12, calls=twice)
    assert [(one.key, one.rule) for one in world.raised()] == [("usage-ratio:claude", "usage-ratio")]


def test_what_an_engine_that_bills_nothing_reports_need_not_add_up(world: World) -> None:
    twice = tuple(ModelCall(id=str(n), usage=TokenUsage(1_000, 0, 40_000, 2_000)) for n in range(3))
    work(world, 12, calls=twice, engine="scripted")
    assert world.raised() == []


def test_what_a_rule_and_another_say_of_the_same_attempts_stands_once(world: World) -> None:
    work(world, 30)
    for _ in range(3):
        world.run(Outcome.NEVER_RAN, MISSING)
    world.looks(2 * MINUTE)
    [alert] = world.open()
    assert sum("3 attempts at 3 tasks" in line for line in alert.evidence) == 1, alert.evidence


def test_a_dataset_that_is_behind_is_told(world: World) -> None:
    work(world, 10)
    lost = world.start()
    world.look()
    world.write(ev.TurnEnded(1, exit=0), task_of(lost), lost)
    ended = ev.AttemptEnded(Outcome.KILLED, Next.BLOCK, counted=False)
    world.write(ended, task_of(lost), lost)
    world.looks(12 * MINUTE)
    assert [(one.key, one.rule) for one in world.open()] == [("keeper:dataset", "keeper")]


def test_what_none_may_do_is_told_at_once_and_once(world: World) -> None:
    work(world, 20)
    name = world.run(facts=Facts(no_verify=True))
    world.looks(MINUTE)
    (alert,) = world.open()
    assert (alert.rule, alert.lasting, alert.key) == ("hard-rule", True, "hard-rule:no-verify:claude")
    assert name in alert.title
    world.looks(2 * HOUR, every=300.0)
    assert [one.id for one in world.open()] == [alert.id]
    world.ack(alert.id)
    world.looks(5 * MINUTE)
    assert world.alerts() == []
    world.run(facts=Facts(no_verify=True))
    world.looks(MINUTE)
    assert [(one.key, one.episode) for one in world.open()] == [(alert.key, 2)]


def test_a_schedule_that_fails_is_told_until_it_fires(world: World) -> None:
    work_of = se.ScheduledWork(se.WorkSort.TASK, "tidy up")
    world.write(se.ScheduleAdded("nightly", "0 * * * *", "UTC", work_of))
    world.write(se.ScheduleFailed("nightly", world.now + 1, "there is no workflow `nightly`"))
    world.looks(MINUTE)
    assert [(one.key, one.rule) for one in world.open()] == [("schedule-missed:nightly", "schedule-missed")]
    world.write(se.ScheduleFired("nightly", world.now + HOUR))
    world.looks(5 * MINUTE)
    assert world.open() == []


def test_a_schedule_that_waits_for_its_own_task_names_it_and_says_how_often(world: World) -> None:
    world.write(se.ScheduleAdded("nightly", "0 * * * *", "UTC", se.ScheduledWork(se.WorkSort.TASK, "tidy up")))
    world.write(ev.TaskAdded("tidy up", "tidy up"), TaskId("t1"))
    world.write(se.ScheduleFired("nightly", world.now + 1, (TaskId("t1"),)))
    for _ in range(6):
        world.look(after=HOUR)
        world.write(se.ScheduleSkipped("nightly", world.now, se.WhySkipped.OVERLAP, 1, TaskId("t1")))
    world.look()
    [alert] = world.open()
    assert alert.title == "schedule nightly was skipped 6 times in a row: t1 of an earlier firing is unfinished"
    assert alert.run == "paddock show t1"


def test_a_schedule_above_its_budget_is_told(world: World) -> None:
    work_of = se.ScheduledWork(se.WorkSort.TASK, "tidy up")
    world.write(se.ScheduleAdded("nightly", "0 * * * *", "UTC", work_of, budget_usd=1.5))
    work(world, 2, labels=("schedule:nightly",))
    assert [one.rule for one in world.raised()] == ["schedule-budget"]


def test_a_keeper_that_starts_again_raises_and_resolves_nothing(world: World) -> None:
    work(world, 40)
    for _ in range(2):
        world.run(Outcome.NEVER_RAN, MISSING)
    name = world.start()
    world.step(name, (Step(tool="T", activity="EDIT:src", at=world.now),))
    world.looks(20 * MINUTE)
    known = [(one.id, one.state) for one in world.alerts()]
    assert len(known) == 2
    world.ack(known[0][0])
    world.begin_watch()
    before = len(world.records)
    world.looks(20 * MINUTE)
    assert [record.event.kind for record in world.records[before:] if record.event.kind.startswith("alert")] == []
    assert [one.state for one in world.alerts()] == [AlertState.ACKNOWLEDGED, AlertState.OPEN]

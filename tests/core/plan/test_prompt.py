"""What a planner is told: all of it, in few words."""

from paddock.core.ids import TaskId
from paddock.core.plan.answer import read_plan
from paddock.core.plan.overlaps import OpenTask, arrange_plan
from paddock.core.plan.plan import Plan, PlanLimits
from paddock.core.plan.prompt import EXAMPLE, MOST_OPEN, AgentNote, planning_section


def test_the_example_is_a_plan_without_fault() -> None:
    plan = read_plan(EXAMPLE, PlanLimits())
    assert isinstance(plan, Plan)
    assert arrange_plan(plan).added == ()
    assert arrange_plan(plan).overlaps == ()


def test_it_says_what_the_limits_are_and_who_there_is() -> None:
    agents = (AgentNote("fixer", "fixes what is broken", ("src/**",), ("fix",)), AgentNote("plain"))
    others = (OpenTask(TaskId("t7"), "Speed up the cache", ("src/cache/**",)),)
    told = planning_section(PlanLimits(5, ("src/**", "docs")), agents, others)
    assert "At most 5 tasks" in told
    assert "inside of: src/**, docs" in told
    assert "- `fixer`: fixes what is broken; owns src/**; takes kinds fix\n- `plain`" in told
    assert "- t7 Speed up the cache (src/cache/**)" in told


def test_it_is_short_however_many_tasks_are_open() -> None:
    others = [OpenTask(TaskId(f"t{number}"), "x" * 500, ("y" * 500,) * 50) for number in range(1, 1000)]
    told = planning_section(PlanLimits(), (), others)
    assert f"- and {999 - MOST_OPEN} more" in told
    assert len(planning_section(PlanLimits())) < 2_400
    assert len(told) < 20_000

"""What a wait comes to: every task is on its way, where it was wanted, or elsewhere; and the exit status follows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.errors import Misuse
from paddock.core.ids import TaskId
from paddock.core.tasks.awaited import Goal, GoalStanding, Until, WaitStatus, parse_goal, standings_of, status_of
from paddock.core.tasks.task import FINISHED, Phase, Task
from tests.core.ledger import Ledger

LEDGER = Ledger()
ANY = LEDGER.task(LEDGER.add())
tasks = st.builds(
    lambda phase, question, started: replace(ANY, phase=phase, question=question, started=started),
    st.sampled_from(Phase),
    st.sampled_from((0, 7)),
    st.integers(0, 3),
)
standings = st.lists(st.sampled_from(GoalStanding), min_size=1, max_size=6)


def at(phase: str, **fields: object) -> Task:
    return replace(ANY, phase=Phase(phase), **fields)


@pytest.mark.parametrize(
    ("phase", "standing"),
    [
        *((name, GoalStanding.UNDER_WAY) for name in ("waiting", "ready", "running", "reviewing", "queued")),
        *((name, GoalStanding.REACHED) for name in ("landed", "noop", "done", "approval")),
        *((name, GoalStanding.ELSEWHERE) for name in ("failed", "cancelled", "blocked")),
    ],
)
def test_without_a_phase_the_wait_is_for_rest(phase: str, standing: GoalStanding) -> None:
    assert Goal().standing(at(phase)) is standing


def test_an_agent_that_asks_ends_a_wait_for_rest_and_not_one_for_a_phase() -> None:
    asking = at("running", question=7)
    assert Goal().standing(asking) is GoalStanding.ELSEWHERE
    assert parse_goal(["landed"]).standing(asking) is GoalStanding.UNDER_WAY


@pytest.mark.parametrize("phase", ["approval", "queued", "running"])
def test_who_waits_for_a_landing_leaves_people_the_time_to_approve(phase: str) -> None:
    assert parse_goal(["landed"]).standing(at(phase)) is GoalStanding.UNDER_WAY


@pytest.mark.parametrize("phase", ["failed", "cancelled", "blocked", "noop", "done"])
def test_who_waits_for_a_landing_is_told_of_what_will_not_land(phase: str) -> None:
    assert parse_goal(["landed"]).standing(at(phase)) is GoalStanding.ELSEWHERE


def test_what_was_passed_between_two_looks_was_reached() -> None:
    before = at("ready", started=1)
    assert parse_goal(["running"]).standing(at("approval", started=2), before) is GoalStanding.REACHED
    assert parse_goal(["running"]).standing(at("failed", started=1), before) is GoalStanding.ELSEWHERE
    assert parse_goal(["queued"]).standing(at("landed"), before) is GoalStanding.REACHED
    assert parse_goal(["queued"]).standing(at("landed"), at("landed")) is GoalStanding.ELSEWHERE


def test_an_unknown_phase_is_named_with_the_nearest_one() -> None:
    with pytest.raises(Misuse) as refused:
        parse_goal(["landed", "laned"])
    assert "no phase `laned`" in str(refused.value)
    assert "landed" in str(refused.value.hint)


@given(tasks, st.sets(st.sampled_from(Phase), min_size=1))
def test_every_wait_for_phases_ends_where_it_holds_and_where_nothing_can_follow(task: Task, phases: set[Phase]) -> None:
    standing = Goal(frozenset(phases)).standing(task)
    assert (standing is GoalStanding.REACHED) == (task.phase in phases)
    if task.phase in FINISHED and task.phase not in phases:
        assert standing is GoalStanding.ELSEWHERE


@given(tasks)
def test_rest_is_what_the_library_calls_settled(task: Task) -> None:
    assert (Goal().standing(task) is not GoalStanding.UNDER_WAY) == Until.SETTLED.holds(task)


@given(standings, st.booleans())
def test_the_status_is_good_only_if_the_goal_was_reached(found: list[GoalStanding], any_of_them: bool) -> None:
    status = status_of(found, any_of_them=any_of_them)
    reached = any(one is GoalStanding.REACHED for one in found) if any_of_them else set(found) == {GoalStanding.REACHED}
    assert (status is WaitStatus.REACHED) == reached
    assert (status is None) == (not reached and GoalStanding.UNDER_WAY in found)


def test_what_is_blocked_by_a_dead_task_is_not_waited_for() -> None:
    ledger = Ledger()
    first = ledger.add()
    ledger.write(ev.Draft(ev.TaskAdded("Two", "x", after=(first,)), TaskId("t2")))
    ledger.write(ev.Draft(ev.TaskCancelled(), first))
    assert ledger.task(TaskId("t2")).blocked_on == first
    assert parse_goal(["landed"]).standing(ledger.task(TaskId("t2"))) is GoalStanding.ELSEWHERE


@pytest.mark.parametrize(
    ("phase", "people_approve", "standing"),
    [
        ("approval", True, GoalStanding.ELSEWHERE),
        ("approval", False, GoalStanding.UNDER_WAY),
        ("blocked", False, GoalStanding.ELSEWHERE),
        ("running", True, GoalStanding.UNDER_WAY),
        ("landed", True, GoalStanding.UNDER_WAY),
    ],
)
def test_what_waits_behind_a_task_that_rests_is_not_waited_for(
    phase: str, people_approve: bool, standing: GoalStanding
) -> None:
    one, two, three = (TaskId(f"t{number}") for number in (1, 2, 3))
    waiting = {name: at("waiting", id=name, after=(other,)) for name, other in ((two, one), (three, two))}
    known = {one: at(phase, id=one), **waiting}
    found = standings_of(Goal(), known, [three], {}, people_approve=people_approve)
    assert found == {three: standing}
    found = standings_of(parse_goal(["landed"]), known, [three], {}, people_approve=True)
    assert found == {three: GoalStanding.UNDER_WAY}

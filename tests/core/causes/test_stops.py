"""Engines that never run: when they are stopped, when one agent may try, and what lets them start again."""

import pytest

from paddock.core import events as ev
from paddock.core.admission.breaker import Breaker, follow_streaks, how_to_restart, note_never_ran, why_stopped
from paddock.core.admission.controls import Controls, observe_end, observe_streaks, observe_trial
from paddock.core.causes.strikes import TRIAL_BASE_SECONDS, TRIAL_CAP_SECONDS, trial_at
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.ids import TaskId
from paddock.core.intent.causes import clear_causes
from paddock.core.tasks.vocabulary import Outcome
from tests.core.causes.ward import Ward

NEVER = FailureCause.NEVER_RAN


def miss(ward: Ward, task: str, version: str = "") -> None:
    ward.diagnose(NEVER, ward.fail(task, Outcome.NEVER_RAN, counted=False), version=version)


def stopped(ward: Ward) -> list[str]:
    return [engine for engine, streak in ward.board.causes.streaks.items() if streak.stops]


@pytest.fixture
def ward() -> Ward:
    made = Ward()
    made.tasks(4)
    return made


def test_three_in_a_row_of_two_tasks_stop_their_engine(ward: Ward) -> None:
    for task in ("t1", "t1", "t2"):
        assert stopped(ward) == []
        miss(ward, task)
    assert stopped(ward) == ["claude"]


def test_one_task_alone_never_stops_an_engine(ward: Ward) -> None:
    for _ in range(9):
        miss(ward, "t1")
    assert stopped(ward) == []


def test_an_attempt_in_between_that_did_something_begins_the_count_again(ward: Ward) -> None:
    miss(ward, "t1")
    miss(ward, "t2")
    ward.fail("t3", Outcome.DELIVERED, counted=False)
    miss(ward, "t1")
    assert stopped(ward) == []


def test_what_is_diagnosed_after_the_engine_has_run_again_counts_for_nothing(ward: Ward) -> None:
    late = [ward.fail(task, Outcome.NEVER_RAN, counted=False) for task in ("t1", "t2", "t3")]
    ward.fail("t4", Outcome.DELIVERED, counted=False)
    ward.diagnose(NEVER, *late, since_ran=frozenset(late))
    assert stopped(ward) == []


def test_another_version_of_the_engine_begins_again(ward: Ward) -> None:
    for task, version in (("t1", "1.0"), ("t2", "1.0"), ("t3", "1.1")):
        miss(ward, task, version=version)
    assert stopped(ward) == []


@pytest.mark.parametrize("outcome", [Outcome.SETUP_FAILED, Outcome.NO_SPACE, Outcome.THROTTLED, Outcome.AUTH])
def test_what_is_not_the_engines_doing_does_not_stop_it(ward: Ward, outcome: Outcome) -> None:
    ward.diagnose(NEVER, *(ward.fail(task, outcome, counted=False) for task in ("t1", "t2", "t3")))
    assert stopped(ward) == []


@pytest.mark.parametrize(
    "word", [ev.Draft(ev.LimitsReset("claude")), ev.Draft(ev.TaskRetried(1), task=TaskId("t1"))], ids=["reset", "retry"]
)
def test_what_failed_before_a_person_said_that_it_works_does_not_stop_it(ward: Ward, word: ev.Draft) -> None:
    late = [ward.fail(task, Outcome.NEVER_RAN, counted=False) for task in ("t1", "t2", "t3")]
    ward.write(ev.Draft(ev.TaskBlocked("it never ran", "look"), task=TaskId("t1")))
    ward.write(word)
    ward.diagnose(NEVER, *late)
    assert stopped(ward) == []
    for task in ("t2", "t3", "t4"):
        miss(ward, task)
    assert stopped(ward) == ["claude"]
    ward.write(ev.Draft(ev.LimitsReset("claude")))
    assert stopped(ward) == []


def test_one_may_try_after_a_while_and_the_next_after_twice_that(ward: Ward) -> None:
    for task in ("t1", "t2", "t3"):
        miss(ward, task)
    pauses = []
    for _ in range(8):
        streak = ward.board.causes.streaks["claude"]
        pauses.append(trial_at(streak) - streak.last)
        ward.waited_seconds += pauses[-1]
        miss(ward, "t4")
    assert pauses[:3] == [TRIAL_BASE_SECONDS, 2 * TRIAL_BASE_SECONDS, 4 * TRIAL_BASE_SECONDS]
    assert pauses[-1] == TRIAL_CAP_SECONDS
    ward.fail("t1", Outcome.DELIVERED, counted=False)
    assert stopped(ward) == [], "a trial that went well ends it"


def test_one_that_was_at_work_before_the_stop_neither_ends_it_nor_is_a_trial(ward: Ward) -> None:
    early, other = ward.begin("t4"), ward.begin(ward.add())
    for task in ("t1", "t2", "t3"):
        miss(ward, task)
    before = ward.board.causes.streaks["claude"]
    ward.diagnose(NEVER, ward.finish(early, Outcome.NEVER_RAN, counted=False))
    after = ward.board.causes.streaks["claude"]
    assert (after.trials, after.last) == (0, before.last)
    ward.finish(other, Outcome.DELIVERED, counted=False)
    assert stopped(ward) == ["claude"]


def test_clearing_the_cause_lets_the_engine_start(ward: Ward) -> None:
    for task in ("t1", "t2", "t3"):
        miss(ward, task)
    controls = observe_streaks(Controls(), ward.board.causes.streaks)
    breaker = controls.breakers["claude"]
    assert how_to_restart("claude", breaker.cause) == "paddock engines check claude, then paddock failures clear c1"
    assert "3 attempts in a row, of 3 tasks, never ran (it broke); one may try again at" in str(
        why_stopped(breaker, "claude")
    )
    ward.write(*clear_causes(ward.board, ["c1"]))
    assert observe_streaks(controls, ward.board.causes.streaks).breakers["claude"] == Breaker()


def test_what_the_fleet_saw_itself_and_what_the_log_knows_are_one_stop(ward: Ward) -> None:
    breaker = Breaker()
    for task in ("t1", "t2", "t3"):
        breaker = note_never_ran(breaker, "gone", task, 100.0)
    assert follow_streaks({"claude": breaker}, {})["claude"] == breaker, "the log knows nothing of it yet"
    miss(ward, "t1")
    joined = follow_streaks({"claude": breaker}, ward.board.causes.streaks)["claude"]
    assert (joined.is_open, joined.cause) == (True, "c1")
    ward.write(*clear_causes(ward.board, ["c1"]))
    assert follow_streaks({"claude": joined}, ward.board.causes.streaks)["claude"] == Breaker()


def stop(now: float) -> Controls:
    controls = Controls()
    for number in range(3):
        controls = observe_end(controls, "claude", "gone", f"t{number}", now, now)
    return controls


def test_a_trial_is_the_only_one_until_it_has_ended_or_nobody_has_heard_of_it_for_long() -> None:
    now = 1_000.0
    controls = stop(now)
    assert not controls.breakers["claude"].may_try(now + TRIAL_BASE_SECONDS - 1)
    now += TRIAL_BASE_SECONDS
    assert controls.breakers["claude"].may_try(now)
    tried = observe_trial(controls, "claude", now)
    assert not tried.breakers["claude"].may_try(now + 1)
    assert tried.breakers["claude"].may_try(now + TRIAL_BASE_SECONDS)
    failed = observe_end(tried, "claude", "gone", "t1", now, now + 9)
    assert failed.breakers["claude"].trial_at == now + 9 + 2 * TRIAL_BASE_SECONDS
    assert observe_end(tried, "claude", None, "t1", now - 50, now + 9).breakers["claude"].is_open, "it began before"
    assert not observe_end(tried, "claude", None, "t1", now, now + 9).breakers["claude"].is_open
    assert observe_trial(Controls(), "claude", now) == Controls(), "an engine that runs needs no trial"

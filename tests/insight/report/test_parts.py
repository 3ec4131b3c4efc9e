"""The parts of a report: what landed, where time went, which checks are slow, and who threw most away."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from paddock.core.merge import events as qe
from paddock.core.merge.model import Result
from paddock.core.review import events as rv
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.insight.costs.attempts import costs_of_attempts
from paddock.insight.costs.waste import fates_of
from paddock.insight.costs.weeks import WEEK_SECONDS, weekly_costs
from paddock.insight.report.checks import find_slow_checks
from paddock.insight.report.landings import count_landings
from paddock.insight.report.offenders import find_offenders
from paddock.insight.report.phase_times import clock_phases, time_use
from tests.insight.fleet_log import FleetLog

FAILED = (Outcome.CRASHED, Step.FAIL)


def test_the_parts_of_a_tasks_life_add_up_to_its_age_when_it_landed() -> None:
    log = FleetLog()
    log.begin_queue()
    task = log.add()
    log.wait(600)
    log.attempt(task, seconds=120)
    log.wait(300)
    log.land(task, seconds=60)
    use = time_use(clock_phases(log.records))
    assert use is not None
    landed = log.board.tasks[task]
    assert use.seconds == landed.since - landed.created
    parts = {part.name: part.seconds for part in use.parts}
    assert parts["waiting for a free agent"] > 600
    assert 120 < parts["running"] < 130
    assert parts["waiting for you"] > 300
    assert 60 < parts["in the merge queue"] < 70
    assert sum(parts.values()) == use.seconds


def test_tasks_that_are_not_finished_or_were_before_tell_nothing_of_where_time_went() -> None:
    log = FleetLog()
    log.begin_queue()
    log.attempt(log.add())
    assert time_use(clock_phases(log.records)) is None
    early = log.add()
    log.attempt(early)
    log.land(early)
    assert time_use(clock_phases(log.records), since=log.board.at + 1) is None


def test_what_landed_is_told_beside_what_landed_in_the_time_before() -> None:
    log = FleetLog()
    log.begin_queue()
    for _ in range(2):
        task = log.add()
        log.attempt(task)
        log.land(task)
    log.wait(86400)
    for outcome, step in ((Outcome.DELIVERED, Step.APPROVAL), FAILED):
        task = log.add()
        log.attempt(task, outcome, step)
        if outcome is Outcome.DELIVERED:
            log.land(task)
    now = log.board.at
    landings = count_landings(log.board, now - 80_000, now)
    assert (landings.landed, landings.landed_before, landings.failed, landings.decided) == (1, 2, 1, 2)
    whole = count_landings(log.board, None, now)
    assert (whole.landed, whole.landed_before) == (3, None)


@given(st.floats(60, 400 * 86400), st.lists(st.floats(0, 1), max_size=12))
def test_every_landing_is_in_one_bar_and_bars_begin_on_the_hour_or_at_midnight(span: float, ages: list[float]) -> None:
    log = FleetLog()
    log.begin_queue()
    for age in sorted(ages):
        log.wait(age * span)
        task = log.add()
        log.attempt(task, seconds=0.0)
        log.land(task, seconds=0.0)
    now = log.board.at
    landings = count_landings(log.board, None, now)
    assert sum(bar.landed for bar in landings.bars) == len(ages)
    assert len(landings.bars) <= 37
    first, last = landings.bars[0], landings.bars[-1]
    assert first.began % min(first.seconds, 86400) == 0
    assert last.began <= now < last.began + last.seconds


def test_the_check_that_took_most_time_is_first_and_says_where_it_took_longest() -> None:
    log = FleetLog()
    log.begin_queue()
    for seconds in (100.0, 300.0):
        task = log.add()
        log.attempt(task, then=Step.REVIEW)
        for name, passed in (("lint", True), ("accept", False)):
            log.write(rv.CheckEnded(log.new_head(), name, passed, seconds=seconds / 10), task)
        log.write(rv.ReviewPassed(log.board.tasks[task].head or "", 1), task)
        log.land(task, seconds)
    ci, *fast = find_slow_checks(log.records)
    assert (ci.name, ci.kind, ci.runs, ci.slowest, ci.failed) == ("test", "ci", 3, "r3", 0)
    assert 300 <= ci.longest_seconds < 310
    assert [(row.name, row.kind, row.seconds, row.failed) for row in fast] == [
        ("acceptance", "review", 40.0, 2),
        ("lint", "review", 40.0, 0),
    ]


def test_a_run_that_somebody_stopped_says_nothing_about_how_long_checks_take() -> None:
    log = FleetLog()
    log.begin_queue()
    begun, ended = log.records[-2:]
    assert isinstance(begun.event, qe.RunStarted)
    stopped = replace(ended, event=qe.RunEnded("r1", Result.CANCELLED, ran=("test",)))
    assert find_slow_checks([begun, stopped]) == []


def test_who_threw_most_away_is_first_and_few_attempts_accuse_no_agent() -> None:
    log = FleetLog()
    cheap, dear = log.add("cheap"), log.add("dear")
    for task, cost in ((cheap, 1.0), (dear, 9.0)):
        log.attempt(task, Outcome.CRASHED, Step.RETRY, cost=cost, agent="wild")
        log.attempt(task, *FAILED, cost=cost, agent="wild")
    log.attempt(log.add("once"), *FAILED, agent="rare")
    costs = costs_of_attempts(log.board, log.records)
    found = find_offenders(log.board, costs, fates_of(log.board, costs), since=0.0)
    assert [(row.title, row.lost, row.lost_usd) for row in found.tasks][:2] == [("dear", 2, 18.0), ("cheap", 2, 2.0)]
    assert [(row.agent, row.lost, row.attempts) for row in found.agents] == [("wild", 4, 4)]


def test_a_landed_change_costs_all_that_was_spent_in_its_week() -> None:
    log = FleetLog()
    log.begin_queue()
    for _ in range(2):
        task = log.add()
        log.attempt(task, cost=3.0)
        log.land(task)
    log.attempt(log.add(), *FAILED, cost=2.0)
    log.wait(WEEK_SECONDS)
    task = log.add()
    log.attempt(task, cost=5.0)
    log.land(task)
    costs = costs_of_attempts(log.board, log.records)
    weeks = weekly_costs(log.board, costs, fates_of(log.board, costs), log.board.at)
    assert [(week.landed, week.per_landed_usd) for week in weeks] == [(2, 4.0), (1, 5.0)]
    assert weeks[0].split.thrown_usd == 2.0

"""Where the fleet's money went: what was of use, what was thrown away, and what of that others went on with."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.causes.probing import PROBE
from paddock.core.review import events as rv
from paddock.core.tasks.vocabulary import Outcome, Role, Step
from paddock.insight.costs.attempts import FleetCosts, costs_of_attempts, with_traces
from paddock.insight.costs.report import report_costs
from paddock.insight.costs.runs import RunCost
from paddock.insight.costs.starts import ContextFile, find_long_briefs, find_starts
from paddock.insight.costs.waste import MoneyFate, carried_on, fates_of, find_waste, split_money
from tests.insight.fleet_log import FleetLog


def costs_of(log: FleetLog) -> FleetCosts:
    return costs_of_attempts(log.board, log.records)


def fates(log: FleetLog) -> dict[str, MoneyFate]:
    return {str(name): fate for name, fate in fates_of(log.board, costs_of(log)).items()}


@pytest.fixture
def log() -> FleetLog:
    return FleetLog()


def test_every_attempt_has_the_fate_that_the_log_tells(log: FleetLog) -> None:
    landed, failed = log.add(), log.add()
    log.attempt(landed, Outcome.CRASHED, Step.RETRY)
    log.attempt(landed, Outcome.THROTTLED, Step.RETRY)
    log.attempt(landed)
    log.land(landed)
    log.attempt(failed, Outcome.EMPTY, Step.FAIL)
    planned = log.add()
    log.attempt(planned, Outcome.ASKED, Step.BLOCK)
    assert fates(log) == {
        "t1.1": MoneyFate.FAILED,
        "t1.2": MoneyFate.THROTTLED,
        "t1.3": MoneyFate.WORK,
        "t2.1": MoneyFate.FAILED,
        "t3.1": MoneyFate.WORK,
    }


def test_a_version_that_a_person_turned_down_was_thrown_away(log: FleetLog) -> None:
    task = log.add()
    log.attempt(task)
    log.write(ev.TaskRejected(log.board.task(task).head or "", "no"), task)
    log.attempt(task)
    assert fates(log) == {"t1.1": MoneyFate.REJECTED, "t1.2": MoneyFate.WORK}


def test_reviewers_are_paid_for_apart_and_what_they_send_back_is_rejected(log: FleetLog) -> None:
    task = log.add()
    log.attempt(task, then=Step.REVIEW)
    head = log.board.task(task).head or ""
    log.attempt(task, Outcome.ANSWERED, Step.REVIEW, role=Role.REVIEW, agent="critic", cost=0.5)
    log.write(rv.ReviewSentBack(head, 1, (), "no"), task)
    assert fates(log) == {"t1.1": MoneyFate.REJECTED, "t1.2": MoneyFate.REVIEW}
    assert split_money(costs_of(log), fates_of(log.board, costs_of(log))).review_usd == 0.5


def test_work_that_a_later_attempt_went_on_with_is_not_lost_but_its_start_up_was_paid_again(log: FleetLog) -> None:
    task = log.add()
    first = log.attempt(task, Outcome.THROTTLED, Step.RETRY, cost=2.0)
    second = log.attempt(task, Outcome.THROTTLED, Step.RETRY, cost=1.0, startup=0.4, continues=first)
    log.attempt(task, cost=1.0, startup=0.3, continues=second)
    costs = costs_of(log)
    named = fates_of(log.board, costs)
    assert carried_on(costs, named) == {first, second}
    [row] = find_waste(costs, named)
    assert (row.fate, row.lost, row.lost_usd) == (MoneyFate.THROTTLED, 0, 0)
    assert (row.carried, row.carried_usd) == (2, 3.0)
    assert row.again_usd == pytest.approx(0.7)
    assert split_money(costs, named).thrown_usd == 0


def test_going_on_with_work_saves_it_only_if_something_came_of_that(log: FleetLog) -> None:
    task = log.add()
    first = log.attempt(task, Outcome.CRASHED, Step.RETRY, cost=2.0)
    log.attempt(task, Outcome.CRASHED, Step.FAIL, cost=1.0, continues=first)
    [row] = find_waste(costs_of(log), fates_of(log.board, costs_of(log)))
    assert (row.fate, row.lost, row.lost_usd, row.carried) == (MoneyFate.FAILED, 2, 3.0, 0)


def test_a_probe_is_thrown_away_whatever_it_found(log: FleetLog) -> None:
    log.attempt(log.add(labels=(PROBE, "failure-probe:unchanged")))
    assert fates(log) == {"t1.1": MoneyFate.PROBE}
    [row] = report_costs(log.board, costs_of(log), now=log.board.at).thrown_away
    assert (row.fate, row.lost) == (MoneyFate.PROBE, 1)


def test_a_probe_that_somebody_landed_was_work(log: FleetLog) -> None:
    task = log.add(labels=(PROBE,))
    log.attempt(task)
    log.land(task)
    assert fates(log) == {"t1.1": MoneyFate.WORK}


def test_an_attempt_without_a_price_is_counted_and_never_taken_for_free(log: FleetLog) -> None:
    task = log.add()
    log.attempt(task, Outcome.CRASHED, Step.FAIL, cost=None)
    report = report_costs(log.board, costs_of(log), now=log.board.at)
    assert (report.split.cost_usd, report.split.unpriced, report.startup.cost_usd) == (None, 1, None)
    [row] = report.thrown_away
    assert (row.lost_usd, row.unpriced) == (None, 1)
    log.attempt(log.add(), cost=1.5)
    report = report_costs(log.board, costs_of(log), now=log.board.at)
    assert (report.split.cost_usd, report.split.unpriced) == (1.5, 1)


def test_the_cost_of_a_landed_change_is_all_money_of_the_time_asked_about(log: FleetLog) -> None:
    first, second = log.add(), log.add()
    log.attempt(first, cost=4.0)
    log.land(first)
    log.wait(1000)
    began = log.board.at + 0.5
    log.attempt(second, Outcome.CRASHED, Step.RETRY, cost=1.0)
    log.attempt(second, cost=2.0)
    log.land(second)
    whole = report_costs(log.board, costs_of(log), now=log.board.at)
    assert (whole.landed, whole.per_landed_usd) == (2, 3.5)
    late = report_costs(log.board, costs_of(log), now=log.board.at, since=began)
    assert (late.landed, late.per_landed_usd, late.split.attempts) == (1, 3.0, 2)


def test_before_anything_ran_nothing_is_told(log: FleetLog) -> None:
    report = report_costs(log.board, costs_of(log), now=0.0)
    assert (report.split.cost_usd, report.landed, report.per_landed_usd) == (0, 0, None)
    assert (report.agents, report.thrown_away, report.starts) == ((), (), ())


def test_an_agent_whose_start_is_dear_is_told_with_the_others_and_its_files(log: FleetLog) -> None:
    for _ in range(3):
        log.attempt(log.add(), agent="fixer", startup_tokens=60_000, startup=0.5)
        log.attempt(log.add(), agent="typer", startup_tokens=30_000, startup=0.2)
    log.attempt(log.add(), engine="codex", startup_tokens=10_000)
    files = (
        ContextFile(".paddock/agents/fixer.md", 80_000, agent="fixer"),
        ContextFile("CLAUDE.md", 4_000, engine="claude"),
    )
    fixer, *others = find_starts(costs_of(log).attempts, files, log.board.at)
    assert (fixer.agent, fixer.starts, fixer.tokens, fixer.others, fixer.is_dear) == ("fixer", 3, 60_000, 30_000, True)
    assert (fixer.usd_per_start, fixer.week_starts, fixer.week_usd) == (0.5, 3, 1.5)
    assert [(file.path, file.about_tokens) for file in fixer.files] == [
        (".paddock/agents/fixer.md", 20_000),
        ("CLAUDE.md", 1_000),
    ]
    by_name = {row.agent: row for row in others}
    assert (by_name["typer"].is_dear, by_name["codex"].others) == (False, None)


def test_starts_of_the_last_week_alone_count_for_a_week(log: FleetLog) -> None:
    log.attempt(log.add(), startup=0.5)
    log.wait(8 * 86400)
    log.attempt(log.add(), startup=0.2)
    [row] = find_starts(costs_of(log).attempts, (), log.board.at)
    assert (row.starts, row.week_starts, row.week_usd) == (2, 1, 0.2)


def test_a_conversation_that_goes_on_is_no_start(log: FleetLog) -> None:
    task = log.add()
    first = log.attempt(task, Outcome.CRASHED, Step.RETRY)
    log.attempt(task, continues=first, startup_tokens=150_000)
    [row] = find_starts(costs_of(log).attempts, (), log.board.at)
    assert (row.starts, row.tokens) == (1, 40_000)


def test_a_brief_that_makes_a_start_long_is_named(log: FleetLog) -> None:
    for tokens in (30_000, 30_000, 31_000, 70_000):
        log.attempt(log.add(), startup_tokens=tokens)
    [long] = find_long_briefs(costs_of(log).attempts, {log.board.tasks["t4"].id: 160_000})  # type: ignore[index]
    assert (long.task, long.tokens, long.usual, long.about_tokens) == ("t4", 70_000, 30_500, 40_000)


def test_what_only_transcripts_tell_is_joined_to_the_attempt_of_that_name(log: FleetLog) -> None:
    log.attempt(log.add())
    told = RunCost("t1.1", calls=12, startup_tokens=40_000, startup_cached=38_000, startup_input=200_000)
    [attempt] = with_traces(costs_of(log), {"t1.1": told}).attempts
    assert (attempt.run.calls, attempt.run.startup_input, attempt.run.cached_share) == (12, 200_000, 0.95)
    assert attempt.run.cost_usd == 1.0


ENDS = st.sampled_from(
    [
        (Outcome.DELIVERED, Step.APPROVAL),
        (Outcome.CRASHED, Step.RETRY),
        (Outcome.THROTTLED, Step.RETRY),
        (Outcome.ASKED, Step.BLOCK),
        (Outcome.NOOP, Step.NOOP),
    ]
)
DOLLARS = st.none() | st.floats(0, 100)


@given(st.lists(st.tuples(ENDS, DOLLARS, st.none() | st.floats(0, 1)), max_size=8))
def test_the_parts_add_up_to_the_whole_and_nothing_unknown_becomes_nought(
    ends: Sequence[tuple[tuple[Outcome, Step], float | None, float | None]],
) -> None:
    log = FleetLog()
    for (outcome, step), cost, share in ends:
        startup = None if cost is None or share is None else cost * share
        log.attempt(log.add(), outcome, step, cost=cost, startup=startup)
    costs = costs_of(log)
    split = split_money(costs, fates_of(log.board, costs))
    known = [cost for _, cost, _ in ends if cost is not None]
    if not known and ends:
        assert split.cost_usd is None
        return
    parts = (split.startup_usd, split.work_usd, split.unsplit_usd, split.review_usd, split.thrown_usd)
    assert split.cost_usd == pytest.approx(sum(known))
    assert sum(parts) == pytest.approx(sum(known))
    assert min(parts) >= -1e-9
    assert split.unpriced == len(ends) - len(known)

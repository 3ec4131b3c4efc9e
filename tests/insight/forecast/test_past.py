"""What tasks have used, as the log and their transcripts tell it."""

import pytest

from paddock.core import events as ev
from paddock.core.ids import AttemptId
from paddock.core.money.prices import Price, PriceBook, Rates
from paddock.core.tasks.vocabulary import Outcome, Role, Step
from paddock.insight.costs.runs import RunCost
from paddock.insight.forecast.past import past_of_fleet, past_of_runs
from tests.insight.fleet_log import FleetLog

PRICES = PriceBook({"m": (Price("m", "", Rates(10.0, 50.0, 1.0, 12.5)),)})


def test_a_task_is_all_of_its_attempts() -> None:
    log = FleetLog()
    task = log.add(agent="fixer")
    log.attempt(task, Outcome.CRASHED, Step.RETRY, cost=0.5, startup=0.2)
    log.attempt(task, Outcome.NOOP, Step.NOOP, cost=1.5, startup=0.3)
    [past] = past_of_fleet(log.board, {}, PRICES)
    assert (past.usd, past.attempts) == (2.0, 2)
    assert past.startup_share == pytest.approx(0.25)
    assert (past.sort.engine, past.sort.agent, past.sort.role) == ("claude", "fixer", Role.WORK)
    assert past.seconds > 0


def test_what_goes_on_is_not_known_yet() -> None:
    log = FleetLog()
    first, second = log.add(), log.add()
    log.attempt(first, Outcome.CRASHED, Step.RETRY)
    assert past_of_fleet(log.board, {}, PRICES) == [], "it is tried again"
    log.attempt(second, Outcome.DELIVERED, Step.APPROVAL)
    assert len(past_of_fleet(log.board, {}, PRICES)) == 1, "its agents have done their part"
    log.attempt(first, Outcome.NOOP, Step.NOOP)
    assert len(past_of_fleet(log.board, {}, PRICES)) == 2


def test_what_has_no_price_counts_at_a_dear_one_and_says_so() -> None:
    log = FleetLog()
    task = log.add()
    attempt = AttemptId(f"{task}.1")
    log.write(ev.AttemptStarted("claude", "b" * 40, f"paddock/{task}", model="new"), task, attempt)
    log.write(ev.TurnStarted(turn=1), task, attempt)
    turn = ev.TurnEnded(
        turn=1, exit=0, cost_usd=None, cost_source="unpriced", input_tokens=100_000, model="new", assumed_usd=1.25
    )
    log.write(turn, task, attempt)
    log.write(ev.AttemptEnded(Outcome.NOOP, Step.NOOP, counted=False), task, attempt)
    [past] = past_of_fleet(log.board, {}, PRICES)
    assert past.usd == 1.25, "never nothing"
    assert past.assumed


def test_a_warm_start_is_counted_as_the_cold_one_it_might_have_been() -> None:
    """Of 100k tokens of start-up context, 90 in 100 came from the cache: 0.09 + 0.125 instead of 1.25 dollars."""
    log = FleetLog()
    task = log.add()
    name = log.attempt(task, Outcome.NOOP, Step.NOOP, cost=1.0, startup=0.4, model="m")
    del name
    paid = 0.9 * 0.1 + 0.1 * 1.25
    trace = RunCost(
        f"{task}.1", model="m", startup_tokens=100_000, startup_cached=90_000, startup_usd=0.4, opening_usd=paid
    )
    [past] = past_of_fleet(log.board, {f"{task}.1": trace}, PRICES)
    assert past.usd == pytest.approx(1.0 + 1.25 - paid)
    assert past.warm_share == pytest.approx((1.25 - 0.1) / past.usd)
    assert past.startup_share == pytest.approx((0.4 + 1.25 - paid) / past.usd)


def test_imported_runs_are_tasks_of_their_own_and_those_without_a_price_are_left_out() -> None:
    runs = [
        RunCost("a", engine="claude", model="m", cost_usd=2.0, input_tokens=90, output_tokens=10, startup_usd=0.5),
        RunCost("b", engine="claude", unpriced=1),
    ]
    [past] = past_of_runs(runs, PRICES)
    assert (past.usd, past.tokens, past.startup_share) == (2.0, 100, 0.25)
    assert past.sort.engine == "claude"

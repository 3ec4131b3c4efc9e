"""What a run has cost, from its trace: start-up context against work, and nothing unknown taken for free."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.money.prices import PriceBook, price_book, read_table
from paddock.core.trace import TokenUsage
from paddock.insight.costs.report import report_runs
from paddock.insight.costs.runs import RunCost, cost_of_run
from paddock.insight.costs.shares import length_name, share_of, shares_by_length, spread_of
from paddock.insight.trace import Trace

PRICES = price_book(read_table("opus 2026-01-01 5 25 0.5 6.25 10\nplain 2026-01-01 2 8 - - -"))
DAY = 1_800_000_000.0


def run(
    usage: TokenUsage | None,
    startup: int | None = None,
    calls: int | None = None,
    cached: int | None = None,
    model: str = "opus",
) -> RunCost:
    trace = Trace(
        run="r",
        model=model,
        ended=DAY,
        usage=usage,
        startup_tokens=startup,
        startup_cached=cached,
        model_calls=calls,
    )
    return cost_of_run(trace, PRICES)


def test_start_up_is_written_once_and_read_by_every_call_that_follows() -> None:
    usage = TokenUsage(cache_write=50_000, cache_read=400_000, output=4_000)
    told = run(usage, startup=40_000, calls=10, cached=0)
    assert told.cost_usd == pytest.approx((50_000 * 6.25 + 400_000 * 0.5 + 4_000 * 25) / 1e6)
    assert told.startup_usd == pytest.approx((40_000 * 6.25 + 9 * 40_000 * 0.5) / 1e6)
    assert told.startup_input == 400_000
    assert told.opening_usd == pytest.approx(40_000 * 6.25 / 1e6)


def test_a_warm_start_pays_for_reading_alone() -> None:
    usage = TokenUsage(cache_write=10_000, cache_read=400_000)
    warm = run(usage, startup=40_000, calls=10, cached=40_000)
    assert warm.opening_usd == pytest.approx(40_000 * 0.5 / 1e6)
    assert warm.startup_usd == pytest.approx(10 * 40_000 * 0.5 / 1e6)


def test_without_a_cache_every_call_reads_the_start_up_afresh() -> None:
    told = run(TokenUsage(input_uncached=100_000), startup=10_000, calls=5, model="plain")
    assert told.startup_input == 50_000
    assert told.startup_usd == pytest.approx(50_000 * 2 / 1e6)


def test_what_the_engine_says_it_cost_is_divided_in_the_proportions_of_the_price_table() -> None:
    usage = TokenUsage(cache_write=40_000, cache_read=360_000, cost_usd=1.0)
    told = run(usage, startup=40_000, calls=10, cached=0)
    assert told.cost_usd == 1.0
    assert told.startup_usd == pytest.approx(1.0)


def test_a_model_nobody_knows_the_price_of_is_unpriced_and_its_tokens_are_known() -> None:
    told = run(TokenUsage(input_uncached=100), model="mystery-9")
    assert (told.cost_usd, told.startup_usd, told.unpriced, told.input_tokens) == (None, None, 1, 100)


def test_missing_usage_is_unknown_and_a_run_that_never_called_a_model_is_not() -> None:
    assert (run(None).unknown, run(None).cost_usd) == (1, None)
    assert (run(TokenUsage()).unknown, run(TokenUsage()).cost_usd) == (1, None)
    never = cost_of_run(Trace(run="r", model_spoke=False), PRICES)
    assert (never.unknown, never.cost_usd) == (0, None)


def test_shares_leave_out_what_is_not_known_and_count_it() -> None:
    usage = TokenUsage(cache_write=40_000, cache_read=60_000)
    share = share_of([run(usage, 40_000, 2, 0), run(usage), run(TokenUsage(9), model="mystery-9"), run(None)])
    assert (share.runs, share.unpriced, share.unknown) == (4, 1, 1)
    assert share.share_of_input == pytest.approx(0.8)
    assert share.unsplit_usd == pytest.approx(run(usage).cost_usd)
    assert share_of([run(None)]).cost_usd is None
    assert share_of([]).cost_usd == 0


def test_starts_are_cold_warm_or_neither() -> None:
    usage = TokenUsage(cache_write=40_000, cache_read=400_000)
    starts = share_of([run(usage, 40_000, 5, cached) for cached in (0, 20_000, 40_000, None)]).starts
    assert (starts.cold, starts.partly, starts.warm, starts.unknown) == (1, 1, 1, 1)
    assert starts.cold_usd == pytest.approx(0.25)
    assert starts.warm_usd == pytest.approx(0.02)


@pytest.mark.parametrize(("calls", "name"), [(1, "1–5"), (5, "1–5"), (6, "6–15"), (100, "41–100"), (101, "over 100")])
def test_runs_are_told_by_their_length(calls: int, name: str) -> None:
    usage = TokenUsage(cache_write=10_000, cache_read=10_000)
    [row] = shares_by_length([run(usage, 1_000, calls, 0)])
    assert row.calls == length_name(calls) == name


@given(st.lists(st.floats(0, 1e9), min_size=1))
def test_a_spread_is_in_order_and_of_values_that_are_there(values: list[float]) -> None:
    spread = spread_of(values)
    assert spread is not None
    assert spread.p5 <= spread.p50 <= spread.p95
    assert {spread.p5, spread.p50, spread.p95} <= set(values)


TOKENS = st.integers(0, 10**9)
USAGES = st.none() | st.builds(
    TokenUsage, TOKENS, TOKENS, TOKENS, TOKENS, cost_usd=st.none() | st.floats(0, 1e6, allow_nan=False)
)
TRACES = st.builds(
    Trace,
    run=st.just("r"),
    agent=st.sampled_from(["a", "b"]),
    engine=st.sampled_from(["claude", "codex"]),
    model=st.sampled_from(["opus", "plain", "mystery-9", ""]),
    usage=USAGES,
    startup_tokens=st.none() | TOKENS,
    startup_cached=st.none() | TOKENS,
    model_calls=st.none() | st.integers(0, 10**5),
    ended=st.none() | st.floats(0, 4e9),
)


@given(st.lists(TRACES, max_size=6))
def test_start_up_and_work_add_up_and_shares_stay_within_bounds(traces: list[Trace]) -> None:
    runs = [cost_of_run(trace, PRICES) for trace in traces]
    for one, trace in zip(runs, traces, strict=True):
        if one.startup_usd is not None and one.work_usd is not None:
            assert one.startup_usd + one.work_usd == pytest.approx(one.cost_usd)
            assert 0 <= one.startup_usd <= (one.cost_usd or 0) * (1 + 1e-9)
        if trace.usage is None:
            assert one.cost_usd is None
        assert one.startup_input is None or one.startup_input <= one.input_tokens
    report = report_runs(runs)
    known = [one.cost_usd for one in runs if one.cost_usd is not None]
    assert report.split.cost_usd == (pytest.approx(sum(known)) if known or not runs else None)
    for share in (report.startup, *report.agents):
        assert share.share_of_input is None or 0 <= share.share_of_input <= 1
        assert share.share_of_cost is None or 0 <= share.share_of_cost <= 1 + 1e-9
    assert sum(share.runs for share in report.agents) == len(runs)


def test_no_prices_at_all_make_everything_unpriced() -> None:
    told = cost_of_run(Trace(run="r", model="opus", usage=TokenUsage(5)), PriceBook({}))
    assert (told.cost_usd, told.unpriced) == (None, 1)

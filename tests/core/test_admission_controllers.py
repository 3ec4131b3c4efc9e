"""The controllers one by one: clocks and backoff, quota, host pace, start pacing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from paddock.core.admission.clocks import (
    OVERLOAD_CAP_SECONDS,
    PER_MINUTE_CAP_SECONDS,
    Clocks,
    backoff_seconds,
    current_pause,
    note_success,
    note_trouble,
)
from paddock.core.admission.host import TARGET_BUSY, HostPace, HostSample, pace_host
from paddock.core.admission.pacing import Pacer, may_start, note_start, refill, start_tokens
from paddock.core.admission.quota import (
    INPUT,
    REQUESTS,
    Limit,
    Quota,
    note_call,
    note_limits,
    note_rejected,
    note_running,
)
from paddock.core.admission.steering import COOL_SECONDS, step_quota
from paddock.core.trace import TroubleKind

NOW = 1_800_000_000.0


@given(strikes=st.integers(-3, 5000), seed=st.integers())
def test_backoff_is_jittered_bounded_and_repeatable(strikes: int, seed: int) -> None:
    wait = backoff_seconds(strikes, 5.0, 120.0, seed)
    assert 0.0 <= wait <= min(120.0, 5.0 * 2 ** min(max(strikes, 0), 20))
    assert wait == backoff_seconds(strikes, 5.0, 120.0, seed)


def test_backoff_spreads_over_its_whole_range() -> None:
    waits = [backoff_seconds(3, 5.0, 120.0, seed) for seed in range(500)]
    assert min(waits) < 4.0
    assert max(waits) > 36.0
    assert 17.0 < sum(waits) / len(waits) < 23.0


def test_fifty_agents_reporting_one_throttle_are_one_strike() -> None:
    clocks = Clocks()
    for agent in range(50):
        clocks = note_trouble(clocks, TroubleKind.PER_MINUTE, NOW + agent / 100, agent, retry_after=30.0)
    assert clocks.per_minute.strikes == 1
    assert NOW + 30 <= clocks.per_minute.until <= NOW + 36


def test_strikes_in_a_row_wait_longer_and_a_success_ends_them() -> None:
    clocks, now = Clocks(), NOW
    for _ in range(12):
        clocks = note_trouble(clocks, TroubleKind.OVERLOAD, now, seed=3)
        now = clocks.overload.until
    assert clocks.overload.strikes == 12
    assert note_success(clocks, now - 1).overload.strikes == 12
    assert note_success(clocks, now).overload.strikes == 0


@given(retry_after=st.floats(0, 1e9), strikes=st.integers(0, 30), seed=st.integers())
def test_no_provider_can_make_a_throttle_or_an_overload_last_for_ever(
    retry_after: float, strikes: int, seed: int
) -> None:
    for kind, cap in (
        (TroubleKind.PER_MINUTE, PER_MINUTE_CAP_SECONDS),
        (TroubleKind.OVERLOAD, OVERLOAD_CAP_SECONDS),
    ):
        clocks, now = Clocks(), NOW
        for _ in range(strikes % 4 + 1):
            clocks = note_trouble(clocks, kind, now, seed, retry_after=retry_after)
            pause = current_pause(clocks, now)
            assert pause is None or pause.until is None or pause.until <= now + cap + 10.0
            now += cap + 20.0


def test_a_window_lasts_until_its_reset_and_a_reset_in_the_past_is_not_believed() -> None:
    clocks = note_trouble(Clocks(), TroubleKind.WINDOW, NOW, 1, resets_at=NOW + 5 * 3600)
    assert clocks.window.until >= NOW + 5 * 3600
    clocks = note_trouble(Clocks(), TroubleKind.WINDOW, NOW, 1, resets_at=NOW - 60)
    assert clocks.window.until > NOW + 60


def test_the_clock_that_lasts_longest_is_the_reason_shown() -> None:
    clocks = note_trouble(Clocks(), TroubleKind.PER_MINUTE, NOW, 1, retry_after=10.0)
    clocks = note_trouble(clocks, TroubleKind.WINDOW, NOW, 1, resets_at=NOW + 3600)
    pause = current_pause(clocks, NOW)
    assert pause is not None
    assert pause.kind is TroubleKind.WINDOW


def run_steps(quota: Quota, steps: int, per_agent: float, *, running: int | None = None, start: float = NOW) -> Quota:
    """Every ten seconds, with calls as `running` agents (else as many as the target allows) make them."""
    for step in range(1, steps + 1):
        agents = int(quota.target) if running is None else running
        for _ in range(round(agents * per_agent / 6)):
            quota = note_call(quota, 1000.0, 100.0)
        quota = step_quota(quota, start + 10.0 * step, agents)
    return quota


def test_shown_limits_are_approached_from_below_and_held() -> None:
    quota = note_limits(Quota(stepped_at=NOW), {REQUESTS: Limit(120.0, 60.0, NOW + 600)})
    quota = run_steps(quota, 60, per_agent=6.0)
    assert quota.target == pytest.approx(20.0, rel=0.15)


def test_a_halved_limit_halves_the_agents() -> None:
    quota = Quota(target=20.0, rates={REQUESTS: 6.0}, stepped_at=NOW, ran=(20,))
    quota = note_limits(quota, {REQUESTS: Limit(60.0, 30.0, NOW + 300)})
    assert run_steps(quota, 20, per_agent=6.0).target == pytest.approx(10.0, rel=0.15)


def test_refusals_cut_once_per_window() -> None:
    quota = Quota(target=40.0, limits={REQUESTS: Limit(1e6, 1e6, NOW)}, stepped_at=NOW)
    targets = []
    for step in range(1, 7):
        for _ in range(10):
            quota = note_rejected(note_call(quota, 10.0, 10.0))
        quota = step_quota(quota, NOW + 10.0 * step, int(quota.target))
        targets.append(quota.target)
    assert targets == [32.0] * 6
    for _ in range(10):
        quota = note_rejected(quota)
    assert step_quota(quota, NOW + 10.0 + COOL_SECONDS, 32).target == pytest.approx(25.6)


def test_a_cut_is_not_repeated_while_agents_are_still_draining() -> None:
    quota = Quota(target=20.0, limits={REQUESTS: Limit(1e6, 1e6, NOW)}, stepped_at=NOW, cut_at=NOW - 2 * COOL_SECONDS)
    for _ in range(10):
        quota = note_rejected(quota)
    assert step_quota(quota, NOW + 10.0, running=35).target == 20.0


def test_a_single_refusal_among_many_calls_is_noise() -> None:
    quota = Quota(target=40.0, stepped_at=NOW)
    for _ in range(40):
        quota = note_call(quota, 10.0, 10.0)
    assert step_quota(note_rejected(quota), NOW + 10.0, 40).cut_at is None


def test_without_headers_the_number_grows_until_a_refusal_and_then_stays_below_what_was_borne() -> None:
    quota = run_steps(Quota(stepped_at=NOW), 30, per_agent=6.0)
    assert quota.target > 16
    limit, agents, now = 60.0, int(quota.target), NOW + 300.0
    for _ in range(24):
        now += 10.0
        for _ in range(int(limit / 6)):
            quota = note_call(quota, 1000.0, 100.0)
        for _ in range(agents):
            quota = note_rejected(quota)
        quota = step_quota(quota, now, agents)
    assert quota.target == pytest.approx(0.95 * limit / 6.0, rel=0.15)


def test_without_headers_a_raised_limit_is_found_again() -> None:
    known = Quota(target=9.0, rates={REQUESTS: 6.0}, capacity=57.0, cut_at=NOW, stepped_at=NOW, quiet_since=NOW)
    assert run_steps(known, 6 * 60, per_agent=6.0).target >= 10.0, "one more agent is tried"
    assert run_steps(known, 6 * 90, per_agent=6.0).target > 12.0, "and believed in, and then more"


def step(quota: Quota, now: float, running: int, calls: int, rejected: int = 0) -> Quota:
    for _ in range(calls):
        quota = note_call(quota, 1000.0, 100.0)
    for _ in range(rejected):
        quota = note_rejected(quota)
    return step_quota(quota, now, running)


def test_a_provider_that_counts_calls_in_flight_is_met_with_the_last_number_it_bore() -> None:
    """Throughput would allow more agents than may call at once: the number that was refused is not tried again soon."""
    quota, now = Quota(target=5.0, stepped_at=NOW, peaks=(4, 3, 4), rates={REQUESTS: 30.0}, observed=200.0), NOW
    quota = step(note_running(quota, 5), now := now + 10, 5, 20, rejected=3)
    assert quota.target == 4.0
    for _ in range(80):
        quota = step(quota, now := now + 10, 4, 20)
        assert quota.target == 4.0
    while quota.target == 4.0:
        assert now < NOW + 1500, "one more is tried in the end"
        quota = step(quota, now := now + 10, 4, 20)
    assert quota.target == pytest.approx(5.0)
    waited = quota.probe_wait
    for _ in range(6):
        quota = step(quota, now := now + 10, 4, 20)
    quota = step(note_running(quota, 5), now + 10, 5, 20, rejected=3)
    assert (quota.target, quota.probe_wait) == (4.0, 2 * waited)


def test_agents_that_gave_up_before_the_cut_still_count_as_too_many() -> None:
    """Some CLIs end at the first refusal: six were too many, though three are left when stock is taken."""
    quota = Quota(target=6.0, stepped_at=NOW, peaks=(4, 5, 5), rates={REQUESTS: 30.0}, observed=20.0)
    assert step(note_running(quota, 6), NOW + 10, 3, 20, rejected=3).target == 5.0


def test_a_probe_of_a_stored_minute_is_not_believed_before_more_than_the_store_went_through() -> None:
    """Ten minutes of a tenth more than the limit is one stored minute: no proof of anything."""
    quota = Quota(
        target=55.0, stepped_at=NOW, cut_at=NOW - 900, rates={REQUESTS: 4.0}, observed=1e4, capacity=200.0, margin=1.1
    )
    now = NOW
    for _ in range(6 * 9):
        quota = step(quota, now := now + 10, 55, 37)
    assert quota.capacity == 200.0
    for _ in range(6 * 5):
        quota = step(quota, now := now + 10, 55, 37)
    assert quota.capacity == pytest.approx(220.0)


def test_the_limit_is_what_went_through_once_the_store_was_empty() -> None:
    """The calls counted first were let in before: they would say 250 a minute."""
    quota = Quota(target=70.0, stepped_at=NOW, rates={REQUESTS: 3.75}, observed=1e4, served=250.0, peaks=(69, 69, 69))
    now = NOW
    for counted in (42, 40, 36, 33, 33, 34, 33, 34):
        quota = step(quota, now := now + 10, 70, counted, rejected=15)
    assert quota.capacity == pytest.approx(200.0, rel=0.03)
    assert quota.target == pytest.approx(0.97 * 200 / 3.75, rel=0.03)


def test_a_number_that_is_not_used_does_not_grow() -> None:
    assert run_steps(Quota(stepped_at=NOW), 50, per_agent=6.0, running=1).target == 4.0


def test_limits_a_provider_does_not_tell_are_left_out() -> None:
    assert note_limits(Quota(), {REQUESTS: Limit(-1.0, -1.0, NOW), INPUT: Limit(0.0, 0.0, NOW)}).limits == {}


def test_the_start_up_context_does_not_count_as_ordinary_use() -> None:
    quota = note_call(Quota(stepped_at=NOW, ran=(1,)), 41_000.0, 100.0, is_first=True)
    quota = step_quota(note_call(quota, 3000.0, 100.0), NOW + 10.0, 1)
    assert quota.rates[INPUT] == pytest.approx(18_000.0)
    assert quota.start_rate > 0


def test_slots_follow_the_machine_up_and_down() -> None:
    pace, running = HostPace(), 0
    for step in range(1, 200):
        running = int(pace.slots)
        pace = pace_host(pace, HostSample(NOW + 10 * step, running / 20, 2**40, 2**40), running)
    assert pace.slots == pytest.approx(20 * TARGET_BUSY, rel=0.1)
    for step in range(200, 300):
        running = max(int(pace.slots), running - 1)
        pace = pace_host(pace, HostSample(NOW + 10 * step, running / 5, 2**40, 2**40), running)
    assert pace.slots == pytest.approx(5 * TARGET_BUSY, rel=0.25)


def test_an_idle_machine_does_not_collect_slots() -> None:
    pace = HostPace()
    for step in range(1, 500):
        pace = pace_host(pace, HostSample(NOW + 10 * step, 0.0, 2**40, 2**40), running=0)
    assert pace.slots == 4.0


def test_a_bucket_of_starts_refills_with_time() -> None:
    quota = Quota(target=8.0)
    pacer = refill(Pacer(), quota, NOW)
    started = 0
    while may_start(pacer, quota, 41_000.0, NOW):
        pacer = note_start(pacer, "", 41_000.0, NOW)
        started += 1
    assert started == 2
    assert may_start(refill(pacer, quota, NOW + 10.0), quota, 41_000.0, NOW + 10.0)


def test_a_prefix_is_warm_after_its_first_call_and_cools_down() -> None:
    pacer = note_start(Pacer(), "coder", 41_000.0, NOW)
    assert start_tokens(pacer, "coder", 41_000.0, NOW + 1) == 41_000.0
    assert start_tokens(pacer, "coder", 41_000.0, NOW + 60) < 3000.0
    assert start_tokens(pacer, "coder", 41_000.0, NOW + 301) == 41_000.0
    assert start_tokens(pacer, "other", 41_000.0, NOW + 60) == 41_000.0


def test_a_start_that_would_be_refused_is_not_made() -> None:
    quota = Quota(target=9.0, limits={INPUT: Limit(1_000_000.0, 50_000.0, NOW)})
    pacer = refill(Pacer(), quota, NOW)
    assert not may_start(pacer, quota, 41_000.0, NOW)
    fuller = replace(quota, limits={INPUT: Limit(1_000_000.0, 300_000.0, NOW)})
    assert may_start(pacer, fuller, 41_000.0, NOW)


def test_refusals_before_any_smaller_number_was_tried_halve_it_once() -> None:
    """Sixteen that began at once say nothing of what the account bears but that it is less."""
    quota = Quota(target=16.0, peak=16, stepped_at=NOW)
    for _ in range(20):
        quota = note_rejected(note_call(quota, 10.0, 10.0))
    cut = step_quota(quota, NOW + 10.0, running=16)
    assert cut.target == 8.0
    for _ in range(20):
        cut = replace(note_rejected(note_call(cut, 10.0, 10.0)), peak=8)
    assert step_quota(cut, NOW + 20.0 + COOL_SECONDS, running=8).target == 7.0


def test_the_first_limits_shown_take_back_what_was_let_in_unseen() -> None:
    shown = note_limits(Quota(target=16.0), {REQUESTS: Limit(100.0, 100.0, NOW)})
    assert shown.target == 4.0
    later = note_limits(replace(shown, target=12.0), {REQUESTS: Limit(100.0, 90.0, NOW)})
    assert later.target == 12.0, "only once"


def test_the_rest_of_a_call_is_no_call() -> None:
    quota = note_call(note_call(Quota(), 100.0, 1.0), 0.0, 500.0, calls=0)
    assert (quota.used[REQUESTS], quota.used["output"]) == (1.0, 501.0)


@pytest.mark.parametrize("kind", [TroubleKind.PER_MINUTE, TroubleKind.OVERLOAD])
def test_a_clock_that_was_set_back_a_day_does_not_stop_the_account_for_a_day(kind: TroubleKind) -> None:
    clocks = note_trouble(Clocks(), kind, NOW, 1, retry_after=60.0)
    assert current_pause(clocks, NOW) is not None
    assert current_pause(clocks, NOW - 86400.0) is None
    again = note_trouble(clocks, kind, NOW - 86400.0, 1, retry_after=60.0)
    pause = current_pause(again, NOW - 86400.0)
    assert pause is not None
    assert pause.until is not None
    assert pause.until <= NOW - 86400.0 + 600.0

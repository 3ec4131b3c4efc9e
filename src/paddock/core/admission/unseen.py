"""An account whose limits nobody shows. The number of agents grows until calls are refused; what went through
meanwhile is the limit, and from then on the number stays just below it and probes upwards now and then.

A provider that stores a minute's worth bears any number for a while: more than the limit has gone through only
when calls beyond it add up to more than was stored. And a provider may count calls in flight instead of calls per
minute: then throughput says little, and the largest number of agents that was not refused is the limit.

Simpler rules were tried and lose: docs/benchmarks.md has their figures.
"""

from msgspec.structs import replace

from paddock.core.admission.quota import BELOW_CAPACITY, PROBE_SHARE, REQUESTS, Quota

# Quickly to a number that nearly every account allows; then slowly, for an agent once started stays for minutes, and a
# full bucket hides for a minute or more that there are too many. Refusals are in proportion to this growth.
QUICK_AGENTS, QUICK_STEP = 16.0, 1.0
SLOW_GROWTH = 0.009
# Before this many calls went through, throughput is not known.
ENOUGH_CALLS = 60.0
PROBE_LATEST_SECONDS, PROBE_SOONEST_SECONDS, PROBE_LARGEST = 7200.0, 120.0, 0.25
# A bucket of a minute, and somewhat more for what is counted late.
STORED_MINUTES = 1.2
# Throughput and use per agent are noisy figures, the more so the fewer agents there are: a cut follows them only
# when it is two agents or more; in quiet times the number moves part of the way when it is off by one.
CUT_AGENTS, NOISE_AGENTS, APPROACH = 2.0, 1.0, 0.2
QUIET_SECONDS = 60.0
# Calls count when they are over: those of the first steps of a time of refusals were let in before it.
EARLIER_MINUTES, ENOUGH_MINUTES = 0.5, 0.5


def grow(quota: Quota) -> Quota:
    """Nothing was ever refused: one step further into the unknown."""
    quick = min(quota.target + QUICK_STEP, QUICK_AGENTS)
    return replace(quota, target=max(quick, (1 + SLOW_GROWTH) * quota.target))


def back_off(quota: Quota, minutes: float, now: float, running: int, *, cooled: bool) -> Quota:
    """Calls were refused: learn what went through and go below it.

    Agents that were refused come back for a while: the number itself is taken to be too high only when nothing is
    left of those that were too many, and refusals go on.
    """
    measured = _measure_capacity(quota, minutes, now)
    ceiling = _ceiling(measured)
    target = quota.target
    if ceiling is not None and ceiling < target - CUT_AGENTS:
        target = max(0.5 * target, ceiling)
    if running > quota.target:
        return replace(measured, target=target, cut_at=now)
    if not cooled:
        return replace(measured, target=target)
    clean = _clean_number(quota)
    bears = quota.bears if target < clean else clean
    return replace(measured, target=min(target, clean), bears=bears, cut_at=now)


def follow(quota: Quota, minutes: float, now: float, *, in_use: bool) -> Quota:
    """Nothing is refused any more: hold the number that was borne, as use per agent goes; now and then try more."""
    quota = _probe(quota, minutes, now) if in_use else quota
    ceiling = _ceiling(quota)
    if ceiling is None or abs(ceiling - quota.target) < NOISE_AGENTS:
        return quota
    return replace(quota, target=quota.target + APPROACH * (ceiling - quota.target))


def _ceiling(quota: Quota) -> float | None:
    """The number of agents whose calls go through; None before that was ever seen."""
    rate = quota.rates.get(REQUESTS, 0.0)
    if quota.capacity is None or rate <= 0:
        return quota.bears
    by_use = quota.margin * quota.capacity / rate
    return by_use if quota.bears is None else min(by_use, quota.bears)


def _clean_number(quota: Quota) -> float:
    """The most agents that were at work lately without a refusal. Where so many began at once that no smaller number
    was ever tried, half of them."""
    before = max(quota.peaks, default=0)
    fewer = quota.peak // 2 if quota.cut_at is None else quota.peak - 1
    return float(max(1, before if 0 < before < quota.peak else fewer))


def _measure_capacity(quota: Quota, minutes: float, now: float) -> Quota:
    """While calls are refused the store is empty, and what goes through is the limit: over the whole time, as soon as
    that is long enough, and until then what went through lately. A refusal after a quiet time was a probe failing."""
    quota = replace(quota, margin=BELOW_CAPACITY, probe_share=PROBE_SHARE, overdrawn=0.0)
    if now - quota.quiet_since >= QUIET_SECONDS:
        wait = quota.probe_wait if quota.cut_at is None else min(2 * quota.probe_wait, PROBE_LATEST_SECONDS)
        quota = replace(quota, probe_wait=wait, refused_minutes=-EARLIER_MINUTES, refused_calls=0.0)
    waited = min(0.0, quota.refused_minutes + minutes) if quota.refused_minutes < 0 else None
    over = quota.refused_minutes + minutes if waited is None else waited
    calls = quota.refused_calls + (quota.calls if waited is None else 0.0)
    capacity = quota.capacity
    if over >= ENOUGH_MINUTES and calls > 0:
        capacity = calls / over
    elif quota.observed >= ENOUGH_CALLS and quota.served is not None:
        capacity = quota.served if capacity is None else min(capacity, quota.served)
    return replace(quota, capacity=capacity, refused_minutes=over, refused_calls=calls, quiet_since=now)


def _probe(quota: Quota, minutes: float, now: float) -> Quota:
    """Try a little more than was borne, long after the last refusal. More calls are believed in when more than any
    store has gone through, more agents when nothing was refused; then a larger step is tried sooner."""
    if quota.capacity is not None:
        over = max(0.0, quota.overdrawn + quota.calls - quota.capacity * minutes)
        if over > STORED_MINUTES * quota.capacity:
            share = min(2 * quota.probe_share, PROBE_LARGEST)
            believed = replace(quota, capacity=quota.capacity * max(1.0, quota.margin), probe_share=share)
            return _try_more_calls(believed, now)
        quota = replace(quota, overdrawn=over)
    if now - quota.quiet_since < quota.probe_wait:
        return quota
    if quota.bears is not None:
        return _try_more_agents(quota, quota.bears, now)
    return quota if quota.margin > 1 else _try_more_calls(quota, now)


def _try_more_calls(quota: Quota, now: float) -> Quota:
    """By the probe's share, and by an agent at least: less would try nothing."""
    rate = quota.rates.get(REQUESTS, 0.0)
    if quota.capacity is None or rate <= 0:
        return quota
    agents = max((1 + quota.probe_share) * quota.capacity / rate, int(quota.target) + 1.0)
    margin = agents * rate / quota.capacity
    return replace(quota, margin=margin, target=agents, overdrawn=0.0, quiet_since=now)


def _try_more_agents(quota: Quota, bears: float, now: float) -> Quota:
    more = bears + max(1.0, quota.probe_share * bears)
    went_well = quota.probe_share > PROBE_SHARE
    wait = max(PROBE_SOONEST_SECONDS, quota.probe_wait / 2) if went_well else quota.probe_wait
    share = min(2 * quota.probe_share, PROBE_LARGEST)
    tried = replace(quota, bears=None, quiet_since=now, probe_wait=wait, probe_share=share)
    by_use = _ceiling(tried)
    if by_use is not None and by_use <= more:
        return _try_more_calls(tried, now)
    # With room left in what the account was seen to serve, the number of agents is what holds it back.
    return replace(tried, bears=more, target=more)

"""How many agents an account bears. A quota is a bucket that refills at a fixed rate, and nothing slows down as
it empties: the first sign is a refusal. So the number of agents follows what they use.

Where limits are shown (headers), agents = limit / use per agent, a little more while the bucket is full and less
as it drains. Where they are not, the number grows until the first refusal; what went through while calls were
refused is the limit, and from then on the number stays just below it and probes upwards now and then. In both
cases refusals above 2 % of calls cut the number, once per window.
"""

import msgspec
from msgspec.structs import replace

STEP_SECONDS = 10.0
COOL_SECONDS = 60.0
# A header older than this says nothing about what is left: the bucket has refilled since.
STALE_SECONDS = 60.0
FORGOTTEN_SECONDS = 900.0
# Of the calls of some half a minute: a single refusal among many is noise.
REJECTED_SHARE, REFUSAL_SMOOTHING = 0.02, 0.3
RATE_SMOOTHING = 0.15
# A full bucket holds one minute: hardly worth an agent that then stays. An empty one means refusals.
MIDDLE_FILL, FULL_GAIN, EMPTY_GAIN = 0.5, 0.1, 0.25
GROWTH, SHRINK = 1.25, 0.85
CUT = 0.8
# Without headers a full bucket hides for a minute or more that there are too many agents, and an agent once
# started stays for minutes: beyond the first few the number grows slowly, so that it is not far too large by then.
QUICK_AGENTS = 16.0
BLIND_GROWTH, BLIND_GROWTH_LEAST = 0.03, 0.34
PROBE_SHARE = 0.04
PROBE_FIRST_SECONDS, PROBE_LATEST_SECONDS = 600.0, 7200.0
# Just below what the account was seen to bear: the distance pays for noise and costs this much work.
BELOW_CAPACITY = 0.95
# Starts may take this share of the input limit.
START_SHARE = 0.3
# A call counts when it is over, some 20 seconds after its agent began it: use is set against the agents of then.
LAG_STEPS = 3
CROWD_GROWTH = 1.25

REQUESTS, INPUT, OUTPUT = "requests", "input", "output"


class Limit(msgspec.Struct, frozen=True):
    """One dimension as a header shows it, per minute."""

    limit: float
    remaining: float
    at: float


class Quota(msgspec.Struct, frozen=True):
    """`target` agents; `rates` is what one running agent uses of each dimension per minute, without the reading
    at its start; `start_rate` is what all starts together read per minute.

    `used`, `start_tokens` and `rejected` count since the last step; `served` per minute and the share `refusal`
    are smoothed. `capacity` is what went through per minute while calls were refused; it is tried a little higher
    when nothing was refused for `probe_wait`, which grows with every try that fails.
    """

    target: float = 4.0
    limits: dict[str, Limit] = {}
    rates: dict[str, float] = {}
    used: dict[str, float] = {}
    start_tokens: float = 0.0
    start_rate: float = 0.0
    rejected: int = 0
    served: float | None = None
    refusal: float = 0.0
    stepped_at: float = 0.0
    ran: tuple[int, ...] = ()
    cut_at: float | None = None
    capacity: float | None = None
    quiet_since: float = 0.0
    probe_wait: float = PROBE_FIRST_SECONDS


def note_limits(quota: Quota, limits: dict[str, Limit]) -> Quota:
    """What the headers of a call said. Azure sends 0 or -1 for a limit it does not tell: such a one is left out."""
    told = {name: limit for name, limit in limits.items() if limit.limit > 0 and limit.remaining >= 0}
    return replace(quota, limits={**quota.limits, **told})


def note_call(quota: Quota, input_tokens: float, output_tokens: float, *, is_first: bool = False) -> Quota:
    """A call that went through; `input_tokens` are those that count towards the limit (uncached).

    An agent's first call reads its start-up context, which has a bucket of its own.
    """
    used = quota.used
    counted = 0.0 if is_first else input_tokens
    return replace(
        quota,
        start_tokens=quota.start_tokens + input_tokens - counted,
        used={
            REQUESTS: used.get(REQUESTS, 0.0) + 1,
            INPUT: used.get(INPUT, 0.0) + counted,
            OUTPUT: used.get(OUTPUT, 0.0) + output_tokens,
        },
    )


def note_rejected(quota: Quota) -> Quota:
    return replace(quota, rejected=quota.rejected + 1)


def step_quota(quota: Quota, now: float, running: int) -> Quota:
    """Take stock of the last ten seconds or more and set the target anew."""
    if quota.stepped_at == 0.0:
        return replace(quota, stepped_at=now, ran=(running,))
    minutes = (now - quota.stepped_at) / 60.0
    if minutes * 60.0 < STEP_SECONDS:
        return quota
    start_rate = quota.start_rate + RATE_SMOOTHING * (quota.start_tokens / minutes - quota.start_rate)
    calls = quota.used.get(REQUESTS, 0.0)
    refusal = quota.rejected / max(1.0, calls + quota.rejected)
    served = calls / minutes
    measured = replace(
        quota,
        rates=_update_rates(quota, minutes, running),
        start_rate=start_rate,
        refusal=quota.refusal + REFUSAL_SMOOTHING * (refusal - quota.refusal),
        served=served if quota.served is None else quota.served + REFUSAL_SMOOTHING * (served - quota.served),
    )
    decided = _decide(measured, now, running)
    return replace(
        decided,
        target=max(1.0, decided.target),
        used={},
        start_tokens=0.0,
        rejected=0,
        stepped_at=now,
        ran=(*quota.ran, running)[-LAG_STEPS:],
    )


def ceiling_by_headers(quota: Quota, now: float) -> float | None:
    """The number of agents the limits bear, or None while limits or use are unknown.

    Grows with every limit and every remainder: each dimension is judged by itself and the smallest decides.
    """
    ceilings = []
    for name, seen in quota.limits.items():
        rate = quota.rates.get(name, 0.0)
        if rate <= 0 or now - seen.at > FORGOTTEN_SECONDS:
            continue
        fill = min(1.0, seen.remaining / seen.limit) if now - seen.at <= STALE_SECONDS else 1.0
        lean = (fill - MIDDLE_FILL) / MIDDLE_FILL
        gain = FULL_GAIN if lean > 0 else EMPTY_GAIN
        starts = min(quota.start_rate, START_SHARE * seen.limit) if name == INPUT else 0.0
        ceilings.append((1 + gain * lean) * (seen.limit - starts) / rate)
    return min(ceilings, default=None)


def _decide(quota: Quota, now: float, running: int) -> Quota:
    """The quota with its new target."""
    cooled = quota.cut_at is None or now - quota.cut_at >= COOL_SECONDS
    if quota.rejected and quota.refusal > REJECTED_SHARE:
        # A crowd that has just started reads its context and does little else: not the time to measure.
        crowd = running > CROWD_GROWTH * min(quota.ran, default=running) + 1
        measured = replace(quota, quiet_since=now) if crowd else _measure_capacity(quota, now)
        return _cut(measured, now, running) if cooled else measured
    # A number that is not used up says nothing about a larger one.
    in_use = running >= 0.75 * quota.target - 1
    ceiling = ceiling_by_headers(quota, now)
    if ceiling is None and quota.capacity is not None:
        quota = _probe(quota, now) if in_use else quota
        ceiling = ceiling_by_capacity(quota)
    if ceiling is not None:
        most = quota.target * GROWTH + 1 if cooled and in_use else quota.target
        return replace(quota, target=max(min(ceiling, most), quota.target * SHRINK))
    if not in_use:
        return quota
    # Quickly only until the first cut: from then on it is known that there is a limit near by.
    quick = min(quota.target * GROWTH + 1, QUICK_AGENTS) if quota.cut_at is None else 0.0
    slow = quota.target + max(BLIND_GROWTH_LEAST, BLIND_GROWTH * quota.target)
    return replace(quota, target=max(quick, slow))


def ceiling_by_capacity(quota: Quota) -> float | None:
    """The number of agents whose calls went through when others were refused; None before that was ever seen."""
    rate = quota.rates.get(REQUESTS, 0.0)
    return None if quota.capacity is None or rate <= 0 else BELOW_CAPACITY * quota.capacity / rate


def _measure_capacity(quota: Quota, now: float) -> Quota:
    """While calls are refused, what goes through is the limit. A refusal after a quiet time was a probe failing."""
    served = quota.served or 0.0
    if quota.capacity is None:
        return replace(quota, capacity=served, quiet_since=now)
    was_quiet = now - quota.quiet_since >= COOL_SECONDS
    wait = min(2 * quota.probe_wait, PROBE_LATEST_SECONDS) if was_quiet else quota.probe_wait
    capacity = quota.capacity + REFUSAL_SMOOTHING * (served - quota.capacity)
    return replace(quota, capacity=capacity, quiet_since=now, probe_wait=wait)


def _probe(quota: Quota, now: float) -> Quota:
    """Try a little more than was borne, long after the last refusal."""
    if quota.capacity is None or now - quota.quiet_since < quota.probe_wait:
        return quota
    return replace(quota, capacity=quota.capacity * (1 + PROBE_SHARE), quiet_since=now)


def _cut(quota: Quota, now: float, running: int) -> Quota:
    """The quota after refusals. While there are still more agents than an earlier cut allows, that cut has not
    shown its effect and is not repeated."""
    draining = running > 1.05 * quota.target + 1
    known = ceiling_by_capacity(quota) if not quota.limits else None
    if known is not None:
        target = max(0.5 * quota.target, min(known, quota.target))
    elif draining:
        target = quota.target
    else:
        target = CUT * min(quota.target, max(1.0, float(running)))
    return replace(quota, target=target, cut_at=now)


def _update_rates(quota: Quota, minutes: float, running: int) -> dict[str, float]:
    """Use per agent and minute, smoothed. Refused agents use less than they want: such a time is not counted."""
    agents = quota.ran[0] if quota.ran else running
    if agents <= 0 or quota.rejected > REJECTED_SHARE * quota.used.get(REQUESTS, 0.0):
        return quota.rates
    rates = dict(quota.rates)
    for name, amount in quota.used.items():
        seen = amount / (agents * minutes)
        rates[name] = rates[name] + RATE_SMOOTHING * (seen - rates[name]) if name in rates else seen
    return rates

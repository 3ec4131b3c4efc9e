"""How many agents an account allows. A quota is a bucket that refills at a fixed rate, and nothing slows down as
it empties: the first sign is a refusal. So the number of agents follows what they use.

Where limits are shown (headers), agents = limit / use per agent, however full the bucket is: following that too gained
1 % of the work and took longer to settle after a change. Refusals above 2 % of calls cut the number, once per window.
Where limits are not shown, `unseen.py` decides: for every agent CLI of today, since none passes these headers on.
"""

from msgspec.structs import replace

from paddock.core.admission.quota import INPUT, REJECTED_SHARE, Quota, measure, note_running
from paddock.core.admission.unseen import QUICK_AGENTS, back_off, follow, grow

STEP_SECONDS = 10.0
COOL_SECONDS = 60.0
FORGOTTEN_SECONDS = 900.0
GROWTH, SHRINK = 1.25, 0.85
CUT = 0.8
# Starts may take this share of the input limit.
START_SHARE = 0.3
KEPT_STEPS = 3


def step_quota(quota: Quota, now: float, running: int) -> Quota:
    """Evaluates the last ten seconds or more and sets the target again."""
    quota = note_running(quota, running)
    if quota.stepped_at == 0.0:
        return replace(quota, stepped_at=now, ran=(running,))
    seconds = now - quota.stepped_at
    if seconds < STEP_SECONDS:
        return quota
    decided = _decide(measure(quota, seconds / 60.0, running), seconds / 60.0, now, running)
    return replace(
        decided,
        target=max(1.0, decided.target),
        used={},
        start_tokens=0.0,
        rejected=0,
        peak=running,
        stepped_at=now,
        ran=(*quota.ran, running)[-KEPT_STEPS:],
        peaks=quota.peaks if quota.rejected else (*quota.peaks, quota.peak)[-KEPT_STEPS:],
    )


def ceiling_by_headers(quota: Quota, now: float) -> float | None:
    """The number of agents the limits allow, or None while limits or use are unknown.

    Grows with every limit: each dimension is judged by itself and the smallest decides.
    """
    ceilings = []
    for name, seen in quota.limits.items():
        rate = quota.rates.get(name, 0.0)
        if rate <= 0 or now - seen.at > FORGOTTEN_SECONDS:
            continue
        starts = min(quota.start_rate, START_SHARE * seen.limit) if name == INPUT else 0.0
        ceilings.append((seen.limit - starts) / rate)
    return min(ceilings, default=None)


def _decide(quota: Quota, minutes: float, now: float, running: int) -> Quota:
    """The quota with its new target."""
    cooled = quota.cut_at is None or now - quota.cut_at >= COOL_SECONDS
    refused = quota.rejected > 0 and quota.refusal > REJECTED_SHARE
    # A number that is not used up says nothing about a larger one.
    in_use = running >= 0.75 * quota.target - 1
    if not quota.limits:
        if refused:
            return back_off(quota, minutes, now, running, cooled=cooled)
        if quota.cut_at is not None:
            return follow(quota, minutes, now, in_use=in_use)
        return grow(quota) if in_use else quota
    if refused:
        return _cut(quota, now, running) if cooled else quota
    ceiling = ceiling_by_headers(quota, now)
    most = quota.target * GROWTH + 1 if cooled and in_use else quota.target
    if ceiling is None:
        # What an agent uses is not known yet, but refusals will be seen coming.
        return replace(quota, target=max(quota.target, min(most, QUICK_AGENTS)))
    return replace(quota, target=max(min(ceiling, most), quota.target * SHRINK))


def _cut(quota: Quota, now: float, running: int) -> Quota:
    """The quota after refusals. While there are still more agents than an earlier cut allows, that cut has not
    shown its effect and is not repeated."""
    draining = running > 1.05 * quota.target + 1
    target = quota.target if draining else CUT * min(quota.target, max(1.0, float(running)))
    return replace(quota, target=target, cut_at=now)

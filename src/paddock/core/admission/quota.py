"""What is known about an account: what its agents use, what its provider shows, and what was refused.

`steering.py` makes a number of agents out of it.
"""

import msgspec
from msgspec.structs import replace

# Of the calls of some half a minute, or of the last forty: a single refusal among many is noise.
REJECTED_SHARE, SMOOTHING, SMOOTHED_CALLS = 0.02, 0.3, 40.0
# Use per agent settles within minutes; where few agents grope for a limit nobody shows, over some hundred calls.
RATE_SMOOTHING, RATE_CALLS = 0.15, 100.0
PROBE_FIRST_SECONDS = 900.0
PROBE_SHARE = 0.04
# Just below what the account was seen to bear: the distance pays for noise and costs this much work.
BELOW_CAPACITY = 0.97

FIRST_AGENTS = 4.0

REQUESTS, INPUT, OUTPUT = "requests", "input", "output"


class Limit(msgspec.Struct, frozen=True):
    """One dimension as a header shows it, per minute."""

    limit: float
    remaining: float
    at: float


class Quota(msgspec.Struct, frozen=True):
    """`target` agents; `rates` is what one running agent uses of each dimension per minute, without the reading
    at its start; `start_rate` is what all starts together read per minute.

    `used`, `start_tokens`, `rejected` and `peak`, the most agents seen at once, are those since the last step;
    `served` per minute and the share `refusal` are smoothed. `ran` are the agents at the latest steps, `peaks` those of
    the latest steps without a refusal; `observed` are the calls `rates` were learnt from.

    Where no limits are shown: `capacity` is what went through per minute while calls were refused, and `margin` the
    share of it that is made use of; `bears` is the most agents that were not refused. After `probe_wait` without a
    refusal more is tried, by `probe_share`; `overdrawn` are the calls that went through beyond the capacity since.
    `refused_calls` went through in the `refused_minutes` since refusals began, the first moments left out.
    """

    target: float = FIRST_AGENTS
    limits: dict[str, Limit] = {}
    rates: dict[str, float] = {}
    observed: float = 0.0
    used: dict[str, float] = {}
    start_tokens: float = 0.0
    start_rate: float = 0.0
    rejected: int = 0
    peak: int = 0
    served: float | None = None
    refusal: float = 0.0
    stepped_at: float = 0.0
    ran: tuple[int, ...] = ()
    peaks: tuple[int, ...] = ()
    cut_at: float | None = None
    capacity: float | None = None
    margin: float = BELOW_CAPACITY
    bears: float | None = None
    quiet_since: float = 0.0
    probe_wait: float = PROBE_FIRST_SECONDS
    probe_share: float = PROBE_SHARE
    overdrawn: float = 0.0
    refused_minutes: float = 0.0
    refused_calls: float = 0.0

    @property
    def calls(self) -> float:
        """Calls that went through since the last step."""
        return self.used.get(REQUESTS, 0.0)

    @property
    def has_limit(self) -> bool:
        """Whether a limit of the account was shown, or hit."""
        return bool(self.limits or self.rejected or self.cut_at is not None)

    @property
    def is_refused(self) -> bool:
        """Whether more than a few of the calls since the last step were refused."""
        return self.rejected > REJECTED_SHARE * (self.calls + self.rejected)


def note_limits(quota: Quota, limits: dict[str, Limit]) -> Quota:
    """What the headers of a call said. Azure sends 0 or -1 for a limit it does not disclose: those are ignored."""
    told = {name: limit for name, limit in limits.items() if limit.limit > 0 and limit.remaining >= 0}
    if told and not quota.limits:
        # More than this is let in only as what an agent uses is learnt.
        quota = replace(quota, target=min(quota.target, FIRST_AGENTS))
    return replace(quota, limits={**quota.limits, **told})


def note_call(
    quota: Quota, input_tokens: float, output_tokens: float, *, is_first: bool = False, calls: int = 1
) -> Quota:
    """A call that went through; `input_tokens` are those that count towards the limit (uncached).

    An agent's first call reads its start-up context, which has a bucket of its own. `calls` is 0 for what is heard
    later of a call that was counted.
    """
    used = quota.used
    counted = 0.0 if is_first else input_tokens
    return replace(
        quota,
        start_tokens=quota.start_tokens + input_tokens - counted,
        used={
            REQUESTS: used.get(REQUESTS, 0.0) + calls,
            INPUT: used.get(INPUT, 0.0) + counted,
            OUTPUT: used.get(OUTPUT, 0.0) + output_tokens,
        },
    )


def note_rejected(quota: Quota) -> Quota:
    return replace(quota, rejected=quota.rejected + 1)


def note_running(quota: Quota, running: int) -> Quota:
    return replace(quota, peak=running) if running > quota.peak else quota


def note_admitted(quota: Quota, running: int) -> Quota:
    """One more was admitted: if that exceeds the target, the target becomes the number admitted."""
    return replace(note_running(quota, running), target=max(quota.target, float(running)))


def measure(quota: Quota, minutes: float, running: int) -> Quota:
    """The quota with its smoothed figures brought up to date with what was counted in the last minutes."""
    refusal = quota.rejected / max(1.0, quota.calls + quota.rejected)
    served = quota.calls / minutes
    weight = min(SMOOTHING, quota.calls / SMOOTHED_CALLS)
    counted = 0.0 if quota.is_refused else quota.calls
    return replace(
        quota,
        rates=_update_rates(quota, minutes, running),
        observed=quota.observed + counted,
        start_rate=quota.start_rate + RATE_SMOOTHING * (quota.start_tokens / minutes - quota.start_rate),
        refusal=quota.refusal + SMOOTHING * (refusal - quota.refusal),
        served=served if quota.served is None else quota.served + weight * (served - quota.served),
    )


def _update_rates(quota: Quota, minutes: float, running: int) -> dict[str, float]:
    """Use per agent and minute, smoothed. Refused agents use less than they want: such a time is not counted.

    A call counts when it is over, some 20 seconds after its agent began it: use is set against the agents of then.
    """
    agents = quota.ran[0] if quota.ran else running
    if agents <= 0 or quota.is_refused:
        return quota.rates
    few = max(quota.calls / RATE_CALLS, quota.calls / max(1.0, quota.observed + quota.calls))
    weight = RATE_SMOOTHING if quota.limits else min(RATE_SMOOTHING, few)
    rates = dict(quota.rates)
    for name, amount in quota.used.items():
        seen = amount / (agents * minutes)
        rates[name] = rates[name] + weight * (seen - rates[name]) if name in rates else seen
    return rates

"""Starts have their own bucket. A cold start reads some 41k uncached tokens, as much as ten to twenty
ordinary calls: without pacing, a burst of starts starves the agents that are running.

That matters only where there is a limit to starve them by. On an account that has shown none and refused nothing,
agents start at once, up to a number that nearly every account allows.
"""

from enum import StrEnum

import msgspec
from msgspec.structs import replace

from paddock.core.admission.quota import INPUT, Quota
from paddock.core.admission.steering import START_SHARE
from paddock.core.admission.unseen import QUICK_AGENTS

COLD_START_TOKENS = 41_000.0
# A prompt cache answers at about a twentieth of the price, from the end of the first call for five minutes.
WARM_SHARE = 0.05
CACHE_READY_SECONDS = 15.0
CACHE_TTL_SECONDS = 300.0
KEPT_PREFIXES = 200
# Besides their share of the limit, starts may use what the account has stored above half of its bucket.
STORED_SHARE = 0.5
# What a start must leave for the others; and when a bucket counts as full.
LEFT_SHARE, FULL_SHARE = 0.15, 0.9
# A header older than this says nothing about what is left: the bucket has refilled since.
STALE_SECONDS = 60.0
# Where no limit is shown: cold starts may add this share of the agents in ten seconds, warm ones four times that.
BLIND_SECONDS, BLIND_SHARE, BLIND_WARM_COST = 10.0, 0.125, 0.25


class Pace(StrEnum):
    """When starts are spaced out: where a limit is known or was hit, always, or never."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Warmth(msgspec.Struct, frozen=True):
    since: float
    until: float


class Pacer(msgspec.Struct, frozen=True):
    """`level` is tokens where the account's input limit is known and starts where it is not.

    `unseen` are tokens of starts the latest header cannot have counted yet.
    """

    level: float = 0.0
    filled_at: float = 0.0
    counts_tokens: bool = False
    unseen: float = 0.0
    prefixes: dict[str, Warmth] = {}


def is_paced(quota: Quota, pace: Pace) -> bool:
    """Whether starts on the account are spaced out."""
    return quota.has_limit if pace is Pace.AUTO else pace is Pace.ALWAYS


def agents_borne(quota: Quota, pace: Pace) -> int | None:
    """How many agents the account allows, None for no limit. If nothing was ever refused, the number it has grown to is
    only the most that was tried."""
    tried = int(quota.target + 1e-9)
    if quota.has_limit or pace is Pace.ALWAYS:
        return tried
    return max(tried, int(QUICK_AGENTS)) if pace is Pace.AUTO else None


def start_tokens(pacer: Pacer, prefix: str, cold_tokens: float, now: float) -> float:
    """What a start with this prompt prefix reads uncached."""
    warmth = pacer.prefixes.get(prefix) if prefix else None
    is_warm = warmth is not None and warmth.since <= now < warmth.until
    return cold_tokens * WARM_SHARE if is_warm else cold_tokens


def refill(pacer: Pacer, quota: Quota, now: float) -> Pacer:
    """The bucket as it is now. A bucket seen for the first time, or in a new unit, is full."""
    input_limit = quota.limits.get(INPUT)
    counts_tokens = input_limit is not None
    if input_limit is not None:
        capacity, per_second = max(START_SHARE * input_limit.limit, 1.0), START_SHARE * input_limit.limit / 60.0
    else:
        capacity = max(2.0, BLIND_SHARE * quota.target)
        per_second = capacity / BLIND_SECONDS
    if pacer.filled_at == 0.0 or pacer.counts_tokens != counts_tokens:
        return replace(pacer, level=capacity, filled_at=now, counts_tokens=counts_tokens)
    level = min(capacity, pacer.level + per_second * max(0.0, now - pacer.filled_at))
    return replace(pacer, level=level, filled_at=max(now, pacer.filled_at))


def may_start(pacer: Pacer, quota: Quota, tokens: float, now: float) -> bool:
    """Whether a start fits: into the bucket of starts, or into what the account has plenty of; and in any case
    into what the account has left, so that neither it nor the agents at work are refused."""
    seen = quota.limits.get(INPUT)
    if seen is None:
        return pacer.level >= 1.0
    stored = seen.remaining - pacer.unseen if now - seen.at <= STALE_SECONDS else seen.limit
    # A start larger than a whole bucket must go through at some point: when that bucket is full.
    if stored < min(tokens + LEFT_SHARE * seen.limit, FULL_SHARE * seen.limit):
        return False
    return pacer.level >= min(tokens, START_SHARE * seen.limit) or stored - tokens >= STORED_SHARE * seen.limit


def note_start(pacer: Pacer, prefix: str, tokens: float, now: float) -> Pacer:
    """Pay for a start out of a refilled bucket and remember the prefix it warms."""
    is_warm = start_tokens(pacer, prefix, 1.0, now) < 1.0
    cost = tokens if pacer.counts_tokens else BLIND_WARM_COST if is_warm else 1.0
    prefixes = dict(pacer.prefixes)
    if prefix:
        before = prefixes.pop(prefix, None)
        alive = before is not None and now < before.until
        since = before.since if before is not None and alive else now + CACHE_READY_SECONDS
        prefixes[prefix] = Warmth(since, now + CACHE_TTL_SECONDS)
        if len(prefixes) > KEPT_PREFIXES:
            del prefixes[next(iter(prefixes))]
    return replace(pacer, level=max(0.0, pacer.level - cost), unseen=pacer.unseen + tokens, prefixes=prefixes)


def note_header_seen(pacer: Pacer) -> Pacer:
    return replace(pacer, unseen=0.0)

"""How long, and how much, a cause keeps agents from starting. It doubles when it comes back, and ends by itself."""

from paddock.core.causes.model import Cause, Streak
from paddock.core.causes.vocabulary import FailureCause

NETWORK_BASE_SECONDS, NETWORK_CAP_SECONDS = 15.0, 300.0
RECOVERY_SECONDS = 600.0
"""A saturated host has all its slots again after this time, if it bears those that it gets meanwhile."""
KEPT_SHARE = 0.7
TRIAL_BASE_SECONDS, TRIAL_CAP_SECONDS = 600.0, 4 * 3600.0
FORGOTTEN_SECONDS = 3600.0
"""What comes back later than this strikes for the first time again."""
CONTENTION_SECONDS = 7 * 86400.0
"""Tasks that fought over a resource take turns for so long after it was last seen."""
MOST_DOUBLINGS = 16


def network_ends(cause: Cause) -> float:
    return cause.struck + _doubled(NETWORK_BASE_SECONDS, NETWORK_CAP_SECONDS, cause.strikes - 1)


def slots_borne(cause: Cause, now: float) -> int | None:
    """How many agents a host that was saturated gets by now: it recovers evenly. None for as many as before."""
    share = (now - cause.struck) / RECOVERY_SECONDS
    if share >= 1.0 or cause.slots <= 0:
        return None
    return cause.slots + int(max(0.0, share) * max(0, cause.at_work - cause.slots))


def saturation_ends(cause: Cause) -> float:
    return cause.struck + RECOVERY_SECONDS


def trial_at(streak: Streak) -> float:
    """When one agent of a stopped engine may try whether it runs again."""
    return streak.last + trial_pause(streak.trials)


def trial_pause(trials: int) -> float:
    return _doubled(TRIAL_BASE_SECONDS, TRIAL_CAP_SECONDS, trials)


def takes_turns(cause: Cause, now: float) -> bool:
    return cause.cause is FailureCause.CONTENTION and now - cause.last < CONTENTION_SECONDS


def struck_again(cause: Cause, at: float, at_work: int) -> tuple[int, float, int, int]:
    """The strikes, when, agents at work and slots after it was seen once more: agents that failed together are one."""
    if cause.strikes and at - cause.struck >= FORGOTTEN_SECONDS:
        return 1, at, at_work, _fewer(at_work)
    if cause.strikes and at < _strike_lasts_until(cause):
        return cause.strikes, cause.struck, cause.at_work, cause.slots
    left = slots_borne(cause, at) if cause.cause is FailureCause.SATURATION and cause.strikes else None
    return cause.strikes + 1, at, max(at_work, cause.at_work), _fewer(left if left is not None else at_work)


def _strike_lasts_until(cause: Cause) -> float:
    """Those that were at work when it struck may still tell of it."""
    if cause.cause is FailureCause.NETWORK:
        return network_ends(cause)
    return cause.struck + RECOVERY_SECONDS / 4


def _fewer(agents: int) -> int:
    return max(1, int(agents * KEPT_SHARE)) if agents else 0


def _doubled(base: float, cap: float, times: int) -> float:
    return min(cap, base * 2.0 ** min(max(0, times), MOST_DOUBLINGS))

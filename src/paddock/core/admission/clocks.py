"""Four clocks per account. A provider says no in four ways that have nothing to do with one another: too many
calls this minute, the quota of a window used up, the service overloaded, credentials refused. None of them is the
fault of a task.
"""

import random

import msgspec
from msgspec.structs import replace

from paddock.core.trace import TroubleKind

PER_MINUTE_BASE_SECONDS = 5.0
PER_MINUTE_CAP_SECONDS = 120.0
OVERLOAD_BASE_SECONDS = 10.0
OVERLOAD_CAP_SECONDS = 300.0
WINDOW_BASE_SECONDS = 300.0
WINDOW_CAP_SECONDS = 3600.0
# A week is the longest window sold; a reset further away than this comes from a wrong clock.
WINDOW_LONGEST_SECONDS = 8 * 86400.0
# Doubling further would only overflow: every cap above is reached long before.
MOST_DOUBLINGS = 16

_BOUNDS = {
    TroubleKind.PER_MINUTE: (PER_MINUTE_BASE_SECONDS, PER_MINUTE_CAP_SECONDS),
    TroubleKind.OVERLOAD: (OVERLOAD_BASE_SECONDS, OVERLOAD_CAP_SECONDS),
    TroubleKind.WINDOW: (WINDOW_BASE_SECONDS, WINDOW_CAP_SECONDS),
}


_LONGEST = {
    TroubleKind.PER_MINUTE: PER_MINUTE_CAP_SECONDS + PER_MINUTE_BASE_SECONDS,
    TroubleKind.OVERLOAD: OVERLOAD_CAP_SECONDS + OVERLOAD_BASE_SECONDS,
    TroubleKind.WINDOW: WINDOW_LONGEST_SECONDS + WINDOW_BASE_SECONDS,
}
"""No clock is set to run longer: one that seems to was set before somebody put the machine's time back."""


class Clock(msgspec.Struct, frozen=True):
    """`strikes` counts problems in a row, one for each time the clock ran, however many agents reported it."""

    until: float = 0.0
    strikes: int = 0


class Clocks(msgspec.Struct, frozen=True):
    """By the kinds of trouble. `auth` is the message of the refused credentials; it stays until a person clears it."""

    per_minute: Clock = Clock()
    window: Clock = Clock()
    overload: Clock = Clock()
    auth: str | None = None


class Pause(msgspec.Struct, frozen=True):
    """Why nothing may start; `until` is None when only a person can end it."""

    kind: TroubleKind
    until: float | None
    reason: str


def backoff_seconds(strikes: int, base: float, cap: float, seed: int) -> float:
    """Full jitter: anywhere between 0 and the doubled base, never above the cap. Deterministic for a given seed."""
    ceiling = min(cap, base * 2.0 ** min(max(0, strikes), MOST_DOUBLINGS))
    return random.Random(f"{seed}/{strikes}").uniform(0.0, ceiling)


def note_trouble(
    clocks: Clocks,
    kind: TroubleKind,
    now: float,
    seed: int,
    *,
    retry_after: float | None = None,
    resets_at: float | None = None,
    message: str = "",
) -> Clocks:
    """A refusal was seen. `retry_after` is in seconds, `resets_at` in epoch seconds."""
    if kind is TroubleKind.AUTH:
        return replace(clocks, auth=message or "the credentials were refused")
    clock = _clock(clocks, kind)
    # Every agent of the account reports the same trouble: only the first of them makes the clock run longer.
    is_new = not _is_running(clocks, kind, now)
    until = _until(kind, clock.strikes, now, seed, retry_after, resets_at) if is_new else clock.until
    if not is_new and retry_after is not None and kind is TroubleKind.PER_MINUTE:
        until = max(until, now + min(retry_after, PER_MINUTE_CAP_SECONDS))
    if not is_new and resets_at is not None and kind is TroubleKind.WINDOW:
        until = max(until, min(resets_at, now + WINDOW_LONGEST_SECONDS))
    return _with(clocks, kind, Clock(until, clock.strikes + is_new))


def note_success(clocks: Clocks, now: float) -> Clocks:
    """A call went through: clocks that have run out start over next time."""
    fresh = clocks
    for kind in _BOUNDS:
        clock = _clock(clocks, kind)
        if clock.strikes and not _is_running(clocks, kind, now):
            fresh = _with(fresh, kind, Clock())
    return fresh


def clear_auth(clocks: Clocks) -> Clocks:
    return replace(clocks, auth=None)


def current_pause(clocks: Clocks, now: float) -> Pause | None:
    """What keeps the account from starting anything; if several do, the one that lasts longest."""
    if clocks.auth is not None:
        return Pause(TroubleKind.AUTH, None, f"credentials refused: {clocks.auth}")
    words = {
        TroubleKind.WINDOW: "quota window used up",
        TroubleKind.OVERLOAD: "provider overloaded",
        TroubleKind.PER_MINUTE: "throttled by the provider",
    }
    running = [(kind, _clock(clocks, kind).until) for kind in words if _is_running(clocks, kind, now)]
    if not running:
        return None
    kind, until = max(running, key=lambda item: item[1])
    return Pause(kind, until, f"{words[kind]}, {until - now:.0f} s left")


def _until(
    kind: TroubleKind,
    strikes: int,
    now: float,
    seed: int,
    retry_after: float | None,
    resets_at: float | None,
) -> float:
    base, cap = _BOUNDS[kind]
    jitter = backoff_seconds(strikes, base, cap, seed)
    if kind is TroubleKind.WINDOW and resets_at is not None and resets_at > now:
        return min(resets_at, now + WINDOW_LONGEST_SECONDS) + min(jitter, base)
    if retry_after is not None:
        return now + min(max(0.0, retry_after), cap) + min(jitter, base)
    # Jitter alone may be close to 0: half the base guarantees a real pause.
    return now + max(jitter, base / 2)


def _is_running(clocks: Clocks, kind: TroubleKind, now: float) -> bool:
    return now < _clock(clocks, kind).until <= now + _LONGEST[kind]


def _clock(clocks: Clocks, kind: TroubleKind) -> Clock:
    clock: Clock = getattr(clocks, kind.value)
    return clock


def _with(clocks: Clocks, kind: TroubleKind, clock: Clock) -> Clocks:
    return replace(clocks, **{kind.value: clock})

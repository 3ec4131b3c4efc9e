"""Estimates that stay as they are while they are about right: what is shown must not flicker."""

LEAST_SECONDS = 5.0
SHARE = 0.1


def keep_steady(old: float | None, new: float | None, now: float) -> float | None:
    """Two moments in epoch seconds: the old one, unless the new one is off by more than a tenth of the time left."""
    if old is None or new is None or old <= now:
        return new
    return old if abs(new - old) <= max(LEAST_SECONDS, SHARE * (new - now)) else new

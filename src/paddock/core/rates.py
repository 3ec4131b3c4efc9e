"""How often something may be asked for: some at once, then so many per second."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    burst: int
    per_second: float


@dataclass(frozen=True, slots=True)
class Bucket:
    """What is left of a rate. Time is the caller's, in seconds, and may not go back."""

    left: float
    at: float

    def take(self, rate: Rate, now: float) -> "tuple[Bucket, bool]":
        """After one more request, and whether it may be served."""
        left = min(float(rate.burst), self.left + max(0.0, now - self.at) * rate.per_second)
        return (Bucket(left - 1.0, now), True) if left >= 1.0 else (Bucket(left, now), False)

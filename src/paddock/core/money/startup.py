"""Start-up context against work: what a conversation begins with is read by every call that follows.

An agent pays for its instructions, its tools and its brief once in full, and again from the cache with each call:
startup x (write + (calls - 1) x read), at the model's prices.
"""

from dataclasses import dataclass

from paddock.core.money.prices import Price, cost_of
from paddock.core.trace import TokenUsage


@dataclass(frozen=True, slots=True)
class Startup:
    """The first call of a turn, which reads the start-up context, and how many calls read it in all."""

    first: TokenUsage = TokenUsage()  # noqa: RUF009 (frozen)
    calls: int = 0

    @property
    def tokens(self) -> int:
        return self.first.input_total


def startup_cost(cost: float, usage: TokenUsage, startup: Startup, price: Price) -> float | None:
    """The part of the cost that went into the start-up context: read or written once, read again by each later
    call. None where the engine does not tell of single calls. Prices of one vendor or another differ much, but
    hardly in their proportions, so any price tells the share."""
    whole = cost_of(price, usage)
    if not startup.calls or not whole:
        return None
    return cost * min(1.0, cost_of(price, startup_usage(usage, startup)) / whole)


def opening_cost(cost: float, usage: TokenUsage, startup: Startup, price: Price) -> float | None:
    """The part of it that the first call has read: dear where its cache was cold, cheap where it was warm."""
    whole = cost_of(price, usage)
    return cost * min(1.0, cost_of(price, input_of(startup.first)) / whole) if startup.calls and whole else None


def startup_usage(usage: TokenUsage, startup: Startup) -> TokenUsage:
    """The tokens that were start-up context. Where no cache is seen to have given any, each call reads it afresh."""
    again = startup.tokens * max(0, startup.calls - 1)
    if usage.cache_read:
        return input_of(startup.first).plus(TokenUsage(cache_read=min(usage.cache_read, again)))
    fresh = max(0, usage.input_uncached - startup.first.input_uncached)
    return input_of(startup.first).plus(TokenUsage(min(fresh, again)))


def input_of(tokens: TokenUsage) -> TokenUsage:
    return TokenUsage(tokens.input_uncached, tokens.cache_write, tokens.cache_read)

"""What turns cost, and what attempts are expected to cost before that is known.

The engine's own figure comes first, then the user's prices, then the table shipped with Paddock. A model without
a price is shown as unpriced; budgets count it at an assumed price, never as zero.
"""

from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.economics.estimates import Learnt
from paddock.core.money.budget import Cost
from paddock.core.money.prices import ASSUMED, Price, PriceBook, cost_of, find_price
from paddock.core.money.spending import day_of, expect, expected_money, expected_tokens
from paddock.core.money.startup import Startup, startup_cost
from paddock.core.tasks.task import Task
from paddock.core.trace import ModelTokens, TokenUsage
from paddock.fleet.site import Site

# Most of what an agent reads comes from the cache, call after call: shares of a median session's tokens.
CACHED_SHARE, FRESH_SHARE, OUTPUT_SHARE = 0.9, 0.08, 0.02


@dataclass(frozen=True, slots=True)
class Bill:
    """`cost` is None if unknown; `assumed` is what budgets use instead."""

    cost: float | None = None
    source: str = ""
    startup: float | None = None
    assumed: float = 0.0


def bill(
    usage: TokenUsage,
    model: str | None,
    startup: Startup,
    prices: PriceBook,
    day: str,
    shares: tuple[ModelTokens, ...] = (),
) -> Bill:
    """What a turn cost and the source of that: the engine itself, then the price table, then none.

    `shares` split the usage where several models have a part in it; each is paid at its own price.
    """
    known = find_price(prices, model, day) if model else None
    cost, source = usage.cost_usd, "engine"
    if cost is None and len(shares) > 1:
        cost, source = _cost_of_shares(shares, prices, day), "table"
    elif cost is None and known is not None:
        # Single calls are not kept: where long ones cost more, the mean call decides which price holds.
        each = usage.input_total // startup.calls if startup.calls else 0
        cost, source = cost_of(known, usage, call_tokens=each), "table"
    if cost is None:
        used = bool(usage.input_total or usage.output)
        return Bill(source="unpriced" if used else "", assumed=cost_of(ASSUMED, usage))
    return Bill(cost, source, startup_cost(cost, usage, startup, known or ASSUMED))


def _cost_of_shares(shares: tuple[ModelTokens, ...], prices: PriceBook, day: str) -> float | None:
    """None when one of the models has no price: a part is not the whole."""
    total = 0.0
    for share in shares:
        price = find_price(prices, share.model, day)
        if price is None:
            return None
        total += cost_of(price, share.tokens)
    return total


def expected_cost(site: Site, board: Board, task: Task, engine: str, at: float) -> Cost:
    """What nine of ten attempts stay below; where the engine tells only at its end what it used, what all did so far.

    Nothing is ever expected to be free: usage without a price counts at an assumed one.
    """
    learnt = expect(board.spending, task, engine)
    at_most = not site.capabilities_of(engine).meters
    tokens, money = expected_tokens(learnt, at_most=at_most), expected_money(learnt, at_most=at_most)
    if money is None:
        money = cost_of(_price_before(site, task, engine, at), typical_usage(tokens))
    most = site.attempt_usd(task)
    return Cost(min(money, most) if most else money, tokens)


def spawn_money(site: Site, learnt: Learnt, task: Task, engine: str, at: float) -> float:
    """What an agent's start-up context costs: as learnt, else at the price of its model or an assumed one."""
    if learnt.spawn_money is not None:
        return learnt.spawn_money.median
    if site.capabilities_of(engine).free:
        return 0.0
    price = _price_before(site, task, engine, at)
    return cost_of(price, TokenUsage(cache_write=round(learnt.spawn_tokens.median)))


def _price_before(site: Site, task: Task, engine: str, at: float) -> Price:
    """The price to go by while no attempt has been priced; often the engine's own default model is not known."""
    model = site.model_of(task, engine)
    return (find_price(site.prices, model, day_of(at)) if model else None) or ASSUMED


def typical_usage(tokens: float) -> TokenUsage:
    """So many tokens, as sessions usually divide them."""
    fresh, cached, output = (round(tokens * share) for share in (FRESH_SHARE, CACHED_SHARE, OUTPUT_SHARE))
    return TokenUsage(cache_write=fresh, cache_read=cached, output=output)

"""What a run has cost, and how much of that was start-up context: from its trace or from the log.

What nobody knows is None: a run without a price is never taken to be free.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from paddock.core.money.prices import ASSUMED, Price, PriceBook, cost_of, find_price
from paddock.core.money.spending import day_of
from paddock.core.money.startup import Startup, opening_cost, startup_cost, startup_usage
from paddock.core.trace import TokenUsage
from paddock.insight.trace import CostSource, KeptTrace, Trace


@dataclass(frozen=True, slots=True)
class RunCost:
    """`at` is when it ended. `startup_tokens` are what its first call read, `startup_cached` those of them that a cache
    had, and `startup_input` all of its input that was start-up context, told once for each call.

    `startup_usd` is the part of `cost_usd` that was paid for that, `opening_usd` the part that the first call read.
    `unpriced` counts what has tokens but no price, and `unknown` what has not even tokens: runs, or an attempt's turns.
    `priceless` are the models of the former.
    """

    run: str
    task: str = ""
    agent: str = ""
    engine: str = ""
    model: str = ""
    at: float | None = None
    calls: int | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    startup_tokens: int | None = None
    startup_cached: int | None = None
    startup_input: int | None = None
    cost_usd: float | None = None
    startup_usd: float | None = None
    opening_usd: float | None = None
    unpriced: int = 0
    unknown: int = 0
    priceless: tuple[str, ...] = ()

    @property
    def work_usd(self) -> float | None:
        """What was paid for anything but start-up context; None where nobody can tell the two apart."""
        return None if self.cost_usd is None or self.startup_usd is None else self.cost_usd - self.startup_usd

    @property
    def cached_share(self) -> float | None:
        """How much of its first call's input a cache had."""
        if self.startup_cached is None or not self.startup_tokens:
            return None
        return min(1.0, self.startup_cached / self.startup_tokens)


def costs_of_runs(traces: Sequence[KeptTrace], prices: PriceBook) -> list[RunCost]:
    return [cost_of_run(kept.trace, prices) for kept in traces]


def cost_of_run(trace: Trace, prices: PriceBook) -> RunCost:
    """At what the engine told, or else at the price of its model on the day it ended."""
    at = trace.ended if trace.ended is not None else trace.started
    named = RunCost(trace.run, trace.task, trace.agent, trace.engine, trace.model, at, trace.model_calls)
    usage = trace.usage
    if usage is None or not (usage.input_total or usage.output or usage.cost_usd):
        return replace(named, unknown=int(trace.model_spoke is not False))
    price = find_price(prices, trace.model, day_of(at or 0.0)) if trace.model else None
    cost = usage.cost_usd if usage.cost_usd is not None else _priced(usage, price, trace.model_calls)
    told = replace(
        named,
        input_tokens=usage.input_total,
        output_tokens=usage.output,
        cost_usd=cost,
        unpriced=int(cost is None),
        priceless=(trace.model,) if cost is None else (),
    )
    startup = startup_of(trace, usage)
    if startup is None:
        return told
    split = replace(
        told,
        startup_tokens=startup.tokens,
        startup_cached=trace.startup_cached,
        startup_input=min(usage.input_total, startup_usage(usage, startup).input_total),
    )
    return split if cost is None else _split(split, cost, usage, startup, price or ASSUMED)


def with_cost(kept: KeptTrace, prices: PriceBook) -> KeptTrace:
    """What it has cost by the price of its model, where its engine told none."""
    trace = kept.trace
    if trace.usage is None or trace.usage.cost_usd is not None:
        return kept
    cost = cost_of_run(trace, prices).cost_usd
    if cost is None:
        return kept
    usage = structs.replace(trace.usage, cost_usd=cost)
    return structs.replace(kept, trace=structs.replace(trace, usage=usage, cost_source=CostSource.PRICED))


def startup_of(trace: Trace, usage: TokenUsage) -> Startup | None:
    """None where no single calls are known. What a cache did not have was written to it, if anything was."""
    if not trace.startup_tokens or not trace.model_calls:
        return None
    read = min(trace.startup_cached or 0, trace.startup_tokens, usage.cache_read)
    written = min(trace.startup_tokens - read, usage.cache_write)
    first = TokenUsage.of_all_input(trace.startup_tokens, 0, cached=read, written=written)
    return Startup(first, trace.model_calls)


def _split(run: RunCost, cost: float, usage: TokenUsage, startup: Startup, price: Price) -> RunCost:
    return replace(
        run,
        startup_usd=startup_cost(cost, usage, startup, price),
        opening_usd=opening_cost(cost, usage, startup, price),
    )


def _priced(usage: TokenUsage, price: Price | None, calls: int | None) -> float | None:
    # Single calls are not kept: where long ones cost more, the mean call decides which price holds.
    return None if price is None else cost_of(price, usage, call_tokens=usage.input_total // calls if calls else 0)

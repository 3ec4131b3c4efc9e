"""What tokens cost. A model without a price is reported as unpriced; it is never free by accident."""

import re
from collections.abc import Iterable

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.trace import TokenUsage

# Where a model runs and how it is addressed do not change what it is: `us.anthropic.`, `openrouter/`, `@date`,
# `[1m]`, `-v1:0`, `-20251001`.
_ROUTE = re.compile(r"^(?:(?:[a-z0-9_-]+)/)+|^(?:[a-z]{2,6}\.)?(?:anthropic|openai|google|qwen|deepseek|mistral)\.")
_SUFFIX = re.compile(r"(?:\[\w+\]|@[\w-]+|-v\d+:\d+|:[a-z]+|-20\d{6}|-20\d\d-\d\d-\d\d)$")


class Rates(msgspec.Struct, frozen=True):
    """US dollars per million tokens. None: the vendor lists no such price, the price of fresh input holds."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_hour: float | None = None


class LongContext(msgspec.Struct, frozen=True):
    """The rates of a call whose whole input is longer than `above_tokens`."""

    above_tokens: int
    rates: Rates


class Price(msgspec.Struct, frozen=True):
    """What a model costs from a day (ISO date) on."""

    model: str
    effective_from: str
    rates: Rates
    long_context: tuple[LongContext, ...] = ()


ASSUMED = Price("assumed", "", Rates(10.0, 50.0, 1.0, 12.5))
"""As dear as the dearest model in common use: a budget that is wrong about a price should be too careful."""


class PriceBook(msgspec.Struct, frozen=True):
    """All prices by model, each model's in the order of their dates."""

    by_model: dict[str, tuple[Price, ...]]


def read_table(text: str) -> tuple[Price, ...]:
    """Parse the format of pricetable.py. Raises `PaddockError` naming the first line that does not fit."""
    prices: list[Price] = []
    for line in text.splitlines():
        fields = line.split()
        if not fields:
            continue
        try:
            if fields[0].startswith(">"):
                tier = LongContext(int(fields[0][1:]), _read_rates(fields[1:]))
                prices[-1] = msgspec.structs.replace(prices[-1], long_context=(*prices[-1].long_context, tier))
            else:
                prices.append(Price(fields[0], fields[1], _read_rates(fields[2:])))
        except (ValueError, IndexError) as problem:
            raise PaddockError(f"cannot read the price `{line.strip()}`: {problem}") from None
    return tuple(prices)


def price_book(*sources: Iterable[Price]) -> PriceBook:
    """A book of several sources; a later source (the user's overrides) replaces a model's earlier prices."""
    by_model: dict[str, tuple[Price, ...]] = {}
    for prices in sources:
        fresh: dict[str, list[Price]] = {}
        for price in prices:
            fresh.setdefault(canonical_model(price.model), []).append(price)
        for model, rows in fresh.items():
            by_model[model] = tuple(sorted(rows, key=lambda row: row.effective_from))
    return PriceBook(by_model)


def canonical_model(model: str) -> str:
    """The model's own name, without the route to it, its date or its context variant."""
    name = _ROUTE.sub("", model.strip().lower())
    while (shorter := _SUFFIX.sub("", name)) != name:
        name = shorter
    return name


def find_price(book: PriceBook, model: str, day: str) -> Price | None:
    """The price of a model on a day (ISO date), or None if it is unpriced.

    A day before the first known price takes that one: the table is younger than some models.
    """
    rows = book.by_model.get(model.strip().lower()) or book.by_model.get(canonical_model(model), ())
    in_force = [row for row in rows if row.effective_from <= day]
    if in_force:
        return in_force[-1]
    return rows[0] if rows else None


def cost_of(price: Price, tokens: TokenUsage, *, call_tokens: int = 0, hour_writes: int = 0) -> float:
    """US dollars. `call_tokens` is the input of the call, for models that charge more for a long one;
    `hour_writes` are those of the cache writes that are kept for an hour."""
    rates = price.rates
    for tier in price.long_context:
        if call_tokens > tier.above_tokens:
            rates = tier.rates
    write = rates.input if rates.cache_write is None else rates.cache_write
    hour_write = write if rates.cache_write_hour is None else rates.cache_write_hour
    read = rates.input if rates.cache_read is None else rates.cache_read
    hour_writes = min(hour_writes, tokens.cache_write)
    dollars = (
        tokens.input_uncached * rates.input
        + (tokens.cache_write - hour_writes) * write
        + hour_writes * hour_write
        + tokens.cache_read * read
        + tokens.output * rates.output
    )
    return dollars / 1e6


def _read_rates(fields: list[str]) -> Rates:
    numbers = [None if field == "-" else float(field) for field in fields]
    if len(numbers) != 5 or numbers[0] is None or numbers[1] is None:
        raise ValueError("expected input, output, cache read, cache write and hour-long cache write")
    if any(number is not None and not 0 < number < 1e6 for number in numbers):
        raise ValueError("a price must be above 0 and below a million dollars per million tokens")
    return Rates(numbers[0], numbers[1], *numbers[2:])

"""Tokens as providers and tools report them, split into our price classes.

Two habits have to be told apart. Anthropic's `input_tokens` leaves out what the cache gave and took; everybody else's
figure for input is all that was read, and what came from the cache is a part of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paddock.core.trace import TokenUsage
from paddock.insight.formats.words import plain_key, read_count, read_number

_OWN = ("input_uncached", "in_uncached")
_OWN_WRITE = ("cache_write", "cache_write_5m", "cache_write_1h")
_OWN_READ = ("cache_read",)
_SPLIT_WRITE = (
    *("cache_creation_input_tokens", "cacheCreationInputTokens", "cache_write_tokens", "cache_write_input_tokens"),
)
_SPLIT_READ = ("cache_read_input_tokens", "cacheReadInputTokens", "cache_read_tokens")
_INPUT = (
    "input_tokens",
    "inputTokens",
    "tokens_in",
    "in_tokens",
    "input",
    "in",
    "total_input_tokens",
    "input_token_count",
)
_ALL_INPUT = (
    *("prompt_tokens", "promptTokens", "tokens_sent", "n_prompt_tokens", "promptTokenCount"),
    *("total_prompt_tokens", "prompt_token_count"),
    *("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "llm.usage.prompt_tokens"),
)
_WITHIN_READ = (
    *("cached_tokens", "cached_input_tokens", "cachedInputTokens", "cached", "cachedContentTokenCount"),
    *("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
    *("llm.token_count.prompt_details.cache_read", "llm.usage.cache_read_input_tokens"),
)
_WITHIN_WRITE = (
    *("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens"),
    *("llm.token_count.prompt_details.cache_write", "llm.usage.cache_creation_input_tokens"),
)
_OUTPUT = (
    *("output_tokens", "completion_tokens", "outputTokens", "completionTokens", "tokens_out", "out_tokens", "output"),
    *("tokens_received", "out", "n_completion_tokens", "candidatesTokenCount", "total_output_tokens"),
    *("total_completion_tokens", "completion_token_count", "output_token_count"),
    *("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
    "llm.usage.completion_tokens",
)
_REASONING = (
    *("reasoning_tokens", "reasoning_output_tokens", "reasoning", "thoughtsTokenCount", "thoughts", "thinking_tokens"),
    *("gen_ai.usage.reasoning.output_tokens", "llm.token_count.completion_details.reasoning"),
)
_COST = (
    *("cost_usd", "costUSD", "cost", "total_cost_usd", "total_cost", "instance_cost", "llm.cost.total", "usd"),
    "gen_ai.usage.cost",
)
_NESTED = (
    *("prompt_tokens_details", "input_tokens_details", "input_token_details", "prompt_details"),
    *("completion_tokens_details", "output_tokens_details", "output_token_details", "completion_details"),
)

USAGE_NAMES = frozenset(
    name
    for names in (
        *(_OWN, _OWN_WRITE, _OWN_READ, _SPLIT_WRITE, _SPLIT_READ, _INPUT, _ALL_INPUT, _WITHIN_READ, _WITHIN_WRITE),
        *(_OUTPUT, _REASONING, _COST, _NESTED),
    )
    for name in names
)


@dataclass(frozen=True, slots=True)
class UsageRead:
    """`tokens` is None where nothing was said of tokens; `cost_usd` is told apart from them as well."""

    tokens: TokenUsage | None
    reasoning: int | None = None
    cost_usd: float | None = None


def read_usage(told: Mapping[str, object]) -> UsageRead:
    """Zero dollars count as none, unless Paddock says so: that is what others say of a model without a price."""
    flat = dict(_flat(told))
    cost = _cost(flat)
    reasoning = _count(flat, _REASONING)
    output = _count(flat, _OUTPUT)
    read = _input(flat)
    if read is None and output is None:
        return UsageRead(None, reasoning, cost)
    uncached, written, cached = read or (0, 0, 0)
    if "candidatesTokenCount" in flat:
        output = (output or 0) + (reasoning or 0)
    return UsageRead(TokenUsage(uncached, written, cached, output or 0, cost), reasoning, cost)


def _cost(flat: dict[str, object]) -> float | None:
    if _OWN[0] in flat:
        return read_number(flat.get(_COST[0]))
    prices = (read_number(flat.get(name)) for name in _COST)
    return next((price for price in prices if price is not None and price > 0), None)


def _input(flat: dict[str, object]) -> tuple[int, int, int] | None:
    """Uncached, written to the cache, read from it."""
    own = _count(flat, _OWN)
    own_written, own_cached = _sum(flat, _OWN_WRITE), _count(flat, _OWN_READ)
    split_written, split_cached = _count(flat, _SPLIT_WRITE), _count(flat, _SPLIT_READ)
    if own is not None or ((own_written or own_cached) and _count(flat, _ALL_INPUT) is None):
        rest = own if own is not None else _count(flat, _INPUT)
        return rest or 0, own_written or split_written or 0, own_cached or split_cached or 0
    everything, some = _count(flat, _ALL_INPUT), _count(flat, _INPUT)
    within_read, within_written = _count(flat, _WITHIN_READ), _count(flat, _WITHIN_WRITE)
    if everything is None and within_read is None and (split_written is not None or split_cached is not None):
        return some or 0, split_written or 0, split_cached or 0
    total = everything if everything is not None else some
    if total is None:
        return None
    cached, written = within_read or split_cached or 0, within_written or split_written or 0
    return max(0, total - cached - written), written, cached


def _flat(told: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Its own figures and those of the details in it."""
    for name, value in told.items():
        if name in _NESTED and isinstance(value, dict):
            yield from ((inner, number) for inner, number in value.items() if isinstance(inner, str))
        yield name if name in USAGE_NAMES else plain_key(name), value


def _count(flat: dict[str, object], names: tuple[str, ...]) -> int | None:
    for name in names:
        if name in flat and (count := read_count(flat[name])) is not None:
            return count
    return None


def _sum(flat: dict[str, object], names: tuple[str, ...]) -> int | None:
    counts = [count for name in names if (count := read_count(flat.get(name))) is not None]
    return sum(counts) if counts else None

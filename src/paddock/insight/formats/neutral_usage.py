"""What a run or a call of the neutral JSON lines has used: told by itself, beside the other fields, or in parts."""

from functools import reduce

from paddock.core.trace import TokenUsage
from paddock.insight.formats.bounds import MOST_CALLS
from paddock.insight.formats.neutral_fields import is_usage_name
from paddock.insight.formats.usage_words import UsageRead, read_usage


def read_told_usage(told: object, others: dict[str, object]) -> tuple[UsageRead, dict[str, object]]:
    """From a field of its own, or from figures beside the other fields. A cost without tokens stays an attribute."""
    beside = {key: value for key, value in others.items() if is_usage_name(key)}
    usage = read_usage({**beside, **told} if isinstance(told, dict) else beside)
    if usage.tokens is None:
        usage = _sum_of_parts(told, usage)
    if usage.tokens is not None or usage.reasoning is not None:
        others = {key: value for key, value in others.items() if key not in beside}
    if usage.tokens is None and usage.cost_usd is not None:
        others["cost_usd"] = usage.cost_usd
    tokens = usage.tokens
    if tokens is not None and not (tokens.input_total or tokens.output or tokens.cost_usd) and not _says_zero(told):
        # Nobody reads and writes nothing: this is how others say that they do not know.
        return _without_tokens(usage), others
    return usage, others


def _sum_of_parts(told: object, usage: UsageRead) -> UsageRead:
    """Of figures that are told by model, by provider or by call."""
    parts = told.values() if isinstance(told, dict) else told if isinstance(told, list) else ()
    read = [read_usage(part) for part in list(parts)[:MOST_CALLS] if isinstance(part, dict)]
    tokens = [one.tokens for one in read if one.tokens is not None]
    if not tokens:
        return usage
    return UsageRead(reduce(TokenUsage.plus, tokens), usage.reasoning, usage.cost_usd)


def _says_zero(told: object) -> bool:
    return isinstance(told, dict) and "input_uncached" in told


def _without_tokens(usage: UsageRead) -> UsageRead:
    return UsageRead(None, usage.reasoning or None, None)

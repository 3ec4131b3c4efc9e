"""How much of a text or a set of attributes is kept."""

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from paddock.core.trace import TokenUsage, clip
from paddock.insight.trace import NAME_CHARS, TAIL_CHARS, TAIL_LINES

MOST_STEPS = 50_000
MOST_CALLS = 50_000
STEPS_LEFT_OUT = "steps_left_out"
"""The attribute of a run with more steps than are kept: how many more."""
MOST_TESTS = 5_000
MOST_FILES = 2_000
MOST_ATTRIBUTES = 60
ATTRIBUTE_CHARS = 1_000


MOST_TOKENS = 2**53


def bounded_usage(usage: TokenUsage | None) -> TokenUsage | None:
    """Figures that no run can have used are cut to what can be stored."""
    if usage is None or usage.input_total + usage.output <= MOST_TOKENS:
        return usage
    return replace(
        usage,
        input_uncached=min(usage.input_uncached, MOST_TOKENS),
        cache_write=min(usage.cache_write, MOST_TOKENS),
        cache_read=min(usage.cache_read, MOST_TOKENS),
        output=min(usage.output, MOST_TOKENS),
    )


def name_text(value: object) -> str:
    """A name, also where it is written as a number."""
    if isinstance(value, str):
        return clip(value, NAME_CHARS)
    return str(value)[:NAME_CHARS] if isinstance(value, int | float) and not isinstance(value, bool) else ""


def plain_text(value: object, limit: int) -> str:
    """A text, lines of a list, or anything else as JSON."""
    if isinstance(value, str):
        return clip(value, limit)
    if value is None or value is False:
        return ""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return clip("\n".join(line[:limit] for line in value[-2000:]), limit)
    return as_json(value, limit)


_KIND_KEYS = frozenset({"type", "name", "class", "kind"})


def error_text(value: object, limit: int) -> str:
    """Of an error that is told as an object its texts, a line each; its kind and its message are one."""
    if not isinstance(value, dict):
        return plain_text(value, limit)
    kinds = [text for key, text in value.items() if key in _KIND_KEYS and isinstance(text, str) and text]
    lines: list[str] = []
    for key, text in value.items():
        if isinstance(text, str) and text and key not in _KIND_KEYS:
            lines.append(text)
        elif isinstance(text, list):
            lines += [line for line in text[:100] if isinstance(line, str)]
    if kinds and lines:
        lines[0] = f"{kinds[0]}: {lines[0]}"
    return clip("\n".join(lines or kinds), limit) or plain_text(value, limit)


def as_json(value: object, limit: int) -> str:
    try:
        return clip(msgspec.json.encode(value).decode("utf-8", "replace"), limit)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError, UnicodeError, OverflowError):
        return ""


def last_lines(text: str) -> str:
    """What of it a tail keeps."""
    if len(text) > TAIL_CHARS:
        text = text[-TAIL_CHARS:].partition("\n")[2] or text[-TAIL_CHARS:]
    lines = text.split("\n")
    return clip("\n".join(lines[-TAIL_LINES:]), TAIL_CHARS)


def bounded_attributes(told: Mapping[str, object], known: Mapping[str, str] | None = None) -> dict[str, str]:
    """Texts as they are, anything else as JSON; what is None is left out."""
    kept = dict(known or {})
    for key, value in told.items():
        if len(kept) >= MOST_ATTRIBUTES:
            break
        if value is not None and isinstance(key, str):
            text = clip(value, ATTRIBUTE_CHARS) if isinstance(value, str) else as_json(value, ATTRIBUTE_CHARS)
            kept[clip(key, NAME_CHARS)] = text
    return kept

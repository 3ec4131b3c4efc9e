"""Tokens and money in words. Unreported figures are `unknown`; a `>` precedes a partial figure."""

UNKNOWN, UNPRICED = "unknown", "unpriced"


def token_words(tokens: int, uncounted: int) -> str:
    """`uncounted` are model calls that no figure includes."""
    if uncounted and not tokens:
        return UNKNOWN
    return f">{tokens:,}" if uncounted else f"{tokens:,}"


def money_words(dollars: float | None, *, uncounted: int = 0, is_part: bool = False) -> str:
    """`dollars` is None if no price is known; `is_part` if only part of it has one."""
    if dollars is None:
        return UNKNOWN if uncounted else UNPRICED
    return f"{'>' if uncounted or is_part else ''}${dollars:.4f}"

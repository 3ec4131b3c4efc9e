"""Tokens and money in words. What nobody reported is `unknown`; a `>` stands before a figure that is only a part."""

UNKNOWN, UNPRICED = "unknown", "unpriced"


def token_words(tokens: int, uncounted: int) -> str:
    """`uncounted` are calls of a model that are in no figure."""
    if uncounted and not tokens:
        return UNKNOWN
    return f">{tokens:,}" if uncounted else f"{tokens:,}"


def money_words(dollars: float | None, *, uncounted: int = 0, is_part: bool = False) -> str:
    """`dollars` is None where nobody knows a price; `is_part` where something else has none."""
    if dollars is None:
        return UNKNOWN if uncounted else UNPRICED
    return f"{'>' if uncounted or is_part else ''}${dollars:.4f}"

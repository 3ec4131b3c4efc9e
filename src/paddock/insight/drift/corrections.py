"""Many tests at once."""

from collections.abc import Sequence


def corrected(ps: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's q of each p: at most that share of those which are called significant is false."""
    order = sorted(range(len(ps)), key=lambda at: ps[at])
    qs, least = [1.0] * len(ps), 1.0
    for rank in range(len(ps), 0, -1):
        at = order[rank - 1]
        least = min(least, ps[at] * len(ps) / rank)
        qs[at] = least
    return qs

"""Many tests at once."""

from collections.abc import Sequence


def corrected(ps: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """Benjamini and Hochberg's q of each p: at most that share of those which are called significant is false.

    `weights` divide the budget of false alarms as Genovese, Roeder and Wasserman do; without them all have the same.
    No q is smaller than its p.
    """
    if not ps:
        return []
    weights = [1.0] * len(ps) if weights is None else weights
    scale = len(ps) / sum(weights)
    weighted = [min(1.0, p / (weight * scale)) for p, weight in zip(ps, weights, strict=True)]
    order = sorted(range(len(ps)), key=lambda at: weighted[at])
    qs, least = [1.0] * len(ps), 1.0
    for rank in range(len(ps), 0, -1):
        at = order[rank - 1]
        least = min(least, weighted[at] * len(ps) / rank)
        qs[at] = max(ps[at], least)
    return qs


def can_be_significant(least_ps: Sequence[float], weights: Sequence[float], alpha: float) -> list[bool]:
    """Which tests could be, by the smallest p that each might have: those of which it is within their share of the
    budget (Tarone). The most hopeless go first, as each leaves its share to the others."""
    left = set(range(len(least_ps)))
    while left:
        worst = max(left, key=lambda at: (least_ps[at] / weights[at], at))
        if least_ps[worst] * sum(weights[at] for at in left) <= alpha * weights[worst]:
            break
        left.remove(worst)
    return [at in left for at in range(len(least_ps))]

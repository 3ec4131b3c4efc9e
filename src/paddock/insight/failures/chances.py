"""The tail that causes are judged by, in plain Python: the numbers are small."""

import math


def hypergeometric_tail(seen: int, drawn: int, marked: int, total: int) -> float:
    """The chance that of `drawn` runs out of `total`, of which `marked` are marked, at least `seen` are."""
    most = min(drawn, marked)
    if seen <= max(0, drawn + marked - total):
        return 1.0
    if seen > most:
        return 0.0
    whole = _log_choose(total, drawn)
    terms = [
        _log_choose(marked, count) + _log_choose(total - marked, drawn - count) - whole
        for count in range(seen, most + 1)
        if drawn - count <= total - marked
    ]
    return min(1.0, math.fsum(math.exp(term) for term in terms))


def _log_choose(total: int, chosen: int) -> float:
    return math.lgamma(total + 1) - math.lgamma(chosen + 1) - math.lgamma(total - chosen + 1)

"""How likely so much of something is by chance alone."""

from math import exp, log, log1p

EXACT_BELOW = 0.999
"""Of what is nearer to certain, the rest is summed from above: what is left of 1 says nothing of very small chances."""


def at_least(hits: int, trials: int, share: float) -> float:
    """The chance of so many hits or more in independent trials that each hit with the chance `share`."""
    if hits <= 0:
        return 1.0
    if hits > trials or share <= 0.0:
        return 0.0
    if share >= 1.0:
        return 1.0
    odds = log(share) - log1p(-share)
    logarithm = trials * log1p(-share)
    below = 0.0
    for count in range(hits):
        below += exp(logarithm)
        logarithm += log(trials - count) - log(count + 1) + odds
    return 1.0 - below if below < EXACT_BELOW else _hits_from(hits, trials, share)


def _hits_from(hits: int, trials: int, share: float) -> float:
    odds = log(share) - log1p(-share)
    logarithm = _log_choose(trials, hits) + hits * log(share) + (trials - hits) * log1p(-share)
    total = 0.0
    for count in range(hits, trials + 1):
        part = exp(logarithm)
        total += part
        if count == trials or part < total * 1e-12:
            break
        logarithm += log(trials - count) - log(count + 1) + odds
    return min(1.0, total)


def arrivals(count: int, expected: float) -> float:
    """The chance of so many or more where on average `expected` come (Poisson)."""
    if count <= 0:
        return 1.0
    if expected <= 0.0:
        return 0.0
    logarithm, below = -expected, 0.0
    for number in range(count):
        below += exp(logarithm)
        logarithm += log(expected) - log(number + 1)
    return 1.0 - below if below < EXACT_BELOW else _arrivals_from(count, expected)


def _arrivals_from(count: int, expected: float) -> float:
    logarithm = -expected + count * log(expected) - sum(log(number) for number in range(2, count + 1))
    total, number = 0.0, count
    while True:
        part = exp(logarithm)
        total += part
        if part <= total * 1e-12:
            return min(1.0, total)
        number += 1
        logarithm += log(expected) - log(number)


def _log_choose(total: int, chosen: int) -> float:
    return sum(log(total - number) - log(number + 1) for number in range(min(chosen, total - chosen)))

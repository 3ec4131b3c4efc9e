"""Whose turn it is, where several repositories want more of something than there is.

Each gets as much as it can use, up to an equal part; what one leaves, the others share. The odd one goes to whoever
has waited longest since its last start, so that even a single slot goes round.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wish:
    """What a member has and could use at most, and when it last got some."""

    member: str
    demand: int
    started: float = 0.0


def fair_shares(limit: int, wishes: Sequence[Wish]) -> dict[str, int]:
    """How much of `limit` each may have: together never more than the limit, and never more than anyone can use."""
    demand = {wish.member: max(0, wish.demand) for wish in wishes}
    left = max(0, limit)
    if sum(demand.values()) <= left:
        return demand
    order = [wish.member for wish in sorted(wishes, key=lambda wish: (wish.started, wish.member))]
    shares = dict.fromkeys(order, 0)
    open_ones = [member for member in order if demand[member]]
    while left and open_ones:
        least = min(demand[member] - shares[member] for member in open_ones)
        each = max(1, min(left // len(open_ones), least))
        for member in open_ones:
            given = min(each, left)
            shares[member] += given
            left -= given
        open_ones = [member for member in open_ones if shares[member] < demand[member]]
    return shares

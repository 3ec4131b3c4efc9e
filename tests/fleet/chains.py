"""Sweeps over named points, several to a life: one daemon meets its fate at the first, its successor at the second."""

from collections.abc import Callable, Sequence

import pytest

LENGTH = 4
MISSED_SHARE = 4
"""Of all points, one in so many may be missed: chance decides who comes first."""
Chain = tuple[str, ...]


def in_chains(points: Sequence[str], length: int = LENGTH) -> list[Chain]:
    """All of them, each chain in the order in which a life passes its points, and these far from each other."""
    count = -(-len(points) // length)
    return [tuple(points[first::count]) for first in range(count)]


def sweep_chains(points: Sequence[str], play: Callable[[Chain], int], subtests: pytest.Subtests) -> list[str]:
    """Plays them all, and returns those that no life reached. `play` tells how many points of a chain were reached, one
    after the other: the next one is then played alone, and those after it apart."""
    missed, chains = [], in_chains(points)
    while chains:
        chain = chains.pop()
        reached = len(chain)
        with subtests.test(" + ".join(chain)):
            reached = play(chain)
        if len(chain) == 1 and reached == 0:
            missed.append(chain[0])
        elif reached < len(chain):
            chains += [part for part in (chain[reached + 1 :], chain[reached : reached + 1]) if part]
    return missed

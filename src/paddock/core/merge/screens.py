"""Screens: is this change good by itself? They run on verified main and in parallel."""

from collections.abc import Sequence
from math import ceil

from paddock.core.merge import estimate
from paddock.core.merge.actions import Action, StartRun
from paddock.core.merge.health import is_sound, may_start
from paddock.core.merge.model import Purpose
from paddock.core.merge.standing import Stage
from paddock.core.merge.view import Eligible, View, by_suspicion, dependencies_met, may_join, waits_for_a_train

SCREENED = (Stage.FRESH, Stage.SINGLE, Stage.LATER, Stage.CONFIRM)
# Whose pools were broken by others this often has waited long enough.
POOLS_BEFORE_ALONE = 2
NOTHING: frozenset[str] = frozenset()


def start_screens(view: View) -> tuple[Action, ...]:
    """Rules 4 and 6. Fill the slots that are left, oldest first; nothing that failed once is pooled again."""
    if not may_start(view) or not is_sound(view):
        return ()
    units = screen_units(view, view.free)[: view.free]
    return tuple(_start(view, unit, nth) for nth, unit in enumerate(units))


def screens_wanted(view: View) -> int:
    """How many slots the sieve could use now."""
    return len(_waiting(view))


def _waiting(view: View) -> list[Eligible]:
    return [
        c
        for c in view.at(*SCREENED)
        if dependencies_met(c, NOTHING)
        and may_join(c, view.main.commit, NOTHING)
        and not waits_for_a_train(c, view.tip)
    ]


def screen_units(view: View, wanted: int) -> list[list[Eligible]]:
    """Fresh changes pooled by what p̂ makes cheapest; of a failed pool the half that is suspected first.

    The rest of it only gets slots nobody else wants. Stops when `wanted` units are found. Where agents are known
    to differ, only changes of about the same risk share a pool.
    """
    waiting = _waiting(view)
    halves = by_suspicion(c for c in waiting if c.standing.stage is Stage.SINGLE)
    sizes = _pool_sizes(view, waiting)
    pools = {size: _Pool(size) for size in sorted(set(sizes.values()))}
    units: list[list[Eligible]] = []
    for candidate in sorted(waiting, key=lambda c: c.standing.stage is Stage.LATER):
        if len(units) >= wanted:
            return units
        if may_be_pooled(candidate):
            units += pools[sizes[candidate.risk]].take(candidate, view.main.commit)
        elif candidate.standing.stage is Stage.SINGLE:
            half = halves.pop(candidate.standing.suspected_in or "", ())
            units += _apart(half, view.main.commit)
        else:
            units.append([candidate])
    return [*units, *(group for pool in pools.values() for group in pool.rest())]


def _pool_sizes(view: View, waiting: Sequence[Eligible]) -> dict[float, int]:
    """For each risk that occurs the pool such changes go into; there is one pool for each size."""
    room = 1 if len(waiting) <= view.free else ceil(len(waiting) / max(1, view.free))
    risks = {candidate.risk for candidate in waiting}
    if len(risks) == 1:
        return dict.fromkeys(risks, min(room, estimate.pool_size(view.queue.stats)))
    return {risk: min(room, estimate.pool_size_at(view.queue.stats, risk)) for risk in risks}


def _apart(half: Sequence[Eligible], base: str) -> list[list[Eligible]]:
    """One unit, or several when git does not merge them with each other any more."""
    pool = _Pool(len(half))
    units = [unit for candidate in half for unit in pool.take(candidate, base)]
    return [*units, *pool.rest()]


class _Pool:
    """Collects changes that merge with each other into groups of `size`."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.members: list[Eligible] = []

    def take(self, candidate: Eligible, base: str) -> list[list[Eligible]]:
        """Adds the candidate; returns the groups that are complete."""
        done: list[list[Eligible]] = []
        if not may_join(candidate, base, {c.id for c in self.members}):
            done = self.rest()
        self.members.append(candidate)
        if len(self.members) >= self.size:
            done += self.rest()
        return done

    def rest(self) -> list[list[Eligible]]:
        group, self.members = self.members, []
        return [group] if group else []


def may_be_pooled(candidate: Eligible) -> bool:
    """Never what failed by itself or is suspected, nor what brings its own CI definition."""
    standing = candidate.standing
    fresh = standing.stage is Stage.FRESH and standing.pool_failures < POOLS_BEFORE_ALONE
    return fresh and not candidate.entry.change.touches_ci


def _start(view: View, unit: Sequence[Eligible], nth: int) -> StartRun:
    if unit[0].standing.stage is Stage.CONFIRM:
        return view.start(Purpose.CONFIRM, unit, unit[0].standing.blame[-1], nth)
    return view.start(Purpose.SCREEN, unit, nth=nth)

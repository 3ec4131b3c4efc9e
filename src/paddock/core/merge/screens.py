"""Screens: is this change good by itself? They run on verified main and in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from paddock.core.merge import estimate
from paddock.core.merge.actions import Action, StartRun
from paddock.core.merge.health import is_sound, may_start
from paddock.core.merge.model import Purpose
from paddock.core.merge.standing import Stage
from paddock.core.merge.view import Candidate, View, dependencies_met, may_join

SCREENED = (Stage.FRESH, Stage.SINGLE, Stage.CONFIRM)
NOTHING: frozenset[str] = frozenset()


def start_screens(view: View) -> tuple[Action, ...]:
    """Rules 4 and 6. Fill the slots that are left, oldest first; nothing that failed once is pooled again."""
    if not may_start(view) or not is_sound(view):
        return ()
    units = screen_units(view)[: view.free]
    return tuple(_start(view, unit, number) for number, unit in enumerate(units, view.queue.next_run))


def screens_wanted(view: View) -> int:
    """How many slots the sieve could use now."""
    return len(_waiting(view))


def _waiting(view: View) -> list[Candidate]:
    return [c for c in view.at(*SCREENED) if dependencies_met(c, NOTHING) and may_join(c, view.main.commit, NOTHING)]


def screen_units(view: View) -> list[list[Candidate]]:
    waiting = _waiting(view)
    size = 1
    if len(waiting) > view.free:
        size = min(estimate.pool_size(view.queue.stats), ceil(len(waiting) / max(1, view.free)))
    units: list[list[Candidate]] = []
    pool: list[Candidate] = []
    for candidate in waiting:
        if not may_be_pooled(candidate):
            units.append([candidate])
        elif len(pool) < size and may_join(candidate, view.main.commit, {c.id for c in pool}):
            pool.append(candidate)
        else:
            units.append(pool)
            pool = [candidate]
    return [*units, pool] if pool else units


def may_be_pooled(candidate: Candidate) -> bool:
    """Never what failed once, nor what brings its own CI definition."""
    return candidate.standing.stage is Stage.FRESH and not candidate.entry.change.touches_ci


def _start(view: View, unit: Sequence[Candidate], number: int) -> StartRun:
    confirming = unit[0].standing.stage is Stage.CONFIRM
    return StartRun(
        f"r{number}",
        Purpose.CONFIRM if confirming else Purpose.SCREEN,
        view.main.commit,
        view.main.tree,
        tuple(c.entry.change.member for c in unit),
        estimate.timeout_seconds(view.queue.stats, view.facts.timeout_floor_seconds),
        unit[0].standing.blame[-1] if confirming else None,
    )

"""Trains: one run for the exact tree that main becomes next."""

from collections.abc import Sequence
from math import ceil

from paddock.core.merge import estimate
from paddock.core.merge.actions import Action
from paddock.core.merge.health import is_sound, may_start
from paddock.core.merge.model import Purpose
from paddock.core.merge.screens import screens_wanted
from paddock.core.merge.standing import TRAIN_FAILURES_BEFORE_ALONE, Stage
from paddock.core.merge.view import Eligible, Tip, View, by_suspicion, dependencies_met, may_join

# Zuul's chain does well until about this many bad changes are in it at once; measured, see docs/merge-queue.md.
BAD_CHANGES_A_CHAIN_BEARS = 1.5
# While the sieve can use every slot, a train of at least this many costs little beside the screens.
WORTH_A_TRAIN = 8
DOUBTED = (Stage.SUSPECT, Stage.BEHIND)


def prefix_mode(view: View) -> bool:
    """Rule 7, the load switch: with few changes about, the first run of a change is its place in the chain.

    Twice as many as there are slots are few: the second half waits for one T, a screen before the train costs one too.
    """
    few = min(2 * view.slots, BAD_CHANGES_A_CHAIN_BEARS / estimate.bad_share(view.queue.stats))
    return len(view.tip.ids) + len(view.at(Stage.FRESH, Stage.READY)) <= few


def start_train(view: View) -> tuple[Action, ...]:
    """Rule 5. Put the next unit behind the chain. One at a time: the next one stands on this one's commit."""
    if not may_start(view) or not is_sound(view) or view.tip.closed:
        return ()
    spare = view.free - screens_wanted(view)
    few = prefix_mode(view)
    unit = _next_of(view, (Stage.READY, Stage.FRESH), 1) if few else _screened_unit(view, spare)
    return (view.start(Purpose.TRAIN, unit),) if unit else ()


def _next_of(view: View, stages: tuple[Stage, ...], capacity: int) -> list[Eligible]:
    return pick_members(view.at(*stages), view.tip, capacity)


def _screened_unit(view: View, spare: int) -> list[Eligible]:
    """Rule 8. Slots nobody else wants split the waiting changes into small trains, so a failure names few."""
    ready = len(view.at(Stage.READY))
    capacity = estimate.train_capacity(view.queue.stats)
    if not _train_is_due(view, ready, capacity, spare):
        return []
    if spare > 0:
        capacity = min(capacity, ceil(ready / spare))
    return _next_of(view, (Stage.READY,), capacity)


def _train_is_due(view: View, ready: int, capacity: int, spare: int) -> bool:
    """Under load trains use at most a quarter of the slots, and a second one leaves only when it is full."""
    if ready == 0 or spare > 0:
        return ready > 0
    if view.trains_running >= max(1, ceil(view.slots / 4)):
        return False
    if _are_waited_for(view):
        return True
    return ready >= (capacity if view.trains_running else min(capacity, WORTH_A_TRAIN))


def _are_waited_for(view: View) -> bool:
    """Suspects stand still until the members of their train that were cleared are on their way."""
    ready = {c.id for c in view.at(Stage.READY)}
    groups = {c.standing.suspected_in for c in view.at(Stage.SUSPECT)}
    return any(
        member.id in ready for group in groups if group is not None for member in view.queue.ended[group].members
    )


def pick_members(able: Sequence[Eligible], tip: Tip, capacity: int) -> list[Eligible]:
    """The longest-waiting changes that fit together, dependency-closed; prioritised first, then by risk.

    A change that touches the CI definition, and one that broke several trains, rides alone.
    """
    chosen: list[Eligible] = []
    ids = set(tip.ids)
    for candidate in able:
        if not dependencies_met(candidate, ids) or not may_join(candidate, tip.commit, ids):
            continue
        if rides_alone(candidate):
            if not chosen:
                return [candidate]
            continue
        chosen.append(candidate)
        ids.add(candidate.id)
        if len(chosen) >= capacity:
            break
    return _in_order(chosen, tip)


def rides_alone(candidate: Eligible) -> bool:
    broke_many = candidate.standing.train_failures >= TRAIN_FAILURES_BEFORE_ALONE
    return candidate.entry.change.touches_ci or broke_many


def _in_order(chosen: list[Eligible], tip: Tip) -> list[Eligible]:
    waiting = sorted(chosen, key=lambda c: (-c.entry.priority, c.risk, c.rank))
    placed: list[Eligible] = []
    ids = set(tip.ids)
    while waiting:
        following = next(c for c in waiting if dependencies_met(c, ids))
        waiting.remove(following)
        placed.append(following)
        ids.add(following.id)
    return placed


def start_suspects(view: View) -> tuple[Action, ...]:
    """Rule 3. Half of what is suspected in a failed train is tried again, when the members before it are on their way.

    It stands at the end of the chain and nothing stands on it, so nobody waits for it. With slots to spare each
    suspect is tried by itself.
    """
    if not may_start(view) or not is_sound(view) or view.tip.closed:
        return ()
    if view.free > screens_wanted(view):
        alone = _next_of(view, DOUBTED, 1)
        return (view.start(Purpose.TRAIN, alone, alone[0].standing.suspected_in),) if alone else ()
    for group, members in by_suspicion(view.at(Stage.SUSPECT)).items():
        if _cleared_are_on_their_way(view, group):
            unit = pick_members(members, view.tip, len(members))
            if unit:
                return (view.start(Purpose.TRAIN, unit, group),)
    return ()


def _cleared_are_on_their_way(view: View, group: str) -> bool:
    """Tried without those that passed meanwhile, the culprit would pass too, and meet them again in the next train."""
    doubted = {c.id for c in view.at(*DOUBTED)}
    members = view.queue.ended[group].members
    return all(m.id not in view.queue.entries or m.id in view.tip.ids or m.id in doubted for m in members)

"""Every order of answers, with one lie anywhere, for up to three changes and two slots."""

from __future__ import annotations

import copy
from itertools import combinations, product

import pytest

from paddock.core.merge import events as ev
from paddock.core.merge.model import Ending, Result
from tests.core.merge.audit import audit, every_tip_was_tested, no_tip_is_red, slots_are_kept
from tests.core.merge.lab import Lab, change, settle_through_a_crash, started_lab

NAMES = ("t1", "t2", "t3")


def explore(lab: Lab, lies_left: int, seen: set[object]) -> int:
    """Follows every continuation; returns how many distinct ends were reached."""
    lab.wake()
    slots_are_kept(lab)
    if not lab.processes:
        audit(lab)
        check_end(lab)
        return 1
    key = position(lab, lies_left)
    if key in seen:
        every_tip_was_tested(lab)
        no_tip_is_red(lab)
        return 0
    seen.add(key)
    ends = 0
    for run in sorted(lab.processes):
        for lie in (None, Result.FAIL, Result.INFRA)[: 3 if lies_left else 1]:
            branch = fork(lab)
            branch.tick()
            honest = branch.truth.is_green(branch.commits[branch.queue.running[run].commit].tree)
            if lie is Result.FAIL and not honest:
                continue
            branch.finish(run, lie)
            ends += explore(branch, lies_left - (lie is not None), seen)
    return ends


def position(lab: Lab, lies_left: int) -> object:
    """What the future depends on: the evidence, not the times."""
    queue = lab.queue
    runs = {i: (r.purpose, r.members, r.base_tree, r.tree, r.result) for i, r in queue.ended.items()}
    return (
        lies_left,
        lab.tree_name(lab.main),
        tuple((i, tuple(runs[e] for e in entry.evidence), entry.infra_failures) for i, entry in queue.entries.items()),
        frozenset((r.purpose, r.members, r.base_tree, r.tree) for r in queue.running.values()),
        tuple(runs[i] for i in queue.landable),
        frozenset(queue.passes),
        queue.failure_streak,
        queue.infra_streak,
        queue.main is not None and queue.main.verified_by is not None,
    )


def fork(lab: Lab) -> Lab:
    """Events and states are immutable, so copies of the containers are enough."""
    branch = copy.copy(lab)
    for name in ("log", "commits", "processes", "passed", "moves", "answers"):
        setattr(branch, name, copy.copy(getattr(lab, name)))
    return branch


def check_end(lab: Lab) -> None:
    """All is decided; what is good by itself and in company has landed, what is bad has not."""
    assert not lab.queue.entries
    ends = {d.id: d.outcome for d in lab.queue.decided}
    clashing = {atom[0] for pair in lab.truth.clashes for atom in pair}
    for name, end in ends.items():
        if not lab.truth.bases_of((name, 1)).isdisjoint(lab.truth.bad):
            assert end is Ending.CANCELLED, name
        elif (name, 1) in lab.truth.bad:
            assert end is Ending.REJECTED, name
        elif name not in clashing:
            assert end is Ending.LANDED, name
    if clashing:
        assert sorted(ends[name] for name in clashing) in (
            [Ending.LANDED, Ending.REJECTED],
            [Ending.REJECTED, Ending.REJECTED],
        ) or not lab.truth.bad.isdisjoint((name, 1) for name in clashing)


def scenarios(count: int) -> list[tuple[tuple[str, ...], tuple[str, str] | None]]:
    names = NAMES[:count]
    bads = [tuple(n for n, is_bad in zip(names, row, strict=True) if is_bad) for row in product((0, 1), repeat=count)]
    pairs = [None, *combinations(names, 2)]
    return [(bad, pair) for bad in bads for pair in pairs]


@pytest.mark.parametrize(
    ("count", "slots", "every"),
    [
        *((count, slots, 1) for count, slots in ((1, 1), (1, 2), (2, 1), (2, 2), (3, 1))),
        pytest.param(3, 2, 3, id="3-2-a third"),
        pytest.param(3, 2, 1, marks=pytest.mark.slow),
    ],
)
def test_every_order_of_answers_ends_well(slots: int, count: int, every: int) -> None:
    for bad, pair in scenarios(count)[::every]:
        lab = started_lab(slots)
        lab.truth.bad = {(name, 1) for name in bad}
        lab.truth.clashes = {frozenset((name, 1) for name in pair)} if pair else set()
        for name in NAMES[:count]:
            lab.submit(change(name))
        assert explore(lab, 1, set()) >= 1


@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.parametrize("bases", [{"t2": "t1"}, {"t3": "t2"}, {"t2": "t1", "t3": "t1"}, {"t2": "t1", "t3": "t2"}])
def test_every_order_of_answers_ends_well_for_stacks(slots: int, bases: dict[str, str]) -> None:
    for bad, _ in scenarios(3)[::4]:
        lab = started_lab(slots)
        lab.truth.bad = {(name, 1) for name in bad}
        for name in NAMES:
            if name in bases:
                lab.submit_on(bases[name], change(name))
            else:
                lab.submit(change(name))
        assert explore(lab, 1, set()) >= 1


@pytest.mark.parametrize("slots", [1, 2])
def test_a_crash_at_any_step_changes_nothing_that_matters(slots: int) -> None:
    for crash_at in range(40):
        lab = started_lab(slots)
        lab.truth.bad = {("t2", 1)}
        for name in NAMES:
            lab.submit(change(name))
        lab.steps_until_crash = crash_at
        settle_through_a_crash(lab)
        audit(lab)
        assert {d.id: d.outcome for d in lab.queue.decided} == {
            "t1": Ending.LANDED,
            "t2": Ending.REJECTED,
            "t3": Ending.LANDED,
        }
        assert sum(isinstance(event, ev.TrainLanded) for event, _ in lab.log) == len(lab.moves)

"""The invariants of the merge queue, checked against the lab's own books. Each is one function with a claim."""

from __future__ import annotations

from collections import Counter

from paddock.core.merge import events as ev
from paddock.core.merge.model import Ending, Purpose, Result
from tests.core.merge.lab import Lab, fold

BLAMING = (Result.FAIL, Result.TIMEOUT)


def every_tip_was_tested(lab: Lab) -> None:
    """1. Exact tree: of each check a pass of exactly what it sees of that tree was there before main moved."""
    assert all(tested for _, _, _, tested in lab.moves)


def no_tip_is_red(lab: Lab) -> None:
    """Main is green wherever the queue put it."""
    for _, new, _, _ in lab.moves:
        assert lab.truth.is_green(lab.commits[new].tree)


def moves_descend(lab: Lab) -> None:
    """2. Compare-and-swap: the new main descends from the old one; 3. directly, as its first parent."""
    for old, new, _, _ in lab.moves:
        assert lab.commits[new].parent == old


def only_queued_bytes_landed(lab: Lab) -> None:
    """4. What landed is exactly a version that was queued."""
    for _, _, members, _ in lab.moves:
        assert lab.submitted.issuperset(members)


def no_foreign_effect(lab: Lab) -> None:
    """5. What a move changed is explained by its members."""
    for old, new, members, _ in lab.moves:
        effect = lab.commits[new].tree - lab.commits[old].tree
        explained = {atom for m in members for atom in lab.truth.commits_of((m.id, m.version))}
        assert effect == explained - lab.commits[old].tree


def exactly_once_and_none_lost(lab: Lab) -> None:
    """6. Each queued version is undecided or has exactly one end."""
    ends = Counter((d.id, d.version) for d in lab.queue.decided)
    waiting = Counter((e.change.id, e.change.version) for e in lab.queue.entries.values())
    assert ends + waiting == Counter(lab.queued)
    landed = [(m.id, m.version) for _, _, members, _ in lab.moves for m in members]
    assert len(landed) == len(set(landed))
    if lab.queue.landing is None:
        recorded = {(d.id, d.version) for d in lab.queue.decided if d.outcome is Ending.LANDED}
        assert recorded == set(landed)


def the_log_is_the_state(lab: Lab) -> None:
    """7. Crash-safe: folding what was recorded gives the state in memory."""
    assert fold(lab.log) == lab.queue


def blame_has_evidence(lab: Lab) -> None:
    """10. Two real failures with the change in them, on bases that passed, one of the change alone."""
    for event, _ in lab.log:
        if not isinstance(event, ev.ChangeRejected) or event.by is not None:
            continue
        proof = [lab.answers[run] for run in event.runs]
        assert len(proof) >= max(2, event.needed), event
        assert all(result in BLAMING and run.holds(event.id) for run, result in proof), event
        assert any(len(run.members) == 1 for run, _ in proof), event
        for run, _ in proof:
            assert lab.has_passed(lab.commits[run.base].tree, run.ci), event


def suspects_shrink(lab: Lab) -> None:
    """11. A unit that is tried again is smaller than the one that failed."""
    runs = {e.run: e for e, _ in lab.log if isinstance(e, ev.RunStarted)}
    for run in runs.values():
        if run.purpose is Purpose.TRAIN and run.confirms is not None:
            assert len(run.members) < len(runs[run.confirms].members)


def slots_are_kept(lab: Lab) -> None:
    """12. Never more runs than slots, those being cancelled included."""
    assert len(lab.queue.running) <= lab.slots
    assert len(lab.processes) <= lab.slots


def conflicts_are_with_landed_work(lab: Lab) -> None:
    """Nobody is sent back because of work that has not landed."""
    for event, _ in lab.log:
        if isinstance(event, ev.ChangeConflicted):
            base = lab.commits[event.base].tree
            atom = (event.id, event.version)
            assert any(atom in pair and pair - {atom} <= base for pair in lab.truth.conflicts)


def definition_changes_ride_alone(lab: Lab) -> None:
    queued = [e.change for e, _ in lab.log if isinstance(e, ev.ChangeQueued)]
    touching = {made.member for made in queued if made.touches_ci}
    for event, _ in lab.log:
        if isinstance(event, ev.RunStarted) and not touching.isdisjoint(event.members):
            assert len(event.members) == 1


def nobody_lands_without_its_base(lab: Lab) -> None:
    """What a landed change builds on landed before it, or goes before it in the same train, as a change of its own."""
    for old, _, members, _ in lab.moves:
        there = lab.commits[old].tree
        for m in members:
            assert lab.truth.bases_of((m.id, m.version)) <= there, m
            there |= lab.truth.commits_of((m.id, m.version))


def nobody_is_tested_without_its_base(lab: Lab) -> None:
    """Known when the run started: what is decided or in the tree by then is no base any more."""
    waits: dict[str, tuple[str, ...]] = {}
    in_main: set[str] = set()
    for event, _ in lab.log:
        match event:
            case ev.ChangeFoundEmpty():
                in_main.add(event.id)
            case ev.ChangeQueued(change=made):
                waits[made.id] = tuple(member.id for member in made.stacked_on)
            case ev.ChangeRestacked():
                waits[event.id] = tuple(member.id for member in event.stacked_on)
            case ev.RunStarted():
                there = in_main | {atom[0] for atom in lab.commits[event.base].tree}
                for m in event.members:
                    assert there.issuperset(waits.get(m.id, ())), event
                    there.add(m.id)


def nobody_is_blamed_for_its_base(lab: Lab) -> None:
    """Every failure a rejection rests on has the change's base in the tree it was tested on, or beside it."""
    for event, _ in lab.log:
        if not isinstance(event, ev.ChangeRejected) or event.by is not None:
            continue
        below = lab.truth.bases_of((event.id, event.version))
        for run, _ in (lab.answers[name] for name in event.runs):
            beside = {atom for m in run.members if m.id != event.id for atom in lab.truth.commits_of((m.id, m.version))}
            assert below <= lab.commits[run.base].tree | beside, event


def nobody_lands_unaccepted(lab: Lab) -> None:
    """What a change has to pass by itself has passed on exactly the tree that it landed in."""
    for _, new, members, _ in lab.moves:
        asked = {lab.asked[member] for member in members if member in lab.asked}
        assert {(one, lab.tree_name(new)) for one in asked} <= lab.accepted


INVARIANTS = (
    every_tip_was_tested,
    no_tip_is_red,
    moves_descend,
    only_queued_bytes_landed,
    no_foreign_effect,
    exactly_once_and_none_lost,
    the_log_is_the_state,
    blame_has_evidence,
    suspects_shrink,
    slots_are_kept,
    conflicts_are_with_landed_work,
    definition_changes_ride_alone,
    nobody_lands_without_its_base,
    nobody_is_tested_without_its_base,
    nobody_is_blamed_for_its_base,
    nobody_lands_unaccepted,
)


def audit(lab: Lab) -> None:
    for holds in INVARIANTS:
        holds(lab)

"""Stacks: changes that build on other queued changes wait for them, land with them, and leave with them.

A change is stacked on another when its commits include that one's head; `land --after` makes it wait without that.
Either way nothing tests or lands it without its base, so nothing that is wrong with the base can be blamed on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from msgspec import structs

from paddock.core.merge.events import ChangeCancelled, ChangeRestacked
from paddock.core.merge.model import Change, Decided, Ending, Entry, Queue

if TYPE_CHECKING:
    from paddock.core.merge.view import Eligible

FALLEN: Mapping[Ending, str] = {
    Ending.REJECTED: "was rejected",
    Ending.CONFLICTED: "conflicts with landed work",
    Ending.CANCELLED: "was removed from the queue",
}


@dataclass(slots=True)
class Ancestry:
    """The part of git's history that is not on main: commit → parents. `tips` are the heads it was read for."""

    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tips: set[str] = field(default_factory=set)

    def includes(self, head: str, other: str) -> bool:
        """The commits of `head` that are not on main include `other`, which may be `head` itself."""
        if other not in self.parents:
            return False
        seen: set[str] = set()
        waiting = [head]
        while waiting:
            commit = waiting.pop()
            if commit == other:
                return True
            if commit not in seen:
                seen.add(commit)
                waiting += [parent for parent in self.parents.get(commit, ()) if parent in self.parents]
        return False


def stack(queue: Queue, change: Change, ancestry: Ancestry) -> Change:
    """`change` with what it is stacked on: every other queued change whose head is among its commits."""
    bases = tuple(
        entry.change.member
        for entry in queue.entries.values()
        if entry.change.id != change.id and ancestry.includes(change.head, entry.change.head)
    )
    depends_on = tuple(dict.fromkeys((*change.depends_on, *(base.id for base in bases))))
    return structs.replace(change, depends_on=depends_on, stacked_on=bases)


def restack(queue: Queue, change: Change, ancestry: Ancestry) -> list[ChangeRestacked]:
    """What queueing `change` means for the others: which build on it, and which stay on its new version.

    Nothing for one built on an older version that the new one does not include: it leaves the queue.
    """
    old = queue.entries.get(change.id)
    grown = old is not None and ancestry.includes(change.head, old.change.head)
    landing = queue.ended[queue.landing.run] if queue.landing is not None else None
    found = []
    for entry in queue.entries.values():
        other = entry.change
        if other.id == change.id or other.head == change.head or (landing is not None and landing.holds(other.id)):
            continue
        stood_on = change.id in {member.id for member in other.stacked_on}
        if ancestry.includes(other.head, change.head) or (stood_on and grown):
            rest = tuple(member for member in other.stacked_on if member.id != change.id)
            depends_on = tuple(dict.fromkeys((*other.depends_on, change.id)))
            found.append(ChangeRestacked(other.id, other.version, depends_on, (*rest, change.member)))
    return found


def circle(entries: Mapping[str, Entry], change_id: str, depends_on: Iterable[str]) -> tuple[str, ...]:
    """The way from a change over what it would wait for back to itself; empty when there is none."""
    paths: list[tuple[str, ...]] = [(base,) for base in depends_on]
    seen: set[str] = set()
    while paths:
        path = paths.pop()
        if path[-1] == change_id:
            return path
        if path[-1] in seen or path[-1] not in entries:
            continue
        seen.add(path[-1])
        paths += [(*path, base) for base in entries[path[-1]].waits_on]
    return ()


def leave_with_base(queue: Queue) -> tuple[ChangeCancelled, ...]:
    """A change whose base was decided without landing, or was rewritten, leaves the queue with that reason."""
    actions = []
    for entry in queue.entries.values():
        if entry.waits_on and (found := _lost_base(queue, entry)) is not None:
            base, reason = found
            actions.append(ChangeCancelled(entry.change.id, entry.change.version, reason, fell_with=base))
    return tuple(actions)


def _lost_base(queue: Queue, entry: Entry) -> tuple[str, str] | None:
    stacked = {member.id: member for member in entry.change.stacked_on}
    for base in entry.waits_on:
        waiting = queue.entries.get(base)
        how = f"it is stacked on `{base}`" if base in stacked else f"it waits for `{base}`"
        if waiting is None:
            end = _last_end(queue, base)
            if end is not None and end.at >= entry.queued_at and end.outcome in FALLEN:
                return base, f"{how}, which {FALLEN[end.outcome]}"
        elif base in stacked and stacked[base] != waiting.change.member:
            version = waiting.change.version
            return base, f"{how}, whose version {version} does not include the commits it is built on"
    return None


def _last_end(queue: Queue, change_id: str) -> Decided | None:
    return next((old for old in reversed(queue.decided) if old.id == change_id), None)


def bases_first(candidates: Sequence[Eligible]) -> list[Eligible]:
    """In order of rank, where a base goes at least as early as the most urgent of its dependents."""
    by_id = {candidate.id: candidate for candidate in candidates}
    ranks = ranks_by_stack(
        {candidate.id: candidate.rank for candidate in candidates},
        {candidate.id: candidate.entry.waits_on for candidate in candidates},
    )
    return [replace(by_id[name], rank=rank) for name, rank in ranks.items()]


def ranks_by_stack(ranks: Mapping[str, float], waits: Mapping[str, tuple[str, ...]]) -> dict[str, float]:
    """The ranks in their order, each as low as the lowest of what waits for it, bases before their dependents."""
    lowest = dict(ranks)
    depths = _depths(waits)
    for name in sorted((name for name in waits if waits[name]), key=lambda name: -depths[name]):
        for base in waits[name]:
            if base in lowest:
                lowest[base] = min(lowest[base], lowest[name])
    return dict(sorted(lowest.items(), key=lambda pair: (pair[1], depths[pair[0]], pair[0])))


def _depths(waits: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """How many others a change stands on, one upon another."""
    depths = {name: 0 for name, bases in waits.items() if not bases}
    left = {name: [base for base in bases if base in waits] for name, bases in waits.items() if bases}
    while left:
        known = [name for name, bases in left.items() if all(base in depths for base in bases)] or list(left)
        for name in known:
            depths[name] = 1 + max((depths.get(base, 0) for base in left[name]), default=0)
        left = {name: bases for name, bases in left.items() if name not in depths}
    return depths

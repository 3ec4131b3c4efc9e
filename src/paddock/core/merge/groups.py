"""What a failed run of several changes says about each of them, read off what happened to the others since.

Such a run is taken apart by halves: its first suspects are tried, the rest wait for the answer. Once a smaller
group has failed, the others are as innocent as before; once all others have passed, the last one is the culprit.
"""

from dataclasses import dataclass
from enum import Enum

from paddock.core.merge import guards
from paddock.core.merge.incidents import lost_too_often
from paddock.core.merge.model import Ending, Queue, Result, Run


class Part(Enum):
    """NEXT: in the half that is tried now. LATER: waits for that half. FREED: somebody else broke the run."""

    NEXT = "next"
    LATER = "later"
    FREED = "freed"


@dataclass(frozen=True, slots=True)
class Place:
    """`last_suspect`: every other member has passed since. `open`: another one has no verdict of its own yet."""

    part: Part
    last_suspect: bool = False
    open: bool = False


def place_in(queue: Queue, run: Run, change_id: str) -> Place:
    """Where a member of the failed `run` stands now."""
    others = {member.id: _since(queue, member.id, run) for member in run.members if member.id != change_id}
    verdicts = [_verdict(since) for since in others.values()]
    waits = None in verdicts and False not in verdicts
    if any(_explains(queue, since, run, change_id) for since in others.values()):
        return Place(Part.FREED, open=waits)
    suspects = [member.id for member in run.members if member.id not in others or _verdict(others[member.id]) is None]
    part = Part.NEXT if change_id in first_half(suspects) else Part.LATER
    return Place(part, last_suspect=len(suspects) == 1, open=waits)


def first_half(suspects: list[str]) -> list[str]:
    return suspects[: max(1, len(suspects) // 2)]


Since = tuple[Run, ...] | bool


def _since(queue: Queue, change_id: str, run: Run) -> Since:
    """The verdicts after `run` on a member of it; for one that has left the queue, or never will, whether it landed."""
    entry = queue.entries.get(change_id)
    if entry is None or run.id not in entry.evidence:
        return any(d.id == change_id and d.outcome is Ending.LANDED for d in reversed(queue.decided))
    after = entry.evidence[entry.evidence.index(run.id) + 1 :]
    runs = tuple(queue.ended[i] for i in after if i in queue.ended)
    return False if not runs and lost_too_often(entry) else runs


def _verdict(since: Since) -> bool | None:
    """Whether a member was cleared, or found wanting by itself; None while nobody knows."""
    if isinstance(since, bool):
        return since
    if any(run.result is Result.PASS for run in since):
        return True
    return False if any(len(run.members) == 1 for run in since) else None


def _explains(queue: Queue, since: Since, failed: Run, change_id: str) -> bool:
    """A smaller group out of the failed run, without this change, failed as well; or a suspect went away untried."""
    if isinstance(since, bool):
        return not since
    return any(
        run.result in guards.BLAMING
        and not run.holds(change_id)
        and all(failed.holds(member.id) for member in run.members)
        and guards.base_is_verified(queue, run)
        for run in since
    )

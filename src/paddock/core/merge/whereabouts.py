"""Where each queued change is, in the five places a person thinks in: every change is in exactly one of them."""

from enum import StrEnum

from paddock.core.merge import guards
from paddock.core.merge.model import Entry, Purpose, Queue, Run
from paddock.core.merge.standing import Stage, standing_of
from paddock.core.merge.view import train_chain

DOUBTED = frozenset({Stage.SINGLE, Stage.LATER, Stage.CONFIRM, Stage.CONVICTED, Stage.SUSPECT, Stage.BEHIND})


class QueuePlace(StrEnum):
    """SUSPECT: it failed, alone or with others, and has not been cleared or rejected yet."""

    WAITING = "waiting"
    SCREENING = "screening"
    PASSED = "passed"
    RIDING = "riding"
    SUSPECT = "suspects"


def places_of(queue: Queue) -> dict[str, QueuePlace]:
    """Of every undecided change, in the order they were queued."""
    live = guards.live_bases(queue)
    runs = [run for run in queue.running.values() if not run.cancelling]
    held: dict[str, Run] = {}
    for run in sorted(runs, key=lambda run: run.purpose is Purpose.TRAIN):
        held.update(dict.fromkeys((member.id for member in run.members), run))
    if queue.main is not None:
        for run in train_chain(queue, queue.main):
            held.update(dict.fromkeys((member.id for member in run.members), run))
    return {name: _place_of(queue, entry, held.get(name), live) for name, entry in queue.entries.items()}


def _place_of(queue: Queue, entry: Entry, run: Run | None, live: frozenset[str]) -> QueuePlace:
    stage = standing_of(queue, entry, live).stage
    if run is not None and run.purpose is Purpose.TRAIN and run.confirms is None:
        return QueuePlace.RIDING
    if stage in DOUBTED:
        return QueuePlace.SUSPECT
    if run is not None:
        return QueuePlace.SCREENING
    return QueuePlace.PASSED if stage is Stage.READY else QueuePlace.WAITING

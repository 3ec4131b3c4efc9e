"""The refusal of an event that cannot be a fact."""

from paddock.core.errors import IllegalTransition
from paddock.core.merge.events import QueueEvent
from paddock.core.merge.model import Entry, Queue


def refusal(event: QueueEvent, why: str) -> IllegalTransition:
    return IllegalTransition(f"`{event.kind}` does not fit the merge queue: {why}")


def entry_of(queue: Queue, event: QueueEvent, change_id: str, version: int) -> Entry:
    """The undecided change an event speaks of, in the version it speaks of."""
    entry = queue.entries.get(change_id)
    if entry is None:
        raise refusal(event, f"change `{change_id}` is not in the queue")
    if entry.change.version != version:
        raise refusal(event, f"`{change_id}` is at version {entry.change.version}, not {version}")
    return entry

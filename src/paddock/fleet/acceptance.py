"""What must pass before a task's change is accepted: its texts are only in the log, where no worker looks."""

from paddock.core.events import Acceptance, TaskAdded, TaskEdited
from paddock.core.tasks.task import Task
from paddock.store.protocol import Store


def read_acceptance(store: Store, task: Task) -> Acceptance | None:
    return acceptance_at(store, task.accept_seq)


def acceptance_at(store: Store, seq: int) -> Acceptance | None:
    """The one that record `seq` holds; None for 0."""
    if not seq:
        return None
    event = store.record(seq).event
    assert isinstance(event, TaskAdded | TaskEdited)
    return event.accept if isinstance(event.accept, Acceptance) else None

"""Messages to agents, read from the log and from what the turns that have them said."""

from collections.abc import Collection

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import MessagesDelivered, Record
from paddock.core.ids import TaskId
from paddock.core.tasks.mail import MESSAGE_KINDS, SentMessage, messages_in
from paddock.fleet.message_answers import first_words
from paddock.fleet.site import Site
from paddock.store.protocol import Query, Store

MOST_TASKS_APART = 20
"""More are read from the whole log at once."""


def read_messages(store: Store, board: Board, tasks: Collection[TaskId], most: int) -> list[SentMessage]:
    """The newest of the tasks, or of all if none is named; oldest first."""
    if not tasks or len(tasks) > MOST_TASKS_APART:
        return messages_in(store.records(Query(kind=MESSAGE_KINDS)), board, tasks or None, most)
    found = [
        one
        for name in tasks
        for one in messages_in(store.records(Query(task=name, kind=MESSAGE_KINDS)), board, {name}, most)
    ]
    return sorted(found, key=lambda one: one.number)[-most:]


def read_answers(site: Site, board: Board, messages: Collection[SentMessage]) -> dict[int, str]:
    names = dict.fromkeys(one.task for one in messages)
    attempts = {one.id: one for name in names if name in board.tasks for one in board.tasks[name].attempts}
    return first_words(site, attempts, tuple(messages))


def find_record(store: Store, number: int) -> Record | None:
    """None if the log has no such record."""
    try:
        return store.record(number)
    except PaddockError:
        return None


def read_receipts(store: Store, after: int) -> dict[int, str]:
    """The evidence of messages that were delivered since, by their numbers."""
    found: dict[int, str] = {}
    for record in store.records(Query(after=after, kind=MessagesDelivered.kind)):
        if isinstance(record.event, MessagesDelivered):
            found |= dict.fromkeys(record.event.messages, record.event.evidence)
    return found

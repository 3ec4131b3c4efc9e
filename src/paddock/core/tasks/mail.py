"""How each message to an agent stands, by what the log has of it."""

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import AttemptId, TaskId

MESSAGE_KINDS = "message.*"
"""The records that tell of messages, as a query for them says it."""


class MessageState(StrEnum):
    """`QUEUED`: it waits for a turn. `TOLD`: a turn began with it, and nothing shows yet that its engine has it.
    `DELIVERED`: the engine has it. `ANSWERED`: the agent has said something since. `DROPPED`: nobody waits for it."""

    QUEUED = "queued"
    TOLD = "told"
    DELIVERED = "delivered"
    ANSWERED = "answered"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class SentMessage:
    """`number` is that of its record. `attempt` and `turn` have it since `delivered_at`, as `evidence` shows."""

    number: int
    task: TaskId
    by: str
    at: float
    event: ev.MessageSent
    state: MessageState
    delivered_at: float | None = None
    attempt: AttemptId | None = None
    turn: int = 0
    evidence: str = ""


def messages_in(
    records: Iterable[ev.Record], board: Board, tasks: Collection[TaskId] | None = None, most: int = 100
) -> list[SentMessage]:
    """The newest, oldest first, of the records of messages in the order they were written."""
    sent: deque[ev.Record] = deque(maxlen=most)
    receipts: dict[int, ev.Record] = {}
    for record in records:
        match record.event:
            case ev.MessageSent() if tasks is None or record.task in tasks:
                sent.append(record)
            case ev.MessagesDelivered(messages=messages):
                receipts |= dict.fromkeys(messages, record)
            case _:
                pass
    return [_describe(record, receipts.get(record.seq), board) for record in sent]


def _describe(record: ev.Record, receipt: ev.Record | None, board: Board) -> SentMessage:
    event, name = record.event, record.task
    assert isinstance(event, ev.MessageSent)
    assert name is not None
    about = (record.seq, name, record.actor, record.at, event)
    if receipt is not None and isinstance(receipt.event, ev.MessagesDelivered):
        told = receipt.event
        return SentMessage(*about, MessageState.DELIVERED, receipt.at, receipt.attempt, told.turn, told.evidence)
    task = board.tasks.get(name)
    if task is not None and record.seq in task.inbox:
        return SentMessage(*about, MessageState.QUEUED)
    if event.answers and (task is None or record.seq not in task.untold):
        return SentMessage(*about, MessageState.DROPPED)
    return SentMessage(*about, MessageState.TOLD)

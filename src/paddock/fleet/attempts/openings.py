"""What began a turn: the task itself, or the messages it was claimed for."""

from dataclasses import dataclass

from paddock.core.events import MessageSent, TaskAdded, TaskEdited, TaskRejected, TurnStarted
from paddock.core.tasks.task import Attempt, Task
from paddock.store.protocol import Query, Store


@dataclass(frozen=True, slots=True)
class TurnInput:
    """One text a turn began with; `by` is the person, program or agent whose words these are."""

    by: str
    what: str
    text: str


@dataclass(frozen=True, slots=True)
class Opening:
    turn: int
    at: float
    said: tuple[TurnInput, ...] = ()


def find_opening(store: Store, task: Task, attempt: Attempt, turn: int) -> Opening | None:
    for record in store.records(Query(task=task.id, kind=TurnStarted.kind)):
        event = record.event
        if isinstance(event, TurnStarted) and record.attempt == attempt.id and event.turn == turn:
            begins = turn == 1 and attempt.continues is None
            seqs = (*((task.brief_seq,) if begins else ()), *event.messages)
            said = [words for seq in seqs if (words := _read(store, seq)) is not None]
            return Opening(turn, record.at, tuple(said))
    return None


def _read(store: Store, seq: int) -> TurnInput | None:
    record = store.record(seq)
    match record.event:
        case TaskAdded(brief=str(brief)) | TaskEdited(brief=str(brief)):
            return TurnInput(record.actor, "task", brief)
        case MessageSent(text=text):
            return TurnInput(record.actor, "message", text)
        case TaskRejected(message=message):
            return TurnInput(record.actor, "rejection", message)
        case _:
            return None

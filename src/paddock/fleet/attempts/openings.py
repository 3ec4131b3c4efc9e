"""What began a turn: the task itself, or the messages it was claimed for; and what it must be told again, because its
engine cannot remember it or never received it."""

from collections.abc import Iterator
from dataclasses import dataclass

from paddock.core.errors import PaddockError
from paddock.core.events import (
    AnswerRefused,
    MessagesDelivered,
    MessageSent,
    MessagesRead,
    TaskAdded,
    TaskEdited,
    TaskRejected,
    TurnStarted,
)
from paddock.core.review.events import ReviewSentBack
from paddock.core.tasks.task import Attempt, Task
from paddock.core.trace import Text, TraceEntry
from paddock.fleet.attempts.turn import read_again
from paddock.fleet.site import Site
from paddock.sessions.protocol import Turn
from paddock.store.protocol import Query, Store

MOST_TURNS = 3
"""How far back the last words are looked for: a turn that never began has none."""


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
        case ReviewSentBack(message=message):
            return TurnInput(record.actor, "review", message)
        case AnswerRefused(problem=problem):
            return TurnInput(record.actor, "asked again", problem)
        case _:
            return None


@dataclass(frozen=True, slots=True)
class ToTell:
    """What a turn is to be told: what it was claimed for, and `before` that what its conversation may lack."""

    before: tuple[int, ...] = ()
    claimed: tuple[int, ...] = ()

    @property
    def all(self) -> tuple[int, ...]:
        return (*self.before, *self.claimed)


def messages_to_tell(store: Store, task: Task, attempt: Attempt, *, remembers: bool) -> ToTell:
    """The messages the open turn was claimed for, as the claim in the log names them; before them those that no engine
    is known to have, or all of them if the engine does not remember."""
    all_before: tuple[int, ...] = ()
    read_in_turns = _read_in_turns(store, task)
    for record in store.records(Query(task=task.id, kind=TurnStarted.kind)):
        event = record.event
        if not isinstance(event, TurnStarted):
            continue
        while read_in_turns and read_in_turns[0][0] < record.seq:
            all_before += read_in_turns.pop(0)[1]
        if record.attempt == attempt.id and event.turn == attempt.turn:
            before = dict.fromkeys(task.untold if remembers else all_before)
            return ToTell(tuple(seq for seq in before if seq not in event.messages), event.messages)
        all_before += event.messages
    return ToTell()


def _read_in_turns(store: Store, task: Task) -> list[tuple[int, tuple[int, ...]]]:
    """The messages that were told in the middle of a turn, and the records that say so."""
    kinds = (MessagesRead.kind, MessagesDelivered.kind)
    records = [one for kind in kinds for one in store.records(Query(task=task.id, kind=kind))]
    told = [(one.seq, one.event.messages) for one in records if isinstance(one.event, MessagesRead | MessagesDelivered)]
    return sorted(told)


async def last_words(site: Site, task: Task, attempt: Attempt) -> str:
    """What the agent said last, before the open turn; empty when nothing is left of it."""
    for earlier, turn in _turns_before(task, attempt):
        words: list[str] = []

        def hear(entry: TraceEntry, _is_first: bool, words: list[str] = words) -> None:
            if isinstance(entry, Text) and entry.text.strip():
                words[:] = [entry.text]

        try:
            await read_again(site.engine(earlier.engine), site.sessions, Turn(earlier.id, turn), hear)
        except (PaddockError, OSError):
            continue
        if words:
            return words[0]
    return ""


def _turns_before(task: Task, attempt: Attempt) -> Iterator[tuple[Attempt, int]]:
    """The newest first."""
    own = [(attempt, turn) for turn in range(attempt.turn - 1, 0, -1)]
    continues = attempt.continues
    for earlier in reversed(task.attempts):
        if earlier.id == continues:
            own += [(earlier, turn) for turn in range(earlier.turn, 0, -1)]
            continues = earlier.continues
    yield from own[:MOST_TURNS]

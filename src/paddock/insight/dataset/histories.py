"""What the log tells of a task's attempts: from records to one history for each."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from paddock.core.events import (
    AttemptEnded,
    AttemptStarted,
    PlanDropped,
    PlanProposed,
    Record,
    TaskAdded,
    TaskCancelled,
    TaskRejected,
    TurnEnded,
    TurnStarted,
)
from paddock.core.ids import AttemptId, TaskId
from paddock.core.review.events import ReviewSentBack


@dataclass(slots=True)
class TurnHistory:
    """`number` is unique within an attempt. `ended` is None for one that is open, or whose end nobody recorded."""

    number: int
    started_at: float
    worktree: str = ""
    interactive: bool = False
    ended: TurnEnded | None = None
    ended_at: float | None = None


@dataclass(slots=True)
class AttemptHistory:
    """`is_unwanted`: what it delivered was sent back, rejected, dropped or cancelled."""

    id: AttemptId
    started: AttemptStarted
    started_at: float
    turns: dict[int, TurnHistory] = field(default_factory=dict)
    ended: AttemptEnded | None = None
    ended_at: float | None = None
    is_unwanted: bool = False

    @property
    def head(self) -> str:
        return (self.ended.head or "") if self.ended is not None else ""


@dataclass(slots=True)
class TaskHistory:
    """`series` names what it recurs as, where a schedule or a workflow adds it again and again."""

    id: TaskId
    added: TaskAdded | None = None
    attempts: dict[AttemptId, AttemptHistory] = field(default_factory=dict)

    @property
    def series(self) -> str:
        return str(getattr(self.added, "series", "") or "")


def read_history(task: TaskId, records: Iterable[Record]) -> TaskHistory:
    """`records` are those of the task and its attempts. What a replaced daemon still wrote has no effect."""
    history, answers, newest = TaskHistory(task), dict[int, AttemptId](), 0
    for record in records:
        if 0 < record.generation < newest:
            continue
        newest = max(newest, record.generation)
        _take(history, record, answers)
    return history


def _take(history: TaskHistory, record: Record, answers: dict[int, AttemptId]) -> None:
    event = record.event
    own = history.attempts.get(record.attempt) if record.attempt is not None else None
    match event:
        case TaskAdded():
            history.added = event
        case AttemptStarted() if record.attempt is not None:
            history.attempts[record.attempt] = AttemptHistory(record.attempt, event, record.at)
        case TurnStarted() if own is not None:
            own.turns[event.turn] = TurnHistory(event.turn, record.at, event.worktree, event.interactive)
        case TurnEnded() if own is not None and event.turn in own.turns:
            turn = own.turns[event.turn]
            turn.ended, turn.ended_at = event, record.at
        case AttemptEnded() if own is not None and own.ended is None:
            own.ended, own.ended_at = event, record.at
        case PlanProposed() if own is not None:
            answers[record.seq] = own.id
        case PlanDropped() if event.plan in answers:
            history.attempts[answers[event.plan]].is_unwanted = True
        case ReviewSentBack() | TaskRejected():
            _mark_unwanted(history, event.head)
        case TaskCancelled():
            _mark_unwanted(history, next((one.head for one in reversed(history.attempts.values()) if one.head), ""))
        case _:
            pass


def _mark_unwanted(history: TaskHistory, head: str) -> None:
    for attempt in history.attempts.values():
        if head and attempt.head == head:
            attempt.is_unwanted = True

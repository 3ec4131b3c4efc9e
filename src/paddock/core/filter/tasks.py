"""Filters over the tasks of a board. Only those that can match are decoded: a board keeps lists of some of them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from paddock.core.board import Board
from paddock.core.filter.evaluate import FieldReaders, Matches, compile_filter
from paddock.core.filter.parser import parse_filter
from paddock.core.filter.tree import Comparison, Conjunction, Filter, IdSpan, Operator, WordPattern
from paddock.core.ids import TaskId, task_id, task_number
from paddock.core.tasks.needs import need_of
from paddock.core.tasks.task import FINISHED, Phase, Task


@dataclass(frozen=True, slots=True)
class Signs:
    """What is known of an attempt at work beside the log: what it did last, and why it looks stuck, if it does."""

    step: str = ""
    stuck: str = ""
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """A filter as somebody has it at one moment: `now` is what ages count to, `signs` are by attempt."""

    tree: Filter
    now: float
    signs: Mapping[str, Signs] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str, now: float, signs: Mapping[str, Signs] | None = None) -> "TaskFilter":
        """Raises FilterError."""
        return cls(parse_filter(text), now, signs or {})

    @property
    def matches(self) -> Matches[Task]:
        return compile_filter(self.tree, task_readers(self.now, self.signs))

    def pick(self, board: Board, among: Iterable[TaskId] | None = None) -> list[TaskId]:
        """Those of the board that match, or of these, in their order."""
        matches, candidates = self.matches, find_candidates(self.tree, board)
        if among is None:
            names: Iterable[TaskId] = board.tasks if candidates is None else sorted(candidates, key=task_number)
        else:
            names = among if candidates is None else [name for name in among if name in candidates]
        return [name for name in names if matches(board.tasks[name])]


def task_readers(now: float, signs: Mapping[str, Signs]) -> FieldReaders[Task]:
    def sign(task: Task) -> Signs | None:
        return signs.get(task.attempts[-1].id) if signs and task.attempts and task.attempts[-1].live else None

    return FieldReaders(
        words={
            "id": lambda task: (task.id,),
            "title": lambda task: (task.title,),
            "phase": lambda task: (task.phase.value,),
            "outcome": _outcome,
            "need": lambda task: () if (need := need_of(task)) is None else (need.value,),
            "agent": lambda task: _one(task.agent),
            "engine": _engine,
            "model": lambda task: () if (worker := task.worker) is None else _one(worker.model),
            "kind": lambda task: _one(task.kind),
            "convoy": lambda task: _one(task.convoy),
            "label": lambda task: task.labels,
            "role": lambda task: (task.role.value,),
            "after": lambda task: task.after,
            "held": _holder,
            "reason": lambda task: _one(task.reason),
            "stuck": lambda task: () if (one := sign(task)) is None else _one(one.stuck),
            "step": lambda task: () if (one := sign(task)) is None else _one(one.step),
        },
        numbers={
            "age": lambda task: now - task.created,
            "since": lambda task: now - task.since,
            "cost": lambda task: task.cost_so_far(None if (one := sign(task)) is None else one.cost_usd),
            "attempts": lambda task: task.started,
            "priority": lambda task: task.priority,
        },
    )


def _one(word: str | None) -> tuple[str, ...]:
    return (word,) if word else ()


def _outcome(task: Task) -> tuple[str, ...]:
    worker = task.worker
    return () if worker is None or worker.outcome is None else (worker.outcome.value,)


def _engine(task: Task) -> tuple[str, ...]:
    return _one(task.engine) or (() if (worker := task.worker) is None else _one(worker.engine))


def _holder(task: Task) -> tuple[str, ...]:
    """`ana@laptop`, and `ana` alone."""
    live = task.live_attempt
    by = live.held.by if live is not None and live.held is not None else ""
    return tuple(dict.fromkeys((*_one(by), *_one(by.partition("@")[0]))))


def find_candidates(tree: Filter, board: Board) -> Collection[TaskId] | None:
    """All tasks that can match, by what the board has lists of; None where that is no help."""
    parts = tree.parts if isinstance(tree, Conjunction) else (tree,)
    found = [among for part in parts if isinstance(part, Comparison) and (among := _listed(part, board)) is not None]
    return min(found, key=len, default=None)


def _listed(part: Comparison, board: Board) -> Collection[TaskId] | None:
    if part.operator is not Operator.IS:
        return None
    words = [value.text.lower() for value in part.values if isinstance(value, WordPattern) and not value.wild]
    is_exact = len(words) == len(part.values) and all(words)
    match part.field.name:
        case "id":
            return _spanned([value for value in part.values if isinstance(value, IdSpan)], part, board)
        case "phase" if is_exact and FINISHED.isdisjoint(map(Phase, words)):
            return board.open
        case "need" if all(isinstance(value, WordPattern) and value.text for value in part.values):
            return board.needy
        case "held" | "stuck" if all(isinstance(value, WordPattern) and value.text for value in part.values):
            return board.live
        case "convoy" if is_exact:
            known = [members for name, members in board.members.items() if name.lower() in words]
            return {name for members in known for name in members}
        case _:
            return None


def _spanned(spans: list[IdSpan], part: Comparison, board: Board) -> Collection[TaskId] | None:
    if len(spans) < len(part.values):
        return None
    newest = board.next_task - 1
    return {task_id(number) for span in spans for number in range(span.first, min(span.last, newest) + 1)}

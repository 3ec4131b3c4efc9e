"""Filters over the rows of a live board: the same language as over tasks. The browser does it with its own rows."""

from collections.abc import Callable, Iterable
from datetime import datetime

from paddock.core.filter.evaluate import FieldReaders, Matches, compile_filter
from paddock.core.filter.parser import parse_filter
from paddock.views.board.rows import TaskRow


def filter_rows(rows: Iterable[TaskRow], text: str, now: float) -> list[TaskRow]:
    """Those that match, in their order; all for an empty text. Raises FilterError."""
    matches = row_filter(text, now)
    return [row for row in rows if matches(row)]


def row_filter(text: str, now: float) -> Matches[TaskRow]:
    """Raises FilterError."""
    return compile_filter(parse_filter(text), row_readers(now))


def row_readers(now: float) -> FieldReaders[TaskRow]:
    return FieldReaders(
        words={
            "id": lambda row: (row.id,),
            "title": lambda row: (row.title,),
            "phase": lambda row: (row.phase,),
            "outcome": _words("outcome"),
            "need": _words("need"),
            "agent": _words("agent"),
            "engine": _words("engine"),
            "model": _words("model"),
            "kind": _words("kind"),
            "convoy": _words("convoy"),
            "label": lambda row: row.labels,
            "role": lambda row: (row.role,),
            "after": lambda row: row.after,
            "held": _words("held"),
            "reason": _words("reason"),
            "stuck": _words("stuck"),
            "step": _words("step"),
        },
        numbers={
            "age": lambda row: now - _moment(row.created),
            "since": lambda row: now - _moment(row.since),
            "cost": lambda row: row.cost_usd,
            "attempts": lambda row: row.attempts,
            "priority": lambda row: row.priority,
        },
    )


def _words(name: str) -> Callable[[TaskRow], tuple[str, ...]]:
    def read(row: TaskRow) -> tuple[str, ...]:
        value = getattr(row, name)
        return (value,) if value else ()

    return read


def _moment(iso: str) -> float:
    return datetime.fromisoformat(iso).timestamp()

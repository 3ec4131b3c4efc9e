"""Filters with what they find, for every place that reads the language: the server, and the browser."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from paddock.core.board import Board
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Phase, Task
from paddock.views.board.rows import TaskRow, view_row
from paddock.views.document import iso


@dataclass(frozen=True)
class FilterCases:
    now: float
    rows: list[TaskRow]
    found: list[tuple[str, str]]
    mistakes: list[tuple[str, str, int, int]]


def _row(fields: dict[str, Any]) -> TaskRow:
    task = Task(TaskId(fields["id"]), fields["title"], 1, Phase(fields["phase"]), 0.0, 0.0, 3)
    told = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    times = {"created": iso(fields["created"]), "since": iso(fields["since"])}
    return msgspec.structs.replace(view_row(Board(), task), **(told | {"need": fields.get("need", "")} | times))


_FILE = msgspec.json.decode((Path(__file__).parent / "filter_cases.json").read_bytes())
CASES = FilterCases(
    float(_FILE["now"]),
    [_row(fields) for fields in _FILE["rows"]],
    [(text, found) for text, found in _FILE["found"]],
    [(text, problem, start, end) for text, problem, start, end in _FILE["mistakes"]],
)

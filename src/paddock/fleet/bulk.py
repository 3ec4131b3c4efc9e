"""One request for many tasks, whoever asks: what can be done is done, the rest is told one by one."""

from collections.abc import Callable, Sequence

from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import Draft, Record
from paddock.core.ids import TaskId
from paddock.core.intent.selection import RefusedTask
from paddock.fleet.workspace import Workspace


def record_each(
    workspace: Workspace, names: Sequence[TaskId], decide: Callable[[Board, TaskId], Sequence[Draft]]
) -> tuple[list[Record], list[RefusedTask]]:
    """Does what it can in one transaction. Raises the refusal if there is only one task."""
    refused: list[RefusedTask] = []

    def decide_all(board: Board) -> list[Draft]:
        possible, refused[:] = try_each(board, names, decide)
        return [draft for _, drafts in possible for draft in drafts]

    records = workspace.record(decide_all)
    if refused and len(names) == 1:
        raise refused[0].error
    return records, refused


def try_each(
    board: Board, names: Sequence[TaskId], decide: Callable[[Board, TaskId], Sequence[Draft]]
) -> tuple[list[tuple[TaskId, Sequence[Draft]]], list[RefusedTask]]:
    """What would be recorded for each that it is possible for, and the refusals of the others."""
    possible: list[tuple[TaskId, Sequence[Draft]]] = []
    refused: list[RefusedTask] = []
    for name in names:
        try:
            possible.append((name, decide(board, name)))
        except Misuse:
            raise
        except PaddockError as error:
            refused.append(RefusedTask(name, error))
    return possible, refused

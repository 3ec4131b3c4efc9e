"""Findings that people make tasks of."""

from collections.abc import Sequence
from contextlib import closing

from paddock.core.board import Board
from paddock.core.events import Draft, TaskAdded
from paddock.core.intent.findings import file_findings
from paddock.fleet.review.claims import read_claim
from paddock.fleet.workspace import Workspace


def file_as_tasks(workspace: Workspace, names: Sequence[str]) -> list[str]:
    """The ids of the tasks. Raises PaddockError."""
    known = workspace.known
    with closing(workspace.write()) as store:

        def decide(board: Board) -> list[Draft]:
            found = board.reviews.findings
            return file_findings(board, names, known, lambda name: read_claim(store, found[name]))

        records = workspace.append(store, decide)
    return [str(record.task) for record in records if isinstance(record.event, TaskAdded)]

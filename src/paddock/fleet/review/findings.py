"""Findings with what they say in full, found by the names of tasks or their own, and made tasks of."""

from collections.abc import Sequence
from contextlib import closing

from paddock.core.board import Board
from paddock.core.events import Draft
from paddock.core.ids import parse_task_range
from paddock.core.intent.findings import file_findings, find_finding
from paddock.core.intent.tasks import added_in
from paddock.core.review.events import Claim
from paddock.core.review.model import Finding
from paddock.core.wording import split_list
from paddock.fleet.review.claims import claim_reader, read_claims
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Store


def find_findings(store: Store, names: Sequence[str], *, show_all: bool) -> list[tuple[Finding, Claim]]:
    """Those of these tasks and with these names, or of all tasks; only open ones unless `show_all`. Raises Misuse or
    NotFound."""
    board = store.board()
    chosen = _named(board, names) if names else list(board.reviews.findings.values())
    return read_claims(store, (one for one in chosen if show_all or one.is_open))


def file_as_tasks(workspace: Workspace, names: Sequence[str]) -> tuple[list[str], int]:
    """The ids of the tasks, and the number of the last record. Raises PaddockError."""
    known = workspace.known
    with closing(workspace.write()) as store:

        def decide(board: Board) -> list[Draft]:
            return file_findings(board, names, known, claim_reader(store, board))

        records = workspace.append(store, decide)
    return added_in(records), records[-1].seq


def _named(board: Board, names: Sequence[str]) -> list[Finding]:
    found: dict[str, Finding] = {}
    for name in names:
        if name.strip().lower().startswith("f"):
            one = find_finding(board, name)
            found[one.id] = one
        else:
            tasks = [board.task(task) for part in split_list(name) or (name,) for task in parse_task_range(part)]
            found.update((one.id, one) for task in tasks for one in board.reviews.findings_of(task.id))
    return list(found.values())

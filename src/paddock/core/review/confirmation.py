"""Findings that turn out to be true after all: that counts for whoever found them."""

from paddock.core.board import Board
from paddock.core.ids import TaskId
from paddock.core.review.events import ConfirmedBy, FindingConfirmed
from paddock.core.review.model import Finding, Status

HEEDED = frozenset({Status.FIXED})


def confirmed_by_ci(board: Board, task: TaskId, head: str, output: str, run: str) -> list[FindingConfirmed]:
    """Of a change that CI rejected at `head`: what was found before and not heeded, in files that the failure names."""
    return [
        FindingConfirmed(one.id, ConfirmedBy.CI, f"{run} fails in {one.path}")
        for one in board.reviews.findings_of(task)
        if one.head == head and _was_not_heeded(one) and one.path and one.path in output
    ]


def _was_not_heeded(finding: Finding) -> bool:
    return finding.status not in HEEDED and ConfirmedBy.CI not in finding.confirmed

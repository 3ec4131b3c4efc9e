"""Findings that became tasks of their own: with these they end, wherever they were found."""

from paddock.core.board import Board
from paddock.core.events import Draft
from paddock.core.review.events import FindingSettled, Settlement
from paddock.core.review.model import Finding, Reviews
from paddock.core.tasks.task import SATISFIED, Phase


def filed_findings(reviews: Reviews) -> tuple[Finding, ...]:
    """Those that are still open."""
    return tuple(one for one in reviews.findings.values() if one.is_open and one.routed is not None)


def is_done(board: Board, finding: Finding) -> bool:
    """Whether its task has ended well. While the change it is held against is under review, the review decides."""
    under_review = board.tasks[finding.task].phase is Phase.REVIEWING
    return finding.routed is not None and not under_review and board.tasks[finding.routed].phase in SATISFIED


def settle_filed(board: Board) -> list[Draft]:
    return [
        Draft(
            FindingSettled(one.id, Settlement.FIXED, one.head, one.routed, board.tasks[one.routed].phase.value),
            task=one.task,
        )
        for one in filed_findings(board.reviews)
        if one.routed is not None and is_done(board, one)
    ]

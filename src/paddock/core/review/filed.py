"""Findings that became tasks of their own: with these they end, wherever they were found."""

from paddock.core.board import Board
from paddock.core.events import Draft
from paddock.core.review.events import FindingSettled, Settlement
from paddock.core.review.model import Finding, Reviews
from paddock.core.tasks.task import SATISFIED, Phase

AT_WORK = frozenset({Phase.WAITING, Phase.READY, Phase.RUNNING, Phase.REVIEWING})


def filed_findings(reviews: Reviews) -> tuple[Finding, ...]:
    """Those that are still open."""
    return tuple(one for one in reviews.findings.values() if one.is_open and one.routed is not None)


def is_done(board: Board, finding: Finding) -> bool:
    """Whether its task has ended well. Of a change that is still reviewed, or will be again, the review decides."""
    at_work = board.tasks[finding.task].phase in AT_WORK
    return finding.routed is not None and not at_work and board.tasks[finding.routed].phase in SATISFIED


def settle_filed(board: Board) -> list[Draft]:
    return [
        Draft(
            FindingSettled(one.id, Settlement.FIXED, one.head, one.routed, board.tasks[one.routed].phase.value),
            task=one.task,
        )
        for one in filed_findings(board.reviews)
        if one.routed is not None and is_done(board, one)
    ]

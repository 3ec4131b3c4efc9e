"""A finding that a person reports about a delivered change, beside those of reviewers and checks."""

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import TaskId
from paddock.core.review import events as rv
from paddock.core.tasks.task import FINISHED
from paddock.core.wording import check_brief, check_paths

MOST_CLAIM_BYTES = 4_000
MOST_EVIDENCE_BYTES = 16_000


def report_finding(board: Board, name: TaskId, claim: rv.Claim, by: str) -> list[ev.Draft]:
    """A finding of severity `error` keeps the change from landing until it is settled. Raises PaddockError."""
    check_claim(claim)
    task = board.task(name)
    if task.head is None or task.phase in FINISHED:
        raise PaddockError(
            f"task `{name}` {task.phase.words}: there is no change to report on", f"see `paddock show {name}`"
        )
    found = rv.FindingReported(
        id=f"f{board.reviews.next_finding}",
        head=task.head,
        by=by,
        claim=claim,
        blocking=claim.severity is rv.Severity.ERROR,
    )
    return [ev.Draft(found, task=name)]


def check_claim(claim: rv.Claim) -> None:
    """Raises Misuse."""
    check_brief(claim.claim, "the claim")
    if claim.path:
        check_paths((claim.path,))
    for what, text, most in (
        ("claim", claim.claim, MOST_CLAIM_BYTES),
        ("evidence", claim.evidence, MOST_EVIDENCE_BYTES),
        ("suggestion", claim.suggestion, MOST_EVIDENCE_BYTES),
    ):
        if (size := len(text.encode("utf-8", "replace"))) > most:
            raise Misuse(f"the {what} has {size:,} bytes; the limit is {most:,}", "say it in fewer words")
    if claim.line < 0:
        raise Misuse(f"line {claim.line} is not a line", "lines count from 1; 0 is the whole file")

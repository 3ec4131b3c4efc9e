"""What findings say in full, read from the log: boards keep only their beginnings."""

from collections.abc import Iterable

from paddock.core.board import Board
from paddock.core.review.events import Claim, FindingReported
from paddock.core.review.filed_tasks import ReadClaim
from paddock.core.review.model import Finding
from paddock.store.protocol import Store


def read_claim(store: Store, finding: Finding) -> Claim:
    event = store.record(finding.seq).event
    assert isinstance(event, FindingReported)
    return event.claim


def read_claims(store: Store, findings: Iterable[Finding]) -> list[tuple[Finding, Claim]]:
    return [(one, read_claim(store, one)) for one in findings]


def claim_reader(store: Store, board: Board) -> ReadClaim:
    return lambda name: read_claim(store, board.reviews.findings[name])

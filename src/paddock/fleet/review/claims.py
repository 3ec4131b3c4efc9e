"""What findings say in full, read from the log: boards keep only their beginnings."""

from paddock.core.review.events import Claim, FindingReported
from paddock.core.review.model import Finding
from paddock.store.protocol import Store


def read_claim(store: Store, finding: Finding) -> Claim:
    event = store.record(finding.seq).event
    assert isinstance(event, FindingReported)
    return event.claim

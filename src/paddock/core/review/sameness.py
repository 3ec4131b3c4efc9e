"""Which findings are one and the same: reviewers word things differently, and lines move."""

import re
from collections.abc import Iterable

from paddock.core.review.events import Claim
from paddock.core.review.model import CLAIM_CHARS, Finding

NEAR_LINES = 10
ALIKE = 0.5
_WORD = re.compile(r"[a-z0-9_]{3,}")


def find_same(claim: Claim, findings: Iterable[Finding]) -> Finding | None:
    return next((finding for finding in findings if is_same(claim, finding)), None)


def is_same(claim: Claim, finding: Finding) -> bool:
    """In the same file, and either what a tool has one name for near the same line, or told in much the same words."""
    if claim.path != finding.path:
        return False
    near = not claim.line or not finding.line or abs(claim.line - finding.line) <= NEAR_LINES
    if claim.rule and finding.rule:
        return claim.rule == finding.rule and near
    return near and likeness(claim.claim[:CLAIM_CHARS], finding.claim) >= ALIKE


def likeness(one: str, other: str) -> float:
    """The share of words that both have, 1 for the same words."""
    mine, theirs = words_of(one), words_of(other)
    if not mine or not theirs:
        return float(one.strip() == other.strip())
    return len(mine & theirs) / len(mine | theirs)


def words_of(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))

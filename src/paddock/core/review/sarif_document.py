"""Findings as SARIF 2.1.0, for code hosts, editors and whatever else reads that."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import msgspec

from paddock.core.review.events import Claim
from paddock.core.review.model import Finding, Status
from paddock.core.review.sarif import VERSION

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
UNNAMED_RULE = "review"
"""Where no tool has a name for it: readers want every finding to be of some rule."""
_SUPPRESSED = (Status.WAIVED, Status.REFUTED, Status.OUTVOTED)


def write_sarif(findings: Iterable[tuple[Finding, Claim]], version: str) -> str:
    """Each with the claim that is in the log; `version` is Paddock's."""
    results = [_result(finding, claim) for finding, claim in findings]
    rules = [{"id": name} for name in dict.fromkeys(result["ruleId"] for result in results)]
    places = {rule["id"]: index for index, rule in enumerate(rules)}
    run = {
        "tool": {"driver": {"name": "Paddock", "version": version, "rules": rules}},
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository."}}},
        "results": [{**result, "ruleIndex": places[result["ruleId"]]} for result in results],
    }
    document = {"$schema": SCHEMA, "version": VERSION, "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _result(finding: Finding, claim: Claim) -> dict[str, Any]:
    rule = claim.rule or UNNAMED_RULE
    result: dict[str, Any] = {
        "ruleId": rule,
        "level": claim.severity.value,
        "message": {"text": claim.claim},
        "locations": [_location(claim)] if claim.path else [],
        "partialFingerprints": {"paddockFinding/v1": _fingerprint(claim, rule)},
        "properties": {
            "id": finding.id,
            "task": finding.task,
            "by": finding.by,
            "head": finding.head,
            "status": finding.status.value,
            "blocking": finding.blocking,
            **{name: text for name in ("evidence", "suggestion") if (text := getattr(claim, name))},
        },
    }
    if finding.status in _SUPPRESSED:
        words = f"{finding.status.value} by {finding.settled_by}" if finding.settled_by else finding.status.value
        why = f"{words}: {finding.settled_why}" if finding.settled_why else words
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": why}]
    elif finding.status is Status.FIXED:
        result["baselineState"] = "absent"
    return result


def _location(claim: Claim) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(claim.path, errors="replace"), "uriBaseId": ROOT}}
    if claim.line:
        place["region"] = {"startLine": claim.line}
    return {"physicalLocation": place}


def _fingerprint(claim: Claim, rule: str) -> str:
    """The same for the same finding of a later version: lines move, so the line is no part of it."""
    from hashlib import blake2b  # imports OpenSSL, which would slow down every command

    said = "\0".join((rule, claim.path, " ".join(claim.claim.split())))
    return blake2b(said.encode("utf-8", "replace"), digest_size=16).hexdigest()

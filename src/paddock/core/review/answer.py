"""A reviewer's answer: read from what an agent wrote, which may be anything, and turned into facts."""

import posixpath
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from paddock.core.answers import Unusable
from paddock.core.embedded_json import NoJson, find_object
from paddock.core.ids import harmless, printable
from paddock.core.merge.pathnames import path_problem
from paddock.core.review.events import Claim, Severity

MOST_FINDINGS = 50
"""Of one review: nobody reads more, and what is grave comes first."""
MOST_NOTES = 1_000
"""Lines that are looked at of what a reviewer noted, which may be anything."""
_CLAIM_CHARS = 1_000
_TEXT_CHARS = 4_000
_PATH_CHARS = 500
_SUMMARY_CHARS = 2_000
_LAST_LINE = 10**9
_SHORTEST_HEAD = 7
_NOW = ("fixed", "refuted", "open")
_SEVERITIES = {
    **{one.value: one for one in Severity},
    **dict.fromkeys(("critical", "blocker", "blocking", "high", "major", "fatal"), Severity.ERROR),
    **dict.fromkeys(("medium", "moderate", "minor"), Severity.WARNING),
    **dict.fromkeys(("low", "info", "nit", "style", "suggestion", "none"), Severity.NOTE),
}


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the reviewer says of an earlier finding: `now` is fixed, refuted or open."""

    id: str
    now: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class ReviewAnswer:
    """`dropped` findings were too many to keep."""

    findings: tuple[Claim, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    summary: str = ""
    dropped: int = 0


def read_review(text: str, head: str, open_findings: Collection[str] = ()) -> ReviewAnswer | Unusable:
    """`head` is the version that was to be reviewed; each of `open_findings` needs a ruling."""
    try:
        found = find_object(text, "findings")
    except NoJson as problem:
        return Unusable(str(problem))
    if not _names(found.get("head"), head):
        said = _shown(found.get("head"))
        return Unusable(f"`head` is {said}, but the version to review is {head}: look at that one")
    listed = found.get("findings")
    if not isinstance(listed, list):
        return Unusable("`findings` is not a list; an empty one says that there is nothing to find")
    claims = [_claim(entry, number) for number, entry in enumerate(listed, 1)]
    rulings = _rulings(found.get("earlier", []))
    if isinstance(rulings, Unusable):
        return rulings
    problems = [claim.problem for claim in claims if isinstance(claim, Unusable)]
    unruled = [name for name in open_findings if name not in {ruling.id for ruling in rulings}]
    if unruled:
        problems.append(f"`earlier` says nothing of {', '.join(unruled)}: fixed, refuted or open?")
    if problems:
        return Unusable("; ".join(problems[:10]))
    kept = rank_claims([claim for claim in claims if isinstance(claim, Claim)])
    known = tuple(ruling for ruling in rulings if ruling.id in open_findings)
    summary = found.get("summary")
    words = _text(summary, _SUMMARY_CHARS) if isinstance(summary, str) else ""
    return ReviewAnswer(tuple(kept[:MOST_FINDINGS]), known, words, max(0, len(kept) - MOST_FINDINGS))


def add_noted(answer: ReviewAnswer, notes: str) -> ReviewAnswer:
    """With the findings that the reviewer reported one by one, a line of JSON each; lines that make no sense are left
    out, and so is what its answer says too."""
    noted = [claim for line in notes.split("\n")[:MOST_NOTES] if isinstance(claim := _noted(line), Claim)]
    known = {(claim.path, claim.line, claim.claim) for claim in answer.findings}
    more = [claim for claim in noted if (claim.path, claim.line, claim.claim) not in known]
    kept = rank_claims([*answer.findings, *dict.fromkeys(more)])
    return replace(
        answer, findings=tuple(kept[:MOST_FINDINGS]), dropped=answer.dropped + max(0, len(kept) - MOST_FINDINGS)
    )


def _noted(line: str) -> Claim | Unusable:
    try:
        return _claim(find_object(line, "claim"), 1)
    except NoJson as problem:
        return Unusable(str(problem))


def rank_claims(claims: Sequence[Claim]) -> list[Claim]:
    """The gravest first; otherwise in their order."""
    return sorted(claims, key=lambda claim: claim.severity.rank)


def _claim(entry: Any, number: int) -> Claim | Unusable:
    where = f"finding {number}"
    if not isinstance(entry, dict):
        return Unusable(f"{where} is not an object")
    said = entry.get("claim")
    if not isinstance(said, str) or not said.strip():
        return Unusable(f"{where} has no `claim`")
    severity = _SEVERITIES.get(str(entry.get("severity", "")).strip().lower())
    if severity is None:
        return Unusable(f"`severity` of {where} is {_shown(entry.get('severity'))}: error, warning or note?")
    line = entry.get("line")
    return Claim(
        claim=_text(said, _CLAIM_CHARS),
        path=tidy_path(entry.get("path")),
        line=line if isinstance(line, int) and not isinstance(line, bool) and 0 < line <= _LAST_LINE else 0,
        severity=severity,
        evidence=_text(entry.get("evidence"), _TEXT_CHARS),
        suggestion=_text(entry.get("suggestion"), _TEXT_CHARS),
        rule=printable(str(entry.get("rule") or ""), 80),
    )


def _names(said: Any, head: str) -> bool:
    """Whether what was said is this version, or the beginning of its name."""
    name = said.strip().lower() if isinstance(said, str) else ""
    return len(name) >= _SHORTEST_HEAD and head.startswith(name)


def _rulings(entries: Any) -> list[Ruling] | Unusable:
    """One for each finding: who says two things of one has not decided."""
    if not isinstance(entries, list):
        return Unusable("`earlier` is not a list")
    rulings: dict[str, Ruling] = {}
    for entry in entries:
        if not isinstance(entry, dict) or entry.get("now") not in _NOW or not isinstance(entry.get("id"), str):
            return Unusable(f"{_shown(entry)} in `earlier` needs an `id`, and `now`: {', '.join(_NOW)}")
        ruling = Ruling(entry["id"].strip().lower(), entry["now"], _text(entry.get("why"), _CLAIM_CHARS))
        first = rulings.setdefault(ruling.id, ruling)
        if first.now != ruling.now:
            return Unusable(f"`earlier` says both {first.now} and {ruling.now} of {printable(ruling.id, 40)}")
    return list(rulings.values())


def tidy_path(said: Any) -> str:
    """A path of a file that a tree of the repository may have; empty for anything else."""
    if not isinstance(said, str) or not said.isprintable() or len(said) > _PATH_CHARS:
        return ""
    path = posixpath.normpath(said.strip()) if said.strip() else ""
    return "" if path_problem(path) else path


def _text(said: Any, limit: int) -> str:
    words = harmless(str(said)).strip() if said is not None else ""
    words = words if words.isascii() else words.encode("utf-8", "replace").decode("utf-8")
    return words if len(words) <= limit else f"{words[: limit - 1]}…"


def _shown(value: Any) -> str:
    return f"`{printable(str(value), 60)}`" if value is not None else "missing"

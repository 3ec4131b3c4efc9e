"""A change that waits for a person, with all that speaks for it and against it, as JSON."""

import msgspec

from paddock.core.ids import harmless
from paddock.fleet.landing.sheet import FullFinding, Sheet
from paddock.views.document import Document, iso
from paddock.views.tasks.comments import CommentView, view_comments
from paddock.views.tasks.task import AttemptView, view_attempt


class SheetFinding(msgspec.Struct, frozen=True):
    id: str
    by: tuple[str, ...]
    path: str
    line: int
    severity: str
    claim: str
    evidence: str
    suggestion: str
    blocking: bool
    status: str
    disputed: bool


class SheetVerdict(msgspec.Struct, frozen=True):
    """What one reviewer says of this very version."""

    by: str
    round: int
    objects: bool
    summary: str


class SheetCheck(msgspec.Struct, frozen=True):
    name: str
    passed: bool


class SheetView(msgspec.Struct, frozen=True):
    """`ready`: nothing speaks against landing it. `commands` decide about exactly this version."""

    id: str
    title: str
    phase: str
    reason: str
    since: str
    convoy: str | None
    head: str
    ready: bool
    brief: str
    files: int
    insertions: int
    deletions: int
    concerns: tuple[str, ...]
    undoes: tuple[str, ...]
    problem: str
    findings: list[SheetFinding]
    verdicts: list[SheetVerdict]
    checks: list[SheetCheck]
    round: int
    cost_usd: float | None
    attempts: list[AttemptView]
    comments: list[CommentView]
    commands: list[str]


class WaitingView(Document, frozen=True, kw_only=True):
    waiting: list[SheetView]


def view_sheet(sheet: Sheet) -> SheetView:
    task = sheet.task
    return SheetView(
        id=task.id,
        title=harmless(task.title),
        phase=task.phase.value,
        reason=harmless(task.reason),
        since=iso(task.since),
        convoy=task.convoy,
        head=sheet.head,
        ready=sheet.ready,
        brief=harmless(sheet.brief),
        files=sheet.size.files,
        insertions=sheet.size.insertions,
        deletions=sheet.size.deletions,
        concerns=sheet.examined.concerns,
        undoes=tuple(one.words for one in sheet.examined.unwanted),
        problem=sheet.problem,
        findings=[_view_finding(one) for one in sheet.findings],
        verdicts=[SheetVerdict(one.by, one.round, one.objects, harmless(one.summary)) for one in sheet.opinions],
        checks=[SheetCheck(one.name, one.passed) for one in sheet.checks],
        round=sheet.round,
        cost_usd=sheet.cost_usd,
        attempts=[view_attempt(one) for one in task.attempts],
        comments=view_comments(sheet.comments, sheet.head),
        commands=commands_for(sheet),
    )


def commands_for(sheet: Sheet) -> list[str]:
    """What a person may run to decide about it."""
    name, head = sheet.task.id, sheet.head[:10]
    undo = " --undo" if sheet.examined.unwanted else ""
    send = f"paddock comment {name} --send --reject --head {head}"
    reject = send if sheet.comments else f'paddock reject {name} --head {head} -m "…"'
    return [f"paddock diff {name}", f"paddock approve {name} --head {head}{undo}", reject]


def _view_finding(one: FullFinding) -> SheetFinding:
    finding, claim = one.finding, one.claim
    return SheetFinding(
        id=finding.id,
        by=finding.by,
        path=harmless(finding.path),
        line=finding.line,
        severity=finding.severity.value,
        claim=harmless(claim.claim),
        evidence=harmless(claim.evidence),
        suggestion=harmless(claim.suggestion),
        blocking=finding.blocking,
        status=finding.status.value,
        disputed=bool(finding.disputed),
    )

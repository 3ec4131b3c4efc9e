"""A change that waits for a person, with all that speaks for it and against it, as JSON."""

import msgspec

from paddock.core.ids import harmless
from paddock.fleet.landing.sheet import Sheet
from paddock.views.document import Document, iso
from paddock.views.findings import CheckedView, FindingView, VerdictView, view_check, view_finding, view_verdict
from paddock.views.tasks.comments import CommentView, view_comments
from paddock.views.tasks.task import AttemptView, view_attempt


class SheetView(msgspec.Struct, frozen=True):
    """`ready`: nothing speaks against landing it. `verdicts` and `checks` are of exactly this version, and `commands`
    decide about it."""

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
    findings: list[FindingView]
    verdicts: list[VerdictView]
    checks: list[CheckedView]
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
        findings=[view_finding(*one) for one in sheet.findings],
        verdicts=[view_verdict(one) for one in sheet.opinions],
        checks=[view_check(one) for one in sheet.checks],
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

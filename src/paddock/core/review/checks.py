"""From how the checks of a delivered change ended to what is recorded of it: findings, and which earlier ones are gone.

A check speaks of the change, not of what was there before: what it holds against files that the change does not touch
is left out, and what it holds against other lines of a touched file never blocks.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from paddock.core.board import Board
from paddock.core.events import Acceptance, Draft, TaskBlocked
from paddock.core.ids import TaskId, printable
from paddock.core.review.events import CheckEnded, Claim, FindingSettled, Settlement, Severity
from paddock.core.review.evolve import CHECK
from paddock.core.review.intake import is_checks, record_claims
from paddock.core.review.model import Status
from paddock.core.tasks.task import Phase

ACCEPT = "accept"
"""The check that a task's own acceptance is."""
OUTPUT_CHARS = 8_000
EDITED = "acceptance-edited"

Lines = Sequence[range]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What came of one check. `unable` says why it could not be run, whoever's fault that is not: the rest then says
    nothing."""

    name: str
    passed: bool = False
    exit: int | None = None
    seconds: float = 0.0
    output: str = ""
    claims: tuple[Claim, ...] = ()
    unable: str = ""


def record_check(board: Board, task: TaskId, head: str, result: CheckResult, least: str) -> list[Draft]:
    """Nothing if the change is not under review any more. `least` is the least severity with which a finding blocks."""
    known = board.task(task)
    if known.phase is not Phase.REVIEWING or known.head != head:
        return []
    if result.unable:
        reason = f"the check `{result.name}` could not be run: {printable(result.unable)}"
        blocked = TaskBlocked(reason, f"paddock retry {task}")
        return [Draft(blocked, task=task)] if known.live_attempt is None else []
    by = f"{CHECK}{result.name}"
    ended = CheckEnded(head, result.name, result.passed, result.exit, round(result.seconds, 3), _end_of(result.output))
    found = record_claims(board, task, head, by, result.claims, least)
    held = {event.id for event in found}
    gone = [
        FindingSettled(name, Settlement.FIXED, head, by) for name in _gone(board, task, head, by) if name not in held
    ]
    return [Draft(event, task=task) for event in (ended, *found, *gone)]


def failure(name: str, note: str, output: str) -> Claim:
    """What is held against a change by a check that failed and says no more about it."""
    return Claim(printable(note, 300), severity=Severity.ERROR, evidence=_end_of(output), rule=f"{CHECK}{name}")


def only_of_change(claims: Iterable[Claim], touched: Mapping[str, Lines]) -> tuple[list[Claim], int]:
    """Those that are about the change, and how many are not. A touched file without lines counts as a whole."""
    kept: list[Claim] = []
    left_out = 0
    for claim in claims:
        lines = touched.get(claim.path)
        if claim.path and lines is None:
            left_out += 1
        elif not claim.line or not lines or any(claim.line in part for part in lines):
            kept.append(claim)
        else:
            kept.append(replace(claim, severity=Severity.NOTE))
    return kept, left_out


def edits_of_acceptance(accept: Acceptance, changed: Mapping[str, str]) -> list[Claim]:
    """Names a change that touches what its acceptance brings. `changed` is git's letter for each path it touches."""
    words = {"D": "deletes", "A": "adds its own version of"}
    return [
        Claim(
            f"{words.get(how, 'edits')} a file of its acceptance: {printable(file.path, 120)}",
            file.path,
            severity=Severity.NOTE if how == "A" else Severity.ERROR,
            evidence="The task's acceptance has this file in a version of its own, and was run with that one.",
            suggestion="Leave the file as it was." if how != "A" else "",
            rule=EDITED,
        )
        for file in accept.files
        if (how := changed.get(file.path)) is not None
    ]


def _gone(board: Board, task: TaskId, head: str, by: str) -> list[str]:
    """Open findings of this check that no check holds against this version: all that held them have looked at it."""
    looked = {by, *(f"{CHECK}{one.name}" for one in board.reviews.of(task).checks if one.head == head)}
    return [
        one.id
        for one in board.reviews.findings_of(task)
        if one.status is Status.OPEN
        and one.head != head
        and is_checks(one)
        and by in one.by
        and looked.issuperset(one.by)
    ]


def _end_of(output: str) -> str:
    return output if len(output) <= OUTPUT_CHARS else f"…{output[-OUTPUT_CHARS + 1 :]}"

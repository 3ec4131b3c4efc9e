"""What `paddock show` says about the review of a task: findings, verdicts and checks in short."""

from msgspec.structs import replace

from paddock.cli.terminal.text import cut, paint
from paddock.core.review.model import Checked, Finding, Opinion, Status
from paddock.fleet.task_details import TaskDetails

COLOURS = {"error": "red", "warning": "yellow", "note": "bright_black"}
SHOWN_FINDINGS = 12
SHOWN_VERDICTS = 12
WIDE = 140


def review_lines(details: TaskDetails) -> list[str]:
    review = details.review
    claims = {one.id: " ".join(claim.claim.split()) for one, claim in details.findings}
    findings = [replace(one, claim=claims[one.id]) for one, _ in details.findings]
    checks = {one.name: one for one in review.checks}
    sections = (
        ("findings", _finding_lines(details.task.id, findings)),
        ("verdicts", [_verdict_line(one) for one in review.opinions[-SHOWN_VERDICTS:]]),
        ("checks", [_check_line(one) for one in checks.values()]),
    )
    return [line for name, lines in sections if lines for line in ("", paint(name, bold=True), *lines)]


def _finding_lines(task: str, findings: list[Finding]) -> list[str]:
    """What blocks first, then what is open; what has ended last."""
    ordered = sorted(findings, key=lambda one: (not one.blocks, not one.is_open))
    left = len(ordered) - SHOWN_FINDINGS
    more = [f"  … {left} more; `paddock findings {task}` shows all"] if left > 0 else []
    return [*map(_finding_line, ordered[:SHOWN_FINDINGS]), *more]


def _finding_line(one: Finding) -> str:
    state = "blocks" if one.blocks else one.status.value
    marks = ["disputed" if one.disputed and one.status is Status.OPEN else "", f"→ {one.routed}" if one.routed else ""]
    by = ", ".join(filter(None, (*one.by, *marks)))
    severity = paint(
        f"{one.severity.value:<7}", COLOURS[one.severity.value] if one.is_open else None, dim=not one.is_open
    )
    place = f"{cut(one.place, 60)}  " if one.place else ""
    return f"  {one.id:<4} {severity} {state:<8} {place}{cut(one.claim, WIDE)}  {paint(cut(by, 60), dim=True)}"


def _verdict_line(given: Opinion) -> str:
    said = f": {cut(given.summary, WIDE)}" if given.summary else ""
    verdict = "objects to" if given.objects else "lets pass"
    return f"  round {given.round}  {cut(given.by, 40)} {verdict} {given.head[:10]}{said}"


def _check_line(checked: Checked) -> str:
    words = paint("passed", "green") if checked.passed else paint("failed", "red")
    return f"  {cut(checked.name, 60)} {words} on {checked.head[:10]}"

"""A change that waits for a person, as `paddock review` shows it above its diff."""

from collections.abc import Iterable

from paddock.cli.pages.attempts import usage_words
from paddock.cli.terminal.amounts import money_words
from paddock.cli.terminal.text import age, badge, cut, paint, plural
from paddock.core.ids import harmless
from paddock.core.review.events import Claim
from paddock.core.review.model import Finding, Status
from paddock.core.tasks.task import Attempt
from paddock.core.tasks.vocabulary import Role
from paddock.fleet.landing.sheet import Sheet

WIDE = 140
BRIEF_LINES = 60


def sheet_lines(sheet: Sheet) -> list[str]:
    task = sheet.task
    ready = paint("ready to land", "green") if sheet.ready else paint("look closely", "yellow")
    version = f"at {sheet.head[:10]}{f' · convoy {cut(task.convoy, 40)}' if task.convoy else ''}"
    return [
        f"{paint(task.id, bold=True)}  {cut(task.title, 100)}",
        f"  {badge(task.phase)} for {age(task.since)} · {ready} · {version}",
        *_facts(sheet),
        "",
        paint("brief", bold=True),
        *_brief(sheet.brief),
        *_section("findings", (line for one in sheet.findings for line in _finding_lines(*one))),
        *_section("reviewers", (_verdict(one.by, one.summary, objects=one.objects) for one in sheet.opinions)),
        *_section("path taken", map(_attempt_line, task.attempts)),
        *_section(
            "your comments",
            (f"  {one.comment.path}:{one.comment.line}  {cut(one.comment.text, 100)}" for one in sheet.comments),
        ),
    ]


def _facts(sheet: Sheet) -> list[str]:
    size = sheet.size
    checks = [f"{one.name} {'passed' if one.passed else 'failed'}" for one in sheet.checks]
    against = [*sheet.examined.concerns, *(f"undoes {one.words}" for one in sheet.examined.unwanted)]
    held = [f"{one.id} blocks it" for one in sheet.blocking]
    rows = (
        ("because", "" if against else sheet.task.reason),
        ("problem", sheet.problem),
        *(("needs you", f"it {words}") for words in against),
        ("held", ", ".join(held)),
        ("changes", f"{plural(size.files, 'file')}, +{size.insertions:,} −{size.deletions:,}"),
        ("checks", ", ".join(checks)),
        ("cost", money_words(sheet.cost_usd) if sheet.cost_usd is not None else ""),
        ("rounds", f"{sheet.round} of review" if sheet.round > 1 else ""),
    )
    return [f"  {name:<9} {cut(value, WIDE)}" for name, value in rows if value]


def _brief(text: str) -> list[str]:
    lines = harmless(text).splitlines()
    left = len(lines) - BRIEF_LINES
    return [*(f"  {cut(line, 400)}" for line in lines[:BRIEF_LINES]), *([f"  … {left} more lines"] if left > 0 else [])]


def _section(title: str, lines: Iterable[str]) -> list[str]:
    found = list(lines)
    return ["", paint(title, bold=True), *found] if found else []


def _finding_lines(finding: Finding, claim: Claim) -> list[str]:
    is_open = finding.status is Status.OPEN
    state = "blocks" if finding.blocks else finding.status.value
    place = f" {cut(finding.place, 80)}" if finding.place else ""
    by = ", ".join(finding.by)
    head = f"  {finding.id:<4} {finding.severity.value:<7} {state:<8}{place}  {cut(claim.claim, WIDE)}  ({cut(by, 60)})"
    more = [claim.evidence, f"suggests: {claim.suggestion}" if claim.suggestion else ""] if is_open else []
    return [head, *(f"         {cut(line, WIDE)}" for text in more for line in harmless(text).splitlines() if text)]


def _verdict(by: str, summary: str, *, objects: bool) -> str:
    return f"  {cut(by, 40)} {'objects' if objects else 'lets it pass'}{f': {cut(summary, WIDE)}' if summary else ''}"


def _attempt_line(attempt: Attempt) -> str:
    took = age(attempt.started, attempt.ended) if attempt.ended else f"running for {age(attempt.started)}"
    role = f"{attempt.role.value} " if attempt.role is not Role.WORK else ""
    words = [f"{role}by {attempt.agent or attempt.engine}", took, plural(attempt.turn, "turn"), *usage_words(attempt)]
    if attempt.reason:
        words.append(cut(attempt.reason, 80))
    return f"  {attempt.id:<7} {attempt.outcome or 'running':<11} {' · '.join(words)}"

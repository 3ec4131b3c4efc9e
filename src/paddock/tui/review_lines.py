"""The review of a task as lines: what must hold, findings with what blocks first, what checks and reviewers said."""

from collections.abc import Iterator

from rich.text import Text

from paddock.core.review.events import place_of
from paddock.tui.style import safe
from paddock.views.findings import FindingView
from paddock.views.tasks.page import TaskPage

COLOURS = {"error": "red", "warning": "yellow", "note": "dim"}
EVIDENCE_LINES = 12
SHOWN = 100


def review_lines(page: TaskPage) -> list[Text]:
    lines = [*_asked(page), *_findings(page), *_verdicts(page), *_checks(page)]
    return lines or [Text(f"nobody has reviewed {page.task.id}", "dim")]


def _asked(page: TaskPage) -> Iterator[Text]:
    if page.question is not None:
        yield Text(f"{page.question.attempt or page.task.id} asks; m answers:", "bold")
        yield from (Text(f"│ {safe(line)}") for line in page.question.text.split("\n"))
        yield from (Text(f"│ {place} {safe(option)}") for place, option in enumerate(page.question.options, 1))
        yield Text()
    if page.accept is not None:
        yield Text("acceptance:", "dim")
        yield from (Text(f"  {safe(words, 400)}") for words in page.accept.commands)
        yield from (Text(f"  with {safe(one.path, 200)}", "dim") for one in page.accept.files)
        yield Text()


def _findings(page: TaskPage) -> Iterator[Text]:
    found = sorted(page.findings.values(), key=lambda one: (not _blocks(one), one.status != "open"))
    for one in found[:SHOWN]:
        state = "blocks" if _blocks(one) else one.status
        place = f" {safe(place_of(one.path, one.line), 200)}" if one.path else ""
        yield Text.assemble(
            (f"{one.id} ", "bold"),
            (f"{one.severity} ", COLOURS[one.severity] if one.status == "open" else "dim"),
            f"{state}{place}",
            (f"  {safe(', '.join(one.by), 100)}{f' → {one.routed}' if one.routed else ''}", "dim"),
        )
        yield from (Text(f"  {safe(line, 400)}") for line in one.claim.split("\n"))
        yield from _grounds(one) if one.status == "open" else ()
        yield Text()


def _grounds(one: FindingView) -> Iterator[Text]:
    for name, text in (("evidence", one.evidence), ("suggestion", one.suggestion), ("disputed", one.dispute)):
        for number, line in enumerate(text.split("\n")[:EVIDENCE_LINES] if text else ()):
            yield Text(f"    {name if not number else '':<11}{safe(line.expandtabs(4), 400)}", "dim")


def _verdicts(page: TaskPage) -> Iterator[Text]:
    for one in list(page.verdicts.values())[-SHOWN:]:
        colour, words = ("red", "objects to") if one.objects else ("green", "lets pass")
        said = f": {safe(' '.join(one.summary.split()), 400)}" if one.summary else ""
        yield Text.assemble(
            f"round {one.round} ", (f"{safe(one.by, 60)} ", "bold"), (words, colour), f" {one.head[:10]}{said}"
        )


def _checks(page: TaskPage) -> Iterator[Text]:
    for one in list(page.checks.values())[-SHOWN:]:
        colour, words = ("green", "passed") if one.passed else ("red", "failed")
        yield Text.assemble("check ", (f"{safe(one.name, 60)} ", "bold"), (words, colour), f" on {one.head[:10]}")
        if not one.passed:
            yield from (
                Text(f"  {safe(line.expandtabs(4))}", "dim") for line in one.output.split("\n")[-EVIDENCE_LINES:]
            )


def _blocks(one: FindingView) -> bool:
    return one.blocking and one.status == "open"

"""What came of tasks, as JSON: reports, findings, plans, and what was changed."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace

import msgspec

from paddock.core.board import Board
from paddock.core.ids import TaskId, harmless, printable
from paddock.core.plan.plan import without_acceptance
from paddock.core.review.events import Claim
from paddock.core.tasks.results import TaskResult, result_words
from paddock.fleet.results import read_results
from paddock.fleet.workspace import Workspace

MOST_RESULTS = 200
MOST_CHARS = 20_000
"""Of one among several; one alone is told whole."""


class FindingWords(msgspec.Struct, frozen=True):
    path: str
    line: int
    severity: str
    claim: str
    evidence: str
    suggestion: str


class ResultView(msgspec.Struct, frozen=True):
    """`text` tells all of it in words. `words` are its agent's: the report, the summary of a review, or what it said
    last. `plan` is the JSON of a plan, as text."""

    task: str
    title: str
    role: str
    phase: str
    reason: str
    text: str
    words: str
    commits: tuple[str, ...]
    files: tuple[str, ...]
    findings: tuple[FindingWords, ...]
    plan: str


def view_result(result: TaskResult, most: int | None = None) -> ResultView:
    return ResultView(
        task=result.task,
        title=printable(result.title, 300),
        role=result.role.value,
        phase=result.phase.value,
        reason=harmless(result.reason),
        text=_cut(result_words(result), most),
        words=_cut(harmless(result.words), most),
        commits=tuple(printable(subject, 300) for subject in result.commits),
        files=result.files,
        findings=tuple(map(_finding, result.findings)),
        plan=_cut(result.plan, most),
    )


def results_of(workspace: Workspace, names: Iterable[TaskId]) -> list[ResultView]:
    """Reads the log, git and what agents said."""
    with closing(workspace.read()) as store:
        found = read_results(workspace.site, store, names)
    if workspace.worker is not None:
        found = [replace(one, plan=without_acceptance(one.plan)) if one.plan else one for one in found]
    most = None if len(found) == 1 else MOST_CHARS
    return [view_result(one, most) for one in found]


def results_of_convoy(workspace: Workspace, board: Board, name: str) -> list[ResultView]:
    """Of its tasks in their order, the first of very many. The convoy must exist."""
    return results_of(workspace, board.members[name][:MOST_RESULTS])


def _finding(claim: Claim) -> FindingWords:
    return FindingWords(
        path=claim.path,
        line=claim.line,
        severity=claim.severity.value,
        claim=harmless(claim.claim),
        evidence=harmless(claim.evidence),
        suggestion=harmless(claim.suggestion),
    )


def _cut(text: str, most: int | None) -> str:
    return text if most is None or len(text) <= most else f"{text[: most - 1]}…"

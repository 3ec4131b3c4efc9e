"""What reviewers and checks found, what people decide about it, and audits of code that is there."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from paddock import __version__
from paddock.core.board import Board
from paddock.core.events import ConvoyAdded, Draft
from paddock.core.intent.audits import AuditRequest, request_audit
from paddock.core.intent.findings import confirm_findings, waive_findings
from paddock.core.intent.tasks import added_in
from paddock.core.review.events import Severity
from paddock.core.review.sarif_document import write_sarif
from paddock.fleet.review.audited import find_audited
from paddock.fleet.review.findings import file_as_tasks, find_findings
from paddock.views.document import Document
from paddock.views.findings import FindingView, view_finding
from paddock.web.endpoint import Asked, NoBody, NoQuery, Printed, Visit
from paddock.web.endpoints.answers import Text
from paddock.web.endpoints.task_requests import AddedView

Name = Annotated[str, Meta(min_length=1, max_length=40)]
Word = Annotated[str, Meta(min_length=1, max_length=400)]
MOST = 500


class FindingsQuery(Asked, frozen=True):
    """`names` are tasks (`t3`) or findings (`f7`), and may be repeated: all of theirs, or of these, are told. Without
    any, all that are open; with `all` those that are settled, too."""

    names: tuple[Name, ...] = ()
    all: bool = False


class FindingsView(Document, frozen=True, kw_only=True):
    findings: list[FindingView]


def read_findings(visit: Visit[FindingsQuery, NoBody]) -> FindingsView:
    asked = visit.query
    rows = find_findings(visit.store, asked.names, show_all=asked.all or bool(asked.names))
    return FindingsView(findings=[view_finding(*row) for row in rows])


class SarifQuery(Asked, frozen=True):
    """`names` as for `/findings`."""

    names: tuple[Name, ...] = ()


class SarifView(Struct, frozen=True):
    """SARIF 2.1.0."""

    version: str
    runs: list[dict[str, Any]]
    where: str = field(name="$schema")


def read_sarif(visit: Visit[SarifQuery, NoBody]) -> Printed:
    rows = find_findings(visit.store, visit.query.names, show_all=True)
    return Printed(write_sarif(rows, __version__).encode())


class DecideBody(Asked, frozen=True):
    """`message` is the reason, kept in the log."""

    findings: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=MOST)]
    message: Text = ""


class DecidedFindings(Document, frozen=True, kw_only=True):
    ids: list[str]
    seq: int


def waive(visit: Visit[NoQuery, DecideBody]) -> DecidedFindings:
    body, who = visit.body, visit.workspace.author.name
    return _decide(visit, lambda board: waive_findings(board, body.findings, who, body.message))


def confirm(visit: Visit[NoQuery, DecideBody]) -> DecidedFindings:
    body = visit.body
    return _decide(visit, lambda board: confirm_findings(board, body.findings, body.message))


def _decide(visit: Visit[NoQuery, DecideBody], decide: Callable[[Board], list[Draft]]) -> DecidedFindings:
    records = visit.workspace.record(decide)
    ids = dict.fromkeys(name.strip().lower() for name in visit.body.findings)
    return DecidedFindings(ids=list(ids), seq=records[-1].seq)


class FindingsToFile(Asked, frozen=True):
    findings: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=MOST)]


def file(visit: Visit[NoQuery, FindingsToFile]) -> AddedView:
    """Makes a task of each finding, for the agent that owns its path."""
    added, seq = file_as_tasks(visit.workspace, visit.body.findings)
    return AddedView(ids=added, convoy=None, seq=seq)


class AuditBody(Asked, frozen=True):
    """Of `paths`, or of all; of what a `branch` changes, or of main. Each of `kinds` is looked for by itself, by each
    of `agents`. What is found becomes a task from the severity `file` on."""

    paths: Annotated[tuple[Word, ...], Meta(max_length=100)] = ()
    kinds: Annotated[tuple[Word, ...], Meta(max_length=20)] = ()
    agents: Annotated[tuple[Word, ...], Meta(max_length=20)] = ()
    engine: str | None = None
    branch: Word | None = None
    file: Literal["error", "warning", "note", "none"] = Severity.WARNING.value


def audit(visit: Visit[NoQuery, AuditBody]) -> AddedView:
    workspace, body = visit.workspace, visit.body
    request = AuditRequest(
        audited=find_audited(workspace.site, body.branch),
        paths=body.paths,
        kinds=body.kinds,
        agents=body.agents,
        engine=body.engine or None,
        files="" if body.file == "none" else body.file,
    )
    known = workspace.known
    records = workspace.record(lambda board: request_audit(board, request, known))
    convoy = next(record.event.name for record in records if isinstance(record.event, ConvoyAdded))
    return AddedView(ids=added_in(records), convoy=convoy, seq=records[-1].seq)

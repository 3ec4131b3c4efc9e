"""What people say about the causes of failures, as `paddock failures clear`, `settle` and `probe` take it."""

from typing import Annotated

from msgspec import Meta

from paddock.core.causes.events import CauseCleared
from paddock.core.intent.causes import REASON_CHARS, clear_causes, settle_cause, standing_cause
from paddock.fleet.failure_probes import probe_failure
from paddock.views.document import Document
from paddock.web.endpoint import Asked, NoQuery, Visit

CauseName = Annotated[str, Meta(max_length=40)]
Reason = Annotated[str, Meta(max_length=REASON_CHARS)]


class ClearBody(Asked, frozen=True):
    """`names` are ids of causes, such as c7."""

    names: Annotated[tuple[CauseName, ...], Meta(min_length=1, max_length=200)]
    reason: Reason = ""


class ClearAnswer(Document, frozen=True, kw_only=True):
    """`tasks` are those that go on."""

    ids: list[str]
    tasks: list[str]


def clear(visit: Visit[NoQuery, ClearBody]) -> ClearAnswer:
    workspace, body = visit.workspace, visit.body
    before = workspace.board()
    records = workspace.record(lambda board: clear_causes(board, body.names, body.reason))
    cleared = [record.event.id for record in records if isinstance(record.event, CauseCleared)]
    return ClearAnswer(ids=cleared, tasks=[name for name in before.needy if before.tasks[name].cause in cleared])


class SettleBody(Asked, frozen=True):
    """`cause` is never-ran, rate-limit, overload, contention, saturation, network, dependency, task or model."""

    name: CauseName
    cause: CauseName
    reason: Reason = ""


class SettleAnswer(Document, frozen=True, kw_only=True):
    id: str
    cause: str


def settle(visit: Visit[NoQuery, SettleBody]) -> SettleAnswer:
    workspace, body = visit.workspace, visit.body
    workspace.record(lambda board: settle_cause(board, body.name, body.cause, body.reason, workspace.person))
    cause = standing_cause(workspace.board(), body.name)
    return SettleAnswer(id=cause.id, cause=cause.cause.value)


class ProbeBody(Asked, frozen=True):
    name: CauseName


class ProbeAnswer(Document, frozen=True, kw_only=True):
    """`tasks` by what each of them changes; they repeat `attempt`. `skipped` says what could not be tried, and why."""

    id: str
    attempt: str
    tasks: dict[str, str]
    skipped: list[str]


def probe(visit: Visit[NoQuery, ProbeBody]) -> ProbeAnswer:
    probed = probe_failure(visit.workspace, visit.body.name)
    tasks = {repeat.value: str(task) for repeat, task in probed.tasks.items()}
    return ProbeAnswer(id=probed.cause, attempt=probed.attempt, tasks=tasks, skipped=list(probed.skipped))

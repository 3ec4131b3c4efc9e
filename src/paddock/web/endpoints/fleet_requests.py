"""What can be asked about budgets, limits and leases, and of the daemon itself."""

from typing import Annotated

from msgspec import Meta

from paddock.core.events import BudgetSet
from paddock.core.intent.budget import reset_limits, set_budget
from paddock.core.intent.leases import LeaseClaim, release_lease
from paddock.fleet.dispatch.gate import known_accounts, read_limits
from paddock.fleet.service.background import end_daemon, find_daemon, spawn_daemon
from paddock.views.document import Document
from paddock.web.endpoint import Asked, NoBody, NoQuery, Visit


class BudgetBody(Asked, frozen=True):
    """`scope` is fleet, day, convoy:NAME, task:t4, task or attempt. With neither amount the limit is removed."""

    scope: Annotated[str, Meta(max_length=100)]
    usd: float | None = None
    tokens: float | None = None


class BudgetAnswer(Document, frozen=True, kw_only=True):
    scope: str
    usd: float | None
    tokens: float | None


def limit_spending(visit: Visit[NoQuery, BudgetBody]) -> BudgetAnswer:
    body = visit.body
    lift = body.usd is None and body.tokens is None
    [done] = visit.workspace.record(lambda board: set_budget(board, body.scope, body.usd, body.tokens, lift=lift))
    assert isinstance(done.event, BudgetSet)
    return BudgetAnswer(scope=done.event.scope, usd=body.usd, tokens=body.tokens)


class NameBody(Asked, frozen=True):
    name: Annotated[str, Meta(min_length=1, max_length=200)]


class NameAnswer(Document, frozen=True, kw_only=True):
    name: str


def reset_limit(visit: Visit[NoQuery, NameBody]) -> NameAnswer:
    workspace, name = visit.workspace, visit.body.name
    known = known_accounts(workspace.config, read_limits(workspace.state_dir))
    workspace.record(lambda _board: reset_limits(name, known))
    return NameAnswer(name=name)


class ReleaseBody(Asked, frozen=True):
    """`generation` is the one that was seen: another one is refused."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    generation: int | None = None


def release(visit: Visit[NoQuery, ReleaseBody]) -> NameAnswer:
    workspace, body = visit.workspace, visit.body
    claim = LeaseClaim(body.name, workspace.person, body.generation)
    workspace.record(lambda board: release_lease(board, claim))
    return NameAnswer(name=body.name)


class UpBody(Asked, frozen=True):
    """`most` is the most agents at the same time."""

    most: Annotated[int, Meta(ge=0, le=10_000)] | None = None


class DaemonAnswer(Document, frozen=True, kw_only=True):
    """`was_up` tells how it was before; a daemon that is started shows in the log once it leads."""

    was_up: bool


def start_daemon(visit: Visit[NoQuery, UpBody]) -> DaemonAnswer:
    workspace = visit.workspace
    found = find_daemon(workspace.board())
    if found is None:
        from paddock.fleet.fences import require_fences

        workspace.site.require_root()
        require_fences(workspace.config)
        most = [] if visit.body.most is None else ["--max", str(visit.body.most)]
        spawn_daemon(workspace.top, workspace.state_dir / "daemon.log", most)
    return DaemonAnswer(was_up=found is not None)


def stop_daemon(visit: Visit[NoQuery, NoBody]) -> DaemonAnswer:
    """Its agents keep working. Ending these too takes `paddock down --now`."""
    found = find_daemon(visit.workspace.board())
    if found is not None:
        end_daemon(found, agents_too=False, timeout_seconds=20.0)
    return DaemonAnswer(was_up=found is not None)

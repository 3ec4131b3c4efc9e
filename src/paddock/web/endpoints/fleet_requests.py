"""What can be asked about budgets and limits, and of the daemon itself."""

from typing import Annotated

from msgspec import Meta

from paddock.core.events import BudgetSet
from paddock.core.intent.budget import reset_limits, set_budget
from paddock.fleet.dispatch.gate import known_accounts, read_limits
from paddock.fleet.service.background import find_daemon
from paddock.fleet.service.control import await_daemon, end_fleet, log_of, require_startable, start_daemon
from paddock.views.document import Document
from paddock.web.endpoint import Asked, NoQuery, Visit


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


class UpBody(Asked, frozen=True):
    """`most` is the most agents at the same time."""

    most: Annotated[int, Meta(ge=0, le=10_000)] | None = None


class UpAnswer(Document, frozen=True, kw_only=True):
    """`was_up` tells how it was before. `log` is where the daemon's words go."""

    was_up: bool
    pid: int
    host: str
    log: str


def start_fleet(visit: Visit[NoQuery, UpBody]) -> UpAnswer:
    workspace = visit.workspace
    found = find_daemon(workspace.board())
    if found is None:
        require_startable(workspace)
        start_daemon(workspace, visit.body.most)
    holder = (found or await_daemon(workspace)).holder
    return UpAnswer(was_up=found is not None, pid=holder.pid, host=holder.host, log=str(log_of(workspace)))


class DownBody(Asked, frozen=True):
    """Agents keep working until they are done; with `now` every agent process is ended too, so that spending stops."""

    now: bool = False


class DownAnswer(Document, frozen=True, kw_only=True):
    """`working` are the attempts that go on. `ended_processes` had no daemon."""

    was_up: bool
    working: list[str]
    ended_processes: int


def stop_fleet(visit: Visit[NoQuery, DownBody]) -> DownAnswer:
    done = end_fleet(visit.workspace, agents_too=visit.body.now)
    return DownAnswer(was_up=done.daemon is not None, working=list(done.working), ended_processes=done.processes)

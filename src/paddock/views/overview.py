"""Several repositories on one page: for each who needs a person, what is at work, what today has cost, the queue."""

from collections.abc import Mapping, Sequence

import msgspec

from paddock.core.ids import printable
from paddock.views.board.page import BoardView
from paddock.views.document import Document

SHOWN_NEEDS = 5


class NeedRow(msgspec.Struct, frozen=True):
    """A task that needs a person: `need` is approve, answer, blocked or failed."""

    id: str
    title: str
    need: str
    reason: str
    since: str


class RepositoryRow(msgspec.Struct, frozen=True, kw_only=True):
    """`root` precedes the addresses of its pages and of its API. `trouble` is why nothing is known of it now, with what
    helps in `hint`; figures are then those of before, or nothing. `needs` are the first of `needing` tasks; `notices`
    is how many other things need a look. `daemon` is running, silent, gone or none. `queue` is open, frozen, paused,
    draining or halted."""

    name: str
    root: str
    folder: str
    trouble: str
    hint: str
    group: str
    words: str
    branch: str
    main: str
    daemon: str
    needing: int
    notices: int
    needs: tuple[NeedRow, ...]
    running: int
    cap: int
    ready: int
    held_up: str
    cost_usd: float | None
    budget_usd: float | None
    queue: str
    queue_reason: str
    queued: int
    landed_today: int


class OverviewTotals(msgspec.Struct, frozen=True):
    """Over all repositories that can be read. `running` are those that a daemon sees; `cost_usd` is None where none has
    told of any."""

    needing: int
    notices: int
    running: int
    ready: int
    cost_usd: float | None
    queued: int
    landed_today: int
    troubles: int


class OverviewView(Document, frozen=True, kw_only=True):
    """`repositories` by name; `order` is theirs. `words` would do if nothing else were shown."""

    words: str
    order: tuple[str, ...]
    repositories: dict[str, RepositoryRow]
    totals: OverviewTotals


class RepositoryFace(msgspec.Struct, frozen=True):
    """What is known of a repository without its log."""

    name: str
    root: str
    folder: str
    group: str = ""


def view_repository(face: RepositoryFace, board: BoardView | None, trouble: str = "", hint: str = "") -> RepositoryRow:
    own = {"trouble": printable(trouble, 400), "hint": printable(hint, 300)}
    own |= {name: getattr(face, name) for name in face.__struct_fields__}
    if board is None:
        return msgspec.structs.replace(_UNKNOWN, **own)
    rows = [board.tasks[name] for name in board.needs[:SHOWN_NEEDS] if name in board.tasks]
    return RepositoryRow(
        **own,
        words=board.words,
        branch=board.branch,
        main=board.main.state,
        daemon=board.daemon.state,
        needing=len(board.needs),
        notices=len(board.notices),
        needs=tuple(NeedRow(row.id, row.title, row.need, row.reason, row.since) for row in rows),
        running=board.agents.running,
        cap=board.agents.cap,
        ready=board.agents.ready,
        held_up=board.agents.reason,
        cost_usd=board.spend.cost_usd,
        budget_usd=board.spend.budget_usd,
        queue=board.queue.state,
        queue_reason=board.queue.reason,
        queued=board.queue.queued,
        landed_today=board.landed.today,
    )


_UNKNOWN = RepositoryRow(
    name="", root="", folder="", trouble="", hint="", group="", words="", branch="", main="unknown", daemon="none",
    needing=0, notices=0, needs=(), running=0, cap=0, ready=0, held_up="", cost_usd=None, budget_usd=None,
    queue="open", queue_reason="", queued=0, landed_today=0,
)  # fmt: skip


def view_overview(rows: Mapping[str, RepositoryRow], order: Sequence[str]) -> OverviewView:
    told = [rows[name] for name in order]
    costs = [row.cost_usd for row in told if row.cost_usd is not None]
    totals = OverviewTotals(
        needing=sum(row.needing for row in told),
        notices=sum(row.notices for row in told),
        running=sum(row.running for row in told if row.daemon == "running"),
        ready=sum(row.ready for row in told),
        cost_usd=round(sum(costs), 2) if costs else None,
        queued=sum(row.queued for row in told),
        landed_today=sum(row.landed_today for row in told),
        troubles=sum(bool(row.trouble) for row in told),
    )
    return OverviewView(
        words=_words(told, totals), order=tuple(order), repositories={row.name: row for row in told}, totals=totals
    )


def _words(rows: Sequence[RepositoryRow], totals: OverviewTotals) -> str:
    where = [row.name for row in rows if row.needing]
    if totals.needing:
        tasks = f"{totals.needing} task{'s need' if totals.needing != 1 else ' needs'} you, in {_names(where)}"
    else:
        tasks = "Nobody waits for you"
    agents = f"{totals.running or 'No'} agent{'s are' if totals.running > 1 else ' is'} at work"
    down = [row.name for row in rows if not row.trouble and row.daemon != "running"]
    broken = [row.name for row in rows if row.trouble]
    more = f" No daemon is running for {_names(down)}." if down else ""
    more += f" {_names(broken)} cannot be read." if broken else ""
    return f"{tasks}. {agents}.{more}"


def _names(names: Sequence[str]) -> str:
    shown = [f"`{name}`" for name in names[:3]]
    shown += [f"{len(names) - 3} more"] if len(names) > 3 else []
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"

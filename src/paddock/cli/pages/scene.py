"""All that the live view shows, from the board, what can be seen beside it, and what the daemon tells."""

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from paddock.cli.page_process import address_of_page
from paddock.cli.pages.narration import tell
from paddock.cli.pages.overview import daemon_words
from paddock.cli.terminal.screen import Span
from paddock.cli.terminal.text import age, plural
from paddock.core.board import Board
from paddock.core.ids import TaskId, attempt_number, task_number
from paddock.core.merge.estimate import run_seconds
from paddock.core.merge.model import Queue, Run
from paddock.core.merge.prospects import landing_seconds
from paddock.core.money.budget import limit_of
from paddock.core.money.spending import day_of
from paddock.core.review.open_count import open_words
from paddock.core.tasks.needs import need_of, needs_of, next_command
from paddock.core.tasks.task import SATISFIED, Attempt, Phase, Task
from paddock.fleet.glance import AgentGlance, Glance, cost_of_day, read_glance
from paddock.fleet.outlook import Outlook, look_around
from paddock.fleet.service.presence import Presence
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Query, Store
from paddock.views.badges import BADGES
from paddock.views.notices import Notice, find_notices
from paddock.views.sight import Sight
from paddock.views.standing import reason_of

KEPT_LINES = 60
READ_BACK = 400
"""Records before the first look among which lines worth showing are looked for."""
FORESEEN = 300
"""Queued changes up to which it is worked out at every look what lands next."""
UNTOLD = AgentGlance()


@dataclass(frozen=True, slots=True)
class NeedRow:
    """What needs a person. `what` is the need in a word, or how a task stands; `command` is what to run."""

    symbol: str
    colour: str
    id: str
    what: str
    title: str
    reason: str
    age: str
    command: str


@dataclass(frozen=True, slots=True)
class AgentRow:
    """`cost` and `change` are empty where nothing is known of them."""

    id: str
    title: str
    age: str
    cost: str
    change: str
    step: str
    stuck: str


@dataclass(frozen=True, slots=True)
class Scene:
    """Texts are as they are in the log: who lays them out makes them safe. `page` is the address of the web page."""

    name: str
    counts: tuple[tuple[Phase, int], ...]
    done: int
    total: int
    standing: tuple[Span, ...]
    limit: str
    queue: tuple[Span, ...]
    needs: tuple[NeedRow, ...]
    agents: tuple[AgentRow, ...]
    history: tuple[str, ...]
    page: str = ""


class SceneMaker:
    """Looks again and again, at the whole fleet or at one convoy, through a store that stays open.

    With `is_daemon` it is shown by the daemon itself, of which only trouble is worth a word.
    """

    def __init__(
        self, workspace: Workspace, store: Store, convoy: str | None = None, *, is_daemon: bool = False
    ) -> None:
        self._workspace = workspace
        self._store = store
        self._convoy = convoy
        self._is_daemon = is_daemon
        self._told: deque[str] = deque(maxlen=KEPT_LINES)
        self._seen = max(0, store.board().seq - READ_BACK)

    def look(self, now: float) -> Scene:
        workspace, board = self._workspace, self._store.board()
        outlook = look_around(workspace, board, now)
        glance = read_glance(workspace.state_dir, now)
        self._hear(board)
        sight = Sight(workspace, board, outlook, glance, self._store.records, now)
        scene = make_scene(sight, tuple(self._told), self._convoy, is_daemon=self._is_daemon)
        return replace(scene, page=address_of_page(workspace))

    def _hear(self, board: Board) -> None:
        if board.seq <= self._seen:
            return
        members = _members(board, self._convoy)
        after = max(self._seen, board.seq - READ_BACK)
        for record in self._store.records(Query(after=after, until=board.seq)):
            if (members is None or record.task in members) and (line := tell(record, board)):
                self._told.append(line)
        self._seen = board.seq


def make_scene(sight: Sight, history: tuple[str, ...], convoy: str | None = None, *, is_daemon: bool = False) -> Scene:
    board, outlook, glance = sight.board, sight.outlook, sight.glance
    members = _members(board, convoy)
    counts = board.counts if convoy is None else board.convoy_counts[convoy]
    return Scene(
        name=convoy or sight.workspace.top.name,
        counts=tuple((phase, counts[phase]) for phase in Phase if counts.get(phase)),
        done=sum(counts.get(phase, 0) for phase in SATISFIED),
        total=sum(counts.values()) - counts.get(Phase.CANCELLED, 0),
        standing=tuple(_standing(board, outlook, glance, is_daemon=is_daemon)),
        limit=_limit(board, outlook, glance),
        queue=tuple(_queue(board, outlook, sight.workspace.config.land.runs_at_once)),
        needs=tuple(_needs(board, outlook, members)),
        agents=tuple(_agents(sight, members)),
        history=history,
    )


def _members(board: Board, convoy: str | None) -> Collection[TaskId] | None:
    return None if convoy is None else frozenset(board.members[convoy])


def _standing(board: Board, outlook: Outlook, glance: Glance, *, is_daemon: bool) -> Iterable[Span]:
    is_there = outlook.daemon.presence is Presence.RUNNING
    if not is_daemon or not is_there:
        yield daemon_words(outlook), "" if is_there else "yellow"
    if glance.at:
        yield f"{len(board.live)}/{glance.cap} agents", ""
    elif board.live:
        yield plural(len(board.live), "agent"), ""
    day = day_of(outlook.now)
    cost, budget = cost_of_day(board, glance, day), limit_of(board.spending.ledger, f"day:{day}")
    limit = budget.money if budget is not None else None
    if cost is None and limit is None:
        return
    spent = cost.known + cost.assumed if cost is not None else 0.0
    known = cost.known if cost is not None else 0.0
    words = f"${known:,.2f}{f' of ${limit:,.2f}' if limit is not None else ''} today"
    unknown = " plus unknown costs" if cost is not None and cost.assumed else ""
    share = spent / limit if limit else 0.0
    yield words + unknown, "red" if share >= 1.0 else "yellow" if share >= 0.8 else ""


def _limit(board: Board, outlook: Outlook, glance: Glance) -> str:
    """What keeps ready tasks from starting; nothing if they start."""
    if not board.ready:
        return ""
    count = f"{plural(len(board.ready), 'task')} waiting"
    if glance.limit:
        left = glance.limit_until - outlook.now if glance.limit_until is not None else 0.0
        again = f"; next try in {age(0.0, left)}" if left > 1 else ""
        return f"{count}: {glance.limit_reason}{again}"
    names = sorted((name for name in board.ready if name in outlook.waiting), key=task_number)
    return f"{count}: {outlook.waiting[names[0]]}" if names and outlook.daemon.presence is Presence.RUNNING else ""


def _queue(board: Board, outlook: Outlook, slots: int) -> Iterable[Span]:
    """What is tested, and what lands next and when; nothing where nothing is queued."""
    switches = board.queue_switches
    if not switches.entries and switches.state == "open":
        return
    queue = board.queue
    reason = f": {switches.halted.reason}" if switches.halted is not None else ""
    count = f", {len(queue.entries)} queued" if queue.entries else ""
    yield f"merge queue {switches.state}{reason}{count}", "red" if switches.halted is not None else ""
    moves, now = outlook.daemon.presence is Presence.RUNNING, outlook.now
    if moves and (following := _next_landing(queue, slots, now)) is not None:
        yield following, ""
    typical = run_seconds(queue.stats, 0.5)
    for run in queue.running.values():
        yield _run_words(run, typical, now), "dim"


def _next_landing(queue: Queue, slots: int, now: float) -> str | None:
    if not queue.entries or len(queue.entries) > FORESEEN:
        return None
    lands = {name: at for name, at in landing_seconds(queue, slots, now).items() if at is not None}
    if not lands:
        return None
    first = min(lands.values())
    names = [name for name, at in lands.items() if at <= first + 0.5]
    when = f"in about {age(0.0, first)}" if first >= 1 else "any moment"
    return f"next: {_some(names)} {when}"


def _run_words(run: Run, typical: float | None, now: float) -> str:
    left = "" if typical is None else _left_words(run.started_at + typical - now)
    members = [member.id for member in run.members]
    return f"{run.id} {run.purpose.value} {_some(members) or 'main'} for {age(run.started_at, now)}{left}"


def _left_words(seconds: float) -> str:
    return f", {seconds:.0f}s left" if seconds >= 0.5 else ", longer than usual"


def _some(names: list[str], most: int = 3) -> str:
    more = f" +{len(names) - most}" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def _needs(board: Board, outlook: Outlook, members: Collection[TaskId] | None) -> Iterable[NeedRow]:
    for notice in find_notices(board, outlook):
        yield _notice_row(notice)
    for name in needs_of(board, members):
        yield _need_row(board, board.tasks[name], outlook)


def _notice_row(notice: Notice) -> NeedRow:
    return NeedRow("!", "yellow", "", "", notice.text, "", "", notice.run)


def _need_row(board: Board, task: Task, outlook: Outlook) -> NeedRow:
    need = need_of(task)
    symbol, colour = BADGES[task.phase]
    command = task.unblock or next_command(task)
    what = need.value if need is not None else task.phase.value
    since = age(task.since, outlook.now)
    reason = " · ".join(filter(None, (open_words(board, task), outlook.reason_of(task))))
    return NeedRow(symbol, colour, task.id, what, task.title, reason, since, command)


def _agents(sight: Sight, members: Collection[TaskId] | None) -> Iterable[AgentRow]:
    """Those first that look stuck."""
    board, rows = sight.board, []
    for name in board.live:
        task = board.tasks[name]
        if (attempt := task.live_attempt) is None or (members is not None and name not in members):
            continue
        agent = sight.glance.agents.get(attempt.id, UNTOLD)
        order = (not agent.stuck, task_number(name), attempt_number(attempt.id))
        rows.append((order, task, attempt, agent))
    for _, task, attempt, agent in sorted(rows, key=lambda row: row[0]):
        yield _agent_row(sight, task, attempt, agent)


def _agent_row(sight: Sight, task: Task, attempt: Attempt, agent: AgentGlance) -> AgentRow:
    standing = [reason_of(sight.workspace, sight.board, sight.outlook, task)] if task.phase is Phase.REVIEWING else []
    return AgentRow(
        id=attempt.id,
        title=task.title,
        age=age(attempt.started, sight.now),
        cost=_cost_words(attempt, agent),
        change=f"+{agent.insertions} −{agent.deletions}" if agent.insertions or agent.deletions else "",
        step="stopping" if attempt.stop_requested else " · ".join((*standing, agent.step or attempt.engine)),
        stuck=agent.stuck,
    )


def _cost_words(attempt: Attempt, agent: AgentGlance) -> str:
    known = agent.cost_usd if agent.cost_usd is not None else attempt.cost_usd
    if known is not None:
        return f"${known:.2f}"
    assumed = max(agent.assumed_usd, attempt.assumed_usd)
    return f"~${assumed:.2f}" if assumed else ""

"""Claiming ready tasks: what is recorded when the dispatcher has decided to start them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paddock.core.board import Board
from paddock.core.causes.measures import TURNS
from paddock.core.errors import PaddockError
from paddock.core.events import AttemptStarted, Draft, TaskBlocked
from paddock.core.ids import AttemptId, TaskId, attempt_id, branch_name
from paddock.core.leases import decisions, lease
from paddock.core.money.budget import Cost, OverBudget
from paddock.core.money.spending import Spending, reserve_start
from paddock.core.nodes.tenure import node_of, was_lost
from paddock.core.tasks.conversations import continued_attempt, resumable_session
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.fleet.attempts.folders import can_have_folder, folder_user
from paddock.fleet.attempts.forks import forked_conversation
from paddock.fleet.dispatch.failures import contested_by
from paddock.fleet.dispatch.pricing import expected_cost
from paddock.fleet.dispatch.warm_session import Link, Links, is_awaited, sessions_at_work, warm_session
from paddock.fleet.review.starts import claim_review
from paddock.fleet.site import Site
from paddock.sessions.host import Host, host_of

LEASE_MARGIN_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Claims:
    """What a round of dispatch wants: tasks with the account each was admitted on, and where they begin."""

    accounts: Mapping[TaskId, str]
    links: Links
    tip: str
    now: float
    starts: Mapping[TaskId, str] = field(default_factory=dict)
    """Where forks begin that do not begin at main."""
    nodes: Mapping[TaskId, str] = field(default_factory=dict)
    """The node of each task that is to run on one; the others run here."""

    def host_of(self, site: Site, task: TaskId) -> Host:
        node = self.nodes.get(task)
        return site.sessions.host if node is None else host_of(node)


def claim_tasks(site: Site, board: Board, claims: Claims) -> list[Draft]:
    """An attempt for each task that is still ready, or a block for one that cannot run; nothing for one whose node was
    drained meanwhile."""
    drafts: list[Draft] = []
    leases, spending = board.leases, board.spending
    claimed: set[str] = set()
    for name, account in claims.accounts.items():
        task = board.task(name)
        if claims.nodes.get(name) in board.drains:
            continue
        if task.phase is Phase.REVIEWING:
            review = claim_review(site, board, task, account, claims.now, claims.host_of(site, name))
            reserved = _reserve(spending, task, review, claims.now) if review is not None else None
            if review is not None and reserved is not None:
                spending = reserved
                drafts.append(review)
            continue
        if task.phase is not Phase.READY or task.live_attempt is not None:
            continue
        try:
            started = _claim(site, board, task, account, claims)
        except PaddockError as error:
            drafts.append(unrunnable(name, error))
            continue
        assert started.attempt is not None
        wanted = _conversation(started)
        if wanted & claimed or _waits_for_folder(site, board, started):
            continue
        reserved = _reserve(spending, task, started, claims.now)
        taken = _take_leases(site, board, leases, task, started.attempt, claims.now)
        if taken is None or reserved is None:
            continue
        spending = reserved
        claimed |= wanted
        for event in taken:
            leases = lease.evolve(leases, event, claims.now)
        drafts += [*(Draft(event) for event in taken), started]
    return drafts


def _conversation(started: Draft) -> set[str]:
    """What only one attempt may use at a time: the conversation it continues, and that conversation's folder."""
    assert isinstance(started.event, AttemptStarted)
    session = None if started.event.fork else started.event.session
    return {name for name in (session, started.event.worktree) if name}


def _waits_for_folder(site: Site, board: Board, started: Draft) -> bool:
    """Someone may have taken it since the dispatcher looked."""
    assert isinstance(started.event, AttemptStarted)
    return bool(started.event.worktree) and bool(folder_user(site, board, started.event.worktree))


def _reserve(spending: Spending, task: Task, started: Draft, now: float) -> Spending | None:
    """None if a budget set a moment ago has no room for it."""
    event = started.event
    assert isinstance(event, AttemptStarted)
    cost = Cost(event.reserved_usd, event.reserved_tokens)
    reserved = reserve_start(spending, task, started.attempt or "", cost, now)
    return None if isinstance(reserved, OverBudget) else reserved


def unrunnable(task: TaskId, error: PaddockError) -> Draft:
    unblock = f"paddock edit {task} --engine …, then paddock retry {task}"
    return Draft(TaskBlocked(error.message, unblock=unblock), task=task)


def _claim(site: Site, board: Board, task: Task, account: str, claims: Claims) -> Draft:
    engine = site.engine_name(task)
    site.engine_for(task)
    continued = continued_attempt(task, engine, fresh=site.starts_afresh(task))
    link = claims.links.get(task.id)
    warm = warm_session(board, link, engine) if link is not None and continued is None else None
    warm = warm if warm is not None and can_have_folder(site, board, warm) else None
    cost = expected_cost(site, board, task, engine, claims.now)
    resumed = continued if continued is not None and continued.engine == engine else warm
    session = resumable_session(resumed) if resumed is not None else None
    host = claims.host_of(site, task.id)
    if resumed is not None and not _is_at(resumed, host):
        session = None  # it is on another machine
    resumed = resumed if session is not None else None
    forked = forked_conversation(site, board, task, engine) if continued is None else None
    forked = forked if forked is not None and _is_at(forked.origin, host) else None
    if forked is not None:
        resumed, session = forked.origin, forked.session
    event = AttemptStarted(
        engine=engine,
        base=continued.base if continued else claims.starts.get(task.id) or task.start or claims.tip,
        branch=task.branch or branch_name(task.id, task.title, site.label),
        agent=task.agent,
        model=site.model_of(task, engine) or None,
        host=host.name,
        host_id=host.id,
        worktree=resumed.worktree if resumed is not None and forked is None else "",
        memory=resumed.memory if resumed is not None else "",
        continues=continued.id if continued else None,
        session=session,
        session_used=resumed.conversation_used if resumed is not None else (0, 0, 0, 0),
        session_cost=resumed.conversation_cost if resumed is not None else 0.0,
        account=account,
        inlined=f"in the session of {warm.id}: {link.why}" if warm is not None and link is not None else "",
        reserved_usd=cost.money,
        reserved_tokens=cost.tokens,
        role=task.role,
        fork=forked is not None or (resumed is not None and resumed.fork),
    )
    return Draft(event, task=task.id, attempt=attempt_id(task.id, task.newest + 1))


def _is_at(attempt: Attempt, host: Host) -> bool:
    """Whether its conversation is there and can go on. Of what is on no node, all is thought to be here."""
    return node_of(attempt.host_id) == node_of(host.id) and not was_lost(attempt)


def _take_leases(
    site: Site, board: Board, leases: lease.Leases, task: Task, attempt: AttemptId, now: float
) -> list[lease.LeaseEvent] | None:
    """Leases on the paths the agent owns and on its turns; None while someone else holds one of them."""
    holder = lease.Holder(name=attempt, host=site.sessions.host.name, attempt=attempt)
    events: list[lease.LeaseEvent] = []
    for name in _wanted(site, board, task, now):
        ttl = site.config.timeouts.turn + LEASE_MARGIN_SECONDS
        answer = decisions.acquire(leases, name, holder, ttl, now)
        if not isinstance(answer, decisions.Granted):
            return None
        for event in answer.events:
            leases = lease.evolve(leases, event, now)
        events += answer.events
    return events


def _wanted(site: Site, board: Board, task: Task, now: float) -> dict[str, str]:
    """The leases that its attempt starts with, and in words what each is on."""
    return {name: name for name in _owned(site, task)} | contested_by(board, task, now)


def _owned(site: Site, task: Task) -> list[str]:
    agent = site.agent_of(task)
    return [f"file:{path}" for path in agent.owns] if agent.lease_owned and not task.role.only_reads else []


def renew_leases(site: Site, board: Board, task: Task, attempt: AttemptId, now: float) -> list[Draft]:
    """The attempt begins another turn: its leases must last for it."""
    ttl = site.config.timeouts.turn + LEASE_MARGIN_SECONDS
    owned = set(_owned(site, task))
    held = [one for one in board.leases.held.values() if one.holder.attempt == attempt]
    mine = [one for one in held if one.name in owned or one.name.startswith(TURNS)]
    answers = [decisions.renew(board.leases, one.name, one.generation, ttl, now) for one in mine]
    return [Draft(event) for answer in answers if not isinstance(answer, lease.Stale) for event in answer]


def lease_in_the_way(site: Site, board: Board, task: Task, now: float) -> tuple[decisions.Blocker, str] | None:
    """Who holds what the task's agent owns or takes turns over, and what that is; None if nobody does."""
    holder = lease.Holder(name=f"{task.id}.{task.newest + 1}")
    for name, words in _wanted(site, board, task, now).items():
        answer = decisions.acquire(board.leases, name, holder, 1.0, now)
        if not isinstance(answer, decisions.Granted):
            return answer.blockers[0], words
    return None


def session_awaited(site: Site, board: Board, link: Link | None, task: Task) -> str:
    """Why the task waits for a session to be free; empty if it does not."""
    if link is not None and is_awaited(board.tasks[link.after]):
        return f"inlined after {link.after}: {link.why}"
    continued = _continued(site, task)
    if continued is None or not continued.session or continued.fork:
        return ""
    busy = next(iter(sessions_at_work(board, continued.session)), None)
    return f"its conversation is in use by {busy.id}" if busy is not None else ""


def folder_awaited(site: Site, board: Board, link: Link | None, task: Task) -> str:
    """Why the task waits for the folder of its conversation; empty if it does not.

    A task that continues another's session waits only until that one has left; it does not wait for a folder that
    someone else has taken.
    """
    before = _continued(site, task)
    warm = warm_session(board, link, site.engine_name(task)) if link is not None and before is None else None
    resumed = before or warm
    if resumed is None or not resumed.worktree:
        return ""
    user = folder_user(site, board, resumed.worktree)
    waits = user and (warm is None or user == warm.id)
    return f"its folder {Path(resumed.worktree).name} is in use by {user}" if waits else ""


def _continued(site: Site, task: Task) -> Attempt | None:
    """The attempt whose conversation the task's next one continues; None if it begins a new one."""
    engine = site.engine_name(task)
    continued = continued_attempt(task, engine, fresh=site.starts_afresh(task))
    if continued is None or continued.engine != engine or resumable_session(continued) is None:
        return None
    return continued

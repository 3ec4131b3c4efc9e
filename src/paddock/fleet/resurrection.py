"""What a restart or a lost machine has left of the fleet's work, and how it goes on."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import TurnEnded
from paddock.core.ids import AttemptId, TaskId
from paddock.core.intent.resurrection import AttemptLoss, Plight, Revival, Revived, find_revivals, resurrect
from paddock.core.nodes.tenure import is_tended, node_of
from paddock.core.summary import TurnSummary
from paddock.core.tasks.task import Attempt
from paddock.fleet.attempts.holding import is_left
from paddock.fleet.attempts.traces import NO_TRACE, end_unseen, has_no_trace
from paddock.fleet.attempts.turn import open_turn, read_again
from paddock.fleet.service.presence import Presence, look_for_daemon
from paddock.fleet.site import Site
from paddock.fleet.workspace import Workspace
from paddock.git.landing.held import delivery_ref
from paddock.sessions.host import Host
from paddock.sessions.protocol import Vanished


@dataclass(frozen=True, slots=True)
class Casualty:
    """One task that is brought back; `lost` is what cannot be, empty if nothing is."""

    revived: Revived
    lost: str = ""


@dataclass(frozen=True, slots=True)
class Wreck:
    """What was found. `hosts` are those that must be gone for good before their work is taken over."""

    casualties: tuple[Casualty, ...]
    losses: dict[AttemptId, AttemptLoss]
    runs: tuple[str, ...]
    hosts: tuple[str, ...]


def survey(workspace: Workspace, board: Board, among: Sequence[TaskId] | None = None) -> Wreck:
    """Blocks on git and on files. Changes nothing."""
    site = workspace.site
    now = site.clock.now()
    driven = look_for_daemon(board, now).presence in (Presence.RUNNING, Presence.SILENT)
    live = [one for name in board.live if (one := board.tasks[name].live_attempt) is not None]
    losses = {one.id: loss for one in live if (loss := _loss(site, board, one, driven=driven)) is not None}
    revived = find_revivals(board, losses, among)
    far = [one.attempt.host for one in revived if one.how is Revival.TAKEN_OVER]
    runs = (
        []
        if among is not None
        else [one for one in board.queue.running.values() if _is_far(site, board, one.host, one.host_id)]
    )
    hosts = tuple(dict.fromkeys((*far, *(run.host for run in runs))))
    casualties = tuple(Casualty(one, _what_is_lost(site, one)) for one in revived)
    return Wreck(casualties, losses, tuple(run.id for run in runs), hosts)


def bring_back(workspace: Workspace, wreck: Wreck) -> None:
    """Records it; the next daemon, or the one that runs, does the rest."""
    names = [one.revived.task for one in wreck.casualties]
    now = workspace.site.clock.now()
    workspace.record(lambda board: resurrect(board, wreck.losses, now, names, wreck.runs, wreck.hosts))


def _is_far(site: Site, board: Board, host: str, host_id: str) -> bool:
    """Out of reach, and not a node that somebody looks after."""
    node = node_of(host_id)
    if node is not None and is_tended(board, node, site.clock.now()):
        return False
    return not site.sessions.reaches(Host(host, host_id))


def _loss(site: Site, board: Board, attempt: Attempt, *, driven: bool) -> AttemptLoss | None:
    """Where a daemon looks after attempts of this host, it has seen what became of them."""
    if _is_far(site, board, attempt.host, attempt.host_id):
        ended = _end(site, board, attempt, "its host is gone") if attempt.turn_open else None
        return AttemptLoss(Plight.ELSEWHERE, ended, _head(site, attempt))
    if driven or node_of(attempt.host_id) is not None:
        return None
    if attempt.held is not None:
        return AttemptLoss(Plight.GONE) if is_left(site, attempt.held) else None
    if not attempt.turn_open:
        return None
    state = site.sessions.observe(open_turn(attempt))
    if isinstance(state, Vanished):
        return AttemptLoss(Plight.GONE, None if state.rebooted else _end(site, board, attempt, "its process is gone"))
    return AttemptLoss(Plight.GONE, _end(site, board, attempt, NO_TRACE)) if has_no_trace(site, attempt) else None


def _end(site: Site, board: Board, attempt: Attempt, problem: str) -> TurnEnded:
    return end_unseen(site, board, attempt, problem, _summary(site, attempt))


def _summary(site: Site, attempt: Attempt) -> TurnSummary:
    try:
        return asyncio.run(read_again(site.engine(attempt.engine), site.sessions, open_turn(attempt)))
    except (PaddockError, OSError):
        return TurnSummary()


def _head(site: Site, attempt: Attempt) -> str | None:
    """What is here of its commits: held, on its branch, or fetched from where they were pushed to."""
    refs = (delivery_ref(attempt.id), f"refs/heads/{attempt.branch}", f"refs/remotes/origin/{attempt.branch}")
    found = [sha for ref in refs if (sha := site.repo.resolve(ref)) is not None]
    return next((sha for sha in found if site.repo.is_ancestor(attempt.base, sha)), None)


def _what_is_lost(site: Site, one: Revived) -> str:
    attempt, known = one.attempt, one.attempt.session is not None or one.attempt.turn > 0
    if not known or not site.capabilities_of(attempt.engine).resume:
        return ""
    if attempt.fence not in ("", "none") and not site.memory_of(attempt).is_dir():
        return "its conversation is gone: it begins another, with what was committed and its last words"
    if one.how is Revival.TAKEN_OVER:
        return "if its conversation is not on this machine, it begins another, with what was committed"
    return ""

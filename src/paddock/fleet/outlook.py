"""What a reader sees beside the board: the daemon, why tasks wait, engines that stopped, checkouts behind main.

Looking costs little, because `paddock status` is asked for all day: what needs more is imported once there is
something to tell.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from paddock.core.board import NODE_LEASES, Board
from paddock.core.errors import PaddockError
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.dispatch.refusals import StoppedEngine, read_stopped, read_waiting
from paddock.fleet.fence_note import FenceNote, read_note
from paddock.fleet.service.presence import DaemonSighting, Presence, look_for_daemon
from paddock.fleet.workspace import Workspace
from paddock.git.lock_files import LeftLock, find_left_locks
from paddock.sessions.host import HOST_VARIABLE, Host, is_this_host
from paddock.store.location import has_room

if TYPE_CHECKING:
    from paddock.core.merge.company import Collisions
    from paddock.core.merge.tallies import RunCompany
    from paddock.core.troubles import Trouble
    from paddock.fleet.nodes.tally import NodeTally
    from paddock.git.usertree.notes import CheckoutNotes, StaleTree

LOOK_SECONDS = 1.0


class WorkElsewhere(msgspec.Struct, frozen=True):
    """An attempt or a CI run on a host that cannot be reached from here; `take_over` is the command for when that
    host is gone for good."""

    name: str
    host: str
    since: float
    take_over: str


class Outlook(msgspec.Struct, frozen=True):
    """`waiting` are the reasons the daemon last had for not starting ready tasks; `untested` tells that changes are
    queued which nothing would test. `branch` is the one that work lands on, read only where `checkouts` are behind.
    `fence` is what the daemon found, None where there is no daemon. `collisions` are CI runs that get in each other's
    way, as long as nothing keeps them apart. `nodes` is None where agents run on the machine of the daemon.
    """

    now: float
    daemon: DaemonSighting
    waiting: Mapping[str, str] = {}
    stopped: Sequence[StoppedEngine] = ()
    untested: bool = False
    checkouts: "CheckoutNotes | None" = None
    branch: str = ""
    troubles: "Sequence[Trouble]" = ()
    elsewhere: Sequence[WorkElsewhere] = ()
    locks: Sequence[LeftLock] = ()
    fence: FenceNote | None = None
    collisions: "Collisions | None" = None
    nodes: "NodeTally | None" = None

    def reason_of(self, task: Task) -> str:
        """Why it stands where it does; of a ready task, why the daemon has not started it."""
        return self.waiting.get(task.id, task.reason) if task.phase is Phase.READY else task.reason


def look_around(workspace: Workspace, board: Board, now: float) -> Outlook:
    checkouts, daemon = know_checkouts(workspace), look_for_daemon(board, now)
    if workspace.log.is_shared:
        from paddock.fleet.service.bulletin import fetch_bulletin

        fetch_bulletin(workspace, daemon)
    land = workspace.config.land if board.queue_switches.entries else None
    return Outlook(
        now,
        daemon,
        read_waiting(workspace.state_dir) if board.ready else {},
        read_stopped(workspace.state_dir),
        untested=land is not None and not land.ci and not land.checks,
        checkouts=checkouts,
        branch=workspace.config.landing_branch if checkouts else "",
        troubles=_know_troubles(workspace, now),
        elsewhere=_find_elsewhere(workspace, board, daemon, now),
        locks=find_left_locks(workspace.repo.common_dir),
        fence=read_note(workspace.state_dir) if daemon.presence is Presence.RUNNING else None,
        collisions=know_collisions(workspace, board.queue_switches.stats.company),
        nodes=_count_nodes(workspace, board, daemon, now),
    )


def _count_nodes(workspace: Workspace, board: Board, daemon: DaemonSighting, now: float) -> "NodeTally | None":
    """Nothing is loaded for it where no node has ever been heard of."""
    tended = any(name.startswith(NODE_LEASES) for name in board.leases.held)
    if not tended and not board.drains and not (workspace.state_dir / "nodes.json").exists():
        return None
    from paddock.fleet.nodes.tally import count_nodes

    return count_nodes(workspace.state_dir, board, daemon, now)


def know_collisions(workspace: Workspace, company: "RunCompany") -> "Collisions | None":
    """None also where no two runs meet any more."""
    if not company.beside.bad:
        return None
    from paddock.core.merge.company import find_collisions

    found = find_collisions(company)
    return found if found is not None and workspace.config.land.runs_at_once > 1 else None


def _is_looked_after(board: Board, daemon: DaemonSighting, host: Host, now: float) -> bool:
    """By a daemon on that machine; a node, by its own deputy."""
    if daemon.presence is Presence.RUNNING and daemon.lease is not None and daemon.lease.holder.host_id == host.id:
        return True
    from paddock.core.nodes.tenure import is_tended, node_of

    node = node_of(host.id)
    return node is not None and is_tended(board, node, now)


def _find_elsewhere(workspace: Workspace, board: Board, daemon: DaemonSighting, now: float) -> list[WorkElsewhere]:
    attempts = [attempt for name in board.live if (attempt := board.tasks[name].live_attempt) is not None]
    runs = board.queue.running.values() if board.queue_switches.entries else ()
    running = [(str(one.id), Host(one.host, one.host_id), one.started) for one in attempts]
    running += [(one.id, Host(one.host, one.host_id), one.started_at) for one in runs]
    others = {host for host in {host for _, host, _ in running} if not is_this_host(host)}
    unreached = {host for host in others if not workspace.site.sessions.reaches(host)}
    far = [one for one in running if one[1] in unreached and not _is_looked_after(board, daemon, one[1], now)]
    if not far:
        return []
    from shlex import quote

    return [WorkElsewhere(n, host.name, at, f"{HOST_VARIABLE}={quote(host.name)} paddock run") for n, host, at in far]


def _know_troubles(workspace: Workspace, now: float) -> "Sequence[Trouble]":
    """The file is there only while there is something to tell. Of a full disk it may not tell: there is no room."""
    if not (workspace.state_dir / "troubles.json").exists():
        return _full_disk(workspace, now) if not has_room(workspace.log) else ()
    from paddock.fleet.troubles import read_troubles

    return read_troubles(workspace.state_dir)


def _full_disk(workspace: Workspace, now: float) -> "Sequence[Trouble]":
    from paddock.core.troubles import Trouble

    words = f"the disk of `{workspace.log}` is full: nothing can be recorded until there is room"
    return [Trouble("recording", "", words, now)]


def know_checkouts(workspace: Workspace) -> "CheckoutNotes | None":
    """What is known, looked at again where something has moved since; None when there is nothing to tell.

    Costs one look for a file as long as every checkout shows main.
    """
    if not (workspace.state_dir / "checkouts").exists():
        return None
    from paddock.git.usertree.notes import read_notes

    notes = read_notes(workspace.repo)
    branch = workspace.config.landing_branch
    main = workspace.repo.branch_tip(branch)
    unmoved = all(_is_unmoved(entry, main) for entry in notes.stale) and (not notes.undone or notes.main == main)
    if not unmoved and not workspace.config.land.remote:
        from paddock.git.usertree.checkouts import catch_up

        try:
            catch_up(workspace.repo, branch, update=False, timeout_seconds=LOOK_SECONDS)
            notes = read_notes(workspace.repo)
        except (PaddockError, OSError):
            pass  # another process is doing it, or we may not write here: use what is known
    return notes if notes.stale or notes.undone else None


def _is_unmoved(entry: "StaleTree", main: str | None) -> bool:
    from paddock.git.repo import discover
    from paddock.git.usertree.places import UserTree

    if entry.main != main or entry.index is None or not (entry.folder / ".git").exists():
        return False
    return UserTree(entry.folder, discover(entry.folder).git_dir, "").index_identity() == entry.index

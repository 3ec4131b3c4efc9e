"""The fleet in the background, started and ended by whoever asks for it."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.core.ids import AttemptId
from paddock.core.leases.lease import Lease
from paddock.core.tasks.vocabulary import EndedBy
from paddock.fleet.attempts.turn import stop_reason_file
from paddock.fleet.fences import require_fences
from paddock.fleet.service.background import START_SECONDS, end_daemon, find_daemon, spawn_daemon
from paddock.fleet.workspace import Workspace
from paddock.sessions.host import Host

END_SECONDS = 20.0
END_WITH_AGENTS_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class EndedFleet:
    """`daemon` is the one that was running. `processes` is how many were ended without one; `working` are attempts
    that go on."""

    daemon: Lease | None
    processes: int
    working: Sequence[AttemptId]


def require_startable(workspace: Workspace) -> None:
    """Raises PaddockError for what the daemon would report too, but only in its log."""
    workspace.site.require_root()
    require_fences(workspace.config)


def log_of(workspace: Workspace) -> Path:
    """Where the daemon's words go."""
    return workspace.state_dir / "daemon.log"


def start_daemon(workspace: Workspace, most: int | None) -> None:
    """Detached; `most` is the most agents at the same time. It leads a moment later."""
    spawn_daemon(workspace.top, log_of(workspace), [] if most is None else ["--max", str(most)])


def await_daemon(workspace: Workspace) -> Lease:
    """The one that leads. Raises PaddockError if none does in time."""
    clock = workspace.site.clock
    give_up_at = clock.boottime() + START_SECONDS
    with closing(workspace.read()) as store, store.listen() as listener:
        while clock.boottime() < give_up_at:
            if (running := find_daemon(store.board())) is not None:
                return running
            listener.wait(0.5)
    raise PaddockError("the daemon did not start", f"see the end of `{log_of(workspace)}`")


def end_fleet(workspace: Workspace, *, agents_too: bool) -> EndedFleet:
    """Ends the daemon, if there is one; its agents go on unless `agents_too`, even those whose daemon died before."""
    running = find_daemon(workspace.board())
    if running is not None:
        end_daemon(
            running, agents_too=agents_too, timeout_seconds=END_WITH_AGENTS_SECONDS if agents_too else END_SECONDS
        )
    ended = _end_leftovers(workspace) if agents_too else 0
    board = workspace.board()
    live = [board.tasks[name].live_attempt for name in board.live]
    return EndedFleet(running, ended, [attempt.id for attempt in live if attempt is not None])


def _end_leftovers(workspace: Workspace) -> int:
    """Ends agents whose daemon died before it could. The reason is left for the next daemon to read."""
    site, board = workspace.site, workspace.board()
    for name in board.live:
        attempt = board.tasks[name].live_attempt
        if attempt is None or not attempt.turn_open or not site.sessions.reaches(Host(attempt.host, attempt.host_id)):
            continue
        if site.attempt_folder(attempt.id).is_dir():
            stop_reason_file(site, attempt).write_text(EndedBy.DOWN, encoding="utf-8")
    return len(site.sessions.sweep({process.owner for process in site.sessions.find()}).ended)

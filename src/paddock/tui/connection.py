"""The command that opens an attempt's conversation in the engine's own interface, where its work is."""

import os
import shlex
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId, attempt_number
from paddock.core.tasks.task import Attempt
from paddock.engines.protocol import Launch, TurnRequest
from paddock.fleet.site import Site
from paddock.fleet.workspace import Workspace
from paddock.git.worktrees.prepare import find


@dataclass(frozen=True, slots=True)
class Connection:
    """`command` is for a shell; `notes` are what to know before running it."""

    command: str
    notes: tuple[str, ...]


def interactive_engines(site: Site, names: set[str]) -> frozenset[str]:
    """Those of them that a person can talk to."""
    return frozenset(name for name in names if site.capabilities_of(name).interactive)


def find_connection(workspace: Workspace, name: TaskId) -> Connection:
    """Raises PaddockError where there is nothing to connect to."""
    with closing(workspace.read()) as store:
        board = store.board()
        site, task = workspace.site, board.task(name)
        attempt = task.last
        if attempt is None:
            raise PaddockError(f"task `{name}` has had no agent yet", "`paddock run` starts one when it is ready")
        request = _request(site, attempt, _folder_of(site, board, attempt))
        launch = site.engine(attempt.engine).interactive(request)
        if launch is None:
            raise PaddockError(
                f"{attempt.engine} has no interface for people", f"send it a message: `paddock message {name} …`"
            )
        return Connection(_shell(launch), tuple(_notes(site, attempt)))


def _folder_of(site: Site, board: Board, attempt: Attempt) -> Path:
    worktree = find(site.root, attempt.id)
    if worktree is not None:
        return worktree.path
    live = (board.tasks[other].live_attempt for other in board.live)
    taken = {other.worktree for other in live if other is not None}
    path = Path(attempt.worktree) if attempt.worktree else None
    if path is None or attempt.worktree in taken or not path.is_dir():
        raise PaddockError(
            f"the worktree of `{attempt.id}` is gone, or another agent works in it", "a message starts its agent again"
        )
    return path


def _request(site: Site, attempt: Attempt, folder: Path) -> TurnRequest:
    return TurnRequest(
        prompt="",
        worktree=folder,
        folder=site.attempt_folder(attempt.id),
        memory=site.memory_of(attempt),
        session_id=attempt.session,
        model=attempt.model,
        attempt=attempt_number(attempt.id),
        turn=attempt.turn,
        base_env=os.environ,
    )


def _shell(launch: Launch) -> str:
    """What the engine needs beyond the environment that the person has."""
    own = {name: value for name, value in launch.env.items() if os.environ.get(name) != value}
    words = [f"{name}={shlex.quote(value)}" for name, value in sorted(own.items())]
    return f"cd {shlex.quote(str(launch.cwd))} && {' '.join([*words, shlex.join(launch.argv)])}"


def _notes(site: Site, attempt: Attempt) -> list[str]:
    notes = []
    if attempt.turn_open:
        notes.append(f"{attempt.id} is working in it now: stop it first (s), or it and you write over each other")
    if attempt.session is None:
        notes.append("it has no conversation yet: this opens a new one")
    elif attempt.fence not in ("", "none"):
        notes.append(
            f"its conversation is kept in {site.memory_of(attempt)}, which a CLI outside of the fence may not look at"
        )
    return notes

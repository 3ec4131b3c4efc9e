"""Tasks that landed and are no longer in main, also before a daemon has recorded that main was moved."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from paddock.cli.workspace import Workspace, author
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, Record
from paddock.core.ids import TaskId
from paddock.core.task import Phase

if TYPE_CHECKING:
    from paddock.core.merge.events import QueueEvent
    from paddock.store.sqlite import SqliteStore

FILE = "main-compared"


class _Remembered(msgspec.Struct, frozen=True):
    """Two commits never compare differently, so an answer holds for ever."""

    known: str
    main: str
    lost: tuple[str, ...]
    found: tuple[str, ...]


def tell_lost_work(workspace: Workspace, board: Board) -> None:
    """What the next daemon will record about main, on this reader's board only."""
    try:
        events = _unrecorded(workspace, board)
    except (PaddockError, OSError):
        return
    seq, at = board.seq, board.at
    for event in events:
        board.apply(Record(board.seq + 1, at, "", 0, None, None, event, b""))
    board.seq, board.at = seq, at


def record_lost_work(workspace: Workspace, store: "SqliteStore", names: Collection[TaskId]) -> None:
    """For somebody who queues such a task again: the log must know first that it was lost."""
    board = store.board()
    if not any(board.task(name).phase is Phase.LANDED for name in names):
        return
    if events := _unrecorded(workspace, board):
        store.append(lambda _board: [Draft(event) for event in events], author())


def _unrecorded(workspace: Workspace, board: Board) -> "list[QueueEvent]":
    if not board.counts.get(Phase.LANDED) and not board.counts.get(Phase.BLOCKED):
        return []
    known = board.queue.main
    main = _main_tip(workspace)
    if known is None or main is None or main == known.commit:
        return []
    from paddock.fleet.lostwork import loss_events
    from paddock.git.lost import MainsCompared, compare_landed

    old = _recall(workspace.state_dir)
    if old is not None and (old.known, old.main) == (known.commit, main):
        compared = MainsCompared(old.lost, old.found)
    else:
        compared = compare_landed(workspace.repo, known.commit, main)
        _remember(workspace.state_dir, _Remembered(known.commit, main, compared.lost, compared.found))
    return loss_events(board, main, compared)


def _main_tip(workspace: Workspace) -> str | None:
    land, branch = workspace.config.land, workspace.config.landing_branch
    if land.remote:
        return workspace.repo.resolve(f"refs/remotes/{land.remote}/{branch}")
    return workspace.repo.branch_tip(branch)


def _recall(state_dir: Path) -> _Remembered | None:
    try:
        return msgspec.json.decode((state_dir / FILE).read_bytes(), type=_Remembered)
    except (OSError, msgspec.DecodeError):
        return None


def _remember(state_dir: Path, compared: _Remembered) -> None:
    draft = state_dir / f"{FILE}.{os.getpid()}"
    try:
        draft.write_bytes(msgspec.json.encode(compared))
        os.replace(draft, state_dir / FILE)
    except OSError:
        draft.unlink(missing_ok=True)

"""Tasks that landed and are no longer in main, also before a daemon has recorded that main was moved."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, Record
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Phase
from paddock.fleet.workspace import Workspace

if TYPE_CHECKING:
    from paddock.core.merge.events import QueueEvent
    from paddock.store.protocol import Store

FILE = "main-compared"


class _Remembered(msgspec.Struct, frozen=True):
    """What comparing the main the log knows with the one that is there gave; two commits never compare differently.

    Either may have moved since: a main that was rewound is often one that was looked at before.
    `ref` is main, as the configuration of that size and time names it.
    """

    known: str
    main: str
    lost: tuple[str, ...]
    found: tuple[str, ...]
    ref: str
    config: tuple[int, int]


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


def record_lost_work(workspace: Workspace, store: "Store", names: Collection[TaskId]) -> None:
    """Before such a task is queued again, the log must record that it was lost."""
    board = store.board()
    if not any(board.task(name).phase is Phase.LANDED for name in names):
        return
    if events := _unrecorded(workspace, board):
        store.append(lambda _board: [Draft(event) for event in events], workspace.author)


def _unrecorded(workspace: Workspace, board: Board) -> "list[QueueEvent]":
    """What is to be recorded about main. Loads nothing as long as main is where it was at the last look."""
    if not board.counts.get(Phase.LANDED) and not board.counts.get(Phase.BLOCKED):
        return []
    old = _recall(workspace.state_dir)
    if old is None or not _holds(workspace, board, old):
        old = _compare(workspace, board)
    if old is None or not (old.lost or old.found):
        return []
    from paddock.fleet.landing.lost_work import loss_events
    from paddock.git.landing.lost import MainsCompared

    return loss_events(board, old.main, MainsCompared(old.lost, old.found))


def _holds(workspace: Workspace, board: Board, old: _Remembered) -> bool:
    known = board.queue_switches.main
    if known is None or known.commit != old.known or old.config != _config_identity(workspace):
        return False
    return _read_ref(workspace, old.ref) == old.main


def _compare(workspace: Workspace, board: Board) -> _Remembered | None:
    from paddock.git.landing.lost import compare_landed

    land, branch = workspace.config.land, workspace.config.landing_branch
    ref = f"refs/remotes/{land.remote}/{branch}" if land.remote else f"refs/heads/{branch}"
    known, main = board.queue.main, workspace.repo.resolve(ref)
    if known is None or main is None:
        return None
    compared = compare_landed(workspace.repo, known.commit, main)
    config = _config_identity(workspace)
    found = _Remembered(known.commit, main, compared.lost, compared.found, ref, config)
    _remember(workspace.state_dir, found)
    return found


def _config_identity(workspace: Workspace) -> tuple[int, int]:
    try:
        found = (workspace.top / "paddock.toml").stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _read_ref(workspace: Workspace, ref: str) -> str | None:
    """Without starting a process; None if the files do not say."""
    folder = workspace.repo.common_dir
    try:
        return (folder / ref).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        pass
    try:
        packed = (folder / "packed-refs").read_bytes().splitlines()
    except OSError:
        return None
    name = b" " + ref.encode()
    return next((line[: -len(name)].decode() for line in packed if line.endswith(name)), None)


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

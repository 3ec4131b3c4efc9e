"""Forks: what an attempt has of another task's branch and conversation. Both are copied, and stay as they are there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.ids import TaskId
from paddock.core.tasks.conversations import is_copied, origin_of, resumable_session
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.fleet.attempts.memory_copy import copy_conversation
from paddock.fleet.attempts.turn import new_session_id
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.site import Site
from paddock.git.disk import remove_tree

DRAFT = "-draft"


@dataclass(frozen=True, slots=True)
class CopiedConversation:
    """What goes on as a copy: the attempt whose it is, and the engine's name for it."""

    origin: Attempt
    session: str


def fork_starts(site: Site, board: Board, names: Iterable[TaskId]) -> Mapping[TaskId, str]:
    """Where first attempts of forks begin that do not begin at main. Blocks on git."""
    forks = [task for name in names if (task := board.task(name)).forks is not None]
    found = {task.id: start_after(site, origin_of(board, task)) for task in forks}
    return {name: start for name, start in found.items() if start}


def start_after(site: Site, origin: Task | None) -> str:
    """The newest commit of a task that has not landed; empty where what follows begins at main. Blocks on git."""
    if origin is None or origin.phase is Phase.LANDED or (worker := origin.worker) is None:
        return ""
    if worker.role.only_reads:
        return worker.base
    if worker.live:
        return site.ground.newest_commit(worker) or worker.base
    known = (origin.head, worker.head, f"refs/heads/{worker.branch}", worker.base)
    return next((sha for one in known if one and (sha := site.repo.resolve(one))), "")


def forked_conversation(site: Site, board: Board, task: Task, engine: str) -> CopiedConversation | None:
    """Of the newest attempt of the task that it forks; None where that had none that this engine could go on with."""
    origin = origin_of(board, task)
    worker = origin.worker if origin is not None else None
    if worker is None or worker.engine != engine:
        return None
    session = worker.session if worker.live else resumable_session(worker)
    if session is None and worker.turn_open and site.capabilities_of(engine).chooses_session_id:
        session = new_session_id(worker.id, site.marker, worker.turn)
    return CopiedConversation(worker, session) if session else None


def copy_memory(site: Site, attempt: Attempt) -> None:
    """What is kept of the conversation becomes the attempt's own. Killed anywhere, it is done again from the start."""
    if not is_copied(attempt):
        return
    source, target = site.memory_of(attempt), site.memories_folder / attempt.id
    if target.exists() or not source.is_dir():
        return
    draft = target.with_name(f"{attempt.id}{DRAFT}")
    remove_tree(draft)
    checkpoint("fork.copying")
    copy_conversation(source, draft)
    checkpoint("fork.copied")
    draft.rename(target)

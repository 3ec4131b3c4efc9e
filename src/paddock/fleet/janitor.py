"""Clearing away what nobody owns any more. Unknown is not dead: what cannot be identified is reported and left.

`inspect` only looks; `sweep` does what it found and nothing else. Everything done is an event with evidence.
"""

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from paddock.core import lease
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, Swept
from paddock.core.ids import AttemptId, TaskId
from paddock.core.merge.model import Queue
from paddock.fleet.site import Site
from paddock.git.disk import disk_usage
from paddock.git.held import held_units, release_unit
from paddock.git.release import release
from paddock.git.sandbox import Sandbox, list_sandboxes, release_sandbox, sweep_trash
from paddock.git.slots import list_slots, read_record
from paddock.sessions.marks import Mark, find_marked
from paddock.sessions.sweep import sweep as sweep_processes

RUN_PREFIX = "run-"


class What(StrEnum):
    LEASE = "expired lease"
    PROCESS = "orphan process"
    WORKTREE = "worktree of an ended attempt"
    SANDBOX = "sandbox of an ended run"
    TRANSCRIPT = "old transcript"
    REF = "ref of an ended run"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Found:
    """`name` is what `sweep` needs; `evidence` is for people. UNKNOWN is only ever reported."""

    what: What
    name: str
    evidence: str
    size_bytes: int = 0


def live_attempts(board: Board) -> set[str]:
    return {attempt.id for name in board.live if (attempt := board.tasks[name].live_attempt) is not None}


def inspect(site: Site, board: Board, now: float) -> list[Found]:
    """What could go. Blocks on git and the process table: call it in a thread."""
    return [
        *_expired_leases(board, now),
        *_orphans(site, board),
        *_worktrees(site, board),
        *_sandboxes(site, board.queue),
        *_units(site, board.queue),
        *_transcripts(site, board, now),
    ]


def _expired_leases(board: Board, now: float) -> Iterator[Found]:
    for event in lease.expire(board.leases, now):
        held = board.leases.held[event.name]
        yield Found(What.LEASE, event.name, f"held by {held.holder.name} since {_stamp(held.since)}")


def _orphans(site: Site, board: Board) -> Iterator[Found]:
    """Processes that carry our mark and an attempt or run that is over."""
    live = live_attempts(board) | {f"{RUN_PREFIX}{run}" for run in board.queue.running}
    for process in find_marked(site.marker):
        owner = process.mark.attempt
        words = f"pid {process.identity.pid}, {process.age_seconds:.0f} s old: {process.command}"
        if owner in live:
            continue
        if _has_ended(board, owner):
            yield Found(What.PROCESS, owner, words)
        else:
            yield Found(What.UNKNOWN, owner, words)


def _has_ended(board: Board, owner: str) -> bool:
    """Known to the log, and over. A run whose record is gone has ended long ago."""
    if owner.startswith(RUN_PREFIX):
        run = owner.removeprefix(RUN_PREFIX)
        return _run_has_ended(board.queue, run)
    task, _, number = owner.partition(".")
    known = board.tasks.get(TaskId(task))
    return known is not None and number.isdigit() and int(number) <= known.started


def _run_has_ended(queue: Queue, run: str) -> bool:
    """One that began after `queue` was read is not known to it, and not over."""
    number = run.removeprefix("r")
    return number.isdigit() and int(number) < queue.next_run and run not in queue.running


def _worktrees(site: Site, board: Board) -> Iterator[Found]:
    live = live_attempts(board)
    for slot in list_slots(site.root):
        record = read_record(slot)
        if record is None:
            yield Found(What.UNKNOWN, str(slot.path), "a worktree slot without a readable record")
        elif record.attempt and record.attempt not in live and not record.attempt.endswith(".resolve"):
            if _has_ended(board, record.attempt):
                yield Found(What.WORKTREE, record.attempt, str(slot.path))
            else:
                yield Found(What.UNKNOWN, record.attempt, f"{slot.path} belongs to an attempt this log does not know")


def _sandboxes(site: Site, queue: Queue) -> Iterator[Found]:
    for seen in list_sandboxes(site.repo, site.sandbox_root):
        run = seen.record.run
        if run is not None and _run_has_ended(queue, run):
            yield Found(What.SANDBOX, seen.name, f"claimed by run {run}, which has ended")


def _units(site: Site, queue: Queue) -> Iterator[Found]:
    """Composed commits that no run or landing needs any more."""
    needed = {run.commit for run in (*queue.running.values(), *queue.ended.values())}
    if queue.landing is not None:
        needed.add(queue.landing.new)
    for commit in held_units(site.repo):
        if commit not in needed:
            yield Found(What.REF, commit, "no run that matters tests this commit")


def _transcripts(site: Site, board: Board, now: float) -> Iterator[Found]:
    """Output folders of ended attempts and runs: those too old, then the oldest until the rest fits."""
    limits = site.config.janitor
    live = live_attempts(board)
    folders = [
        (path.stat().st_mtime, path)
        for path in (*site.state_dir.glob("attempts/*/*"), *site.state_dir.glob("runs/*"))
        if path.is_dir() and f"{path.parent.name}.{path.name}" not in live and path.name not in board.queue.running
    ]
    total = 0
    for modified, path in sorted(folders, reverse=True):
        size = disk_usage(path)
        total += size
        age = now - modified
        if age > limits.transcripts_age:
            yield Found(What.TRANSCRIPT, str(path), f"{age / 86400:.0f} days old", size)
        elif total > limits.transcripts_mb * 1024 * 1024:
            yield Found(What.TRANSCRIPT, str(path), f"more than {limits.transcripts_mb} MB are kept", size)


def sweep(site: Site, found: list[Found]) -> list[Found]:
    """Does what was found, except leases, which are the log's own; returns what was really done."""
    done = []
    orphans = {item.name for item in found if item.what is What.PROCESS}
    ended = {p.mark.attempt for p in sweep_processes({Mark(site.marker, name) for name in orphans}).ended}
    for item in found:
        try:
            if (item.what is What.PROCESS and item.name in ended) or _sweep_one(site, item):
                done.append(item)
        except (PaddockError, OSError):
            continue
    sweep_trash(site.sandbox_root)
    return done


def _sweep_one(site: Site, item: Found) -> bool:
    match item.what:
        case What.WORKTREE:
            return not release(site.root, AttemptId(item.name), "its attempt had ended").kept
        case What.SANDBOX:
            sandbox = Sandbox(site.repo, site.sandbox_root, item.name)
            run = item.evidence.removeprefix("claimed by run ").partition(",")[0]
            return release_sandbox(sandbox, run)
        case What.REF:
            return release_unit(site.repo, item.name)
        case What.TRANSCRIPT:
            shutil.rmtree(Path(item.name))
            return True
        case _:
            return False


def lease_drafts(board: Board, now: float) -> list[Draft]:
    return [Draft(event) for event in lease.expire(board.leases, now)]


def note_drafts(done: list[Found]) -> list[Draft]:
    return [Draft(Swept(f"{item.what.value}: {item.name}", item.evidence[:500])) for item in done]


def _stamp(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))

"""Clearing away what nobody owns any more. Unknown is not dead: what cannot be identified is reported and left.

First the world is looked at, then it is judged by a board read *afterwards*: whatever uses a worktree, a sandbox
or a process was recorded before, so what was seen and is not on the board as being at work has ended. Then only
that is swept, each thing by its owner's name, which is never given to another. Everything done is an event with
evidence.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from paddock.config.schema import Config, Janitor
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, Swept
from paddock.core.ids import AttemptId, TaskId
from paddock.core.leases import lease
from paddock.core.merge.model import Queue
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.clock import stamp
from paddock.fleet.landing.entrance import main_ref
from paddock.fleet.site import RUN_OWNER, Site
from paddock.fleet.upkeep.changes import spare_changes
from paddock.git.disk import disk_usage, remove_tree
from paddock.git.landing.held import (
    CHANGES,
    UNITS,
    HeldChanges,
    held_units,
    release_changes,
    release_unit,
    survey_changes,
)
from paddock.git.sandboxes.sandbox import (
    InUse,
    Sandbox,
    SandboxSeen,
    list_sandboxes,
    release_sandbox,
    remove_sandbox,
    sweep_trash,
)
from paddock.git.worktrees.gc import GcItem, GcPlan, Waste, apply_gc, plan_gc
from paddock.git.worktrees.release import release
from paddock.git.worktrees.slots import RESOLVE_SUFFIX, Slot, SlotRecord, SlotState, list_slots, read_record
from paddock.sessions.protocol import LiveProcess

# A commit is composed and held some moments before the run that tests it is recorded.
FRESH_UNIT_SECONDS = 600.0


class What(StrEnum):
    LEASE = "expired lease"
    PROCESS = "orphan process"
    WORKTREE = "worktree of an ended attempt"
    POOL = "half-made worktree"
    SANDBOX = "sandbox of an ended run"
    SURPLUS = "sandbox beyond the slots"
    TRANSCRIPT = "old transcript"
    REF = "ref of an ended run"
    CHANGES = "refs of finished changes"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Found:
    """`name` is what `sweep` needs; `evidence` is for people. UNKNOWN is only ever reported."""

    what: What
    name: str
    evidence: str
    size_bytes: int = 0
    waste: GcItem | None = None
    changes: HeldChanges | None = None


@dataclass(frozen=True, slots=True)
class Folder:
    """What an attempt (`t5.1`) or a run (`run-r3`) has written."""

    owner: str
    path: Path
    modified: float
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Survey:
    """The world as it was seen, by nobody's word. `units` are commits with their refs' ages in seconds."""

    processes: tuple[LiveProcess, ...] = ()
    slots: tuple[tuple[Slot, SlotRecord | None], ...] = ()
    half_made: tuple[GcItem, ...] = ()
    sandboxes: tuple[SandboxSeen, ...] = ()
    units: tuple[tuple[str, float], ...] = ()
    folders: tuple[Folder, ...] = ()
    changes: HeldChanges | None = None


def look(site: Site) -> Survey:
    """Blocks on git and the process table: call it in a thread. Never touches the board."""
    now = site.clock.now()
    return Survey(
        processes=site.sessions.find(),
        slots=tuple((slot, read_record(slot)) for slot in list_slots(site.root)),
        half_made=_half_made(site),
        sandboxes=list_sandboxes(site.repo, site.sandbox_root),
        units=tuple((commit, now - _held_since(site, commit)) for commit in held_units(site.repo)),
        folders=tuple(_folders(site)),
        changes=_changes_held(site),
    )


def _changes_held(site: Site) -> HeldChanges | None:
    main = site.repo.resolve(main_ref(site))
    return None if main is None else survey_changes(site.repo, main)


def _half_made(site: Site) -> tuple[GcItem, ...]:
    """Entries of the pool that a dead process left; those of attempts are found by their attempt."""
    remains = plan_gc(site.root, (), idle=1_000_000).items
    return tuple(item for item in remains if item.waste in (Waste.HALF_MADE, Waste.UNREGISTERED) and not item.attempt)


def _held_since(site: Site, commit: str) -> float:
    """0 for a packed ref: only old ones get packed."""
    try:
        return (site.repo.common_dir / UNITS / commit).stat().st_mtime
    except OSError:
        return 0.0


def _folders(site: Site) -> Iterator[Folder]:
    attempts = ((f"{path.parent.name}.{path.name}", path) for path in site.state_dir.glob("attempts/*/*"))
    runs = ((f"{RUN_OWNER}{path.name}", path) for path in site.state_dir.glob("runs/*"))
    for owner, path in (*attempts, *runs):
        try:
            if path.is_dir():
                yield Folder(owner, path, path.stat().st_mtime, disk_usage(path))
        except OSError:
            continue


def judge(config: Config, board: Board, seen: Survey, now: float) -> list[Found]:
    """What may go, and what nobody knows. `board` was read after `seen`."""
    return [
        *_expired_leases(board, now),
        *_orphans(board, seen.processes),
        *_worktrees(board, seen.slots),
        *(
            Found(What.POOL, str(item.path), "left by a process that died", item.size_bytes, item)
            for item in seen.half_made
        ),
        *_sandboxes(board.queue, seen.sandboxes),
        *_surplus(seen.sandboxes, config.land.slots),
        *_units(board.queue, seen.units),
        *_changes(board, seen.changes),
        *_transcripts(config.janitor, board, seen.folders, now),
    ]


def _expired_leases(board: Board, now: float) -> Iterator[Found]:
    for event in lease.expire(board.leases, now):
        held = board.leases.held[event.name]
        yield Found(What.LEASE, event.name, f"held by {held.holder.name} since {stamp(held.since)}")


def _orphans(board: Board, processes: tuple[LiveProcess, ...]) -> Iterator[Found]:
    """Processes that carry our mark and an attempt or run that is over."""
    for process in processes:
        owner = process.owner
        words = f"{process.name}, {process.age_seconds:.0f} s old: {process.command}"
        if (over := _has_ended(board, owner)) is None:
            yield Found(What.UNKNOWN, owner, words)
        elif over:
            yield Found(What.PROCESS, owner, words)


def _has_ended(board: Board, owner: str) -> bool | None:
    """None when the log does not know the attempt or run. A run whose record is gone has ended long ago."""
    if owner.startswith(RUN_OWNER):
        number = owner.removeprefix(f"{RUN_OWNER}r")
        known = number.isdecimal() and int(number) < board.queue.next_run
        return owner.removeprefix(RUN_OWNER) not in board.queue.running if known else None
    name, _, number = owner.partition(".")
    task = board.tasks.get(TaskId(name))
    if task is None or not number.isdecimal() or not 1 <= int(number) <= task.started:
        return None
    return task.live_attempt is None or task.live_attempt.id != owner


def _worktrees(board: Board, slots: tuple[tuple[Slot, SlotRecord | None], ...]) -> Iterator[Found]:
    for slot, record in slots:
        if record is None:
            if slot.path.exists():
                yield Found(What.UNKNOWN, str(slot.path), "a worktree slot without a readable record")
        elif record.attempt and record.state is not SlotState.IDLE and not record.attempt.endswith(RESOLVE_SUFFIX):
            over = _has_ended(board, record.attempt)
            if over is None:
                yield Found(What.UNKNOWN, record.attempt, f"{slot.path} belongs to an attempt that is not in this log")
            elif over and record.state is SlotState.KEPT:
                yield Found(What.UNKNOWN, record.attempt, f"{slot.path} is kept for you: {record.reason}")
            elif over:
                yield Found(What.WORKTREE, record.attempt, str(slot.path))


def _sandboxes(queue: Queue, sandboxes: tuple[SandboxSeen, ...]) -> Iterator[Found]:
    for seen in sandboxes:
        run = seen.record.run
        number = (run or "").removeprefix("r")
        if run is not None and number.isdecimal() and int(number) < queue.next_run and run not in queue.running:
            yield Found(What.SANDBOX, seen.name, f"claimed by run {run}, which has ended")


def _surplus(sandboxes: tuple[SandboxSeen, ...], slots: int) -> Iterator[Found]:
    """Idle ones that no run will need: somebody has lowered `land.slots` since they were made."""
    idle = sorted((seen.name for seen in sandboxes if seen.record.run is None), key=lambda name: (len(name), name))
    claimed = len(sandboxes) - len(idle)
    for name in idle[max(0, slots - claimed) :]:
        yield Found(What.SURPLUS, name, f"land.slots is {slots}")


def _units(queue: Queue, units: tuple[tuple[str, float], ...]) -> Iterator[Found]:
    """Composed commits that no run or landing needs any more."""
    needed = {run.commit for run in (*queue.running.values(), *queue.ended.values())}
    if queue.landing is not None:
        needed.add(queue.landing.new)
    for commit, age in units:
        if commit not in needed and age > FRESH_UNIT_SECONDS:
            yield Found(What.REF, commit, "no current run tests this commit")


def _changes(board: Board, held: HeldChanges | None) -> Iterator[Found]:
    spare = spare_changes(board, held) if held is not None else {}
    if held is not None and spare:
        names = ", ".join(ref.removeprefix(f"{CHANGES}/") for ref in spare)
        words = f"main, or another ref, has their commits: {names}"
        yield Found(What.CHANGES, f"{len(spare)} below {CHANGES}", words, changes=replace(held, refs=spare))


def _transcripts(limits: Janitor, board: Board, folders: tuple[Folder, ...], now: float) -> Iterator[Found]:
    """Output folders of ended attempts and runs: those too old, then the oldest until the rest fits."""
    total = 0
    for folder in sorted(folders, key=lambda folder: folder.modified, reverse=True):
        total += folder.size_bytes
        if not _has_ended(board, folder.owner):
            continue
        age = now - folder.modified
        if age > limits.transcripts_age:
            yield Found(What.TRANSCRIPT, str(folder.path), f"{age / 86400:.0f} days old", folder.size_bytes)
        elif total > limits.transcripts_mb * 1024 * 1024:
            words = f"more than the limit of {limits.transcripts_mb} MB"
            yield Found(What.TRANSCRIPT, str(folder.path), words, folder.size_bytes)


def sweep(site: Site, found: list[Found]) -> list[Found]:
    """Does what was found, except leases, which are the log's own; returns what was really done."""
    done = []
    orphans = {item.name for item in found if item.what is What.PROCESS}
    ended = {process.owner for process in site.sessions.sweep(orphans).ended}
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
            released = release(site.root, AttemptId(item.name), "its attempt had ended")
            return released.slot is not None and not released.kept
        case What.POOL:
            assert item.waste is not None
            return bool(apply_gc(site.root, GcPlan((item.waste,))).removed)
        case What.SANDBOX:
            run = item.evidence.removeprefix("claimed by run ").partition(",")[0]
            return release_sandbox(Sandbox(site.repo, site.sandbox_root, item.name), run)
        case What.SURPLUS:
            return not isinstance(remove_sandbox(Sandbox(site.repo, site.sandbox_root, item.name)), InUse)
        case What.REF:
            return release_unit(site.repo, item.name)
        case What.CHANGES:
            assert item.changes is not None
            return release_changes(site.repo, item.changes.main, item.changes.refs, checkpoint)
        case What.TRANSCRIPT:
            remove_tree(Path(item.name))
            return True
        case _:
            return False


def lease_drafts(board: Board, now: float) -> list[Draft]:
    return [Draft(event) for event in lease.expire(board.leases, now)]


def note_drafts(done: list[Found]) -> list[Draft]:
    return [Draft(Swept(f"{item.what.value}: {item.name}", item.evidence[:500])) for item in done]

"""Which of the things seen may be swept. Unknown is not dead: what cannot be identified is reported and kept.

`board` was read *after* the world was looked at: whatever uses a worktree, a sandbox or a process was recorded before,
so what was seen and is not on the board as being at work has ended. Each thing is swept by its owner's name, which is
never given to another.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from paddock.core.board import Board
from paddock.core.ids import CHANGES, RESOLVE_SUFFIX, RUN_OWNER, TaskId, checked_by, resolve_folder
from paddock.core.leases import decisions
from paddock.core.merge.model import Ending, Queue
from paddock.core.tasks.conversations import NOWHERE, Homes, memories_in_use, memories_of_finished
from paddock.core.tasks.task import Phase
from paddock.core.upkeep.changes import spare_changes
from paddock.core.upkeep.findings import (
    EndProcesses,
    ExpireLease,
    Leftover,
    ReleaseChanges,
    ReleaseSandbox,
    ReleaseUnit,
    RemoveOutput,
    RemoveSandbox,
    RemoveWorktree,
    ReturnWorktree,
    What,
)
from paddock.core.upkeep.survey import (
    HeldChanges,
    MemorySeen,
    OutputSeen,
    ProcessSeen,
    SandboxClaim,
    SlotState,
    Survey,
    UnitSeen,
    WorktreeSeen,
)

# A commit is composed and held some moments before the run that tests it is recorded.
FRESH_UNIT_SECONDS = 600.0
# `git worktree add` takes milliseconds between its first file and its last.


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may stay. `driven` are attempts that are still being cleaned up."""

    sandboxes: int
    output_age_seconds: float
    output_megabytes: float
    memory_megabytes: float
    driven: frozenset[str] = frozenset()


def judge(board: Board, seen: Survey, limits: Allowed, now: float) -> list[Leftover]:
    """What a round of the janitor may sweep, and what it cannot identify."""
    found = (
        *_expired_leases(board, now),
        *_orphans(board, seen.processes),
        *_worktrees(board, seen.worktrees),
        *_sandboxes(board, seen.sandboxes),
        *_surplus(seen.sandboxes, limits.sandboxes),
        *_units(board.queue, seen.units),
        *_changes(board, seen.changes),
        *_outputs(limits, board, seen.outputs),
        *_memories(limits, board, seen.memories, now),
    )
    return [one for one in found if one.name not in limits.driven]


def collect(
    worktrees: Sequence[WorktreeSeen],
    live: Collection[str],
    pool: int,
    homes: Homes = NOWHERE,
    *,
    force: bool = False,
) -> list[Leftover]:
    """What `paddock gc` may remove: worktrees whose owner is not `live`, all but `pool` idle ones, remains of crashes.

    `force` adds those kept for a person and those that a conversation may come back to, which are made again where
    they were.
    """
    spared = frozenset[str]() if force else {*homes.due, *homes.kept}
    idle = [one for one in worktrees if one.state is SlotState.IDLE and one.path not in spared]
    surplus = {one.number for one in idle[pool:]}
    found: list[Leftover] = []
    for one in worktrees:
        if (what := _waste(one, live, force=force, surplus=one.number in surplus)) is not None:
            found.append(_removal(what, one, one.reason))
    return found


def live_owners(board: Board) -> set[str]:
    """Who may have a worktree now: running attempts, and people resolving a conflict."""
    live: set[str] = {attempt.id for name in board.live if (attempt := board.tasks[name].live_attempt) is not None}
    live |= {resolve_folder(task.id) for task in board.open_tasks() if task.phase is Phase.BLOCKED}
    return live | {
        resolve_folder(old.id) for old in board.queue.decided if old.branch and old.outcome is Ending.CONFLICTED
    }


def _waste(one: WorktreeSeen, live: Collection[str], *, force: bool, surplus: bool) -> What | None:
    match one.state:
        case SlotState.IDLE:
            return What.SURPLUS if surplus else None
        case None if one.present:
            return What.KEPT if force else None
        case None | SlotState.MAKING | SlotState.RETURNING:
            return None if one.busy else What.HALF_MADE
        case SlotState.KEPT:
            return What.KEPT if force and one.attempt not in live else None
        case SlotState.CLAIMED | SlotState.READY:
            return What.ABANDONED if one.attempt not in live else None


def _removal(what: What, one: WorktreeSeen, evidence: str) -> Leftover:
    return Leftover(what, one.path, evidence, RemoveWorktree(one.number, one.state, one.attempt, one.present))


def _expired_leases(board: Board, now: float) -> Iterator[Leftover]:
    for event in decisions.expire(board.leases, now):
        held = board.leases.held[event.name]
        words = f"held by {held.holder.name} for {now - held.since:.0f} s"
        yield Leftover(What.LEASE, event.name, words, ExpireLease())


def _orphans(board: Board, processes: Sequence[ProcessSeen]) -> Iterator[Leftover]:
    """Processes that carry our mark and an attempt or run that is over."""
    for process in processes:
        words = f"{process.name}, {process.age_seconds:.0f} s old: {process.command}"
        if (over := has_ended(board, process.owner)) is None:
            yield Leftover(What.UNKNOWN, process.owner, words)
        elif over:
            yield Leftover(What.PROCESS, process.owner, words, EndProcesses(process.owner))


def has_ended(board: Board, owner: str) -> bool | None:
    """None when the log does not know the attempt or run. A run whose record is gone has ended long ago."""
    if owner.startswith(RUN_OWNER):
        return _run_has_ended(board, owner.removeprefix(RUN_OWNER))
    name, _, number = owner.partition(".")
    task = board.tasks.get(TaskId(name))
    if task is None or not number.isdecimal() or not 1 <= int(number) <= task.newest:
        return None
    return task.live_attempt is None or task.live_attempt.id != owner


def _run_has_ended(board: Board, run: str) -> bool | None:
    if (checked := checked_by(run)) is not None:
        task = board.tasks.get(checked[0])
        is_due = task is not None and task.phase is Phase.REVIEWING and (task.head or "").startswith(checked[1])
        return None if task is None else not is_due
    queue = board.queue
    number = run.removeprefix("r")
    known = run.startswith("r") and number.isdecimal() and int(number) < queue.next_run
    return run not in queue.running if known else None


def _worktrees(board: Board, worktrees: Sequence[WorktreeSeen]) -> Iterator[Leftover]:
    for one in worktrees:
        if one.state is None and one.present:
            yield Leftover(What.UNKNOWN, one.path, "a worktree slot without a readable record")
        elif one.state in (None, SlotState.MAKING) or (one.state is SlotState.RETURNING and not one.attempt):
            if not one.busy:
                yield _removal(What.HALF_MADE, one, "left by a process that died")
        elif one.state is not SlotState.IDLE and not one.attempt.endswith(RESOLVE_SUFFIX):
            yield from _claimed(board, one)


def _claimed(board: Board, one: WorktreeSeen) -> Iterator[Leftover]:
    if one.state is SlotState.KEPT and not one.attempt:
        yield Leftover(What.UNKNOWN, one.path, f"it is kept for you: {one.reason}")
        return
    over = has_ended(board, one.attempt)
    if over is None:
        yield Leftover(What.UNKNOWN, one.attempt, f"{one.path} belongs to an attempt that is not in this log")
    elif over and one.state is SlotState.KEPT:
        yield Leftover(What.UNKNOWN, one.attempt, f"{one.path} is kept for you: {one.reason}")
    elif over:
        yield Leftover(What.ABANDONED, one.attempt, one.path, ReturnWorktree(one.attempt))


def _sandboxes(board: Board, sandboxes: Sequence[SandboxClaim]) -> Iterator[Leftover]:
    for box in sandboxes:
        if box.run is not None and _run_has_ended(board, box.run):
            words = f"claimed by run {box.run}, which has ended"
            yield Leftover(What.SANDBOX, box.name, words, ReleaseSandbox(box.name, box.run))


def _surplus(sandboxes: Sequence[SandboxClaim], slots: int) -> Iterator[Leftover]:
    """Idle ones that no run will need: somebody has lowered `land.slots` since they were made. Checks of delivered
    changes may use as many as the merge queue."""
    idle = sorted((box.name for box in sandboxes if box.run is None), key=lambda name: (len(name), name))
    claimed = len(sandboxes) - len(idle)
    for name in idle[max(0, 2 * slots - claimed) :]:
        yield Leftover(What.SPARE_SANDBOX, name, f"land.slots is {slots}", RemoveSandbox(name))


def _units(queue: Queue, units: Sequence[UnitSeen]) -> Iterator[Leftover]:
    """Composed commits that no run or landing needs any more."""
    needed = {run.commit for run in (*queue.running.values(), *queue.ended.values())}
    if queue.landing is not None:
        needed.add(queue.landing.new)
    for unit in units:
        if unit.commit not in needed and unit.age_seconds > FRESH_UNIT_SECONDS:
            yield Leftover(What.REF, unit.commit, "no current run tests this commit", ReleaseUnit(unit.commit))


def _changes(board: Board, held: HeldChanges | None) -> Iterator[Leftover]:
    spare = spare_changes(board, held) if held is not None else {}
    if held is not None and spare:
        names = ", ".join(ref.removeprefix(f"{CHANGES}/") for ref in spare)
        words = f"main, or another ref, has their commits: {names}"
        yield Leftover(What.CHANGES, f"{len(spare)} below {CHANGES}", words, ReleaseChanges(replace(held, refs=spare)))


def _outputs(limits: Allowed, board: Board, outputs: Sequence[OutputSeen]) -> Iterator[Leftover]:
    """Output of ended attempts and runs: what is too old, then the oldest until the rest fits."""
    total = 0
    for output in sorted(outputs, key=lambda output: output.age_seconds):
        total += output.size_bytes
        if not has_ended(board, output.owner):
            continue
        if output.age_seconds > limits.output_age_seconds:
            words = f"{output.age_seconds / 86400:.0f} days old"
        elif total > limits.output_megabytes * 1024 * 1024:
            words = f"more than the limit of {limits.output_megabytes:g} MB"
        else:
            continue
        yield Leftover(What.TRANSCRIPT, output.path, words, RemoveOutput(output.path), output.size_bytes)


def _memories(limits: Allowed, board: Board, memories: Sequence[MemorySeen], now: float) -> Iterator[Leftover]:
    """Of conversations that nobody goes on with. Of those that an unfinished task may go on with the largest, until
    the rest fits, so that nobody is made to forget by what another keeps; of finished tasks those that no longer fit
    beside them, the oldest first, and what is as old as output may become."""
    used, finished = memories_in_use(board), memories_of_finished(board)
    most = limits.memory_megabytes * 1024 * 1024
    total = sum(memory.size_bytes for memory in memories if memory.name in used)
    for memory in sorted(memories, key=lambda memory: memory.size_bytes, reverse=True):
        if memory.name in used and total > most and not used[memory.name]:
            total -= memory.size_bytes
            yield _forgotten(memory, f"more than {limits.memory_megabytes:g} MB are kept of conversations")
    others = [memory for memory in memories if memory.name not in used]
    for memory in sorted(others, key=lambda memory: finished.get(memory.name, 0.0), reverse=True):
        if has_ended(board, memory.name.partition("-")[0]) is not True:
            continue
        if memory.name not in finished:
            yield _forgotten(memory, "its task has begun another conversation")
        elif now - finished[memory.name] > limits.output_age_seconds:
            yield _forgotten(memory, f"its task finished {(now - finished[memory.name]) / 86400:.0f} days ago")
        elif total + memory.size_bytes > most:
            yield _forgotten(memory, f"its task has finished, and more than {limits.memory_megabytes:g} MB are kept")
        else:
            total += memory.size_bytes


def _forgotten(memory: MemorySeen, why: str) -> Leftover:
    return Leftover(What.CONVERSATION, memory.name, why, RemoveOutput(memory.path), memory.size_bytes)

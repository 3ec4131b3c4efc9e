"""What a worktree gets besides its commit: included files, ports, a folder for temporary ones, the setup command."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from paddock.git.checkpoints import Checkpoint
from paddock.git.lock import Lock
from paddock.git.worktrees.include import copy_included
from paddock.git.worktrees.setup import SetupResult, needs_setup_again, run_setup
from paddock.git.worktrees.slots import Slot, SlotRecord, WorktreeRoot, write_record


@dataclass(frozen=True, slots=True)
class Worktree:
    """Where an attempt works: it may write `path`, `git_dir`, which is its own, and `tmp`."""

    path: Path
    git_dir: Path
    start: str
    tmp: Path
    ports: range

    def environment(self) -> dict[str, str]:
        """What an engine in this worktree finds in its environment."""
        return {
            "PADDOCK_PORT": str(self.ports.start),
            "PADDOCK_PORT_LAST": str(self.ports.stop - 1),
            "PADDOCK_PORT_COUNT": str(len(self.ports)),
            "PADDOCK_WORKTREE": str(self.path),
            "TMPDIR": str(self.tmp),
        }


def furnish(
    root: WorktreeRoot, slot: Slot, record: SlotRecord, at: str, lock: Lock, checkpoint: Checkpoint
) -> tuple[SlotRecord, SetupResult | None, tuple[str, ...]]:
    """Included files, a folder for temporary ones, the setup command where it is due."""
    tmp = _tmp(slot, record)
    tmp.mkdir(parents=True, exist_ok=True)
    skipped: tuple[str, ...] = ()
    if root.repo.main is not None:
        inclusion = copy_included(root.repo.main, root.enclosure(slot), slot.home, record.included)
        skipped = inclusion.skipped
        if record.included != inclusion.copied:
            record = msgspec.structs.replace(record, included=inclusion.copied)
            write_record(slot, record, lock)
        checkpoint("included")
    if not is_setup_due(root, record, at):
        return record, None, skipped
    command = root.dress_setup(root.setup, describe(root, slot, record))
    result = run_setup(command, slot.path, slot.home, root.setup_timeout_seconds)
    if result.ok:
        record = msgspec.structs.replace(record, setup_at=at, setup_by=root.setup)
        write_record(slot, record, lock)
    checkpoint("set-up")
    return record, result, skipped


def is_setup_due(root: WorktreeRoot, record: SlotRecord, at: str) -> bool:
    if not root.setup:
        return False
    if not record.setup_at or record.setup_by != root.setup:
        return True
    return record.setup_at != at and needs_setup_again(root.repo.changed_paths(record.setup_at, at))


def describe(root: WorktreeRoot, slot: Slot, record: SlotRecord) -> Worktree:
    ports = root.ports.block(slot.number)
    enclosure = root.enclosure(slot)
    return Worktree(slot.path, enclosure.own, record.start, _tmp(slot, record), ports)


def _tmp(slot: Slot, record: SlotRecord) -> Path:
    return slot.home / "tmp" / (record.attempt or "pool")

"""CI sandboxes: prepared at an exact commit, reused warm, rebuilt when damaged, claimed by one run at a time.

What a sandbox is doing is on disk, so a daemon that was killed finds its runs again: a sandbox with a run in
its record is taken until that run is released. Running the command is not done here.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from paddock.core.lead import takes_over
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.command import GitFailed
from paddock.git.disk import disk_usage, remove_tree
from paddock.git.enclosure.enclosure import is_still
from paddock.git.lock import Lock, hold
from paddock.git.repo import Repo
from paddock.git.sandboxes.tree import ATTRIBUTES, NAME, Identity, Sandbox, build, damage_of, furnish, switch, untracked

_TRASH = ".trash-"
_FOREIGN = ".not-ours"
_LOCK_TIMEOUT_SECONDS = 120.0


class SandboxRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known about a sandbox. An empty `commit` means that it was left half-finished.

    `setup` is the digest the set-up command last succeeded under, `kept` the patterns of what it made. `made` are the
    folders it has. `generation` is that of the last daemon which had its lock.
    """

    run: str | None = None
    commit: str = ""
    setup: str = ""
    kept: tuple[str, ...] = ()
    made: Identity | None = None
    generation: int = 0


@dataclass(frozen=True, slots=True)
class SandboxOrder:
    """What a run needs. `refs` (name, commit) exist in the repository CI sees, so that it can compare with main.

    `fresh` rebuilds the sandbox: for a run whose failure will be blamed on a change.
    """

    run: str
    commit: str
    setup: str = ""
    keep: tuple[str, ...] = ()
    refs: tuple[tuple[str, str], ...] = ()
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class PreparedSandbox:
    """The tree is exactly the commit. `rebuilt` says why it was not warm, empty when it was."""

    needs_setup: bool
    rebuilt: str = ""


@dataclass(frozen=True, slots=True)
class InUse:
    """Another run has the sandbox and has not been released."""

    run: str


@dataclass(frozen=True, slots=True)
class NotPrepared:
    """Not the change's fault: no room, no permission, a commit that is gone."""

    reason: str


def reserve_sandbox(sandbox: Sandbox, run: str, *, fresh: bool) -> None:
    """Reserves it, so that two runs that begin together do not choose the same one and nothing removes it.

    `fresh` discards it, so that it is rebuilt: leftovers must not decide the run.
    """
    with _locked(sandbox):
        known = read_record(sandbox) or SandboxRecord()
        known = SandboxRecord(made=known.made) if fresh else known
        write_record(sandbox, msgspec.structs.replace(known, run=run))


def prepare_sandbox(
    sandbox: Sandbox, order: SandboxOrder, checkpoint: Checkpoint = no_checkpoint
) -> PreparedSandbox | InUse | NotPrepared:
    """Claim the sandbox for `order.run` and make it exactly `order.commit`. Repeating it converges."""
    with _locked(sandbox) as lock:
        record = read_record(sandbox) or SandboxRecord()
        if record.run not in (None, order.run):
            return InUse(record.run)
        reason = _why_rebuild(sandbox, record, order)
        try:
            return _prepare(sandbox, order, record, reason, lock, checkpoint)
        except (GitFailed, OSError) as failed:
            if reason:
                return NotPrepared(str(failed))
        try:
            fresh = SandboxRecord(made=record.made)
            return _prepare(sandbox, order, fresh, "it could not be switched", lock, checkpoint)
        except (GitFailed, OSError) as failed:
            return NotPrepared(str(failed))


def finish_setup(sandbox: Sandbox, order: SandboxOrder) -> PreparedSandbox | InUse | NotPrepared:
    """After the set-up command succeeded: remember what it made, and put back tracked files it changed."""
    with _locked(sandbox) as lock:
        record = _own_record(sandbox, order.run)
        if not isinstance(record, SandboxRecord):
            return record
        try:
            kept = untracked(sandbox, lock)
            switch(sandbox, order.commit, (*order.keep, *kept), lock)
            furnish(sandbox, order.commit, order.refs, keep_home=True)
        except (GitFailed, OSError) as failed:
            return NotPrepared(str(failed))
        write_record(sandbox, SandboxRecord(order.run, order.commit, order.setup, kept, record.made))
    return PreparedSandbox(needs_setup=False)


def restore_sandbox(sandbox: Sandbox, order: SandboxOrder) -> PreparedSandbox | InUse | NotPrepared:
    """Between two commands of a run: its tree is exactly the commit again, with what the set-up made."""
    with _locked(sandbox) as lock:
        record = _own_record(sandbox, order.run)
        if not isinstance(record, SandboxRecord):
            return record
        try:
            switch(sandbox, order.commit, (*order.keep, *record.kept), lock)
            furnish(sandbox, order.commit, order.refs, keep_home=True)
        except (GitFailed, OSError) as failed:
            return NotPrepared(str(failed))
    return PreparedSandbox(needs_setup=False)


def _own_record(sandbox: Sandbox, run: str) -> SandboxRecord | InUse | NotPrepared:
    """The sandbox as the run left it, or why it is not the run's any more."""
    record = read_record(sandbox)
    if record is None or record.run != run:
        return InUse(record.run) if record and record.run else NotPrepared("the sandbox was given up")
    damage = damage_of(sandbox, record.made)
    return record if damage is None else NotPrepared(damage)


def release_sandbox(sandbox: Sandbox, run: str) -> bool:
    """The run is over and its processes are gone; False when the sandbox is not that run's."""
    with _locked(sandbox):
        record = read_record(sandbox)
        if record is None or record.run != run:
            return False
        write_record(sandbox, msgspec.structs.replace(record, run=None))
    return True


def remove_sandbox(sandbox: Sandbox) -> int | InUse:
    """Delete a sandbox no run has; returns the bytes freed."""
    with _locked(sandbox) as lock:
        record = read_record(sandbox)
        if record is not None and record.run is not None:
            return InUse(record.run)
        freed = disk_usage(sandbox.path)
        _discard(sandbox, record.made if record is not None else None, lock)
        sandbox.record_path.unlink(missing_ok=True)
        sandbox.lock_path.unlink(missing_ok=True)
    return freed


def sweep_trash(root: Path) -> int:
    """Delete what a killed process was about to delete; returns the bytes freed. For who owns all of `root`."""
    left = tuple(root.glob(f"*{_TRASH}*"))
    freed = sum(disk_usage(path) for path in left)
    for path in left:
        remove_tree(path)
    return freed


def list_sandboxes(repo: Repo, root: Path) -> dict[str, SandboxRecord]:
    """What is there, by name; a record's run tells a restarted daemon what to adopt or release."""
    if not root.is_dir():
        return {}
    names = sorted({path.stem for path in root.iterdir() if NAME.fullmatch(path.stem)})
    sandboxes = [Sandbox(repo, root, name) for name in names if _TRASH not in name]
    present = [box for box in sandboxes if box.path.exists() or box.record_path.exists()]
    return {box.name: read_record(box) or SandboxRecord() for box in present}


def read_record(sandbox: Sandbox) -> SandboxRecord | None:
    try:
        return msgspec.json.decode(sandbox.record_path.read_bytes(), type=SandboxRecord)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def write_record(sandbox: Sandbox, record: SandboxRecord) -> None:
    lead = sandbox.repo.lead
    lead.require()
    generation = lead.generation or record.generation or (read_record(sandbox) or record).generation
    record = msgspec.structs.replace(record, generation=generation)
    sandbox.root.mkdir(parents=True, exist_ok=True)
    draft = sandbox.record_path.with_suffix(".json.new")
    draft.write_bytes(msgspec.json.encode(record))
    os.replace(draft, sandbox.record_path)


@contextlib.contextmanager
def _locked(sandbox: Sandbox) -> Iterator[Lock]:
    """Raises Succeeded where a later daemon than ours has held it."""
    with hold(sandbox.lock_path, _LOCK_TIMEOUT_SECONDS) as lock:
        record = read_record(sandbox)
        if takes_over(record.generation if record else 0, sandbox.repo.lead) and record is not None:
            write_record(sandbox, record)
        yield lock


def _why_rebuild(sandbox: Sandbox, record: SandboxRecord, order: SandboxOrder) -> str:
    if order.fresh and record.run != order.run:
        return "a fresh one was requested"
    if not sandbox.path.exists():
        return "there was none"
    if not record.commit:
        return "it was left half-finished"
    if record.setup and record.setup != order.setup:
        return "the set-up changed"
    return damage_of(sandbox, record.made) or _why_bytes_differ(sandbox, record.commit, order.commit)


def _why_bytes_differ(sandbox: Sandbox, before: str, commit: str) -> str:
    """Attributes decide which bytes a file is checked out with, and git leaves files alone whose content is the same
    in both commits."""
    if before == commit:
        return ""
    try:
        changed = sandbox.repo.changed_paths(before, commit)
    except GitFailed:
        return "what it holds cannot be compared"
    return f"`{ATTRIBUTES}` changed" if any(path.rsplit("/", 1)[-1] == ATTRIBUTES for path in changed) else ""


def _prepare(
    sandbox: Sandbox,
    order: SandboxOrder,
    record: SandboxRecord,
    rebuild: str,
    lock: Lock,
    checkpoint: Checkpoint,
) -> PreparedSandbox:
    made = record.made
    write_record(sandbox, SandboxRecord(run=order.run, made=made))
    checkpoint("sandbox.claimed")
    kept, setup = ((), "") if rebuild else (record.kept, record.setup)
    if rebuild:
        _discard(sandbox, made, lock)
        write_record(sandbox, SandboxRecord(run=order.run))
        checkpoint("sandbox.discarded")
        made = build(sandbox)
        write_record(sandbox, SandboxRecord(run=order.run, made=made))
        checkpoint("sandbox.built")
    switch(sandbox, order.commit, (*order.keep, *kept), lock)
    checkpoint("sandbox.switched")
    furnish(sandbox, order.commit, order.refs, keep_home=bool(setup))
    checkpoint("sandbox.furnished")
    write_record(sandbox, SandboxRecord(order.run, order.commit, setup, kept, made))
    checkpoint("sandbox.recorded")
    return PreparedSandbox(needs_setup=setup != order.setup, rebuilt=rebuild)


def _discard(sandbox: Sandbox, made: Identity | None, lock: Lock) -> None:
    """Out of the way in one step, then deleted: a crash leaves rubbish and never half a sandbox.

    A folder that is not ours is only put beside it, whatever it is. Raises OSError where one is there already.
    """
    assert lock.path == sandbox.lock_path
    is_folder = sandbox.path.is_dir() and not sandbox.path.is_symlink()
    if made is not None and is_folder and not is_still(sandbox.path, made.path):
        aside = sandbox.root / f"{sandbox.name}{_FOREIGN}"
        if os.path.lexists(aside):
            raise FileExistsError(f"`{sandbox.path}` and `{aside}` are not Paddock's: remove them")
        os.rename(sandbox.path, aside)
    trash = sandbox.root / f"{sandbox.name}{_TRASH}{os.getpid()}"
    for left in (trash, *sandbox.root.glob(f"{sandbox.name}{_TRASH}*")):
        remove_tree(left)
    if os.path.lexists(sandbox.path):
        os.rename(sandbox.path, trash)
        remove_tree(trash)

"""Refs the queue owns: the approved bytes of each change, and the commits built from them.

A change is held at `refs/paddock/changes/ID/vN`, `/` in its id written `+`: a ref cannot be a folder too. The ref
is written once and never moved, so a branch that is rewritten or deleted while it waits changes nothing. What it
names is on disk before the ref is.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paddock.core.ids import recordable
from paddock.core.merge.model import Member
from paddock.git.command import GitFailed
from paddock.git.landing.workbench import DURABLE, Workbench, open_workbench
from paddock.git.repo import ABSENT, Repo

CHANGES = "refs/paddock/changes"
UNITS = "refs/paddock/units"
HOLD_CHECKPOINTS = ("hold.checked", "hold.flushed", "hold.held")
FLUSHED_ONE_BY_ONE = 256  # above that one pack with one fsync is quicker than a fsync per object

LOCK_WAIT_MILLISECONDS = 2000  # others hold a ref's lock for some milliseconds; longer, it was left behind

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,63}")


@dataclass(frozen=True, slots=True)
class Held:
    """`base` is where the change forked from main, `paths` what it touches since then."""

    member: Member
    ref: str
    base: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotHeld:
    """The change cannot enter the queue, and why."""

    member: Member
    reason: str


def change_folder(change_id: str) -> str:
    return f"{CHANGES}/{change_id.replace('/', '+')}"


def change_ref(member: Member) -> str:
    return f"{change_folder(member.id)}/v{member.version}"


def hold_change(
    repo: Repo, member: Member, main: str, checkpoint: Callable[[str], None] = lambda _name: None
) -> Held | NotHeld:
    """Take the change into the queue's keeping. Doing it again is harmless."""
    if not _can_be_a_ref(member.id) or member.version < 1:
        return NotHeld(member, f"`{member.id}@v{member.version}` cannot be part of a ref name")
    bench = open_workbench(repo)
    checked = _check(bench, member, main)
    checkpoint("hold.checked")
    if isinstance(checked, NotHeld):
        return checked
    flush_objects(bench, member.head, main)
    checkpoint("hold.flushed")
    ref = change_ref(member)
    if not move_ref(repo, ref, member.head, ABSENT, "paddock: hold") and repo.resolve(ref) != member.head:
        return NotHeld(member, f"version {member.version} of {member.id} is already another commit")
    checkpoint("hold.held")
    return checked


def _can_be_a_ref(change_id: str) -> bool:
    forbidden = any(part in change_id for part in ("..", "//", "/."))
    return _ID.fullmatch(change_id) is not None and not forbidden and not change_id.endswith((".lock", ".", "/"))


def missing_holds(repo: Repo, members: tuple[Member, ...]) -> tuple[Member, ...]:
    """Those whose ref is gone or names other bytes than the ones approved."""
    held = repo.refs(CHANGES)
    return tuple(member for member in members if held.get(change_ref(member)) != member.head)


def release_change(repo: Repo, member: Member) -> bool:
    """Let go of a decided change; False when the ref is not at its head."""
    return move_ref(repo, change_ref(member), ABSENT, member.head, "paddock: release")


def hold_unit(repo: Repo, commit: str) -> str:
    """Keep a composed commit from being pruned while it is tested; returns the ref."""
    ref = f"{UNITS}/{commit}"
    move_ref(repo, ref, commit, ABSENT, "paddock: unit")
    return ref


def release_unit(repo: Repo, commit: str) -> bool:
    return move_ref(repo, f"{UNITS}/{commit}", ABSENT, commit, "paddock: unit done")


def held_units(repo: Repo) -> tuple[str, ...]:
    return tuple(repo.refs(UNITS).values())


def move_ref(repo: Repo, ref: str, new: str, old: str, reason: str) -> bool:
    """Compare-and-swap of a ref, flushed to disk; False when it was not at `old`.

    Raises GitFailed when it was and git still could not move it.
    """
    zeros = "0" * max(len(new), len(old))
    wanted, expected = (zeros if not sha.strip("0") else sha for sha in (new, old))
    options = (*DURABLE, "-c", f"core.filesRefLockTimeout={LOCK_WAIT_MILLISECONDS}")
    moved = repo.git(*options, "update-ref", "--no-deref", "-m", reason, ref, wanted, expected, check=False)
    if moved.ok:
        return True
    if repo.refs(ref).get(ref, zeros) != expected:
        return False
    raise GitFailed(moved)


def flush_objects(bench: Workbench, tip: str, known: str) -> int:
    """Put what `tip` has beyond `known` on disk for good; agents write objects without a flush.

    Returns how many objects that are. Raises GitFailed when one of them is missing.
    """
    listed = bench.git("rev-list", "--objects", "--no-object-names", tip, f"^{known}").lines
    if len(listed) > FLUSHED_ONE_BY_ONE:
        pack = str(bench.objects / "pack" / "pack")
        bench.git("pack-objects", "--quiet", "--revs", pack, input=f"{tip}\n^{known}\n".encode())
        return len(listed)
    folders = {_flush(bench.objects / sha[:2] / sha[2:]) for sha in listed}
    for folder in folders - {None}:
        _flush(folder)
    return len(listed)


def _flush(path: Path | None) -> Path | None:
    """fsync a file or folder; its parent, or None when it does not exist (the object is in a pack)."""
    if path is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    return path.parent


def _check(bench: Workbench, member: Member, main: str) -> Held | NotHeld:
    if bench.read_commits((member.head,))[0] is None:
        return NotHeld(member, f"commit `{member.head}` is not in the repository")
    whole = bench.git("rev-list", "--objects", "--quiet", member.head, f"^{main}", check=False)
    if not whole.ok:
        return NotHeld(member, f"objects of the change are missing or damaged: {whole.stderr.strip()}")
    bases = bench.merge_bases(main, member.head)
    if not bases:
        return NotHeld(member, "the change shares no history with the branch it is to land on")
    named = bench.git("diff-tree", "-r", "-z", "--no-renames", "--name-only", bases[0], member.head)
    paths = tuple(named.records)
    if bad := next((path for path in paths if not _is_safe(path)), None):
        return NotHeld(member, f"the change contains a path git will not check out: `{bad!a}`")
    return Held(member, change_ref(member), bases[0], tuple(map(recordable, paths)))


def _is_safe(path: str) -> bool:
    """git's own objection at checkout time, known before CI has to fail on it."""
    parts = path.split("/")
    return all(part and part not in (".", "..") and part.lower() != ".git" for part in parts)

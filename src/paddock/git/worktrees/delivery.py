"""What an attempt made, saved in the user's repository: its commits imported, its files in a rescue commit, by refs.

Nothing an agent wrote gets lost, and nothing of it counts before git has checked it. Where something cannot be saved,
that is said, and the worktree stays for a person.
"""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.ids import recordable
from paddock.core.upkeep.survey import SlotState
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.command import GitKilled
from paddock.git.enclosure.enclosure import Enclosure, identify, is_still, make_control
from paddock.git.enclosure.intake import Refused, existing_commits, take_in
from paddock.git.enclosure.residence import shown_refs
from paddock.git.enclosure.testimony import Testimony, Untrustworthy, hear
from paddock.git.enclosure.traps import find_traps
from paddock.git.landing.forbidden import forbidden_paths, some_problems
from paddock.git.landing.workbench import open_workbench
from paddock.git.lock import Lock
from paddock.git.purposes import is_repeatable
from paddock.git.repo import RefMove, Repo
from paddock.git.settings import read_settings
from paddock.git.worktrees.branches import Placement, place_branch
from paddock.git.worktrees.checkout import ALL_REFS, hold_commit, require_ours
from paddock.git.worktrees.linked import adopt
from paddock.git.worktrees.rescue import DirtyFiles, dirty_files, peek_at_files, rescue
from paddock.git.worktrees.slots import Slot, SlotRecord, WorktreeRoot, hold_attempt, slot_of, write_record

_MOST_KNOWN = 100
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Saved:
    """What is in the user's repository now. `head` is the newest commit, with what was rescued, None when there is
    none.

    `ref` holds it: the attempt's branch, or one of our own, and then `obstacle` says why. `commit` is the rescue
    commit, None when none was needed, with so many `files`; `left` names what could not be saved (nested repositories,
    files too large), `links` the submodules that are checked out. `spotless`: not even an ignored file lay about.
    `is_held`: the ref that was asked for holds `head`.
    """

    head: str | None = None
    ref: str = ""
    commit: str | None = None
    files: int = 0
    left: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    obstacle: str = ""
    spotless: bool = False
    is_held: bool = False


class NotImported(PaddockError):
    """The work is still in the worktree only, and why."""


def save_work(
    root: WorktreeRoot,
    slot: Slot,
    record: SlotRecord,
    lock: Lock,
    why: str,
    checkpoint: Checkpoint = no_checkpoint,
    held_by: str = "",
) -> tuple[Saved, SlotRecord]:
    """Import what the attempt committed and commit what it did not. Doing it again finds the same.

    `held_by` is a ref that is to hold the result, too. Raises NotImported, or NotOurs, where nothing can be saved.
    """
    record = _with_control(root, slot, adopt(root, slot, record, lock))
    enclosure = enclosure_of(root, slot, record)
    _refuse_traps(enclosure)
    said = listen(enclosure, record)
    mark = f"refs/heads/{record.branch}"
    head = said.head or said.refs.get(mark) or record.start
    branch = said.refs.get(mark, head)
    fresh = [sha for sha in dict.fromkeys((head, branch)) if sha not in (record.start, record.taken)]
    if fresh:
        _import(enclosure, fresh, record)
        _refuse_forbidden(root.repo, fresh, record)
    checkpoint("import.taken")
    dirty = dirty_files(enclosure, head) if os.path.lexists(slot.path) else DirtyFiles()
    saved = Saved(head, mark, spotless=dirty.is_spotless, links=dirty.links)
    if dirty.paths:
        done = rescue(enclosure, head, dirty, why, record.rescued)
        checkpoint("rescue.committed")
        record = msgspec.structs.replace(record, rescued=done.commit or "")
        saved = replace(saved, head=done.commit or head, commit=done.commit, files=done.files, left=done.left)
    if not fresh and saved.commit is None:
        return saved, record
    is_ahead = branch in (head, record.start) or root.repo.is_ancestor(branch, head)
    tip = str(saved.head) if is_ahead else branch
    record = msgspec.structs.replace(record, placed=tuple(dict.fromkeys((*record.placed, tip))))
    write_record(slot, record, lock)
    checkpoint("import.planned")
    placed = place_branch(root.repo, Placement(record.branch, tip, record.placed, held_by, str(saved.head)))
    checkpoint("import.placed")
    ref = placed.ref if is_ahead else hold_commit(root.repo, str(saved.head), record.branch.removeprefix("paddock/"))
    record = msgspec.structs.replace(record, taken=head)
    write_record(slot, record, lock)
    checkpoint("import.recorded")
    return replace(saved, ref=ref, obstacle=placed.obstacle, is_held=bool(held_by)), record


def save_attempt(
    root: WorktreeRoot, attempt: str, why: str, checkpoint: Checkpoint = no_checkpoint, held_by: str = ""
) -> Saved | None:
    """save_work for whoever has the attempt's name only; None when it has no worktree, or none that was ready."""
    with hold_attempt(root, attempt) as held:
        if held is None or held[1].state not in (SlotState.READY, SlotState.KEPT):
            return None
        slot, record, lock = held
        return save_work(root, slot, record, lock, why, checkpoint, held_by)[0]


def _with_control(root: WorktreeRoot, slot: Slot, record: SlotRecord) -> SlotRecord:
    """Our own git directory is made again where somebody has deleted it."""
    enclosure = root.enclosure(slot)
    if not record.control or os.path.lexists(enclosure.control):
        return record
    make_control(enclosure, read_settings(root.repo.common_dir).render())
    return msgspec.structs.replace(record, control=identify(enclosure.control))


def save_commits_aside(root: WorktreeRoot, slot: Slot, record: SlotRecord) -> tuple[str, ...]:
    """Refs under refs/paddock/kept for what the attempt committed elsewhere than on its way to HEAD.

    Found through its refs and the reflog, so also what it left behind on deleted branches. Raises NotImported.
    """
    enclosure = enclosure_of(root, slot, record)
    said = listen(enclosure, record)
    if said.excess:
        raise NotImported(f"{said.excess}, which may have commits that are nowhere else")
    aside = [sha for sha in said.tips if sha not in (record.start, record.taken)]
    found = existing_commits(enclosure, aside) if aside else ()
    if found:
        _import(enclosure, found, record)
    return tuple(hold_commit(root.repo, commit, record.attempt) for commit in _loose(root.repo, found))


def _loose(repo: Repo, commits: tuple[str, ...]) -> list[str]:
    """Those that no ref holds, without their ancestors."""
    if not commits:
        return []
    listed = "".join(f"{commit}\n" for commit in commits)
    words = ("rev-list", "--ignore-missing", "--parents", "--stdin", "--not", ALL_REFS)
    rows = [line.split() for line in repo.git(*words, input=listed).lines]
    inner = {parent for row in rows for parent in row[1:]}
    return [row[0] for row in rows if row[0] not in inner]


def enclosure_of(root: WorktreeRoot, slot: Slot, record: SlotRecord) -> Enclosure:
    """Where the attempt works, once it is sure that nobody has put something else there."""
    require_ours(slot, record)
    enclosure = root.enclosure(slot)
    if not record.own or not is_still(enclosure.own, record.own):
        raise NotImported(f"`{enclosure.own}`, its git directory, is gone or is not the folder that Paddock made")
    return enclosure


def listen(enclosure: Enclosure, record: SlotRecord) -> Testimony:
    def known() -> dict[str, str]:
        return {name: line.split(" ", 1)[0] for name, line in shown_refs(enclosure.repo).lines.items()}

    try:
        return hear(enclosure.own, record.given, known)
    except Untrustworthy as error:
        raise NotImported(f"in `{enclosure.own}`, its git directory, {error}") from error


def import_head(enclosure: Enclosure, record: SlotRecord) -> str:
    """The commit the attempt is at, which the user's repository has then. No ref is moved."""
    _refuse_traps(enclosure)
    head = listen(enclosure, record).head or record.start
    if head not in (record.start, record.taken):
        _import(enclosure, (head,), record)
    return head


def bring_home(root: WorktreeRoot, attempt: str) -> None:
    """Import what was committed in a worktree that a person works in; what is uncommitted stays as it is."""
    with hold_attempt(root, attempt) as held:
        if held is None or held[1].state is not SlotState.READY:
            return
        slot, record, lock = held
        record = adopt(root, slot, record, lock)
        head = import_head(enclosure_of(root, slot, record), record)
        if head not in (record.start, record.taken):
            record = msgspec.structs.replace(record, placed=tuple(dict.fromkeys((*record.placed, head))))
            write_record(slot, record, lock)
            placed = place_branch(root.repo, Placement(record.branch, head, record.placed))
            if placed.obstacle:
                raise PaddockError(f"{placed.obstacle}, so the commits are in `{placed.ref}`")
            write_record(slot, msgspec.structs.replace(record, taken=head), lock)


def hold_so_far(root: WorktreeRoot, attempt: str, ref: str) -> str | None:
    """What an attempt at work has committed, held by `ref`, so that it outlives the worktree; None when it has no
    worktree. Its branch stays where it is. Raises PaddockError for what cannot be imported."""
    with hold_attempt(root, attempt) as held:
        if held is None or held[1].state is not SlotState.READY:
            return None
        slot, record, lock = held
        record = adopt(root, slot, record, lock)
        head = import_head(enclosure_of(root, slot, record), record)
        if head not in (record.start, record.taken):
            _refuse_forbidden(root.repo, [head], record)
            root.repo.move_refs((RefMove(ref, head),), "paddock: so far")
        return head


def commits_sign(root: WorktreeRoot, place: str, branch: str) -> tuple[int, ...]:
    """Another one after each commit, as far as the files of whoever works there tell. Costs two looks at a file."""
    slot = slot_of(root, Path(place))
    if slot is None:
        return ()
    sign: list[int] = []
    for name in ("logs/HEAD", f"refs/heads/{branch}"):
        with contextlib.suppress(OSError):
            found = (root.enclosure(slot).own / name).lstat()
            sign += [found.st_ino, found.st_mtime_ns, found.st_size]
    return tuple(sign)


def _import(enclosure: Enclosure, commits: list[str] | tuple[str, ...], record: SlotRecord) -> None:
    heads = enclosure.repo.loose_tips("refs/heads")
    known = dict.fromkeys((record.start, *filter(None, (record.taken,)), *heads))
    refused = _unless_git_crashes(lambda: take_in(enclosure, commits, list(known)[:_MOST_KNOWN]))
    if isinstance(refused, Refused):
        raise NotImported(f"its commits were not imported: {refused.reason}")


def _refuse_forbidden(repo: Repo, commits: list[str], record: SlotRecord) -> None:
    bench = open_workbench(repo)
    told = _unless_git_crashes(lambda: [forbidden_paths(bench, commit, record.start) for commit in commits])
    problems = tuple(dict.fromkeys(problem for one in told for problem in one))
    if problems:
        raise NotImported(f"its commits were not imported: {some_problems(problems)}")


def _unless_git_crashes(ask: Callable[[], _Answer]) -> _Answer:
    """A git that was killed is asked again later; one that always dies of what it reads has answered."""
    try:
        return ask()
    except GitKilled as killed:
        if not killed.result.has_crashed or not is_repeatable(killed.result.argv[1:]):
            raise
        raise NotImported("its commits were not imported: git crashes when it reads them") from killed


def _refuse_traps(enclosure: Enclosure) -> None:
    """Before anything else: git asks the attributes in the tree even about what it packs."""
    trap = next(find_traps(enclosure.tree), None)
    if trap is not None:
        shown = recordable(os.path.relpath(trap, enclosure.tree))
        raise NotImported(f"its files were not saved: git would be held up by `{shown}`, a pipe or far too large")


@dataclass(frozen=True, slots=True)
class Glimpse:
    """What an attempt has done so far: its newest commit, readable in the user's repository, and what is
    uncommitted."""

    head: str
    dirty: DirtyFiles


def glimpse(root: WorktreeRoot, attempt: str) -> Glimpse | None:
    """None when the attempt has no worktree, or one nobody can look into. No ref is moved; somebody may be at work."""
    with hold_attempt(root, attempt) as held:
        if held is None:
            return None
        slot, record, lock = held
        record = adopt(root, slot, record, lock)
        try:
            enclosure = enclosure_of(root, slot, record)
            head = import_head(enclosure, record)
            return Glimpse(head, peek_at_files(enclosure, head, slot.home / "glimpse.index"))
        except PaddockError:
            return None

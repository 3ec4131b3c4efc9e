"""Refs that hold work: what each attempt delivered, the bytes of each queued change, the commits built from them.

A queued change is held at `refs/paddock/changes/ID/vN`, `/` in its id written `+`: a ref cannot be a folder too. The
ref is written once and never moved, so a branch that is rewritten or deleted while it waits changes nothing. What it
names is on disk before the ref is. What an attempt delivered is held at `refs/paddock/changes/ATTEMPT`.

Such a ref is released when its task has no more use for it and another ref of ours holds its commits: a newer
version, one below `refs/paddock/kept`, or `refs/paddock/main`, the main of the last release. That one moves on with
main; a main that was rewound meanwhile is kept first. So nothing is lost by letting go, whoever rewinds main.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from paddock.core.ids import CHANGES, change_folder, recordable
from paddock.core.merge.model import Member
from paddock.core.upkeep.survey import HeldChanges
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.landing.differences import differences
from paddock.git.landing.durable import REF_OPTIONS, flush_objects, move_ref
from paddock.git.landing.forbidden import forbidden_paths, some_problems
from paddock.git.landing.history import own_work
from paddock.git.landing.workbench import Workbench, open_workbench
from paddock.git.repo import ABSENT, RefMove, Repo
from paddock.git.worktrees.checkout import KEPT, hold_commit

UNITS = "refs/paddock/units"
MAIN = "refs/paddock/main"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,63}")


@dataclass(frozen=True, slots=True)
class Held:
    """`base` is where the change forked from main, `paths` what it touches since then."""

    base: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotHeld:
    """The change cannot enter the queue, and why."""

    reason: str


def change_ref(member: Member) -> str:
    return f"{change_folder(member.id)}/v{member.version}"


def hold_change(repo: Repo, member: Member, main: str, checkpoint: Checkpoint = no_checkpoint) -> Held | NotHeld:
    """Keeps the change with a ref of the queue's own. Safe to repeat."""
    if not _can_be_a_ref(member.id) or member.version < 1:
        return NotHeld(f"`{member.id}@v{member.version}` cannot be part of a ref name")
    bench = open_workbench(repo)
    checked = _check(bench, member, main)
    checkpoint("hold.checked")
    if isinstance(checked, NotHeld):
        return checked
    flush_objects(bench, member.head, main)
    checkpoint("hold.flushed")
    ref = change_ref(member)
    if not move_ref(repo, ref, member.head, ABSENT, "paddock: hold") and repo.resolve(ref) != member.head:
        return NotHeld(f"version {member.version} of {member.id} is already another commit")
    checkpoint("hold.held")
    return checked


def _can_be_a_ref(change_id: str) -> bool:
    forbidden = any(part in change_id for part in ("..", "//", "/."))
    return _ID.fullmatch(change_id) is not None and not forbidden and not change_id.endswith((".lock", ".", "/"))


def missing_holds(repo: Repo, members: tuple[Member, ...]) -> tuple[Member, ...]:
    """Those whose ref is gone or names other bytes than the ones approved."""
    held = repo.refs(CHANGES)
    return tuple(member for member in members if held.get(change_ref(member)) != member.head)


def delivery_ref(attempt: str) -> str:
    return f"{CHANGES}/{attempt}"


def hold_delivery(repo: Repo, attempt: str, commit: str) -> None:
    """What an attempt has delivered, as it was judged last."""
    repo.move_refs((RefMove(delivery_ref(attempt), commit),), "paddock: change")


def survey_changes(repo: Repo, main: str) -> HeldChanges:
    """Empty when one of the refs cannot be read: then nobody can tell what holds what."""
    refs = repo.refs(CHANGES)
    if not refs:
        return HeldChanges(main, {}, {})
    held_by = (main, *repo.refs(KEPT).values())
    words = "".join(f"{sha}\n" for sha in (*refs.values(), *(f"^{sha}" for sha in held_by)))
    listed = open_workbench(repo).git("rev-list", "--parents", "--stdin", input=words.encode(), check=False)
    rows = [line.split(" ") for line in listed.lines]
    return HeldChanges(main, refs if listed.ok else {}, {row[0]: tuple(row[1:]) for row in rows})


def release_changes(repo: Repo, main: str, refs: Mapping[str, str], checkpoint: Checkpoint = no_checkpoint) -> bool:
    """Let go of `refs`, all or none, whose commits `main` or another ref of ours holds; False when one has moved."""
    if not _hold_main(repo, main, checkpoint):
        return False
    checkpoint("release.main_held")
    moves = tuple(RefMove(ref, ABSENT, commit) for ref, commit in refs.items())
    released = repo.move_refs(moves, "paddock: release", REF_OPTIONS) if moves else True
    checkpoint("release.released")
    return released


def _hold_main(repo: Repo, main: str, checkpoint: Checkpoint) -> bool:
    """What was released before rests on the main of then, so that one is kept if `main` does not contain it."""
    before = repo.refs(MAIN).get(MAIN, ABSENT)
    if before == main:
        return True
    if before != ABSENT and not open_workbench(repo).is_ancestor(before, main):
        hold_commit(repo, before, "main")
        checkpoint("release.main_kept")
    return move_ref(repo, MAIN, main, before, "paddock: main")


def hold_unit(repo: Repo, commit: str) -> str:
    """Keep a composed commit from being pruned while it is tested; returns the ref."""
    ref = f"{UNITS}/{commit}"
    move_ref(repo, ref, commit, ABSENT, "paddock: unit")
    return ref


def release_unit(repo: Repo, commit: str) -> bool:
    return move_ref(repo, f"{UNITS}/{commit}", ABSENT, commit, "paddock: unit done")


def held_units(repo: Repo) -> tuple[str, ...]:
    return tuple(repo.refs(UNITS).values())


def _check(bench: Workbench, member: Member, main: str) -> Held | NotHeld:
    if bench.read_commits((member.head,))[0] is None:
        return NotHeld(f"commit `{member.head}` is not in the repository")
    whole = bench.git("rev-list", "--objects", "--quiet", member.head, f"^{main}", check=False)
    if not whole.ok:
        return NotHeld(f"objects of the change are missing or damaged: {whole.stderr.strip()}")
    bases = own_work(bench, main, member.head).bases
    if not bases:
        return NotHeld("the change shares no history with the branch it should land on")
    paths = tuple(differences(bench, bases[0], member.head))
    if problems := forbidden_paths(bench, member.head, main):
        return NotHeld(f"the change contains what must not reach main: {some_problems(problems)}")
    return Held(bases[0], tuple(map(recordable, paths)))

"""Moving main: audit, compare-and-swap, look again. Checkouts of main follow if that touches no uncommitted work.

With a remote, its branch is main and the push is the compare-and-swap; the local branch follows if it can and is not
checked out.
Every step may be repeated: a main that already has the new commit counts as landed.
"""

import contextlib
from dataclasses import dataclass

from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.command import GitFailed
from paddock.git.landing.audit import Move, audit
from paddock.git.landing.durable import flush_objects, move_ref
from paddock.git.landing.held import missing_holds
from paddock.git.landing.publish import (
    PUSH_TIMEOUT_SECONDS,
    Pushed,
    Rejected,
    RemoteMoved,
    Unreachable,
    push_main,
    read_remote,
)
from paddock.git.landing.reversals import find_reversals
from paddock.git.landing.workbench import Workbench, open_workbench
from paddock.git.repo import Repo
from paddock.git.usertree.checkouts import following, is_checked_out


@dataclass(frozen=True, slots=True)
class Landed:
    """Main contains the new commit."""


@dataclass(frozen=True, slots=True)
class StaleMain:
    """Main is not at the old commit, so nothing was done; `actual` is None when the branch is gone."""

    actual: str | None


@dataclass(frozen=True, slots=True)
class Unsound:
    """The audit objects, before main was moved or after it: a person must look."""

    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stuck:
    """Git cannot move the branch though it is at the old commit: a lock left behind, a full disk, no rights."""

    reason: str


LandResult = Landed | StaleMain | Unsound | Stuck | Unreachable | Rejected


def land(
    repo: Repo,
    move: Move,
    remote: str | None = None,
    push_timeout: float = PUSH_TIMEOUT_SECONDS,
    checkpoint: Checkpoint = no_checkpoint,
    *,
    update_checkouts: bool = True,
) -> LandResult:
    """Take main from `move.old` to `move.new`, or say why not. Seconds at most, besides the push.

    Without `update_checkouts` it is only noted which working trees show an older main.
    """
    bench = open_workbench(repo)
    earlier = _landed_before(repo, bench, move, remote)
    if earlier is not None:
        return earlier
    checkpoint("land.held")
    if problems := (*_not_held(repo, move), *audit(bench, move), *_undone(repo, move)):
        return Unsound(problems)
    checkpoint("land.audited")
    flush_objects(bench, move.new, move.old)
    checkpoint("land.flushed")
    if remote is not None:
        pushed = push_main(repo, remote, move.branch, move.new, move.old, push_timeout)
        if isinstance(pushed, RemoteMoved):
            return StaleMain(pushed.actual)
        if not isinstance(pushed, Pushed):
            return pushed
        checkpoint("land.pushed")
        with contextlib.suppress(GitFailed):
            follow_remote(repo, move.branch, move.new)
    else:
        with following(
            repo, move.branch, move.old, move.new, update=update_checkouts, checkpoint=checkpoint
        ) as checkouts:
            moved = _swap(repo, bench, move)
            if not isinstance(moved, Landed):
                return moved
            checkpoint("land.swapped")
            checkouts.follow()
    checkpoint("land.moved")
    if problems := _look_again(repo, bench, move, remote):
        return Unsound(problems)
    checkpoint("land.verified")
    return Landed()


def follow_remote(repo: Repo, branch: str, new: str) -> None:
    """Fast-forward the local branch to `new`, which the remote has, unless it has commits of its own.

    A branch that does not exist locally is left so, and one that is checked out: `git pull` is for its user to say.
    """
    ref = f"refs/heads/{branch}"
    at = repo.resolve(ref)
    if at not in (None, new) and not is_checked_out(repo, branch) and repo.is_ancestor(str(at), new):
        move_ref(repo, ref, new, str(at), "paddock: follow the remote")


def _landed_before(repo: Repo, bench: Workbench, move: Move, remote: str | None) -> LandResult | None:
    """What there is to say before trying: landed by an earlier try, or main is elsewhere. None: go on."""
    at = repo.resolve(move.ref) if remote is None else read_remote(repo, remote, move.branch)
    if isinstance(at, Unreachable):
        return at
    if at == move.old:
        return None
    if at is not None and repo.resolve(move.new) and repo.resolve(at) and bench.is_ancestor(move.new, at):
        if remote is not None:
            follow_remote(repo, move.branch, move.new)
        return Landed()
    return StaleMain(at)


def _not_held(repo: Repo, move: Move) -> tuple[str, ...]:
    gone = missing_holds(repo, move.members)
    return tuple(f"the approved bytes of {member.id}@v{member.version} are no longer held" for member in gone)


def _undone(repo: Repo, move: Move) -> tuple[str, ...]:
    """Landed work that a member takes back on main as it is now, and that no person let it."""
    strict = [member for member in move.members if member.id not in move.may_undo]
    found = ((member, find_reversals(repo, member.head, move.old, member.id)) for member in strict)
    return tuple(f"{member.id} undoes {one.words}" for member, reversals in found for one in reversals)


def _swap(repo: Repo, bench: Workbench, move: Move) -> Landed | StaleMain | Stuck:
    try:
        reason = "paddock: land " + " ".join(f"{member.id}@v{member.version}" for member in move.members)
        if move_ref(repo, move.ref, move.new, move.old, reason):
            return Landed()
    except GitFailed as failed:
        return Stuck(failed.result.stderr.strip().partition("\n\n")[0])  # without git's advice
    actual = repo.resolve(move.ref)
    if actual is not None and bench.is_ancestor(move.new, actual):
        return Landed()
    return StaleMain(actual)


def _look_again(repo: Repo, bench: Workbench, move: Move, remote: str | None) -> tuple[str, ...]:
    """Main is read afresh: a correct commit is not enough if main came to name another one.

    The audit of the commit itself stands, for a commit's name is the hash of its bytes.
    """
    if remote is not None:
        return ()
    actual = repo.resolve(move.ref)
    if actual == move.new or (actual is not None and bench.is_ancestor(move.new, actual)):
        return ()
    return (f"main was moved to `{move.new}` and is at `{actual}`",)

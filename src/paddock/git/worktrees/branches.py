"""The user's branch of a task: it follows what the task's attempts have delivered, and never takes a person's away."""

from dataclasses import dataclass

from paddock.git.repo import ABSENT, GitFailed, RefMove, Repo
from paddock.git.worktrees.checkout import branch_user, hold_commit, is_loose


@dataclass(frozen=True, slots=True)
class Placement:
    """Where `branch` is to be, which of its places are ours to leave, and what else holds `delivered` ("" for
    nothing)."""

    branch: str
    tip: str
    ours: tuple[str, ...]
    held_by: str = ""
    delivered: str = ""


@dataclass(frozen=True, slots=True)
class Placed:
    """The ref that has the commit: the branch, or one of our own, and then `obstacle` says why."""

    ref: str
    obstacle: str = ""


def find_branch(repo: Repo, branch: str) -> tuple[str, ...]:
    """Where the branch is now; usually its file tells, and it is nowhere."""
    tip = repo.loose_tip(branch)
    if tip is None and _may_be_packed(repo, branch):
        tip = repo.resolve(f"refs/heads/{branch}")
    return (tip,) if tip is not None else ()


def _may_be_packed(repo: Repo, branch: str) -> bool:
    try:
        return f" refs/heads/{branch}\n".encode() in (repo.common_dir / "packed-refs").read_bytes()
    except FileNotFoundError:
        return (repo.common_dir / "reftable").is_dir()


def start_branch(repo: Repo, branch: str, start: str) -> tuple[str, ...]:
    """What an earlier attempt left on the branch is kept elsewhere, for the next one begins at `start`. Returns where
    the branch may be moved from; one that does not exist is made with the first commit."""
    now = find_branch(repo, branch)
    if not now or now == (start,):
        return now
    return () if place_branch(repo, Placement(branch, start, now)).obstacle else (start,)


def place_branch(repo: Repo, wish: Placement) -> Placed:
    """Move the branch by compare-and-swap. Where a person has moved it, or has it checked out, it stays where it is."""
    ref, now = f"refs/heads/{wish.branch}", next(iter(find_branch(repo, wish.branch)), ABSENT)
    obstacle = "" if now == wish.tip else _obstacle(repo, wish, now)
    if not obstacle and now not in (ABSENT, wish.tip):
        _keep_what_was_there(repo, wish, now)
    try:
        if not obstacle and _move(repo, wish, now):
            return Placed(ref)
    except GitFailed as failed:  # a branch below its name, a lock that somebody left
        said = failed.result.stderr.strip().splitlines() or [f"git ended with {failed.result.code}"]
        obstacle = f"branch `{wish.branch}` cannot be moved ({said[-1]})"
    if wish.held_by:
        repo.move_refs((RefMove(wish.held_by, wish.delivered),), "paddock: change")
    label = wish.branch.removeprefix("paddock/")
    return Placed(hold_commit(repo, wish.tip, label), obstacle or f"`{wish.branch}` was moved in this very moment")


def _obstacle(repo: Repo, wish: Placement, now: str) -> str:
    user = branch_user(repo, wish.branch)
    if user is not None:
        return f"branch `{wish.branch}` is checked out at `{user}`"
    is_ours = now == ABSENT or now in wish.ours
    if is_ours or (repo.resolve(now) is not None and repo.is_ancestor(now, wish.tip)):
        return ""
    return f"branch `{wish.branch}` has commits of somebody else's: it is at `{now[:10]}`"


def _keep_what_was_there(repo: Repo, wish: Placement, now: str) -> None:
    if not repo.is_ancestor(now, wish.tip) and is_loose(repo, now, besides=f"refs/heads/{wish.branch}"):
        hold_commit(repo, now, wish.branch.removeprefix("paddock/"))


def _move(repo: Repo, wish: Placement, now: str) -> bool:
    """Both refs or none; False when the branch was not where it should be."""
    moves = [RefMove(f"refs/heads/{wish.branch}", wish.tip, now)] if now != wish.tip else []
    moves += [RefMove(wish.held_by, wish.delivered)] if wish.held_by else []
    return not moves or repo.move_refs(moves, "paddock: import")

"""Where attempts work: a folder each, on a branch of its own, and what is found there when they are done.

The fleet asks for it through `Site.ground`; here it is made of git worktrees.
"""

import errno
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from paddock.core.errors import PaddockError
from paddock.core.tasks.task import Attempt
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.site import Site
from paddock.git.command import GitKilled
from paddock.git.disk import below_floor
from paddock.git.facts import DiffStat, read_work
from paddock.git.landing.held import delivery_ref, hold_delivery
from paddock.git.worktrees.claims import PlaceTaken, Vacancy, WorktreeOrder, look_at_place
from paddock.git.worktrees.delivery import Saved, commits_sign, glimpse, hold_so_far, save_attempt
from paddock.git.worktrees.prepare import PreparedWorktree, prepare
from paddock.git.worktrees.release import Secured, release
from paddock.git.worktrees.rescue import count_rescued
from paddock.git.worktrees.slots import find_slot

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
# As git and the C library word the two.
FULL_IN_WORDS = ("No space left on device", "Disk quota exceeded")


@dataclass(frozen=True, slots=True)
class Unprepared:
    """Why there is no worktree to work in. A full disk is not the task's failure and costs no attempt."""

    reason: str
    no_space: bool = False


def explain_no_room(site: Site, error: PaddockError | OSError) -> Unprepared:
    """Raises what is about something else than space: a branch in the way, a damaged repository. No attempt is to
    blame for it, and another one would fare no better."""
    if isinstance(error, OSError):
        if error.errno not in FULL:
            raise error
        return Unprepared(f"no room for a worktree: {error.strerror}", no_space=True)
    if isinstance(error, GitKilled) or not _has_no_space(site, error.message):
        raise error
    return Unprepared(error.message, no_space=True)


def explain_failed_setup(site: Site, problem: str) -> Unprepared:
    return Unprepared(problem, no_space=_has_no_space(site, problem))


def _has_no_space(site: Site, problem: str) -> bool:
    says_so = any(words in problem for words in FULL_IN_WORDS)
    return says_so or below_floor(site.root.path, site.root.floor) is not None


@dataclass(frozen=True, slots=True)
class Delivery:
    """What is on the branch once everything is committed. `rescued` counts files Paddock had to commit itself.

    `held` are commits that the ref of the change holds; `spotless`: not even an ignored file was left. `problem` is
    what could not be saved, and why: then it is in the worktree only. `note` is for the person who looks for it.
    """

    head: str | None = None
    base: str | None = None
    commits: int = 0
    rescued: int = 0
    diff: DiffStat = DiffStat()  # noqa: RUF009 (frozen)
    problem: str = ""
    note: str = ""
    held: frozenset[str] = frozenset()
    spotless: bool = False

    @property
    def secured(self) -> Secured | None:
        is_safe = self.held and self.spotless and not self.problem
        return Secured(self.head, self.held) if self.head is not None and is_safe else None


class Ground(Protocol):
    """Everything here blocks: call it in a thread. Each may be killed anywhere and asked again."""

    def bring(self, *commits: str) -> None:
        """Has these commits in the repository here. Raises PaddockError."""

    def prepare(self, order: WorktreeOrder) -> PreparedWorktree:
        """A folder on the order's branch, in the place that is asked for or in another where that cannot be had; the
        same one as before if the attempt has one already."""

    def look(self, place: str) -> Vacancy:
        """Whether somebody can have the folder."""

    def progress(self, attempt: Attempt) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What has been done so far: the newest commits by their subjects, and files that are not committed."""

    def newest_commit(self, attempt: Attempt) -> str | None:
        """Of one at work; None where nobody can look into its folder."""

    def commits_sign(self, attempt: Attempt) -> tuple[int, ...]:
        """Another one after each commit of an attempt at work; empty where nothing tells. Cheap."""

    def hold_so_far(self, attempt: Attempt) -> None:
        """Whatever it has committed is held where losing its folder does no harm. Raises PaddockError."""

    def so_far(self, attempt: Attempt, start: str) -> str:
        """Where one that has lost its folder goes on: the newest commit of it that is held. `start` if there is none
        beyond that; where the folder is there, or being made, as that began."""

    def secure(self, attempt: Attempt) -> Delivery:
        """Commits what was left uncommitted and holds the result. Doing it again finds the same."""

    def release(self, attempt: str, why: str, secured: Secured | None = None) -> None:
        """Gives the folder back."""

    def discard(self, attempt: str, why: str) -> None:
        """Gives the folder of an attempt back that only reads: whatever is in it is of no use to anybody."""


@dataclass(frozen=True, slots=True)
class GitGround:
    site: Site

    def bring(self, *commits: str) -> None:
        """They were made here."""

    def prepare(self, order: WorktreeOrder) -> PreparedWorktree:
        try:
            return prepare(self.site.root, order, self.site.checkpoint)
        except PlaceTaken:
            checkpoint("place-taken")
            return prepare(self.site.root, replace(order, place=None), self.site.checkpoint)

    def look(self, place: str) -> Vacancy:
        return look_at_place(self.site.root, Path(place))

    def progress(self, attempt: Attempt) -> tuple[tuple[str, ...], tuple[str, ...]]:
        seen = glimpse(self.site.root, attempt.id)
        if seen is None:
            return (), ()
        log = self.site.repo.git("log", "--format=%s", "-20", f"{attempt.base}..{seen.head}", check=False)
        return tuple(log.lines) if log.ok else (), seen.dirty.paths

    def newest_commit(self, attempt: Attempt) -> str | None:
        seen = glimpse(self.site.root, attempt.id)
        return seen.head if seen is not None else None

    def commits_sign(self, attempt: Attempt) -> tuple[int, ...]:
        return commits_sign(self.site.root, attempt.worktree, attempt.branch) if attempt.worktree else ()

    def hold_so_far(self, attempt: Attempt) -> None:
        self.site.lead.require()
        hold_so_far(self.site.root, attempt.id, delivery_ref(attempt.id))

    def so_far(self, attempt: Attempt, start: str) -> str:
        if (found := find_slot(self.site.root, attempt.id)) is not None:
            return found[1].start or start
        held = self.site.repo.resolve(delivery_ref(attempt.id))
        return held if held is not None and self.site.repo.is_ancestor(start, held) else start

    def secure(self, attempt: Attempt) -> Delivery:
        why = f"{attempt.id} ended with uncommitted files"
        try:
            saved = save_attempt(self.site.root, attempt.id, why, self.site.checkpoint, delivery_ref(attempt.id))
        except GitKilled:
            raise  # it says nothing about what the agent left
        except PaddockError as error:
            return Delivery(problem=error.message)
        if saved is None:
            return self._from_branch(attempt)
        if saved.commit is not None:
            checkpoint("judge.rescued")
        delivery = self._hold(attempt, saved.head, is_held=saved.is_held)
        left = f"{', '.join(saved.left[:5])}: too large for a commit, or a repository of its own" if saved.left else ""
        rescued = saved.files if saved.commit is not None else delivery.rescued
        return replace(delivery, rescued=rescued, spotless=saved.spotless, problem=left, note=_where(saved))

    def release(self, attempt: str, why: str, secured: Secured | None = None) -> None:
        release(self.site.root, attempt, why, self.site.checkpoint, secured)

    def discard(self, attempt: str, why: str) -> None:
        release(self.site.root, attempt, why, self.site.checkpoint, discard=True)

    def _from_branch(self, attempt: Attempt) -> Delivery:
        """The worktree is already gone: the branch, or the ref set by an earlier try, shows what there was."""
        for ref in (delivery_ref(attempt.id), f"refs/heads/{attempt.branch}"):
            head = self.site.repo.resolve(ref)
            if head is not None:
                return self._hold(attempt, head, is_held=False)
        return Delivery()

    def _hold(self, attempt: Attempt, head: str | None, *, is_held: bool) -> Delivery:
        """A change at `head`. A rescue commit there, made before a restart, tells how many files it saved."""
        if head is None:
            return Delivery()
        repo = self.site.repo
        stretch, diff = read_work(repo, f"refs/heads/{self.site.config.landing_branch}", attempt.base, head)
        if not stretch.commits or head == attempt.base:  # a fork begins at another's commits
            return Delivery(head=head, base=stretch.base)
        if not is_held:
            hold_delivery(repo, attempt.id, head)
        checkpoint("judge.held")
        return Delivery(
            head,
            stretch.base,
            len(stretch.commits),
            count_rescued(repo, head, stretch.subject),
            diff,
            held=stretch.known,
        )


def _where(saved: Saved) -> str:
    return f"{saved.obstacle}, so the commits are in `{saved.ref}`" if saved.obstacle else ""

"""Telling people that main moved under their working tree, and how to bring it up to date."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from paddock.git.command import run_git
from paddock.git.repo import Repo

_SEARCHED_BACK = 64


@dataclass(frozen=True, slots=True)
class Behind:
    """A working tree that has `branch` checked out and still shows `at`, an older value of it.

    `exact` is False when staged changes make `at` a best guess. `command` updates the tree and refuses to
    overwrite anything that is not committed.
    """

    path: Path
    branch: str
    at: str
    exact: bool

    @property
    def command(self) -> str:
        return f"git -C {shlex.quote(str(self.path))} read-tree -m -u {self.at} HEAD"


def checkouts_behind(repo: Repo, branch: str) -> tuple[Behind, ...]:
    """Working trees with `branch` checked out that do not show its tip. Nothing is written."""
    tip = repo.resolve(f"refs/heads/{branch}")
    if tip is None:
        return ()
    found = (_look(repo, path, branch, tip) for path in _checked_out_at(repo, branch))
    return tuple(behind for behind in found if behind is not None)


def _checked_out_at(repo: Repo, branch: str) -> tuple[Path, ...]:
    listed = repo.git("worktree", "list", "--porcelain", "-z").stdout.decode("utf-8", "surrogateescape")
    places = []
    for entry in listed.split("\0\0"):
        fields = entry.strip("\0").split("\0")
        if f"branch refs/heads/{branch}" in fields and "bare" not in fields:
            places.append(Path(fields[0].removeprefix("worktree ")))
    return tuple(path for path in places if (path / ".git").exists())


def _look(repo: Repo, path: Path, branch: str, tip: str) -> Behind | None:
    """The index tells what is checked out: the newest value of the branch it agrees with most."""
    best, fewest = tip, _differing(path, tip)
    if fewest == 0:
        return None
    earlier = repo.git("rev-list", "--first-parent", f"--max-count={_SEARCHED_BACK}", "--skip=1", tip).lines
    for commit in earlier:
        count = _differing(path, commit)
        if count < fewest:
            best, fewest = commit, count
        if count == 0:
            break
    return None if best == tip else Behind(path, branch, best, exact=fewest == 0)


def _differing(path: Path, commit: str) -> int:
    return len(run_git(path, "diff-index", "--cached", "-z", "--name-only", commit).records)

"""A git repository: finding it from anywhere inside it, and reading and moving its refs."""

import contextlib
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Unpack

import msgspec
from msgspec.structs import replace

from paddock.core.errors import PaddockError
from paddock.core.lead import BY_HAND, Lead
from paddock.git.command import GitFailed, GitKilled, GitOptions, GitResult, find_git, run_git
from paddock.git.purposes import GitPurpose
from paddock.git.refs import ABSENT, RefMove, move_refs, read_refs

__all__ = ["ABSENT", "Fetched", "GitFailed", "GitKilled", "GitResult", "RefMove", "Repo", "discover", "run_git"]

SLOTS_FOLDER, REPOSITORY_FILE = ".slots", "repository"  # beside worktrees of agents: the repository they are for
_FETCH_TIMEOUT_SECONDS = 60.0
_USUAL_BRANCHES = ("main", "master", "trunk", "develop")


class Fetched(msgspec.Struct, frozen=True):
    """What a fetch brought: the remote branch's commit, or None and why not."""

    sha: str | None
    problem: str = ""


class Repo(msgspec.Struct, frozen=True):
    """One repository, however many worktrees it has.

    `common_dir` is what all worktrees share. `git_dir` and `top` belong to the worktree the search began in
    (`top` is None inside a git directory); an agent's worktree has the `git_dir` of the main one. `main` is the user's
    main working tree, None when it has none. Whoever acts on it does so by its `lead`.
    """

    common_dir: Path
    git_dir: Path
    top: Path | None
    main: Path | None
    lead: Lead = BY_HAND

    def led_by(self, lead: Lead) -> "Repo":
        return replace(self, lead=lead)

    @property
    def name(self) -> str:
        home = self.main or self.common_dir
        return home.name.removesuffix(".git").lstrip(".") or home.parent.name

    def git(self, *args: str, **options: Unpack[GitOptions]) -> GitResult:
        """Run git on the shared repository, bound to no working tree: for refs and objects.

        HEAD here is the main working tree's.
        """
        options = {"lazy": is_partial_clone(self.common_dir), **options}
        return run_git(self.common_dir, f"--git-dir={self.common_dir}", *args, **options)

    def talk(self, *args: str, timeout: float) -> GitResult:
        """git with a remote; a refusal is a value. Runs where a remote's relative address counts from."""
        place = self.main or self.common_dir
        try:
            return run_git(place, f"--git-dir={self.common_dir}", *args, check=False, timeout=timeout)
        except GitKilled as killed:
            return killed.result

    def resolve(self, rev: str) -> str | None:
        """The full sha of the commit `rev` names, None when it names none."""
        if not rev or rev.startswith("-"):
            return None
        result = self.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}", check=False)
        return result.text if result.ok else None

    def branch_tip(self, branch: str) -> str | None:
        """`resolve` for a branch that is trusted to name a commit: usually its file tells, without a process."""
        return self.loose_tip(branch) or self.resolve(f"refs/heads/{branch}")

    def loose_tip(self, branch: str) -> str | None:
        """What the branch's own file says; None where it has none, and git knows."""
        return self.loose_ref(f"refs/heads/{branch}")

    def loose_ref(self, ref: str) -> str | None:
        if "." not in ref:
            with contextlib.suppress(OSError, UnicodeDecodeError):
                sha = (self.common_dir / ref).read_text("ascii").strip()
                if len(sha) in (40, 64) and sha.strip("0123456789abcdef") == "":
                    return sha
        return None

    def loose_tips(self, folder: str) -> list[str]:
        """What the files right in a folder of refs say: the newest ones, told without a process."""
        try:
            names = sorted(os.listdir(self.common_dir / folder))
        except OSError:
            return []
        return [sha for name in names if (sha := self.loose_ref(f"{folder}/{name}")) is not None]

    def update_ref(self, ref: str, new: str, old: str, reason: str = "paddock", options: tuple[str, ...] = ()) -> bool:
        """Move `ref` from `old` to `new` in one step; False when it was not at `old` (nothing changed then).

        `old` ABSENT creates, `new` ABSENT deletes. Raises GitFailed when it was at `old` and could not be moved.
        """
        return self.move_refs((RefMove(ref, new, old),), reason, options)

    def move_refs(self, moves: Sequence[RefMove], reason: str = "paddock", options: tuple[str, ...] = ()) -> bool:
        """All of the moves in one step, or none; False when a ref was not where its move begins."""
        return move_refs(self.common_dir, moves, reason, options, self.lead)

    def refs(self, prefix: str) -> dict[str, str]:
        """Full ref name to object id, for the ref `prefix` itself and all below it."""
        return read_refs(self.common_dir, prefix)

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        return self.git("merge-base", "--is-ancestor", ancestor, descendant, check=False).is_yes

    def merge_base(self, one: str, other: str) -> str | None:
        result = self.git("merge-base", one, other, check=False)
        return result.text if result.is_yes else None

    def changed_paths(self, base: str, head: str) -> tuple[str, ...]:
        """Paths that differ between two commits or trees; a rename counts as both its names."""
        return tuple(self.git("diff-tree", "-r", "-z", "--no-renames", "--name-only", base, head).records)

    def tree_of(self, commit: str) -> str:
        return self.git("rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}").text

    def config(self, key: str) -> str | None:
        result = self.git("config", "--get", key, check=False)
        return result.text if result.ok else None

    def has_commits(self) -> bool:
        return self.git("rev-list", "-n", "1", "--all").stdout != b""

    def head_branch(self) -> str | None:
        """The branch checked out where the search began (unborn or not), None when HEAD is detached."""
        return branch_of(self.git_dir)

    def default_branch(self) -> str | None:
        """The branch work lands on, as git tells it: the remote's, else a usual name, else what is out."""
        remote = self.git("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD", check=False)
        if remote.ok:
            return remote.text.removeprefix("refs/remotes/origin/")
        local = self.refs("refs/heads")
        for name in _USUAL_BRANCHES:
            if f"refs/heads/{name}" in local:
                return name
        return branch_of(self.common_dir) or self.head_branch()

    def fetch(self, remote: str, branch: str, timeout: float = _FETCH_TIMEOUT_SECONDS) -> Fetched:
        """Bring `refs/remotes/REMOTE/BRANCH` up to date; trouble with the remote is a value, no exception."""
        tracking = f"refs/remotes/{remote}/{branch}"
        result = self.talk(
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
            "--end-of-options",
            remote,
            f"+refs/heads/{branch}:{tracking}",
            timeout=timeout,
        )
        if result.timed_out:
            return Fetched(None, f"no answer from `{remote}` within {timeout:g} s")
        if not result.ok:
            return Fetched(None, result.stderr.strip())
        return Fetched(self.resolve(tracking))


@lru_cache(maxsize=64)
def is_partial_clone(common_dir: Path) -> bool:
    """Whether objects may be missing here that a remote has promised. Read once: what is written there later, by
    whoever, makes git ask nobody."""
    with contextlib.suppress(OSError):
        return b"promisor" in (common_dir / "config").read_bytes().lower()
    return False


def branch_of(git_dir: Path) -> str | None:
    """The branch a worktree's git directory has checked out, None when detached; starts no process."""
    head = (git_dir / "HEAD").read_text(encoding="utf-8", errors="surrogateescape").strip()
    if head == "ref: refs/heads/.invalid":  # the reftable backend keeps HEAD elsewhere
        result = run_git(git_dir, f"--git-dir={git_dir}", "symbolic-ref", "--quiet", "HEAD", check=False)
        head = f"ref: {result.text}" if result.ok else ""
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else None


def discover(start: Path) -> Repo:
    """The repository `start` lies in: a subfolder, a linked worktree, or the git directory itself.

    Raises PaddockError when there is none, it is bare, its owner is not trusted, or git is missing. Plain
    layouts are read from disk without starting git, whose version is then checked by its first call.
    """
    find_git(os.environ.get("PATH", os.defpath))
    start = Path(os.path.abspath(start)).resolve()
    if not start.is_dir():
        raise PaddockError(f"`{start}` is not a directory")
    for directory in (start, *start.parents):
        if (found := _read_enclosed(directory)) is not None:
            return found
        if os.path.lexists(directory / ".git"):
            found = _read_layout(directory)
            if found is not None and _owned_by_us(directory, directory / ".git", found.git_dir, found.common_dir):
                return found
            break
        if _is_git_dir(directory):
            break
    return _ask_git(start)


def _read_enclosed(top: Path) -> Repo | None:
    """The user's repository where `top` is an agent's worktree, whatever its `.git` says; None when it is none."""
    slots = top.parent / SLOTS_FOLDER
    try:
        common_dir = Path(os.fsdecode((slots / REPOSITORY_FILE).read_bytes().removesuffix(b"\n")))
        if not (slots / top.name).is_dir() or not _owned_by_us(slots, slots / REPOSITORY_FILE, common_dir):
            return None
    except OSError:
        return None
    found = discover(common_dir.parent if common_dir.name == ".git" else common_dir)
    return Repo(found.common_dir, found.git_dir, top, found.main)


def _read_layout(top: Path) -> Repo | None:
    """The repository of a working tree's top, None when git itself must be asked."""
    dot_git = top / ".git"
    try:
        if dot_git.is_dir():
            git_dir = dot_git.resolve()
        else:
            kind, _, target = dot_git.read_text(encoding="utf-8", errors="surrogateescape").partition(": ")
            if kind != "gitdir":
                return None
            git_dir = (top / target.rstrip("\n")).resolve()
        common_dir = common_dir_of(git_dir)
        if not _is_git_dir(common_dir) or _mentions_work_tree(common_dir):
            return None
    except OSError:
        return None
    if common_dir == git_dir:
        return Repo(common_dir, git_dir, top, top)
    main = common_dir.parent if common_dir.name == ".git" else None
    return Repo(common_dir, git_dir, top, main) if main is not None else None


def common_dir_of(git_dir: Path) -> Path:
    try:
        return (git_dir / (git_dir / "commondir").read_text().rstrip("\n")).resolve()
    except FileNotFoundError:
        return git_dir


def _is_git_dir(directory: Path) -> bool:
    return (directory / "objects").is_dir() and (directory / "refs").is_dir() and os.path.lexists(directory / "HEAD")


def _mentions_work_tree(common_dir: Path) -> bool:
    """core.worktree, core.bare = true and included files move things about: then git knows better."""
    config = (common_dir / "config").read_bytes().lower()
    bare = b"bare" in config and b"bare = false" not in config
    return bare or b"worktree =" in config.replace(b"worktreeconfig =", b"") or b"[include" in config


def _owned_by_us(*paths: Path) -> bool:
    user = os.geteuid()
    return all(path.lstat().st_uid == user for path in paths)


def _ask_git(start: Path) -> Repo:
    asked = run_git(
        start,
        "rev-parse",
        "--path-format=absolute",
        "--is-bare-repository",
        "--git-common-dir",
        "--absolute-git-dir",
        check=False,
        purpose=GitPurpose.SETTINGS,  # whose repositories git trusts is configured
    )
    if not asked.ok:
        raise _refusal(start, asked)
    bare, common, own = asked.lines
    common_dir, git_dir = Path(common).resolve(), Path(own).resolve()
    words = ("rev-parse", "--path-format=absolute", "--show-toplevel")
    top = run_git(start, *words, check=False, purpose=GitPurpose.SETTINGS)
    if bare == "true":
        raise PaddockError(
            f"`{common_dir}` is a bare repository: it has no working tree",
            "run paddock in a clone of it, or in one of its worktrees",
        )
    return Repo(common_dir, git_dir, Path(top.text).resolve() if top.ok else None, _main_worktree(common_dir))


def _main_worktree(common_dir: Path) -> Path | None:
    listed = run_git(common_dir, f"--git-dir={common_dir}", "worktree", "list", "--porcelain", "-z", check=False)
    first = listed.stdout.split(b"\0\0", 1)[0].split(b"\0")
    if not listed.ok or b"bare" in first:
        return None
    path = Path(os.fsdecode(first[0].removeprefix(b"worktree "))).resolve()
    if path != common_dir:
        return path
    # Of a submodule git lists its own directory.
    top = run_git(common_dir, f"--git-dir={common_dir}", "rev-parse", "--show-toplevel", check=False)
    return Path(top.text).resolve() if top.ok else path


def _refusal(start: Path, asked: GitResult) -> PaddockError:
    said = asked.stderr
    if "dubious ownership" in said or "unsafe repository" in said:
        return PaddockError(
            f"git does not trust the repository at `{start}`: it belongs to another user",
            f"if you do, run `git config --global --add safe.directory {_untrusted_path(said, start)}`",
        )
    if "not a git repository" in said:
        return PaddockError(
            f"`{start}` is not inside a git repository",
            "run paddock inside one, or create one with `git init`",
        )
    return GitFailed(asked)


def _untrusted_path(said: str, start: Path) -> str:
    for line in said.splitlines():
        if "safe.directory" in line:
            return line.split("safe.directory", 1)[1].strip()
    return str(start)

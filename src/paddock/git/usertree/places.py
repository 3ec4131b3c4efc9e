"""Working trees of people that have a branch checked out, and git in them with an index of our own."""

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.git.command import GitResult, run_git
from paddock.git.disk import FileIdentity, identity_of
from paddock.git.enclosure.residence import WATCHER_MARKER
from paddock.git.filters import only_known_filters
from paddock.git.purposes import GitPurpose
from paddock.git.repo import Repo, branch_of, common_dir_of, discover
from paddock.git.worktrees.checkout import operation_in_progress

TREE_TIMEOUT_SECONDS = 120.0
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class UserTree:
    """`git_dir` is the worktree's own, where its index and HEAD are."""

    path: Path
    git_dir: Path
    branch: str

    @property
    def index(self) -> Path:
        return self.git_dir / "index"

    @property
    def index_lock(self) -> Path:
        return self.git_dir / "index.lock"

    @property
    def stage_folder(self) -> Path:
        return self.git_dir / "paddock-sync"

    def index_identity(self) -> FileIdentity | None:
        """Git replaces an index whole: another one has another identity. None when there is none."""
        return identity_of(self.index)

    def is_on_branch(self) -> bool:
        try:
            return branch_of(self.git_dir) == self.branch
        except OSError:
            return False

    def obstacle(self) -> str:
        """Why nothing here may be touched whatever its files are; empty when there is no such reason."""
        if not self.is_on_branch():
            return f"it is no longer on {self.branch}"
        operation = operation_in_progress(self.git_dir)
        return f"a {operation} is in progress" if operation else ""

    def git(
        self,
        *args: str,
        index: Path | None = None,
        work: Path | None = None,
        input: bytes | None = None,
        check: bool = True,
    ) -> GitResult:
        """Git in this tree; `index` and `work` put another index or working tree in the place of its own."""
        env = {"GIT_DIR": str(self.git_dir), "GIT_WORK_TREE": str(work or self.path), "GIT_LITERAL_PATHSPECS": "1"}
        env |= only_known_filters(common_dir_of(self.git_dir))
        if index is not None:
            env["GIT_INDEX_FILE"] = str(index)
        timeout, files = TREE_TIMEOUT_SECONDS, GitPurpose.FILES
        return run_git(work or self.path, *args, input=input, check=check, env=env, timeout=timeout, purpose=files)


def trees_on(repo: Repo, branch: str) -> tuple[UserTree, ...]:
    """Everywhere `branch` is checked out by a person; agents' worktrees are none of these."""
    listed = repo.git("worktree", "list", "--porcelain", "-z").stdout
    found = (_read_entry(entry, branch) for entry in listed.split(b"\0\0"))
    return tuple(tree for tree in found if tree is not None)


def _read_entry(entry: bytes, branch: str) -> UserTree | None:
    fields = [os.fsdecode(field) for field in entry.strip(b"\0").split(b"\0")]
    if f"branch refs/heads/{branch}" not in fields or "bare" in fields:
        return None
    path = Path(fields[0].removeprefix("worktree "))
    if not (path / ".git").exists():
        return None
    try:
        git_dir = discover(path).git_dir
    except PaddockError:
        return None
    return None if (git_dir / WATCHER_MARKER).exists() else UserTree(path, git_dir, branch)


def parents_of(path: str) -> Iterator[str]:
    """The folders above a path in the tree, outermost first."""
    parts = path.split("/")
    return ("/".join(parts[:count]) for count in range(1, len(parts)))


def fingerprint(path: Path) -> str | None:
    """What is at `path`, by kind, executable bit and every byte; None for nothing, `folder` for a folder."""
    try:
        found = path.lstat()
        if stat.S_ISDIR(found.st_mode):
            return "folder"
        if stat.S_ISLNK(found.st_mode):
            return f"link {hashlib.blake2b(os.fsencode(os.readlink(path)), digest_size=20).hexdigest()}"
        if not stat.S_ISREG(found.st_mode):
            return "special"
        digest = hashlib.blake2b(digest_size=20)
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return f"{'program' if found.st_mode & 0o100 else 'file'} {digest.hexdigest()}"

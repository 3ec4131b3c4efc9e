import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from paddock.git.disk import DiskFloor
from paddock.git.repo import Repo
from paddock.git.worktrees.delivery import Saved, save_attempt
from paddock.git.worktrees.prepare import Worktree, WorktreeOrder, prepare
from paddock.git.worktrees.slots import WorktreeRoot, default_root
from tests.git.conftest import commit, git

BRANCH = "paddock/t1-work"


@dataclass(frozen=True)
class Den:
    """A hostile agent's worktree, and the user's repository beside it."""

    root: WorktreeRoot
    tree: Worktree
    top: Path
    sprung: Path  # what a planted program touches

    @property
    def repo(self) -> Repo:
        return self.root.repo

    @property
    def own(self) -> Path:
        return self.tree.git_dir

    def git(self, *words: str) -> str:
        return git(self.tree.path, *words)

    def give(self, words: str, text: str) -> str:
        """What a git command says that reads `text`."""
        argv = ("git", "-C", str(self.tree.path), *words.split(" "))
        return subprocess.run(argv, input=text, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, **files: str) -> str:
        return commit(self.tree.path, files)

    @property
    def trap(self) -> str:
        return f"touch {self.sprung}; cat"

    def save(self) -> Saved:
        saved = save_attempt(self.root, "t1.1", "test")
        assert saved is not None
        return saved

    def users_own(self) -> dict[str, bytes]:
        """Everything of the user's repository that an attempt has no business with."""
        files = [path for path in self.repo.common_dir.rglob("*") if path.is_file() and "objects" not in path.parts]
        refs = git(self.top, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/main", "refs/tags")
        names = {str(path): path.read_bytes() for path in files if path.parent.name in ("hooks", "info")}
        told = ("config", "HEAD", "index", "packed-refs")
        named = {
            name: (self.repo.common_dir / name).read_bytes() for name in told if (self.repo.common_dir / name).exists()
        }
        return {**names, **named, "refs": refs.encode(), "tree": git(self.top, "status", "--porcelain").encode()}


@pytest.fixture
def den(repo: Repo, top: Path, tmp_path: Path) -> Den:
    git(top, "tag", "v1")
    root = WorktreeRoot(repo, default_root(repo), floor=DiskFloor(0, 0))
    tip = git(top, "rev-parse", "main")
    tree = prepare(root, WorktreeOrder("t1.1", BRANCH, tip)).worktree
    return Den(root, tree, top, tmp_path / "sprung")

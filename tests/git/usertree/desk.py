"""Somebody's checkout of main, and a main that moves under it."""

import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paddock.git.repo import Repo
from paddock.git.usertree.places import UserTree, trees_on
from paddock.git.usertree.update import LeftAlone, UpToDate, update_tree
from tests.git.conftest import git, write

Files = dict[str, str | None]


@dataclass(frozen=True)
class Desk:
    repo: Repo
    top: Path

    @property
    def tree(self) -> UserTree:
        (tree,) = trees_on(self.repo, "main")
        return tree

    @property
    def main(self) -> str:
        return git(self.top, "rev-parse", "refs/heads/main")

    def status(self) -> list[str]:
        return git(self.top, "status", "--porcelain", "-z", "--untracked-files=all").strip("\0").split("\0")

    def land(self, files: Files | None = None, act: Callable[[Path], None] = lambda _: None) -> tuple[str, str]:
        """Main gets a commit, made elsewhere; nothing here is touched. Returns main before and after."""
        old = self.main
        place = self.top.parent / "elsewhere"
        git(self.top, "worktree", "add", "--quiet", "--detach", str(place), old)
        for name, text in (files or {}).items():
            if text is None:
                (place / name).unlink()
            else:
                write(place, {name: text})
        act(place)
        git(place, "add", "--all", "--force", "--sparse")
        git(place, "commit", "--quiet", "-m", "landed")
        new = git(place, "rev-parse", "HEAD")
        git(self.top, "worktree", "remove", "--force", "--force", str(place))
        git(self.top, "update-ref", "refs/heads/main", new)
        return old, new

    def update(self, move: tuple[str, str], checkpoint: Callable[[str], None] = lambda _: None) -> UpToDate | LeftAlone:
        return update_tree(self.tree, *move, checkpoint)

    def contents(self) -> dict[str, object]:
        """Everything on disk but git's own, and the bytes of the index."""
        found: dict[str, object] = {".git/index": (self.top / ".git" / "index").read_bytes()}
        for folder, folders, names in os.walk(self.top):
            folders[:] = [name for name in folders if name != ".git"]
            for name in names:
                path = Path(folder) / name
                found[os.path.relpath(path, self.top)] = _look(path)
        return found

    def copy(self, place: Path) -> "Desk":
        from paddock.git.repo import discover

        shutil.copytree(self.top, place, symlinks=True)
        return Desk(discover(place), place)


def _look(path: Path) -> object:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return os.readlink(path)
    return (mode & 0o111, path.read_bytes()) if stat.S_ISREG(mode) else mode

"""What would hold git up in a tree that somebody else has written.

Git opens some files of a tree by itself: `.gitignore` and `.gitattributes` of every folder, `.gitmodules`, and what
tells whether a folder is a repository of its own. It waits without end at a pipe, and reads all of a file, however
large.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from paddock.git.disk import remove_tree

LARGEST_BYTES = 100 * 1024 * 1024
_READ_BY_GIT = frozenset({".gitignore", ".gitattributes", ".gitmodules"})
_READ_IN_A_REPOSITORY = ("HEAD", "commondir", "packed-refs")
_POINTER = b"gitdir: "
_LONGEST_POINTER = 8192
_MOST_REFS = 5_000


def find_traps(tree: Path) -> Iterator[Path]:
    """Places in `tree` at which git would be held up. Takes a look at every folder, and opens no file but a pointer
    to a repository."""
    folders = [str(tree)]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                found = list(entries)
        except OSError:
            continue  # git cannot look into it either
        for entry in found:
            if entry.name == ".git":
                if folder != str(tree) and _is_repository_with_a_trap(Path(entry.path)):
                    yield Path(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif entry.name in _READ_BY_GIT and _holds_up(entry.path):
                yield Path(entry.path)


def remove_traps(tree: Path) -> None:
    """For a tree that is about to be cleaned: nothing of value is in it."""
    for trap in find_traps(tree):
        remove_tree(trap)


def _holds_up(path: str | Path) -> bool:
    """Links count as what they lead to: git follows some of them."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return found.st_size > LARGEST_BYTES if stat.S_ISREG(found.st_mode) else not stat.S_ISDIR(found.st_mode)


def _is_repository_with_a_trap(dot_git: Path) -> bool:
    folder = dot_git if dot_git.is_dir() else _pointed_to(dot_git)
    if folder is None:
        return False
    if any(_holds_up(folder / name) for name in _READ_IN_A_REPOSITORY):
        return True
    shared = _pointed_to(folder / "commondir", b"") or folder
    return _holds_up(shared / "packed-refs") or any(_holds_up(ref) for ref in _refs(folder, shared))


def _pointed_to(file: Path, prefix: bytes = _POINTER) -> Path | None:
    """The folder that a file names; None where it names none, or is none."""
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            return None
        with open(file, "rb") as opened:
            said = opened.read(_LONGEST_POINTER)
    except OSError:
        return None
    name = os.fsdecode(said.removeprefix(prefix).rstrip(b"\r\n"))
    return file.parent / name if said.startswith(prefix) and name and "\0" not in name else None


def _refs(*folders: Path) -> Iterator[Path]:
    seen = 0
    for top in dict.fromkeys(folders):
        for folder, _, names in os.walk(top / "refs"):
            for name in names:
                seen += 1
                yield Path(folder, name)
                if seen > _MOST_REFS:
                    return

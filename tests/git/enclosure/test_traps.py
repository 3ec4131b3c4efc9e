"""Where git would wait for ever, read without end or crash at what an agent left, the attempt is kept and says why."""

import hashlib
import os
import re
import struct
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.git.command import GitKilled, git_program
from paddock.git.enclosure.traps import LARGEST_BYTES, find_traps, remove_traps
from paddock.git.worktrees.delivery import NotImported, glimpse
from paddock.git.worktrees.prepare import release
from tests.git.conftest import git
from tests.git.enclosure.conftest import Den


def _pipe(tree: Path, name: str) -> Path:
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).unlink(missing_ok=True)
    os.mkfifo(tree / name)
    return tree / name


def _huge(tree: Path) -> None:
    with open(tree / ".gitignore", "wb") as file:
        file.truncate(LARGEST_BYTES + 1)


def _repository(tree: Path, name: str, pipe: str) -> Path:
    for folder in ("refs/heads", "objects"):
        (tree / name / folder).mkdir(parents=True)
    (tree / name / "HEAD").write_text("ref: refs/heads/x\n")
    _pipe(tree / name, pipe)
    return tree / name


def _pointer(tree: Path) -> None:
    _repository(tree, "elsewhere", "HEAD")
    (tree / "sub").mkdir()
    (tree / "sub" / ".git").write_text("gitdir: ../elsewhere\n")


def _linked_worktree(tree: Path) -> None:
    _repository(tree, "shared", "packed-refs")
    (tree / "own").mkdir()
    (tree / "own" / "HEAD").write_text("ref: refs/heads/x\n")
    (tree / "own" / "commondir").write_text("../shared\n")
    (tree / "sub").mkdir()
    (tree / "sub" / ".git").symlink_to("../own")


TRAPS: dict[str, Callable[[Path], object]] = {
    ".gitignore": lambda tree: _pipe(tree, ".gitignore"),
    "deep/er/.gitattributes": lambda tree: _pipe(tree, "deep/er/.gitattributes"),
    ".gitmodules": lambda tree: (tree / ".gitmodules").symlink_to(_pipe(tree, "pipe")),
    "sub/.git": lambda tree: _repository(tree, "sub/.git", "HEAD"),
    "sub/sub/.git": lambda tree: _repository(tree, "sub/sub/.git", "refs/heads/x"),
}


@pytest.mark.parametrize(("name", "lay"), list(TRAPS.items()))
def test_a_pipe_that_git_would_open_is_found_and_removed(
    tmp_path: Path, name: str, lay: Callable[[Path], object]
) -> None:
    (tmp_path / "tree").mkdir()
    lay(tmp_path / "tree")
    assert [str(trap.relative_to(tmp_path / "tree")) for trap in find_traps(tmp_path / "tree")] == [name]
    remove_traps(tmp_path / "tree")
    assert not list(find_traps(tmp_path / "tree"))


@pytest.mark.parametrize("lay", [_huge, _pointer, _linked_worktree])
def test_other_ways_to_the_same_are_found(tmp_path: Path, lay: Callable[[Path], None]) -> None:
    lay(tmp_path)
    assert len(list(find_traps(tmp_path))) == 1


def test_what_git_does_not_open_is_no_trap(tmp_path: Path) -> None:
    _pipe(tmp_path, "pipe")
    _pipe(tmp_path, ".git")
    _pipe(tmp_path, "sub/.git")
    git(tmp_path, "init", "-q", "nested")
    (tmp_path / "nested" / ".gitignore").symlink_to("nowhere")
    (tmp_path / "nested" / ".gitattributes").mkdir()
    assert not list(find_traps(tmp_path))


@pytest.mark.parametrize("name", ["sub/.gitignore", ".gitattributes"])
def test_an_attempt_that_left_one_is_kept_with_the_reason(den: Den, name: str) -> None:
    den.commit(work="1")
    _pipe(den.tree.path, name)
    assert glimpse(den.root, "t1.1") is None
    with pytest.raises(NotImported, match=re.escape(f"held up by `{name}`")):
        den.save()
    assert name in release(den.root, "t1.1", "test").kept


def _bury(den: Den, depth: int) -> None:
    """A commit whose one file is so deep in folders, packed: git itself would take minutes to write them."""

    def name(kind: bytes, data: bytes) -> bytes:
        return hashlib.sha1(b"%s %d\0" % (kind, len(data)) + data, usedforsecurity=False).digest()

    def packed(kind: int, data: bytes) -> bytes:
        low, high = len(data) & 15, len(data) >> 4
        head = bytes([kind << 4 | low | (0x80 if high else 0), *([high] if high else [])])
        return head + zlib.compress(data, 1)

    below, entry, objects = name(b"blob", b"x\n"), b"100644 f\0", [packed(3, b"x\n")]
    for _ in range(depth):
        data = entry + below
        below, entry = name(b"tree", data), b"40000 d\0"
        objects.append(packed(2, data))
    body = b"PACK" + struct.pack(">II", 2, len(objects)) + b"".join(objects)
    pack = body + hashlib.sha1(body, usedforsecurity=False).digest()
    subprocess.run(("git", "index-pack", "--stdin"), cwd=den.tree.path, input=pack, check=True, capture_output=True)
    den.git("update-ref", "HEAD", den.git("commit-tree", below.hex(), "-p", "HEAD", "-m", "deep"))


def test_a_file_that_nobody_could_check_out_is_refused(den: Den) -> None:
    _bury(den, 2500)
    with pytest.raises(NotImported, match="too long for any file system"):
        den.save()
    assert release(den.root, "t1.1", "test").kept


def test_a_git_that_dies_of_what_it_reads_is_told_from_one_that_is_killed(
    den: Den, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The first is an answer, and the attempt is kept with it; the second is asked again later."""
    den.commit(work="1")
    real = git_program(os.environ["PATH"])
    for signal, expected in (("SEGV", NotImported), ("KILL", GitKilled)):
        folder = tmp_path / signal
        folder.mkdir()
        fake = folder / "git"
        fake.write_text(f'#!/bin/sh\ncase " $* " in *" pack-objects "*) kill -{signal} $$;; esac\nexec {real} "$@"\n')
        fake.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
        with pytest.raises(expected):
            den.save()

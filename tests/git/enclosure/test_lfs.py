"""git-lfs in a worktree: what it makes is kept apart, and brought to the user's with the commits."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import paddock.git.enclosure.lfs
from paddock.git.disk import DiskFloor
from paddock.git.repo import Repo
from paddock.git.sandboxes.sandbox import PreparedSandbox, SandboxOrder, prepare_sandbox
from paddock.git.sandboxes.tree import Sandbox
from paddock.git.settings import read_settings
from paddock.git.worktrees.delivery import NotImported
from paddock.git.worktrees.prepare import WorktreeOrder, prepare, release
from paddock.git.worktrees.slots import WorktreeRoot, default_root
from tests.git.conftest import commit, git, write
from tests.git.enclosure.conftest import BRANCH, Den

LFS = """\
storage=$(git config lfs.storage || echo "$(git rev-parse --absolute-git-dir)/lfs")
if [ "$1" = clean ]; then
  mkdir -p "$storage/tmp"; draft=$(mktemp -p "$storage/tmp"); cat > "$draft"
  oid=$(sha256sum < "$draft" | cut -c1-64); place=$(echo "$oid" | sed 's|\\(..\\)\\(..\\).*|\\1/\\2|')
  mkdir -p "$storage/objects/$place"; mv "$draft" "$storage/objects/$place/$oid"; echo "oid $oid"
else
  read -r _ oid; place=$(echo "$oid" | sed 's|\\(..\\)\\(..\\).*|\\1/\\2|')
  borrowed=$(cat "$(git rev-parse --absolute-git-dir)/objects/info/alternates" 2>/dev/null)
  cat "$storage/objects/$place/$oid" 2>/dev/null || cat "$(dirname "$borrowed")/lfs/objects/$place/$oid"
fi
"""
"""Keeps and finds files as git-lfs does."""


@pytest.fixture
def root(repo: Repo) -> WorktreeRoot:
    return WorktreeRoot(repo, default_root(repo), floor=DiskFloor(0, 0))


@pytest.fixture
def start(top: Path, tmp_path: Path) -> str:
    """Main, with a file that is in the user's storage."""
    write(tmp_path, {"lfs.sh": LFS})
    for word in ("clean", "smudge"):
        git(top, "config", f"filter.lfs.{word}", f"sh {tmp_path / 'lfs.sh'} {word}")
    git(top, "config", "filter.lfs.required", "true")
    return commit(top, {".gitattributes": "*.bin filter=lfs -text\n", "old.bin": "old\n"})


def place_of(storage: Path, name: str) -> Path:
    return storage / "objects" / name[:2] / name[2:4] / name


def digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def test_a_large_file_goes_from_the_agent_to_ci_and_only_there(root: WorktreeRoot, top: Path, start: str) -> None:
    tree = prepare(root, WorktreeOrder("t1.1", BRANCH, start)).worktree
    assert (tree.path / "old.bin").read_text() == "old\n"
    (tree.path / "old.bin").unlink()
    git(tree.path, "checkout", "old.bin")
    assert (tree.path / "old.bin").read_text() == "old\n", "found in the user's storage"
    head = commit(tree.path, {"new.bin": "new\n"})
    new = place_of(top / ".git/lfs", digest("new\n"))
    assert not new.exists()
    assert release(root, "t1.1", "test").kept == ""
    assert new.read_text() == "new\n"
    assert git(top, "show", f"{BRANCH}:new.bin") == f"oid {new.name}"
    sandbox = Sandbox(root.repo, top.parent / "sandboxes", "ci1")
    assert isinstance(prepare_sandbox(sandbox, SandboxOrder("r1", head)), PreparedSandbox)
    assert (sandbox.tree / "new.bin").read_text() == "new\n"


def test_a_storage_elsewhere_is_used_by_all(root: WorktreeRoot, top: Path, tmp_path: Path, start: str) -> None:
    git(top, "config", "lfs.storage", str(tmp_path / "store"))
    (top / ".git/lfs").rename(tmp_path / "store")
    tree = prepare(root, WorktreeOrder("t1.1", BRANCH, start)).worktree
    assert (tree.path / "old.bin").read_text() == "old\n"
    head = commit(tree.path, {"new.bin": "new\n"})
    assert release(root, "t1.1", "test").kept == ""
    sandbox = Sandbox(root.repo, top.parent / "sandboxes", "ci1")
    assert isinstance(prepare_sandbox(sandbox, SandboxOrder("r1", head)), PreparedSandbox)
    assert (sandbox.tree / "new.bin").read_text() == "new\n"
    assert not (top / ".git/lfs").exists()


def plant(den: Den, content: str, name: str) -> Path:
    planted = place_of(den.own / "lfs", name)
    planted.parent.mkdir(parents=True)
    planted.write_text(content)
    return planted


def make_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_empty(path: Path) -> None:
    path.write_text("")


@pytest.mark.parametrize("spoil", [make_fifo, make_empty])
def test_what_is_not_what_its_name_says_is_not_taken(den: Den, spoil: Callable[[Path], None]) -> None:
    storage = Path(read_settings(den.repo.common_dir).lfs)
    spoil(plant(den, "x", digest("x")))
    plant(den, "y", digest("y"))
    head = den.commit(work="1")
    assert den.save().head == head
    assert [path.name for path in storage.rglob("*") if path.is_file()] == [digest("y")]


def test_a_link_is_not_followed(den: Den, tmp_path: Path) -> None:
    write(tmp_path, {"secret": "s"})
    planted = plant(den, "s", digest("s"))
    planted.unlink()
    planted.symlink_to(tmp_path / "secret")
    den.commit(work="1")
    with pytest.raises(NotImported, match="cannot be read"):
        den.save()


def test_files_the_user_has_are_left_as_they_are(den: Den) -> None:
    users = place_of(Path(read_settings(den.repo.common_dir).lfs), digest("x"))
    users.parent.mkdir(parents=True)
    users.write_text("the user's own")
    plant(den, "x", digest("x"))
    den.commit(work="1")
    den.save()
    assert users.read_text() == "the user's own"


@pytest.mark.parametrize("bound", ["MOST_FILES", "MOST_BYTES"])
def test_too_much_is_not_taken(den: Den, monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    monkeypatch.setattr(paddock.git.enclosure.lfs, bound, 1)
    plant(den, "x1", digest("x1"))
    plant(den, "x2", digest("x2"))
    den.commit(work="1")
    with pytest.raises(NotImported, match="git-lfs files are more than"):
        den.save()
    assert not (den.repo.common_dir / "lfs").exists()

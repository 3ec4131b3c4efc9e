"""kill -9 at every named point, then the same call again: the end is that of an undisturbed run."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from paddock.core.upkeep.findings import What
from paddock.core.upkeep.survey import SlotState
from paddock.git.enclosure.enclosure import is_still
from paddock.git.lock import try_lock
from paddock.git.repo import Repo
from paddock.git.worktrees.pool import count_idle, fill
from paddock.git.worktrees.prepare import WorktreeOrder, prepare, release
from paddock.git.worktrees.slots import Slot, WorktreeRoot, list_slots, read_record
from tests.git.conftest import commit, git, write
from tests.git.worktrees.collecting import find_waste, remove, remove_waste
from tests.git.worktrees.crashing import crash_at, root_of

BRANCH = "paddock/t1-work"


@pytest.fixture
def start(top: Path) -> str:
    sha = commit(top, {".gitignore": "*.ignored\n"})
    write(top, {"key.ignored": "secret", ".worktreeinclude": "key.ignored\n"})
    return sha


@pytest.fixture
def furnished(top: Path) -> WorktreeRoot:
    return root_of(top)


def check_ready(root: WorktreeRoot, start: str) -> None:
    tree = prepare(root, WorktreeOrder("t1.1", BRANCH, start))
    assert tree.ready
    path = tree.worktree.path
    assert git(path, "symbolic-ref", "--short", "HEAD") == BRANCH
    assert git(path, "rev-parse", "HEAD") == start
    assert git(path, "status", "--porcelain") == ""
    assert (path / "key.ignored").read_text() == "secret"
    assert (path / "set-up.ignored").exists()
    assert [(read_record(slot) or pytest.fail("no record")).state for slot in list_slots(root)] == [SlotState.READY]
    check_consistent(root)


def check_consistent(root: WorktreeRoot) -> None:
    """Every slot has its worktree and what was recorded of it, and git of the user's repository knows none of them."""
    assert git(root.repo.common_dir, "worktree", "list", "--porcelain").count("worktree ") == 1
    assert {path.name for path in root.path.iterdir()} - {".slots"} == {slot.path.name for slot in list_slots(root)}
    for slot in list_slots(root):
        record, place = read_record(slot), root.enclosure(slot)
        assert record is not None
        assert is_still(place.tree, record.tree)
        assert is_still(place.control, record.control)
        assert place.git("status", "--porcelain").stdout == b""
        assert not list(slot.home.glob("*.new"))
    assert not list((root.repo.common_dir / "objects").glob("tmp_objdir-*"))


def at(root: WorktreeRoot, slot: Slot) -> str:
    return root.enclosure(slot).head()


@pytest.mark.parametrize("point", ["claimed", "added", "checked-out", "attached", "included", "set-up", "ready"])
def test_a_cold_prepare_killed_anywhere_converges(furnished: WorktreeRoot, top: Path, start: str, point: str) -> None:
    crash_at("prepare", point, top, "t1.1", BRANCH, start)
    check_ready(furnished, start)


@pytest.mark.parametrize("point", ["claimed", "checked-out", "attached", "included", "ready"])
def test_a_warm_prepare_killed_anywhere_converges(furnished: WorktreeRoot, top: Path, start: str, point: str) -> None:
    fill(furnished, start, 1)
    moved = commit(top, {"README.md": "moved\n"})
    crash_at("prepare", point, top, "t1.1", BRANCH, moved)
    check_ready(furnished, moved)


@pytest.mark.parametrize("point", ["slot-taken", "making", "added", "checked-out", "included", "set-up", "idle"])
def test_a_fill_killed_anywhere_converges(furnished: WorktreeRoot, top: Path, start: str, point: str) -> None:
    crash_at("fill", point, top, start, "2")
    remove(furnished, find_waste(furnished, idle=2))
    assert fill(furnished, start, 2).problems == ()
    assert count_idle(furnished) == len(list_slots(furnished)) == 2
    check_consistent(furnished)
    assert prepare(furnished, WorktreeOrder("t1.1", BRANCH, start)).warm


@pytest.mark.parametrize("point", ["repointing", "checked-out", "included", "idle"])
def test_a_repointing_killed_anywhere_converges(furnished: WorktreeRoot, top: Path, start: str, point: str) -> None:
    fill(furnished, start, 1)
    moved = commit(top, {"README.md": "moved\n"})
    crash_at("fill", point, top, moved, "1")
    remove(furnished, find_waste(furnished, idle=1))
    fill(furnished, moved, 1)
    slots = list_slots(furnished)
    assert len(slots) == count_idle(furnished) == 1
    assert at(furnished, slots[0]) == moved
    assert (slots[0].path / "README.md").read_text() == "moved\n"
    check_consistent(furnished)


def leave_work(root: WorktreeRoot, start: str) -> str:
    path = prepare(root, WorktreeOrder("t1.1", BRANCH, start)).worktree.path
    git(path, "checkout", "-q", "--detach")
    loose = commit(path, {"loose": "1"})
    git(path, "checkout", "-q", BRANCH)
    commit(path, {"done": "1"})
    write(path, {"dirty": "1"})
    return loose


def check_saved(repo: Repo, loose: str) -> None:
    assert git(repo.common_dir, "show", f"{BRANCH}:done") == "1"
    assert git(repo.common_dir, "show", f"{BRANCH}:dirty") == "1"
    assert git(repo.common_dir, "log", "--format=%s", BRANCH).splitlines().count("Rescue 1 uncommitted files") == 1
    assert list(repo.refs("refs/paddock/kept").values()) == [loose]


IMPORT = ["import.taken", "rescue.committed", "import.planned", "import.placed", "import.recorded"]


@pytest.mark.parametrize("point", [*IMPORT, "secured", "returning", "forgotten", "reset", "cleaned", "idle"])
def test_a_release_killed_anywhere_converges(
    furnished: WorktreeRoot, repo: Repo, top: Path, start: str, point: str
) -> None:
    loose = leave_work(furnished, start)
    crash_at("release", point, top, "t1.1")
    release(furnished, "t1.1", "the test said so")
    check_saved(repo, loose)
    assert count_idle(furnished) == len(list_slots(furnished)) == 1
    check_consistent(furnished)


def test_a_half_returned_worktree_is_removed_with_its_work_saved(
    furnished: WorktreeRoot, repo: Repo, top: Path, start: str
) -> None:
    loose = leave_work(furnished, start)
    crash_at("release", "forgotten", top, "t1.1")
    fill(furnished, start, 0)
    assert count_idle(furnished) == 0, "the pool leaves it alone"
    [item] = remove_waste(furnished, live={"t1.1"}).removed
    assert item.what is What.HALF_MADE
    fill(furnished, start, 1)
    assert count_idle(furnished) == 1
    check_saved(repo, loose)
    check_consistent(furnished)


@pytest.mark.parametrize("point", [*IMPORT, "secured", "returning", "cleaned", "idle", "held", "item-done"])
def test_a_gc_killed_anywhere_loses_nothing_and_converges(
    furnished: WorktreeRoot, repo: Repo, top: Path, start: str, point: str
) -> None:
    loose = leave_work(furnished, start)
    crash_at("gc", point, top)
    remove_waste(furnished)
    check_saved(repo, loose)
    assert list_slots(furnished) == ()
    check_consistent(furnished)


def test_git_that_outlives_a_killed_prepare_is_waited_for(
    furnished: WorktreeRoot, repo: Repo, top: Path, tmp_path: Path
) -> None:
    """The checkout hangs in a filter while its parent is killed; it still holds the slot's lock."""
    pipe, began = tmp_path / "pipe", tmp_path / "began"
    os.mkfifo(pipe)
    repo.git("config", "filter.slow.smudge", f"sh -c 'cat; touch {began}; cat {pipe}'")
    repo.git("config", "filter.slow.clean", "cat")
    start = commit(
        top, {".gitignore": "*.ignored\n", ".gitattributes": "slow.txt filter=slow\n", "slow.txt": "content\n"}
    )
    code = (
        "import sys; from pathlib import Path; from tests.git.worktrees.crashing import perform\n"
        "perform('prepare', Path(sys.argv[1]), sys.argv[2:], lambda name: None)"
    )
    argv = (sys.executable, "-c", code, str(top), "t1.1", BRANCH, start)
    with subprocess.Popen(argv, cwd=Path(__file__).parents[3]) as doomed:
        while not began.exists():
            assert doomed.poll() is None
        doomed.send_signal(signal.SIGKILL)
    slot = list_slots(furnished)[0]
    try:
        assert try_lock(slot.lock_path) is None
        repo.git("config", "filter.slow.smudge", "cat")
    finally:
        pipe.write_text("")
    assert prepare(furnished, WorktreeOrder("t1.1", BRANCH, start)).ready
    assert (slot.path / "slow.txt").read_text() == "content\n"
    assert git(slot.path, "status", "--porcelain") == ""

"""A worktree in which nothing lies about goes back as it is; who claims it next finds none of the last one's traces."""

import os
import shutil
from pathlib import Path

import pytest

from paddock.core.upkeep.survey import SlotState
from paddock.git.repo import Repo
from paddock.git.worktrees.delivery import save_attempt
from paddock.git.worktrees.pool import count_idle, fill
from paddock.git.worktrees.prepare import Worktree, WorktreeOrder, prepare, release
from paddock.git.worktrees.release import Secured
from paddock.git.worktrees.slots import WorktreeRoot, list_slots, read_record
from tests.git.conftest import commit, git, write
from tests.git.worktrees.crashing import crash_at, root_of

BRANCH = "paddock/t1-work"
NEXT = "paddock/t2-work"


@pytest.fixture
def tree(root: WorktreeRoot, tip: str) -> Worktree:
    return prepare(root, WorktreeOrder("t1.1", BRANCH, tip)).worktree


def hand_back(root: WorktreeRoot, tree: Worktree, head: str) -> None:
    """As after a judge who saw `head` with nothing about and had a ref hold it."""
    if root.enclosure(list_slots(root)[0]).head() != head:
        save_attempt(root, "t1.1", "test")
    release(root, "t1.1", "test", secured=Secured(head, frozenset((head, tree.start))))


def record_of(root: WorktreeRoot) -> tuple[SlotState, bool]:
    [slot] = list_slots(root)
    record = read_record(slot)
    assert record is not None
    return record.state, record.unswept


def check_next(root: WorktreeRoot, start: str) -> Worktree:
    """The next attempt gets the same worktree, new on its own branch."""
    prepared = prepare(root, WorktreeOrder("t2.1", NEXT, start))
    assert prepared.warm
    path = prepared.worktree.path
    assert path.name == "w1"
    assert git(path, "symbolic-ref", "--short", "HEAD") == NEXT
    assert git(path, "rev-parse", "HEAD") == start
    assert git(path, "status", "--porcelain", "--ignored") == ""
    assert sorted(entry.name for entry in path.iterdir()) == [".git", "README.md", "src"]
    assert (path / "README.md").read_text() == "hello\n"
    assert record_of(root) == (SlotState.READY, False)
    return prepared.worktree


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a line for every git process from now on."""
    real = shutil.which("git")
    script = tmp_path / "bin" / "git"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/calls\nexec {real} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "calls"


def test_it_takes_no_process_to_hand_it_back_and_two_to_claim_it_again(
    root: WorktreeRoot, tree: Worktree, tip: str, calls: Path
) -> None:
    head = commit(tree.path, {"new": "1"})
    save_attempt(root, "t1.1", "test")
    calls.write_text("")
    hand_back(root, tree, head)
    assert calls.read_text() == ""
    prepare(root, WorktreeOrder("t2.1", NEXT, tip))
    asked = [line for line in calls.read_text().splitlines() if line != "--version"]
    assert len(asked) == 2, asked


def test_the_branch_is_free_and_keeps_its_commits(root: WorktreeRoot, repo: Repo, tree: Worktree, tip: str) -> None:
    head = commit(tree.path, {"new": "1"})
    hand_back(root, tree, head)
    assert record_of(root) == (SlotState.IDLE, True)
    assert not tree.git_dir.exists()
    git(repo.common_dir.parent, "checkout", "-q", BRANCH)
    assert repo.branch_tip(BRANCH) == head
    check_next(root, tip)


def test_folders_and_files_that_came_later_do_not_reach_the_next_attempt(
    root: WorktreeRoot, tree: Worktree, tip: str
) -> None:
    commit(tree.path, {".gitignore": "*.ignored\n"})
    head = commit(tree.path, {"new": "1"})
    (tree.path / "empty" / "deeper").mkdir(parents=True)
    save_attempt(root, "t1.1", "test")
    hold = Secured(head, frozenset(git(tree.path, "rev-list", "HEAD").split()))
    release(root, "t1.1", "test", secured=hold)
    assert record_of(root) == (SlotState.IDLE, True)
    write(tree.path, {"late": "x", "late.ignored": "x"})
    check_next(root, tip)


def test_a_file_the_agent_hid_from_its_git_is_seen(root: WorktreeRoot, repo: Repo, tree: Worktree, tip: str) -> None:
    head = commit(tree.path, {"new": "1"})
    git(tree.path, "update-index", "--assume-unchanged", "README.md")
    write(tree.path, {"README.md": "hidden\n"})
    assert git(tree.path, "status", "--porcelain") == ""
    saved = save_attempt(root, "t1.1", "test")
    assert saved is not None
    assert not saved.spotless
    hand_back(root, tree, head)
    assert git(repo.common_dir, "show", f"{BRANCH}:README.md") == "hidden"
    check_next(root, tip)


def test_the_pool_sweeps_it_too(root: WorktreeRoot, tree: Worktree, tip: str) -> None:
    head = commit(tree.path, {"new": "1"})
    (tree.path / "empty").mkdir()
    hand_back(root, tree, head)
    assert fill(root, tip, 1).repointed == 1
    assert record_of(root) == (SlotState.IDLE, False)
    check_next(root, tip)


def test_a_branch_that_exists_is_started_over_and_its_commits_stay_held(
    root: WorktreeRoot, repo: Repo, tree: Worktree, tip: str
) -> None:
    head = commit(tree.path, {"new": "1"})
    hand_back(root, tree, head)
    again = prepare(root, WorktreeOrder("t1.2", BRANCH, tip)).worktree
    assert git(again.path, "rev-parse", "HEAD", BRANCH).split() == [tip, tip]
    assert git(again.path, "status", "--porcelain") == ""
    assert list(repo.refs("refs/paddock/kept").values()) == [head]


class TestWhatIsNotAsSeenIsSavedFirst:
    def test_a_commit_made_aside(self, root: WorktreeRoot, repo: Repo, tree: Worktree, tip: str) -> None:
        git(tree.path, "checkout", "-q", "--detach")
        aside = commit(tree.path, {"aside": "1"})
        git(tree.path, "checkout", "-q", BRANCH)
        head = commit(tree.path, {"new": "1"})
        hand_back(root, tree, head)
        assert list(repo.refs("refs/paddock/kept").values()) == [aside]
        check_next(root, tip)

    def test_a_head_that_moved_on(self, root: WorktreeRoot, repo: Repo, tree: Worktree, tip: str) -> None:
        head = commit(tree.path, {"new": "1"})
        write(tree.path, {"late": "2"})
        git(tree.path, "checkout", "-q", "--detach")
        hand_back(root, tree, head)
        assert git(repo.common_dir, "show", f"{BRANCH}:late") == "2"
        check_next(root, tip)

    def test_a_merge_in_progress(self, root: WorktreeRoot, repo: Repo, tree: Worktree, tip: str) -> None:
        head = commit(tree.path, {"new": "1"})
        (tree.git_dir / "MERGE_HEAD").write_text(f"{tip}\n")
        write(tree.path, {"late": "2"})
        hand_back(root, tree, head)
        assert git(repo.common_dir, "show", f"{BRANCH}:late") == "2"
        check_next(root, tip)


@pytest.mark.parametrize("point", ["secured", "returning", "forgotten", "idle"])
def test_a_return_killed_anywhere_converges(top: Path, repo: Repo, tip: str, point: str) -> None:
    root = root_of(top)
    tree = prepare(root, WorktreeOrder("t1.1", BRANCH, tip)).worktree
    (tree.path / "set-up.ignored").unlink()
    head = commit(tree.path, {"new": "1"})
    crash_at("return", point, top, "t1.1", head, tip)
    release(root, "t1.1", "test")
    assert count_idle(root) == len(list_slots(root)) == 1
    assert repo.branch_tip(BRANCH) == head


@pytest.mark.parametrize("point", ["claimed", "checked-out", "attached", "ready"])
def test_a_claim_killed_anywhere_converges(top: Path, tip: str, point: str) -> None:
    root = root_of(top)
    tree = prepare(root, WorktreeOrder("t1.1", BRANCH, tip)).worktree
    (tree.path / "set-up.ignored").unlink()
    head = commit(tree.path, {"new": "1"})
    (tree.path / "empty").mkdir()
    hand_back(root, tree, head)
    crash_at("prepare", point, top, "t2.1", NEXT, tip)
    again = prepare(root, WorktreeOrder("t2.1", NEXT, tip)).worktree
    assert git(again.path, "symbolic-ref", "--short", "HEAD") == NEXT
    assert git(again.path, "rev-parse", "HEAD", NEXT).split() == [tip, tip]
    assert git(again.path, "status", "--porcelain") == "?? set-up.ignored"
    assert not (again.path / "empty").exists()

"""Worktrees that an older Paddock made with `git worktree add` are taken over with everything in them."""

import json
from pathlib import Path

import pytest

from paddock.core.upkeep.survey import SlotState
from paddock.git.repo import Repo
from paddock.git.worktrees.delivery import glimpse
from paddock.git.worktrees.pool import count_idle, fill
from paddock.git.worktrees.prepare import WorktreeOrder, prepare, release
from paddock.git.worktrees.slots import WorktreeRoot, list_slots, read_record
from tests.git.conftest import commit, git, write

BRANCH = "paddock/t1-work"


def make_linked(root: WorktreeRoot, top: Path, state: str, **more: str) -> Path:
    path = root.path / "w1"
    root.path.mkdir(parents=True)
    git(top, "worktree", "add", "-q", "-b", BRANCH, str(path), "main")
    record = {"state": state, "attempt": "t1.1", "branch": BRANCH, "start": git(top, "rev-parse", "main"), **more}
    write(root.slots_folder / "w1", {"record.json": json.dumps(record), "lock": ""})
    return path


def linked(top: Path) -> int:
    return len(git(top, "worktree", "list").splitlines()) - 1


def test_an_attempt_goes_on_in_it_and_all_its_work_is_delivered(
    root: WorktreeRoot, repo: Repo, top: Path, tip: str
) -> None:
    path = make_linked(root, top, "ready")
    git(path, "checkout", "-q", "--detach")
    aside = commit(path, {"aside": "1"})
    git(path, "checkout", "-q", BRANCH)
    before = commit(path, {"before": "1"})
    assert prepare(root, WorktreeOrder("t1.1", BRANCH, tip)).worktree.path == path
    seen = glimpse(root, "t1.1")
    assert seen is not None
    assert seen.head == before
    assert linked(top) == 0
    after = commit(path, {"after": "1"})
    assert repo.branch_tip(BRANCH) == before, "from now on its refs are its own"
    write(path, {"dirty": "1"})
    assert release(root, "t1.1", "test").kept == ""
    assert repo.is_ancestor(after, BRANCH)
    assert git(top, "show", f"{BRANCH}:dirty") == "1"
    assert list(repo.refs("refs/paddock/kept").values()) == [aside]


def test_a_detached_commit_gets_a_ref_before_gits_entry_goes(root: WorktreeRoot, repo: Repo, top: Path) -> None:
    path = make_linked(root, top, "ready")
    git(path, "checkout", "-q", "--detach")
    alone = commit(path, {"a": "1"})
    assert glimpse(root, "t1.1") is not None
    assert linked(top) == 0
    assert alone in repo.refs("refs/paddock/kept").values()


def test_what_was_kept_for_a_person_stays(root: WorktreeRoot, top: Path) -> None:
    path = make_linked(root, top, "kept", reason="it was too large")
    write(path, {"precious": "1"})
    fill(root, git(top, "rev-parse", "main"), 1)
    assert (path / "precious").exists()
    [record, _] = [read_record(slot) for slot in list_slots(root)]
    assert record is not None
    assert record.state is SlotState.KEPT


@pytest.mark.parametrize("by", ["claim", "fill"])
def test_an_idle_one_is_made_again(root: WorktreeRoot, top: Path, tip: str, by: str) -> None:
    path = make_linked(root, top, "idle", attempt="", branch="", at="")
    git(path, "checkout", "-q", "--detach")
    if by == "fill":
        fill(root, tip, 1)
        assert count_idle(root) == 1
    worktree = prepare(root, WorktreeOrder("t2.1", "paddock/t2", tip)).worktree
    assert worktree.path == path
    assert git(path, "status", "--porcelain") == ""
    assert linked(top) == 0

"""A worktree in which somebody runs something beside the agent is given to nobody else before they have left."""

import pytest

from paddock.core.upkeep.findings import RemoveWorktree, ReturnWorktree
from paddock.core.upkeep.survey import SlotState
from paddock.git.worktrees.guests import be_guest
from paddock.git.worktrees.prepare import WorktreeOrder, find, prepare, release
from paddock.git.worktrees.slots import WorktreeRoot
from paddock.git.worktrees.upkeep import ChangedMeanwhile, sweep_worktree


def test_nobody_gives_a_worktree_back_or_removes_it_while_it_has_guests(root: WorktreeRoot, tip: str) -> None:
    path = prepare(root, WorktreeOrder("t1.1", "paddock/t1", tip)).worktree.path
    remove = RemoveWorktree(1, SlotState.READY, "t1.1")
    with be_guest(root, "t1.1"):
        with be_guest(root, "t1.1"):
            assert release(root, "t1.1", "it ended").slot is None
        assert release(root, "t1.1", "it ended").slot is None, "one has left, and another has not"
        for remedy in (ReturnWorktree("t1.1"), remove):
            with pytest.raises(ChangedMeanwhile):
                sweep_worktree(root, remedy)
        other = prepare(root, WorktreeOrder("t2.1", "paddock/t2", tip)).worktree.path
        assert other != path
        found = find(root, "t1.1")
        assert found is not None
        assert found.path == path
    assert release(root, "t1.1", "it ended").slot == 1
    assert find(root, "t1.1") is None


def test_where_there_is_no_worktree_there_are_no_guests(root: WorktreeRoot) -> None:
    with be_guest(root, "t9.1"):
        assert not root.slots_folder.exists() or not list(root.slots_folder.glob("*/guests"))

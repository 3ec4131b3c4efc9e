import os
import time
from pathlib import Path

from paddock.git.disk import disk_usage, free_space
from paddock.git.repo import Repo
from paddock.git.worktrees.gc import Waste, apply_gc, plan_gc
from paddock.git.worktrees.pool import count_idle, fill
from paddock.git.worktrees.prepare import WorktreeOrder, prepare, release
from paddock.git.worktrees.slots import SlotState, WorktreeRoot, hold_slot, list_slots, read_record
from tests.git.conftest import commit, git, write


def order(number: int, start: str) -> WorktreeOrder:
    return WorktreeOrder(f"t{number}.1", f"paddock/t{number}-work", start)


class TestPlan:
    def test_a_plan_changes_nothing_and_counts_bytes(self, root: WorktreeRoot, tip: str) -> None:
        prepare(root, order(1, tip))
        prepare(root, order(2, tip))
        write(root.path, {"w1/big": "x" * 500_000})
        plan = plan_gc(root, live={"t2.1"}, idle=0)
        assert [(item.waste, item.attempt) for item in plan.items] == [(Waste.ABANDONED, "t1.1")]
        assert plan.size_bytes >= 500_000
        assert (root.path / "w1/big").exists()
        assert len(list_slots(root)) == 2

    def test_the_pool_keeps_its_size(self, root: WorktreeRoot, tip: str) -> None:
        fill(root, tip, 3)
        plan = plan_gc(root, live=(), idle=2)
        assert [item.waste for item in plan.items] == [Waste.SURPLUS]
        report = apply_gc(root, plan)
        assert count_idle(root) == 2
        assert report.freed_bytes == plan.size_bytes > 0

    def test_an_entry_being_worked_on_is_not_half_made(self, root: WorktreeRoot, tip: str) -> None:
        fill(root, tip, 1)
        slot = list_slots(root)[0]
        with hold_slot(slot):
            (slot.home / "record.json").write_text('{"state":"making"}')
            assert plan_gc(root, live=(), idle=0).items == ()
        assert [item.waste for item in plan_gc(root, live=(), idle=0).items] == [Waste.HALF_MADE]


class TestApply:
    def test_commits_and_dirty_files_are_held_before_the_worktree_goes(
        self, root: WorktreeRoot, repo: Repo, tip: str
    ) -> None:
        tree = prepare(root, order(1, tip)).worktree
        git(tree.path, "checkout", "-q", "--detach")
        loose = commit(tree.path, {"work": "1"})
        write(tree.path, {"dirty": "2"})
        report = apply_gc(root, plan_gc(root, live=(), idle=0))
        assert not tree.path.exists()
        assert not tree.git_dir.exists()
        assert list_slots(root) == ()
        assert repo.is_ancestor(loose, "paddock/t1-work")
        assert git(repo.common_dir, "show", "paddock/t1-work:dirty") == "2"
        assert report.rescued == ("refs/heads/paddock/t1-work",)
        assert len(report.removed) == 1

    def test_foreign_worktrees_and_folders_are_untouched(
        self, root: WorktreeRoot, top: Path, tip: str, tmp_path: Path
    ) -> None:
        prepare(root, order(1, tip))
        git(top, "worktree", "add", "-q", "--detach", str(tmp_path / "foreign"))
        git(top, "worktree", "add", "-q", "--detach", str(root.path / "mine-beside-yours"))
        write(root.path, {"notes.txt": "x"})
        apply_gc(root, plan_gc(root, live=(), idle=0, force=True))
        assert git(tmp_path / "foreign", "status", "--porcelain") == ""
        assert git(root.path / "mine-beside-yours", "status", "--porcelain") == ""
        assert (root.path / "notes.txt").exists()
        assert not (root.path / "w1").exists()

    def test_what_changed_since_the_plan_is_spared(self, root: WorktreeRoot, tip: str) -> None:
        fill(root, tip, 1)
        plan = plan_gc(root, live=(), idle=0)
        prepare(root, order(1, tip))
        report = apply_gc(root, plan)
        assert report.removed == ()
        assert "changed since" in report.spared[0][1]
        assert (root.path / "w1/README.md").exists()

    def test_what_is_in_use_is_spared(self, root: WorktreeRoot, tip: str) -> None:
        fill(root, tip, 1)
        plan = plan_gc(root, live=(), idle=0)
        with hold_slot(list_slots(root)[0]):
            assert "in use" in apply_gc(root, plan).spared[0][1]

    def test_what_cannot_be_saved_goes_only_by_force(self, root: WorktreeRoot, tip: str) -> None:
        tree = prepare(root, order(1, tip)).worktree
        git(tree.path.parent, "init", "-q", str(tree.path / "nested"))
        write(tree.path, {"nested/precious": "1"})
        report = apply_gc(root, plan_gc(root, live=(), idle=0))
        assert "nested" in report.spared[0][1]
        record = read_record(list_slots(root)[0])
        assert record is not None
        assert record.state is SlotState.KEPT
        assert plan_gc(root, live=(), idle=0).items == ()
        forced = plan_gc(root, live=(), idle=0, force=True)
        assert "nested" in forced.items[0].note
        apply_gc(root, forced)
        assert not tree.path.exists()

    def test_a_worktree_whose_record_is_lost_is_kept_and_saved_when_forced(
        self, root: WorktreeRoot, repo: Repo, tip: str
    ) -> None:
        tree = prepare(root, order(1, tip)).worktree
        write(tree.path, {"dirty": "1"})
        (list_slots(root)[0].home / "record.json").write_text("")
        assert plan_gc(root, live=(), idle=0).items == ()
        assert fill(root, tip, 1).reclaimed == 0
        assert (tree.path / "dirty").exists()
        apply_gc(root, plan_gc(root, live=(), idle=1, force=True))
        assert not tree.path.exists()
        assert git(repo.common_dir, "show", "paddock/t1-work:dirty") == "1"

    def test_gits_entry_of_a_vanished_worktree_goes_and_its_commit_stays(
        self, root: WorktreeRoot, repo: Repo, top: Path
    ) -> None:
        lost = root.path / "w9"
        root.path.mkdir()
        git(top, "worktree", "add", "-q", "--detach", str(lost))
        loose = commit(lost, {"a": "1"})
        admin = repo.common_dir / "worktrees/w9"
        lost.rename(root.path.parent / "away")
        assert plan_gc(root, live=(), idle=0).items == ()
        os.utime(admin, (time.time() - 7200,) * 2)
        report = apply_gc(root, plan_gc(root, live=(), idle=0))
        assert [item.waste for item in report.removed] == [Waste.UNREGISTERED]
        assert not admin.exists()
        assert list(repo.refs("refs/paddock/kept").values()) == [loose]

    def test_a_wiped_root_is_no_obstacle_to_the_next_attempt(self, root: WorktreeRoot, tip: str) -> None:
        tree = prepare(root, order(1, tip)).worktree
        work = commit(tree.path, {"a": "1"})
        root.path.rename(root.path.parent / "away")
        again = prepare(root, WorktreeOrder("t1.2", "paddock/t1-work", work)).worktree
        assert git(again.path, "rev-parse", "HEAD") == work
        assert release(root, "t1.1", "test").slot is None


def test_disk_usage_does_not_follow_links(tmp_path: Path) -> None:
    write(tmp_path, {"outside/big": "x" * 1_000_000, "inside/small": "x"})
    (tmp_path / "inside/link").symlink_to(tmp_path / "outside")
    assert 0 < disk_usage(tmp_path / "inside") < 500_000
    assert disk_usage(tmp_path / "absent") == 0


def test_free_space_is_known_for_a_folder_yet_to_be_made(tmp_path: Path) -> None:
    assert free_space(tmp_path / "a/b/c").free_bytes > 0

import contextlib
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from paddock.core.upkeep.findings import RemoveWorktree, What
from paddock.core.upkeep.survey import SlotState
from paddock.git.disk import disk_usage, free_space
from paddock.git.lock import hold
from paddock.git.repo import Repo
from paddock.git.worktrees.pool import count_idle, fill
from paddock.git.worktrees.prepare import WorktreeOrder, prepare, release
from paddock.git.worktrees.slots import (
    SlotRecord,
    WorktreeRoot,
    hold_claims,
    hold_slot,
    list_slots,
    next_slot,
    read_record,
    write_record,
)
from tests.git.conftest import commit, git, write
from tests.git.worktrees.collecting import find_waste, remove, remove_waste, sizes


def order(number: int, start: str) -> WorktreeOrder:
    return WorktreeOrder(f"t{number}.1", f"paddock/t{number}-work", start)


class TestPlan:
    def test_a_plan_changes_nothing_and_counts_bytes(self, root: WorktreeRoot, tip: str) -> None:
        prepare(root, order(1, tip))
        prepare(root, order(2, tip))
        write(root.path, {"w1/big": "x" * 500_000})
        [one] = find_waste(root, live={"t2.1"})
        assert (one.what, one.remedy) == (What.ABANDONED, RemoveWorktree(1, SlotState.READY, "t1.1"))
        assert sizes(root, [one]) >= 500_000
        assert (root.path / "w1/big").exists()
        assert len(list_slots(root)) == 2

    def test_the_pool_keeps_its_size(self, root: WorktreeRoot, tip: str) -> None:
        fill(root, tip, 3)
        found = find_waste(root, idle=2)
        assert [one.what for one in found] == [What.SURPLUS]
        assert sizes(root, found) > 0
        assert remove(root, found).removed == found
        assert count_idle(root) == 2

    def test_an_entry_being_worked_on_is_not_half_made(self, root: WorktreeRoot, tip: str) -> None:
        fill(root, tip, 1)
        slot = list_slots(root)[0]
        with hold_slot(slot):
            (slot.home / "record.json").write_text('{"state":"making"}')
            assert find_waste(root) == []
        assert [one.what for one in find_waste(root)] == [What.HALF_MADE]


class TestApply:
    def test_commits_and_dirty_files_are_held_before_the_worktree_goes(
        self, root: WorktreeRoot, repo: Repo, tip: str
    ) -> None:
        tree = prepare(root, order(1, tip)).worktree
        git(tree.path, "checkout", "-q", "--detach")
        loose = commit(tree.path, {"work": "1"})
        write(tree.path, {"dirty": "2"})
        report = remove_waste(root)
        assert not tree.path.exists()
        assert not tree.git_dir.exists()
        assert list_slots(root) == ()
        assert repo.is_ancestor(loose, "paddock/t1-work")
        assert git(repo.common_dir, "show", "paddock/t1-work:dirty") == "2"
        assert report.rescued == ["refs/heads/paddock/t1-work"]
        assert len(report.removed) == 1

    def test_foreign_worktrees_and_folders_are_untouched(
        self, root: WorktreeRoot, top: Path, tip: str, tmp_path: Path
    ) -> None:
        prepare(root, order(1, tip))
        git(top, "worktree", "add", "-q", "--detach", str(tmp_path / "foreign"))
        git(top, "worktree", "add", "-q", "--detach", str(root.path / "mine-beside-yours"))
        write(root.path, {"notes.txt": "x"})
        remove_waste(root, force=True)
        assert git(tmp_path / "foreign", "status", "--porcelain") == ""
        assert git(root.path / "mine-beside-yours", "status", "--porcelain") == ""
        assert (root.path / "notes.txt").exists()
        assert not (root.path / "w1").exists()

    def test_what_changed_since_the_plan_is_spared(self, root: WorktreeRoot, tip: str) -> None:
        fill(root, tip, 1)
        found = find_waste(root)
        prepare(root, order(1, tip))
        report = remove(root, found)
        assert report.removed == []
        assert "changed since" in report.spared[0][1]
        assert (root.path / "w1/README.md").exists()

    def test_a_slot_that_is_just_being_taken_is_spared(self, root: WorktreeRoot) -> None:
        """Its folder is there, its lock and its record are not yet; whoever takes it holds the claims."""
        with ThreadPoolExecutor(1) as pool:
            with hold_claims(root) as claims:
                slot = next_slot(root, claims)
                slot.home.mkdir(parents=True)
                found = find_waste(root)
                assert [one.what for one in found] == [What.HALF_MADE]
                removal = pool.submit(remove, root, found)
                with hold_slot(slot) as lock:
                    write_record(slot, SlotRecord(SlotState.CLAIMED, attempt="t1.1"), lock)
            assert "changed since" in removal.result(60).spared[0][1]
        assert read_record(slot) is not None

    def test_what_is_in_use_is_spared(self, root: WorktreeRoot, tip: str) -> None:
        fill(root, tip, 1)
        found = find_waste(root)
        with hold_slot(list_slots(root)[0]):
            assert "in use" in remove(root, found).spared[0][1]

    def test_what_cannot_be_saved_goes_only_by_force(self, root: WorktreeRoot, tip: str) -> None:
        tree = prepare(root, order(1, tip)).worktree
        git(tree.path.parent, "init", "-q", str(tree.path / "nested"))
        write(tree.path, {"nested/precious": "1"})
        report = remove_waste(root)
        assert "nested" in report.spared[0][1]
        record = read_record(list_slots(root)[0])
        assert record is not None
        assert record.state is SlotState.KEPT
        assert find_waste(root) == []
        forced = find_waste(root, force=True)
        assert "nested" in forced[0].evidence
        remove(root, forced)
        assert not tree.path.exists()

    def test_a_worktree_whose_record_is_lost_is_kept_and_saved_when_forced(
        self, root: WorktreeRoot, repo: Repo, tip: str
    ) -> None:
        tree = prepare(root, order(1, tip)).worktree
        write(tree.path, {"dirty": "1"})
        (list_slots(root)[0].home / "record.json").write_text("")
        assert find_waste(root) == []
        assert fill(root, tip, 1).made == 1
        assert (tree.path / "dirty").exists()
        remove_waste(root, force=True)
        assert not tree.path.exists()
        assert git(repo.common_dir, "show", "paddock/t1-work:dirty") == "1"

    def test_a_wiped_root_is_no_obstacle_to_the_next_attempt(self, root: WorktreeRoot, tip: str) -> None:
        prepare(root, order(1, tip))
        root.path.rename(root.path.parent / "away")
        again = prepare(root, WorktreeOrder("t1.2", "paddock/t1-work", tip)).worktree
        assert git(again.path, "rev-parse", "HEAD") == tip
        assert release(root, "t1.1", "test").slot is None


def test_disk_usage_does_not_follow_links(tmp_path: Path) -> None:
    write(tmp_path, {"outside/big": "x" * 1_000_000, "inside/small": "x"})
    (tmp_path / "inside/link").symlink_to(tmp_path / "outside")
    assert 0 < disk_usage(tmp_path / "inside") < 500_000
    assert disk_usage(tmp_path / "absent") == 0


def test_free_space_is_known_for_a_folder_yet_to_be_made(tmp_path: Path) -> None:
    assert free_space(tmp_path / "a/b/c").free_bytes > 0


def test_a_lock_whose_folder_is_removed_meanwhile_is_had_all_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "w1"

    def take() -> None:
        for _ in range(500):
            with hold(folder / "lock"):
                pass

    with ThreadPoolExecutor(1) as pool:
        taking = pool.submit(take)
        while not taking.done():
            with contextlib.suppress(OSError):
                shutil.rmtree(folder, ignore_errors=True)
        taking.result()

import os
import stat
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from paddock.core.errors import PaddockError
from paddock.core.upkeep.survey import SlotState
from paddock.git.disk import DiskFloor
from paddock.git.repo import Repo
from paddock.git.worktrees.checkout import make
from paddock.git.worktrees.delivery import save_attempt
from paddock.git.worktrees.pool import count_idle, fill
from paddock.git.worktrees.prepare import PreparedWorktree, WorktreeOrder, find, prepare, release
from paddock.git.worktrees.slots import (
    PortPlan,
    WorktreeRoot,
    default_root,
    hold_slot,
    list_slots,
    own_ports,
    read_record,
)
from tests.git.conftest import MakeRepo, commit, git, write


def order(number: int, start: str) -> WorktreeOrder:
    return WorktreeOrder(f"t{number}.1", f"paddock/t{number}-work", start)


def status(path: Path) -> str:
    return git(path, "status", "--porcelain")


class TestPrepare:
    def test_a_cold_worktree_is_beside_the_repository_on_its_branch(
        self, root: WorktreeRoot, top: Path, tip: str
    ) -> None:
        prepared = prepare(root, order(41, tip))
        tree = prepared.worktree
        assert tree.path == top.parent / "app.paddock" / "w1"
        assert prepared.ready
        assert not prepared.warm
        assert git(tree.path, "symbolic-ref", "HEAD") == "refs/heads/paddock/t41-work"
        assert git(tree.path, "rev-parse", "HEAD") == tip
        assert status(tree.path) == ""
        assert (tree.path / "src/app.py").read_text() == "print('hello')\n"
        assert (tree.git_dir / "skip-auto-rebase-watcher").exists()
        assert tree.tmp.is_dir()

    def test_the_users_tree_is_neither_read_nor_touched(self, root: WorktreeRoot, top: Path, tip: str) -> None:
        write(top, {"README.md": "edited\n", "scratch": "x"})
        git(top, "checkout", "-q", "-b", "mine")
        index = (top / ".git/index").read_bytes()
        tree = prepare(root, order(1, tip)).worktree
        assert (tree.path / "README.md").read_text() == "hello\n"
        assert not (tree.path / "scratch").exists()
        assert (top / ".git/index").read_bytes() == index
        assert git(top, "symbolic-ref", "HEAD") == "refs/heads/mine"

    def test_asking_again_gives_the_same_worktree_with_the_agents_work_in_it(
        self, root: WorktreeRoot, tip: str
    ) -> None:
        first = prepare(root, order(1, tip)).worktree
        commit(first.path, {"new": "1"})
        write(first.path, {"dirty": "2"})
        assert prepare(root, order(1, tip)).worktree == first == find(root, "t1.1")
        assert (first.path / "dirty").read_text() == "2"
        assert git(first.path, "rev-list", "--count", f"{tip}..HEAD") == "1"

    def test_a_second_attempt_starts_over_and_the_first_ones_commits_stay_held(
        self, root: WorktreeRoot, repo: Repo, tip: str
    ) -> None:
        work = commit(prepare(root, order(1, tip)).worktree.path, {"a": "1"})
        release(root, "t1.1", "test")
        again = prepare(root, WorktreeOrder("t1.2", "paddock/t1-work", tip)).worktree
        assert git(again.path, "rev-parse", "HEAD") == tip
        assert list(repo.refs("refs/paddock/kept").values()) == [work]

    def test_a_branch_the_user_has_checked_out_is_not_moved(
        self, root: WorktreeRoot, repo: Repo, top: Path, tip: str
    ) -> None:
        git(top, "checkout", "-q", "-b", "paddock/t1-work")
        mine = commit(top, {"mine": "1"})
        tree = prepare(root, order(1, tip)).worktree
        work = commit(tree.path, {"work": "1"})
        saved = release(root, "t1.1", "test").saved
        assert git(top, "rev-parse", "HEAD") == mine
        assert saved is not None
        assert "checked out at" in saved.obstacle
        assert repo.refs("refs/paddock/kept")[saved.ref] == work

    def test_what_a_person_commits_to_the_branch_meanwhile_is_theirs(
        self, root: WorktreeRoot, repo: Repo, top: Path, tip: str
    ) -> None:
        tree = prepare(root, order(1, tip)).worktree
        mine = commit(top, {"mine": "1"})
        git(top, "branch", "paddock/t1-work", mine)
        work = commit(tree.path, {"work": "1"})
        saved = release(root, "t1.1", "test").saved
        assert repo.branch_tip("paddock/t1-work") == mine
        assert saved is not None
        assert "somebody else's" in saved.obstacle
        assert repo.refs("refs/paddock/kept")[saved.ref] == work

    def test_a_branch_below_the_name_of_its_own_stops_no_delivery(
        self, root: WorktreeRoot, repo: Repo, top: Path, tip: str
    ) -> None:
        tree = prepare(root, order(1, tip)).worktree
        git(top, "branch", "paddock/t1-work/x")
        work = commit(tree.path, {"work": "1"})
        saved = save_attempt(root, "t1.1", "test", held_by="refs/paddock/changes/t1.1")
        assert saved is not None
        assert "cannot be moved" in saved.obstacle
        assert saved.is_held
        assert repo.refs("refs/paddock")["refs/paddock/changes/t1.1"] == work
        assert release(root, "t1.1", "test").kept == ""

    def test_a_branch_named_paddock_is_named_as_the_obstacle(self, root: WorktreeRoot, top: Path, tip: str) -> None:
        git(top, "branch", "paddock")
        with pytest.raises(PaddockError, match="cannot exist beside") as refused:
            prepare(root, order(1, tip))
        assert "git branch -m paddock" in (refused.value.hint or "")

    def test_no_worktree_is_made_below_the_disk_floor(self, root: WorktreeRoot, tip: str) -> None:
        with pytest.raises(PaddockError, match="bytes free"):
            prepare(replace(root, floor=DiskFloor(2**62, 0)), order(1, tip))
        with pytest.raises(PaddockError, match="inodes free"):
            prepare(replace(root, floor=DiskFloor(0, 2**62)), order(1, tip))
        assert not root.path.exists() or list_slots(root) == ()

    def test_a_root_inside_the_repository_is_refused(self, repo: Repo, top: Path) -> None:
        with pytest.raises(PaddockError, match="it is inside"):
            WorktreeRoot(repo, top / "worktrees")

    def test_a_folder_in_the_way_is_left_alone(self, root: WorktreeRoot, tip: str) -> None:
        write(root.path, {"w1/precious": "x"})
        assert prepare(root, order(1, tip)).worktree.path.name == "w2"
        assert (root.path / "w1/precious").exists()

    def test_an_attempt_name_cannot_leave_the_folder(self, root: WorktreeRoot, tip: str) -> None:
        with pytest.raises(PaddockError, match="cannot name"):
            prepare(root, WorktreeOrder("../x", "paddock/x", tip))


class TestPortsAndEnvironment:
    def test_blocks_do_not_overlap_and_a_slot_keeps_its_own(self, root: WorktreeRoot, tip: str) -> None:
        one, two = (prepare(root, order(n, tip)).worktree for n in (1, 2))
        assert not set(one.ports) & set(two.ports)
        release(root, "t1.1", "test")
        assert prepare(root, order(3, tip)).worktree.ports == one.ports
        assert one.environment()["PADDOCK_PORT"] == str(one.ports.start)
        assert one.environment()["TMPDIR"] == str(one.tmp)
        assert one.tmp != two.tmp

    def test_running_out_of_ports_is_said_before_anything_is_made(self, root: WorktreeRoot, tip: str) -> None:
        narrow = replace(root, ports=PortPlan(20_000, 10, 20_010))
        prepare(narrow, order(1, tip))
        with pytest.raises(PaddockError, match="no ports left"):
            prepare(narrow, order(2, tip))
        assert not (root.path / "w2").exists()

    def test_two_repositories_usually_have_different_ports(self, tmp_path: Path) -> None:
        plans = {own_ports(tmp_path / f"app{n}.paddock", 10).block(1).start for n in range(40)}
        assert len(plans) > 30
        assert all(20_000 <= first <= 32_758 for first in plans)


class TestPool:
    def test_a_claim_takes_the_warm_one_and_only_switches_its_branch(self, root: WorktreeRoot, tip: str) -> None:
        assert fill(root, tip, 2).made == 2
        before = (root.path / "w1/README.md").stat().st_mtime_ns
        prepared = prepare(root, order(1, tip))
        assert prepared.warm
        assert prepared.worktree.path.name == "w1"
        assert (root.path / "w1/README.md").stat().st_mtime_ns == before
        assert git(root.path / "w1", "symbolic-ref", "--short", "HEAD") == "paddock/t1-work"
        assert count_idle(root) == 1

    def test_idle_worktrees_follow_main(self, root: WorktreeRoot, top: Path, tip: str) -> None:
        fill(root, tip, 1)
        moved = commit(top, {"README.md": "new\n", "added": "1"})
        report = fill(root, moved, 1)
        assert (report.repointed, report.made, count_idle(root)) == (1, 0, 1)
        assert (root.path / "w1/README.md").read_text() == "new\n"
        assert root.enclosure(list_slots(root)[0]).head() == moved
        assert fill(root, moved, 1).repointed == 0

    def test_an_entry_at_another_commit_is_brought_to_the_start(self, root: WorktreeRoot, top: Path, tip: str) -> None:
        fill(root, tip, 1)
        moved = commit(top, {"README.md": "new\n"})
        prepared = prepare(root, order(1, moved))
        assert prepared.warm
        assert (prepared.worktree.path / "README.md").read_text() == "new\n"
        assert status(prepared.worktree.path) == ""

    def test_what_a_straggler_wrote_into_a_returned_worktree_is_gone_at_the_claim(
        self, root: WorktreeRoot, tip: str
    ) -> None:
        prepare(root, order(9, tip))
        release(root, "t9.1", "test")
        fill(root, tip, 1)
        write(root.path / "w1", {"README.md": "tampered\n", "left": "x"})
        tree = prepare(root, order(1, tip)).worktree
        assert (tree.path / "README.md").read_text() == "hello\n"
        assert status(tree.path) == ""

    def test_it_is_gone_for_a_person_too_who_hides_untracked_files_from_git_status(
        self, root: WorktreeRoot, tip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "gitconfig").write_text("[status]\n\tshowUntrackedFiles = no\n")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
        prepare(root, order(9, tip))
        release(root, "t9.1", "test")
        write(root.path / "w1", {"left": "x"})
        assert not (prepare(root, order(1, tip)).worktree.path / "left").exists()

    def test_a_sparse_checkout_does_not_outlive_its_attempt(self, root: WorktreeRoot, tip: str) -> None:
        tree = prepare(root, order(1, tip)).worktree
        git(tree.path, "sparse-checkout", "set", "--no-cone", "/README.md")
        assert not (tree.path / "src").exists()
        release(root, "t1.1", "test")
        again = prepare(root, order(2, tip)).worktree
        assert (again.path / "src" / "app.py").exists()
        assert git(again.path, "ls-files", "-v") == "H README.md\nH src/app.py"

    def test_a_file_hidden_from_git_does_not_reach_the_next_attempt(self, root: WorktreeRoot, tip: str) -> None:
        tree = prepare(root, order(1, tip)).worktree
        git(tree.path, "update-index", "--skip-worktree", "README.md")
        write(tree.path, {"README.md": "tampered\n"})
        assert status(tree.path) == ""
        release(root, "t1.1", "test")
        again = prepare(root, order(2, tip)).worktree
        assert (again.path / "README.md").read_text() == "hello\n"

    def test_a_worktree_that_cannot_be_cleaned_is_kept_for_a_person(self, root: WorktreeRoot, tip: str) -> None:
        prepare(root, order(1, tip))
        [slot] = list_slots(root)
        (slot.home / "setup.pid").mkdir()
        kept = release(root, "t1.1", "test").kept
        assert kept.startswith("cannot be removed: ")
        record = read_record(slot)
        assert record is not None
        assert (record.state, record.reason) == (SlotState.KEPT, kept)
        assert prepare(root, order(2, tip)).worktree.path.name == "w2"

    def test_an_entry_someone_is_working_on_is_passed_over(self, root: WorktreeRoot, tip: str) -> None:
        fill(root, tip, 2)
        with hold_slot(list_slots(root)[0]):
            assert prepare(root, order(1, tip)).worktree.path.name == "w2"
            assert prepare(root, order(2, tip)).worktree.path.name == "w3"

    def test_a_returned_worktree_is_clean_and_keeps_only_the_named_caches(self, make_repo: MakeRepo) -> None:
        repo = make_repo("web", {".gitignore": "node_modules\n*.log\n.cache\n", "a": "1"})
        root = WorktreeRoot(repo, default_root(repo), keep=("node_modules",), floor=DiskFloor(0, 0))
        start = repo.resolve("main") or ""
        tree = prepare(root, order(1, start)).worktree
        write(tree.path, {"node_modules/x/index.js": "1", "sub/node_modules/y": "1", "debug.log": "1", ".cache/z": "1"})
        commit(tree.path, {"b": "2"})
        assert release(root, "t1.1", "test").kept == ""
        assert (tree.path / "node_modules/x/index.js").exists()
        assert (tree.path / "sub/node_modules/y").exists()
        assert not (tree.path / "debug.log").exists()
        assert not (tree.path / ".cache").exists()
        again = prepare(root, order(2, start))
        assert again.warm
        assert again.worktree.path == tree.path
        assert not (tree.path / "b").exists()
        assert not tree.tmp.exists()

    def test_a_cache_git_does_not_ignore_is_no_cache(self, root: WorktreeRoot, tip: str) -> None:
        keeping = replace(root, keep=("node_modules",))
        tree = prepare(keeping, order(1, tip)).worktree
        write(tree.path, {"node_modules/x": "1"})
        saved = release(keeping, "t1.1", "test").saved
        assert saved is not None
        assert saved.files == 1
        prepare(keeping, order(2, tip))
        assert not (tree.path / "node_modules").exists()

    def test_a_read_only_folder_does_not_stop_the_clean_up(self, root: WorktreeRoot, top: Path) -> None:
        start = commit(top, {".gitignore": "locked\n"})
        tree = prepare(root, order(1, start)).worktree
        write(tree.path, {"locked/deep/file": "1"})
        (tree.path / "locked/deep").chmod(stat.S_IRUSR | stat.S_IXUSR)
        (tree.path / "locked").chmod(stat.S_IRUSR | stat.S_IXUSR)
        if os.access(tree.path / "locked", os.W_OK):
            pytest.skip("this user may write everywhere (CAP_DAC_OVERRIDE)")
        assert release(root, "t1.1", "test").kept == ""
        assert not (tree.path / "locked").exists()
        assert count_idle(root) == 1

    def test_work_is_bounded_by_most(self, root: WorktreeRoot, tip: str) -> None:
        assert [fill(root, tip, 3, most=1).made for _ in range(4)] == [1, 1, 1, 0]
        assert count_idle(root) == 3

    def test_below_the_floor_the_pool_stops_growing_and_says_so(self, root: WorktreeRoot, tip: str) -> None:
        report = fill(replace(root, floor=DiskFloor(2**62, 0)), tip, 3)
        assert count_idle(root) == report.made == 0
        assert "no room" in report.problems[0]


class TestManyAtOnce:
    def test_fifty_threads_get_fifty_worktrees(self, root: WorktreeRoot, tip: str) -> None:
        gate = threading.Barrier(50)

        def claim(number: int) -> PreparedWorktree:
            gate.wait()
            return prepare(root, order(number, tip))

        with ThreadPoolExecutor(50) as pool:
            prepared = list(pool.map(claim, range(1, 51)))
        assert len({p.worktree.path for p in prepared}) == 50
        assert len({p.worktree.ports.start for p in prepared}) == 50
        for number, p in enumerate(prepared, 1):
            assert git(p.worktree.path, "symbolic-ref", "--short", "HEAD") == order(number, tip).branch
        assert len(git(root.repo.common_dir, "worktree", "list").splitlines()) == 1

    def test_processes_and_a_pool_being_filled_never_share_a_worktree(self, root: WorktreeRoot, tip: str) -> None:
        with ProcessPoolExecutor(6, mp_context=get_context("spawn")) as pool:
            filling = [pool.submit(fill, root, tip, 4) for _ in range(2)]
            claimed = [pool.submit(prepare, root, order(n, tip)) for n in range(1, 21)]
            paths = [job.result(60).worktree.path for job in claimed]
            assert all(job.result(60).problems == () for job in filling)
        assert len(set(paths)) == 20
        records = [read_record(slot) for slot in list_slots(root)]
        assert {record.state for record in records if record} <= {SlotState.READY, SlotState.IDLE}

    def test_one_attempt_prepared_twice_at_once_has_one_worktree(self, root: WorktreeRoot, tip: str) -> None:
        with ThreadPoolExecutor(8) as pool:
            prepared = list(pool.map(lambda _: prepare(root, order(1, tip)), range(8)))
        assert len({p.worktree.path for p in prepared}) == 1
        assert len(list_slots(root)) == 1


class TestHalfMade:
    def test_remains_of_a_killed_prepare_are_replaced(self, root: WorktreeRoot, tip: str) -> None:
        write(root.path, {".slots/w1/lock": "", ".slots/w1/control/HEAD": "", ".slots/w1/repo/HEAD": "torn"})
        tree = prepare(root, order(1, tip)).worktree
        assert status(tree.path) == ""

    def test_a_foreign_worktree_of_the_same_name_is_left_alone(
        self, root: WorktreeRoot, top: Path, tip: str, tmp_path: Path
    ) -> None:
        foreign = tmp_path / "elsewhere/w1"
        git(top, "worktree", "add", "-q", "--detach", str(foreign))
        assert prepare(root, order(1, tip)).worktree.path.name == "w1"
        assert status(foreign) == ""

    def test_making_replaces_a_torn_checkout(self, root: WorktreeRoot, tip: str) -> None:
        prepare(root, order(1, tip))
        slot = list_slots(root)[0]
        write(slot.path, {"torn": "x"})
        with hold_slot(slot) as lock:
            record = read_record(slot)
            assert record is not None
            make(root, slot, record, lock, lambda _name: None)
        assert os.listdir(slot.path) == []

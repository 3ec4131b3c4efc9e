import os
import subprocess
from pathlib import Path

import pytest

import paddock.git.worktrees.rescue
from paddock.core.upkeep.survey import SlotState
from paddock.git.facts import DiffStat, diffstat
from paddock.git.repo import Repo
from paddock.git.worktrees.checkout import admin_dir, operation_in_progress
from paddock.git.worktrees.prepare import Worktree, WorktreeOrder, find, prepare, release
from paddock.git.worktrees.release import Released
from paddock.git.worktrees.rescue import Rescued, dirty_files, loose_commits, rescue
from paddock.git.worktrees.slots import WorktreeRoot, list_slots, read_record
from tests.git.conftest import commit, git, write

BRANCH = "paddock/t1-work"


@pytest.fixture
def tree(root: WorktreeRoot, tip: str) -> Worktree:
    return prepare(root, WorktreeOrder("t1.1", BRANCH, tip)).worktree


def save(repo: Repo, tree: Worktree) -> Rescued:
    return rescue(repo, tree.path, tree.git_dir, BRANCH, "the agent stopped without a commit")


def files_at(path: Path, rev: str) -> list[str]:
    return git(path, "ls-tree", "-r", "--name-only", rev).splitlines()


def content(path: Path, rev: str, name: str) -> str:
    return git(path, "show", f"{rev}:{name}")


def start_conflict(tree: Worktree, operation: str) -> None:
    """Leave the worktree in the middle of `operation`, conflicted."""
    git(tree.path, "checkout", "-q", "-b", "other", tree.start)
    commit(tree.path, {"README.md": "theirs\n"}, "theirs")
    git(tree.path, "checkout", "-q", BRANCH)
    commit(tree.path, {"README.md": "ours\n"}, "ours")
    ended = subprocess.run(("git", "-C", str(tree.path), operation, "other"), check=False, capture_output=True)
    assert ended.returncode != 0
    assert operation_in_progress(tree.git_dir) == operation


class Died(Exception):
    """At a named point."""


STEPS = ("rescue.written", "rescue.committed", "rescue.moved", "rescue.switched", "rescue.indexed")


class TestRescue:
    @pytest.mark.parametrize("detached", [False, True], ids=["on-its-branch", "detached"])
    @pytest.mark.parametrize("step", STEPS)
    def test_one_that_died_half_way_is_finished_by_the_next(
        self, repo: Repo, tree: Worktree, step: str, detached: bool
    ) -> None:
        if detached:
            git(tree.path, "checkout", "-q", "--detach")
        write(tree.path, {"new.txt": "1"})

        def die(name: str) -> None:
            if name == step:
                raise Died

        with pytest.raises(Died):
            rescue(repo, tree.path, tree.git_dir, BRANCH, "it died", die)
        save(repo, tree)
        assert git(tree.path, "rev-list", "--count", f"{tree.start}..HEAD") == "1"
        assert repo.resolve(BRANCH) == git(tree.path, "rev-parse", "HEAD")
        assert files_at(tree.path, "HEAD") == sorted([*files_at(tree.path, tree.start), "new.txt"])
        assert not repo.refs("refs/paddock/kept/")
        assert not list(tree.git_dir.glob("paddock-rescue*"))

    def test_changed_new_and_deleted_files_are_in_the_commit_and_ignored_ones_are_not(
        self, repo: Repo, tree: Worktree
    ) -> None:
        write(tree.path, {".gitignore": "*.log\n", "x.log": "", "new/ünïcode \n file": "1", "README.md": "changed\n"})
        (tree.path / "src/app.py").unlink()
        rescued = save(repo, tree)
        assert rescued.files == 4
        assert rescued.ref == f"refs/heads/{BRANCH}"
        assert repo.resolve(BRANCH) == rescued.commit == git(tree.path, "rev-parse", "HEAD")
        assert repo.changed_paths(tree.start, BRANCH) == (
            ".gitignore",
            "README.md",
            "new/ünïcode \n file",
            "src/app.py",
        )
        assert git(tree.path, "status", "--porcelain") == ""
        message = git(tree.path, "log", "-1", "--format=%B")
        assert "Rescue 4 uncommitted files" in message
        assert "the agent stopped without a commit" in message

    def test_a_clean_worktree_needs_no_commit(self, repo: Repo, tree: Worktree) -> None:
        assert save(repo, tree).commit is None
        assert repo.resolve(BRANCH) == tree.start

    def test_hooks_do_not_run_and_the_users_tree_is_untouched(self, repo: Repo, tree: Worktree, top: Path) -> None:
        hooks = top / ".git/hooks"
        hooks.mkdir(exist_ok=True)
        for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction"):
            (hooks / name).write_text("#!/bin/sh\ntouch $GIT_DIR/sprung\nexit 1\n")
            (hooks / name).chmod(0o755)
        index = (top / ".git/index").read_bytes()
        write(tree.path, {"new": "1"})
        assert save(repo, tree).commit
        assert not (tree.git_dir / "sprung").exists()
        assert (top / ".git/index").read_bytes() == index

    def test_a_user_without_an_identity_gets_a_stand_in(
        self, repo: Repo, tree: Worktree, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for role in ("AUTHOR", "COMMITTER"):
            monkeypatch.delenv(f"GIT_{role}_NAME")
            monkeypatch.delenv(f"GIT_{role}_EMAIL")
        monkeypatch.delenv("EMAIL", raising=False)
        repo.git("config", "user.useConfigOnly", "true")
        write(tree.path, {"new": "1"})
        save(repo, tree)
        assert git(tree.path, "log", "-1", "--format=%an <%ae> %cn") == "Paddock <paddock@localhost> Paddock"

    def test_a_configured_identity_is_used(self, repo: Repo, tree: Worktree, monkeypatch: pytest.MonkeyPatch) -> None:
        for role in ("AUTHOR", "COMMITTER"):
            monkeypatch.delenv(f"GIT_{role}_NAME")
            monkeypatch.delenv(f"GIT_{role}_EMAIL")
        repo.git("config", "user.name", "Ada")
        repo.git("config", "user.email", "ada@example.invalid")
        write(tree.path, {"new": "1"})
        save(repo, tree)
        assert git(tree.path, "log", "-1", "--format=%an %ae") == "Ada ada@example.invalid"


class TestOddStates:
    def test_what_a_merge_in_progress_had_done_is_saved(self, repo: Repo, tree: Worktree) -> None:
        start_conflict(tree, "merge")
        rescued = save(repo, tree)
        assert rescued.ref == f"refs/heads/{BRANCH}"
        assert "<<<<<<<" in content(tree.path, BRANCH, "README.md")
        assert "A merge was in progress" in git(tree.path, "log", "-1", "--format=%B")
        assert operation_in_progress(tree.git_dir) is None
        assert git(tree.path, "status", "--porcelain") == ""
        assert git(tree.path, "log", "--format=%s", f"{tree.start}..HEAD").splitlines()[1] == "ours"

    def test_mid_rebase_leaves_the_branch_as_it_was_and_saves_beside_it(self, repo: Repo, tree: Worktree) -> None:
        start_conflict(tree, "rebase")
        before = repo.resolve(BRANCH)
        rescued = save(repo, tree)
        assert rescued.ref != f"refs/heads/{BRANCH}"
        assert repo.resolve(BRANCH) == before
        assert repo.refs("refs/paddock/kept")[rescued.ref] == rescued.commit
        assert "<<<<<<<" in content(tree.path, rescued.ref, "README.md")
        assert operation_in_progress(tree.git_dir) is None
        assert git(tree.path, "status", "--porcelain") == ""

    def test_a_detached_head_ahead_of_the_branch_moves_it_along(self, repo: Repo, tree: Worktree) -> None:
        git(tree.path, "checkout", "-q", "--detach")
        work = commit(tree.path, {"work": "1"})
        write(tree.path, {"more": "2"})
        rescued = save(repo, tree)
        assert rescued.ref == f"refs/heads/{BRANCH}"
        assert repo.is_ancestor(work, BRANCH)
        assert git(tree.path, "symbolic-ref", "--short", "HEAD") == BRANCH

    def test_work_on_another_branch_comes_to_the_attempts_own(self, repo: Repo, tree: Worktree) -> None:
        git(tree.path, "checkout", "-q", "-b", "feature")
        work = commit(tree.path, {"work": "1"})
        write(tree.path, {"more": "2"})
        save(repo, tree)
        assert files_at(tree.path, BRANCH) == ["README.md", "more", "src/app.py", "work"]
        assert repo.resolve("feature") == work

    def test_an_index_lock_left_behind(self, repo: Repo, tree: Worktree) -> None:
        (tree.git_dir / "index.lock").touch()
        write(tree.path, {"new": "1"})
        assert save(repo, tree).commit
        git(tree.path, "commit", "-q", "--allow-empty", "-m", "git works again")

    @pytest.mark.parametrize("damage", [b"", b"garbage that is no index"])
    def test_an_index_git_cannot_read(self, repo: Repo, tree: Worktree, damage: bytes) -> None:
        write(tree.path, {"new": "1"})
        (tree.git_dir / "index").write_bytes(damage)
        assert save(repo, tree).commit
        assert files_at(tree.path, BRANCH) == ["README.md", "new", "src/app.py"]
        assert git(tree.path, "status", "--porcelain") == ""

    def test_work_on_an_unborn_branch_is_saved(self, repo: Repo, tree: Worktree) -> None:
        git(tree.path, "checkout", "-q", "--orphan", "fresh")
        git(tree.path, "rm", "-rfq", ".")
        write(tree.path, {"new": "1"})
        save(repo, tree)
        assert files_at(tree.path, BRANCH) == ["new"]
        assert repo.is_ancestor(tree.start, BRANCH)

    def test_a_deleted_branch_is_made_again(self, repo: Repo, tree: Worktree) -> None:
        git(tree.path, "checkout", "-q", "--detach")
        git(tree.path, "branch", "-q", "-D", BRANCH)
        write(tree.path, {"new": "1"})
        assert save(repo, tree).commit == repo.resolve(BRANCH)

    def test_a_deleted_git_file_is_given_back(self, root: WorktreeRoot, repo: Repo, tree: Worktree) -> None:
        write(tree.path, {"new": "1"})
        (tree.path / ".git").unlink()
        released = release(root, "t1.1", "test")
        assert released.kept == ""
        assert released.rescued is not None
        assert "new" in files_at(root.path / "w1", BRANCH)
        assert repo.resolve(BRANCH) == released.rescued.commit

    def test_files_staged_and_half_staged(self, repo: Repo, tree: Worktree) -> None:
        write(tree.path, {"staged": "1", "half": "1", "intent": "1"})
        git(tree.path, "add", "staged", "half")
        git(tree.path, "add", "--intent-to-add", "intent")
        write(tree.path, {"half": "2"})
        assert save(repo, tree).files == 3
        assert content(tree.path, BRANCH, "half") == "2"

    def test_a_file_changed_in_the_second_it_was_staged(self, repo: Repo, tree: Worktree) -> None:
        repo.git("config", "core.trustctime", "false")  # a test can set the other time only
        for text in ("1", "2"):
            write(tree.path, {"half": text})
            os.utime(tree.path / "half", (1000, 1000))
            if text == "1":
                git(tree.path, "add", "half")
                os.utime(tree.git_dir / "index", (1000, 1000))
        save(repo, tree)
        assert content(tree.path, BRANCH, "half") == "2"


class TestWhatCannotBeSaved:
    def released(self, root: WorktreeRoot) -> Released:
        released = release(root, "t1.1", "test")
        record = read_record(list_slots(root)[0])
        assert record is not None
        assert record.state is SlotState.KEPT
        assert record.reason == released.kept
        assert find(root, "t1.1") is not None
        return released

    @pytest.mark.parametrize("with_commit", [True, False])
    def test_a_nested_repository_keeps_the_worktree(
        self, root: WorktreeRoot, repo: Repo, tree: Worktree, with_commit: bool
    ) -> None:
        subprocess.run(("git", "init", "-q", str(tree.path / "vendor/lib")), check=True)
        write(tree.path, {"vendor/lib/precious": "1", "plain": "2"})
        if with_commit:
            commit(tree.path / "vendor/lib", {"inner": "1"})
        released = self.released(root)
        assert "vendor/lib" in released.kept
        assert (tree.path / "vendor/lib/precious").exists()
        assert content(tree.path, BRANCH, "plain") == "2"
        assert release(root, "t1.1", "again").kept == released.kept

    def test_a_file_too_large_keeps_the_worktree(
        self, root: WorktreeRoot, tree: Worktree, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(paddock.git.worktrees.rescue, "LARGEST_RESCUED_BYTES", 100)
        write(tree.path, {"dump": "x" * 101, "small": "1"})
        assert "dump" in self.released(root).kept
        assert (tree.path / "dump").exists()
        assert files_at(tree.path, BRANCH) == ["README.md", "small", "src/app.py"]

    def test_a_worktree_turned_into_a_repository_of_its_own_is_kept(self, root: WorktreeRoot, tree: Worktree) -> None:
        (tree.path / ".git").unlink()
        subprocess.run(("git", "init", "-q", str(tree.path)), check=True)
        assert "no longer a worktree" in self.released(root).kept


class TestHolding:
    def test_commits_on_a_detached_head_and_on_deleted_branches_get_refs(
        self, root: WorktreeRoot, repo: Repo, tree: Worktree
    ) -> None:
        git(tree.path, "checkout", "-q", "-b", "doomed")
        first = commit(tree.path, {"a": "1"})
        second = commit(tree.path, {"a": "2"})
        git(tree.path, "checkout", "-q", "--detach", tree.start)
        git(tree.path, "branch", "-q", "-D", "doomed")
        alone = commit(tree.path, {"b": "1"})
        released = release(root, "t1.1", "test")
        held = repo.refs("refs/paddock/kept/t1.1")
        assert sorted(held.values()) == sorted((second, alone))
        assert set(released.held) == set(held)
        assert repo.is_ancestor(first, second)

    def test_a_torn_reflog_hides_no_commit(self, root: WorktreeRoot, repo: Repo, tree: Worktree) -> None:
        git(tree.path, "checkout", "-q", "--detach")
        alone = commit(tree.path, {"a": "1"})
        git(tree.path, "checkout", "-q", BRANCH)
        with open(tree.git_dir / "logs" / "HEAD", "ab") as reflog:
            reflog.write(b"\0" * 90 + b"\n\xff \xfe x\n-x --all y\n")
        held = release(root, "t1.1", "test").held
        assert [repo.resolve(ref) for ref in held] == [alone]


class TestLookingOnly:
    def test_the_size_of_a_change_is_told_and_nothing_changes(self, repo: Repo, tree: Worktree) -> None:
        commit(tree.path, {"a": "1\n2\n", "README.md": "x\ny\n"})
        head = commit(tree.path, {"bin": "\0\1"})
        write(tree.path, {"dirty": "1", "README.md": "z\n"})
        index = (tree.git_dir / "index").read_bytes()
        assert diffstat(repo, tree.start, head) == DiffStat(files=3, insertions=4, deletions=1)
        assert set(dirty_files(tree.path).paths) == {"dirty", "README.md"}
        assert (tree.git_dir / "index").read_bytes() == index

    def test_commits_left_behind_are_named(self, repo: Repo, tree: Worktree) -> None:
        git(tree.path, "checkout", "-q", "--detach")
        lost = commit(tree.path, {"a": "1"})
        git(tree.path, "checkout", "-q", BRANCH)
        assert loose_commits(repo, tree.path, tree.git_dir) == (lost,)

    def test_the_reflog_of_the_last_attempt_is_not_this_ones(
        self, root: WorktreeRoot, repo: Repo, tree: Worktree
    ) -> None:
        commit(tree.path, {"a": "1"})
        release(root, "t1.1", "test")
        git(repo.common_dir, "branch", "-D", BRANCH)
        again = prepare(root, WorktreeOrder("t2.1", "paddock/t2", tree.start)).worktree
        assert again.path == tree.path
        assert loose_commits(repo, again.path, again.git_dir) == ()

    @pytest.mark.parametrize("operation", ["merge", "rebase", "cherry-pick"])
    def test_an_operation_in_progress_is_named(self, tree: Worktree, operation: str) -> None:
        start_conflict(tree, operation)
        assert operation_in_progress(tree.git_dir) == operation
        assert dirty_files(tree.path).paths == ("README.md",)


def test_the_watchers_marker_and_admin_folder_are_found_again(repo: Repo, tree: Worktree) -> None:
    assert admin_dir(repo, tree.path) == tree.git_dir
    assert os.path.exists(tree.git_dir / "skip-auto-rebase-watcher")

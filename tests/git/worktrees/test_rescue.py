import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.core.upkeep.survey import SlotState
from paddock.git.checkpoints import Checkpoint, no_checkpoint
from paddock.git.facts import DiffStat, diffstat
from paddock.git.repo import Repo
from paddock.git.worktrees.checkout import operation_in_progress
from paddock.git.worktrees.delivery import Saved, glimpse, save_attempt
from paddock.git.worktrees.prepare import Worktree, WorktreeOrder, find, prepare, release
from paddock.git.worktrees.release import Released
from paddock.git.worktrees.slots import WorktreeRoot, list_slots, read_record
from tests.git.conftest import commit, git, write

BRANCH = "paddock/t1-work"
Save = Callable[..., Saved]


@pytest.fixture
def tree(root: WorktreeRoot, tip: str) -> Worktree:
    return prepare(root, WorktreeOrder("t1.1", BRANCH, tip)).worktree


@pytest.fixture
def save(root: WorktreeRoot) -> Save:
    def save(checkpoint: Checkpoint = no_checkpoint) -> Saved:
        saved = save_attempt(root, "t1.1", "the agent stopped without a commit", checkpoint)
        assert saved is not None
        return saved

    return save


def files_at(repo: Repo, rev: str) -> list[str]:
    return git(repo.common_dir, "ls-tree", "-r", "--name-only", rev).splitlines()


def content(repo: Repo, rev: str, name: str) -> str:
    return git(repo.common_dir, "show", f"{rev}:{name}")


def kept(repo: Repo) -> list[str]:
    return sorted(repo.refs("refs/paddock/kept").values())


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


STEPS = ("import.taken", "rescue.committed", "import.planned", "import.placed", "import.recorded")


class TestRescue:
    @pytest.mark.parametrize("detached", [False, True], ids=["on-its-branch", "detached"])
    @pytest.mark.parametrize("step", STEPS)
    def test_one_that_died_half_way_is_finished_by_the_next(
        self, repo: Repo, tree: Worktree, save: Save, step: str, detached: bool
    ) -> None:
        if detached:
            git(tree.path, "checkout", "-q", "--detach")
        own = commit(tree.path, {"own": "1"})
        write(tree.path, {"new.txt": "1"})

        def die(name: str) -> None:
            if name == step:
                raise Died

        with pytest.raises(Died):
            save(die)
        saved = save()
        assert git(repo.common_dir, "rev-list", f"{tree.start}..{BRANCH}").split() == [saved.head, own]
        assert files_at(repo, BRANCH) == ["README.md", "new.txt", "own", "src/app.py"]
        assert kept(repo) == []

    def test_changed_new_and_deleted_files_are_in_the_commit_and_ignored_ones_are_not(
        self, repo: Repo, tree: Worktree, save: Save
    ) -> None:
        write(tree.path, {".gitignore": "*.log\n", "x.log": "", "new/ünïcode \n file": "1", "README.md": "changed\n"})
        (tree.path / "src/app.py").unlink()
        saved = save()
        assert saved.files == 4
        assert saved.ref == f"refs/heads/{BRANCH}"
        assert repo.resolve(BRANCH) == saved.commit == saved.head
        assert repo.changed_paths(tree.start, BRANCH) == (
            ".gitignore",
            "README.md",
            "new/ünïcode \n file",
            "src/app.py",
        )
        message = git(repo.common_dir, "log", "-1", "--format=%B", BRANCH)
        assert "Rescue 4 uncommitted files" in message
        assert "the agent stopped without a commit" in message

    def test_a_clean_worktree_needs_no_commit(self, repo: Repo, tree: Worktree, save: Save) -> None:
        saved = save()
        assert saved.commit is None
        assert saved.head == tree.start
        assert saved.spotless
        assert repo.refs("refs/heads/paddock") == {}

    def test_hooks_do_not_run_and_the_users_tree_is_untouched(
        self, repo: Repo, tree: Worktree, top: Path, save: Save
    ) -> None:
        for hooks in (top / ".git/hooks", tree.git_dir / "hooks"):
            hooks.mkdir(exist_ok=True)
            for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
                (hooks / name).write_text(f"#!/bin/sh\ntouch {top.parent}/sprung\nexit 1\n")
                (hooks / name).chmod(0o755)
        index = (top / ".git/index").read_bytes()
        write(tree.path, {"new": "1"})
        assert save().commit
        assert not (top.parent / "sprung").exists()
        assert (top / ".git/index").read_bytes() == index

    def test_a_user_without_an_identity_gets_a_stand_in(
        self, repo: Repo, tree: Worktree, save: Save, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for role in ("AUTHOR", "COMMITTER"):
            monkeypatch.delenv(f"GIT_{role}_NAME")
            monkeypatch.delenv(f"GIT_{role}_EMAIL")
        monkeypatch.delenv("EMAIL", raising=False)
        repo.git("config", "user.useConfigOnly", "true")
        write(tree.path, {"new": "1"})
        save()
        said = git(repo.common_dir, "log", "-1", "--format=%an <%ae> %cn", BRANCH)
        assert said == "Paddock <paddock@localhost> Paddock"

    def test_a_configured_identity_is_used(
        self, repo: Repo, tree: Worktree, save: Save, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for role in ("AUTHOR", "COMMITTER"):
            monkeypatch.delenv(f"GIT_{role}_NAME")
            monkeypatch.delenv(f"GIT_{role}_EMAIL")
        repo.git("config", "user.name", "Ada")
        repo.git("config", "user.email", "ada@example.invalid")
        write(tree.path, {"new": "1"})
        save()
        assert git(repo.common_dir, "log", "-1", "--format=%an %ae", BRANCH) == "Ada ada@example.invalid"


class TestOddStates:
    def test_what_a_merge_in_progress_had_done_is_saved(self, repo: Repo, tree: Worktree, save: Save) -> None:
        start_conflict(tree, "merge")
        assert save().ref == f"refs/heads/{BRANCH}"
        assert "<<<<<<<" in content(repo, BRANCH, "README.md")
        assert "A merge was in progress" in git(repo.common_dir, "log", "-1", "--format=%B", BRANCH)
        assert git(repo.common_dir, "log", "--format=%s", f"{tree.start}..{BRANCH}").splitlines()[1] == "ours"

    def test_mid_rebase_leaves_the_branch_as_it_was_and_saves_beside_it(
        self, repo: Repo, tree: Worktree, save: Save
    ) -> None:
        start_conflict(tree, "rebase")
        before = git(tree.path, "rev-parse", BRANCH)
        saved = save()
        assert saved.ref != f"refs/heads/{BRANCH}"
        assert repo.resolve(BRANCH) == before
        assert repo.refs("refs/paddock/kept")[saved.ref] == saved.commit == saved.head
        assert "<<<<<<<" in content(repo, saved.ref, "README.md")

    def test_a_detached_head_ahead_of_the_branch_moves_it_along(self, repo: Repo, tree: Worktree, save: Save) -> None:
        git(tree.path, "checkout", "-q", "--detach")
        work = commit(tree.path, {"work": "1"})
        write(tree.path, {"more": "2"})
        assert save().ref == f"refs/heads/{BRANCH}"
        assert repo.is_ancestor(work, BRANCH)

    def test_work_on_another_branch_comes_to_the_attempts_own(self, repo: Repo, tree: Worktree, save: Save) -> None:
        git(tree.path, "checkout", "-q", "-b", "feature")
        work = commit(tree.path, {"work": "1"})
        write(tree.path, {"more": "2"})
        save()
        assert files_at(repo, BRANCH) == ["README.md", "more", "src/app.py", "work"]
        assert repo.is_ancestor(work, BRANCH)
        assert repo.resolve("feature") is None, "its other branches stay its own"

    def test_an_index_lock_left_behind(self, tree: Worktree, save: Save) -> None:
        (tree.git_dir / "index.lock").touch()
        write(tree.path, {"new": "1"})
        assert save().commit

    @pytest.mark.parametrize("damage", [b"", b"garbage that is no index"])
    def test_an_index_git_cannot_read(self, repo: Repo, tree: Worktree, save: Save, damage: bytes) -> None:
        write(tree.path, {"new": "1"})
        (tree.git_dir / "index").write_bytes(damage)
        assert save().commit
        assert files_at(repo, BRANCH) == ["README.md", "new", "src/app.py"]

    def test_work_on_an_unborn_branch_is_saved(self, repo: Repo, tree: Worktree, save: Save) -> None:
        git(tree.path, "checkout", "-q", "--orphan", "fresh")
        git(tree.path, "rm", "-rfq", ".")
        write(tree.path, {"new": "1"})
        save()
        assert files_at(repo, BRANCH) == ["new"]
        assert repo.is_ancestor(tree.start, BRANCH)

    def test_a_deleted_branch_is_made_again(self, repo: Repo, tree: Worktree, save: Save) -> None:
        git(tree.path, "checkout", "-q", "--detach")
        git(tree.path, "branch", "-q", "-D", BRANCH)
        write(tree.path, {"new": "1"})
        assert save().commit == repo.resolve(BRANCH)

    def test_a_deleted_git_file_changes_nothing(self, root: WorktreeRoot, repo: Repo, tree: Worktree) -> None:
        work = commit(tree.path, {"work": "1"})
        write(tree.path, {"new": "1"})
        (tree.path / ".git").unlink()
        released = release(root, "t1.1", "test")
        assert released.kept == ""
        assert released.saved is not None
        assert files_at(repo, BRANCH) == ["README.md", "new", "src/app.py", "work"]
        assert repo.is_ancestor(work, BRANCH)

    def test_files_staged_and_half_staged(self, repo: Repo, tree: Worktree, save: Save) -> None:
        write(tree.path, {"staged": "1", "half": "1", "intent": "1"})
        git(tree.path, "add", "staged", "half")
        git(tree.path, "add", "--intent-to-add", "intent")
        write(tree.path, {"half": "2"})
        assert save().files == 3
        assert content(repo, BRANCH, "half") == "2"

    def test_an_ignored_file_that_was_staged_is_work(self, repo: Repo, tree: Worktree, save: Save) -> None:
        commit(tree.path, {".gitignore": "*.log\n"})
        write(tree.path, {"wanted.log": "1", "other.log": "2"})
        git(tree.path, "add", "--force", "wanted.log")
        assert save().files == 1
        assert files_at(repo, BRANCH) == [".gitignore", "README.md", "src/app.py", "wanted.log"]

    def test_files_left_out_of_a_checkout_are_not_deleted_ones(self, repo: Repo, tree: Worktree, save: Save) -> None:
        git(tree.path, "sparse-checkout", "set", "--no-cone", "/README.md")
        assert not (tree.path / "src").exists()
        write(tree.path, {"README.md": "changed\n"})
        assert save().files == 1
        assert files_at(repo, BRANCH) == ["README.md", "src/app.py"]

    def test_a_file_changed_in_the_second_it_was_staged(self, repo: Repo, tree: Worktree, save: Save) -> None:
        for text in ("1", "2"):
            write(tree.path, {"half": text})
            os.utime(tree.path / "half", (1000, 1000))
            if text == "1":
                git(tree.path, "add", "half")
                os.utime(tree.git_dir / "index", (1000, 1000))
        save()
        assert content(repo, BRANCH, "half") == "2"


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
        self, root: WorktreeRoot, repo: Repo, tree: Worktree, save: Save, with_commit: bool
    ) -> None:
        subprocess.run(("git", "init", "-q", str(tree.path / "vendor/lib")), check=True)
        write(tree.path, {"vendor/lib/precious": "1", "plain": "2"})
        if with_commit:
            commit(tree.path / "vendor/lib", {"inner": "1"})
        assert save().left == ("vendor/lib",)
        released = self.released(root)
        assert "vendor/lib" in released.kept
        assert (tree.path / "vendor/lib/precious").exists()
        assert content(repo, BRANCH, "plain") == "2"
        assert release(root, "t1.1", "again").kept == released.kept

    def test_a_file_too_large_keeps_the_worktree(self, root: WorktreeRoot, repo: Repo, tree: Worktree) -> None:
        root = replace(root, largest_file_mb=1)
        write(tree.path, {"dump": "x" * (1024**2 + 1), "full": "x" * 1024**2, "small": "1"})
        saved = save_attempt(root, "t1.1", "test")
        assert saved is not None
        assert saved.left == ("dump",)
        assert "dump" in self.released(root).kept
        assert (tree.path / "dump").exists()
        assert files_at(repo, BRANCH) == ["README.md", "full", "small", "src/app.py"]

    def test_a_worktree_turned_into_a_repository_of_its_own_is_still_saved(
        self, root: WorktreeRoot, repo: Repo, tree: Worktree
    ) -> None:
        (tree.path / ".git").unlink()
        subprocess.run(("git", "init", "-q", str(tree.path)), check=True)
        inner = commit(tree.path, {"inner": "1"})
        assert release(root, "t1.1", "test").kept == ""
        assert content(repo, BRANCH, "inner") == "1"
        assert repo.resolve(inner) is None

    def test_a_submodule_that_was_checked_out_keeps_the_worktree(
        self, root: WorktreeRoot, tree: Worktree, top: Path, save: Save
    ) -> None:
        subprocess.run(("git", "init", "-q", str(top.parent / "lib")), check=True)
        commit(top.parent / "lib", {"inner": "1"})
        adding = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
        git(tree.path, *adding, str(top.parent / "lib"), "lib")
        head = commit(tree.path, {})
        saved = save()
        assert (saved.head, saved.left) == (head, ())
        assert "submodules" in self.released(root).kept


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
        assert list(held.values()) == [second]
        assert set(released.held) == set(held)
        assert repo.is_ancestor(first, second)
        assert repo.resolve(BRANCH) == alone

    def test_a_stash_and_a_branch_beside_get_refs(self, root: WorktreeRoot, repo: Repo, tree: Worktree) -> None:
        write(tree.path, {"README.md": "stashed\n"})
        git(tree.path, "stash", "-q")
        stash = git(tree.path, "rev-parse", "stash")
        git(tree.path, "checkout", "-q", "-b", "beside")
        beside = commit(tree.path, {"a": "1"})
        git(tree.path, "checkout", "-q", BRANCH)
        git(tree.path, "pack-refs", "--all")
        release(root, "t1.1", "test")
        assert kept(repo) == sorted((stash, beside))

    def test_a_torn_reflog_hides_no_commit(self, root: WorktreeRoot, repo: Repo, tree: Worktree) -> None:
        git(tree.path, "checkout", "-q", "--detach")
        alone = commit(tree.path, {"a": "1"})
        git(tree.path, "checkout", "-q", BRANCH)
        with open(tree.git_dir / "logs" / "HEAD", "ab") as reflog:
            reflog.write(b"\0" * 90 + b"\n\xff \xfe x\n-x --all y\n")
        held = release(root, "t1.1", "test").held
        assert [repo.resolve(ref) for ref in held] == [alone]


class TestLookingOnly:
    def test_what_has_been_done_is_told_and_nothing_changes(
        self, root: WorktreeRoot, repo: Repo, tree: Worktree
    ) -> None:
        commit(tree.path, {"a": "1\n2\n", "README.md": "x\ny\n"})
        head = commit(tree.path, {"bin": "\0\1"})
        write(tree.path, {"dirty": "1", "README.md": "z\n"})
        indexes = [tree.git_dir / "index", root.enclosure(list_slots(root)[0]).index]
        before = [index.read_bytes() for index in indexes]
        seen = glimpse(root, "t1.1")
        assert seen is not None
        assert seen.head == head
        assert set(seen.dirty.paths) == {"dirty", "README.md"}
        assert diffstat(repo, tree.start, head) == DiffStat(files=3, insertions=4, deletions=1)
        assert [index.read_bytes() for index in indexes] == before
        assert repo.refs("refs/heads/paddock") == {}

    def test_the_reflog_of_the_last_attempt_is_not_this_ones(
        self, root: WorktreeRoot, repo: Repo, tree: Worktree
    ) -> None:
        commit(tree.path, {"a": "1"})
        release(root, "t1.1", "test")
        git(repo.common_dir, "branch", "-D", BRANCH)
        again = prepare(root, WorktreeOrder("t2.1", "paddock/t2", tree.start)).worktree
        assert again.path == tree.path
        assert release(root, "t2.1", "test").held == ()

    @pytest.mark.parametrize("operation", ["merge", "rebase", "cherry-pick"])
    def test_an_operation_in_progress_is_named(self, root: WorktreeRoot, tree: Worktree, operation: str) -> None:
        start_conflict(tree, operation)
        assert operation_in_progress(tree.git_dir) == operation
        seen = glimpse(root, "t1.1")
        assert seen is not None
        assert seen.dirty.paths == ("README.md",)

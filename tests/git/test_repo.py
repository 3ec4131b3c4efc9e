import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from paddock.core.errors import PaddockError
from paddock.git.repo import ABSENT, GitFailed, Repo, discover, run_git
from paddock.git.worktrees.slots import default_root
from tests.git.conftest import MakeRepo, commit, git


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def has_ended(pid: int, within_seconds: float = 10) -> bool:
    """A zombie nobody has reaped yet has ended."""
    deadline = time.monotonic() + within_seconds
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
    return False


class TestDiscover:
    def test_a_subfolder_leads_to_the_top(self, top: Path) -> None:
        found = discover(top / "src")
        assert (found.top, found.main) == (top, top)
        assert found.common_dir == found.git_dir == top / ".git"
        assert found.name == "app"

    def test_a_linked_worktree_leads_to_the_shared_repository(self, repo: Repo, tmp_path: Path) -> None:
        assert repo.top is not None
        linked = tmp_path / "elsewhere" / "linked"
        git(repo.top, "worktree", "add", "--detach", str(linked))
        found = discover(linked / "src")
        assert found.common_dir == repo.common_dir
        assert found.git_dir == repo.common_dir / "worktrees" / "linked"
        assert (found.top, found.main) == (linked, repo.top)

    def test_a_symlinked_folder_leads_to_the_real_one(self, top: Path, tmp_path: Path) -> None:
        (tmp_path / "alias").symlink_to(top / "src")
        assert discover(tmp_path / "alias").top == top

    def test_plain_layouts_start_no_process(self, top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        linked = tmp_path / "linked"
        git(top, "worktree", "add", "--detach", str(linked))
        folder = tmp_path / "bin"
        folder.mkdir()
        executable(folder / "git", f"#!/bin/sh\ntouch {tmp_path}/started\nexit 1\n")
        monkeypatch.setenv("PATH", str(folder))
        assert discover(top).top == top
        assert discover(linked).main == top
        assert not (tmp_path / "started").exists()

    def test_inside_the_git_directory_there_is_no_top(self, top: Path) -> None:
        found = discover(top / ".git" / "refs")
        assert found.common_dir == top / ".git"
        assert found.top is None
        assert found.main == top

    def test_a_separate_git_directory_is_followed(self, tmp_path: Path) -> None:
        tree, store = tmp_path / "tree", tmp_path / "store"
        subprocess.run(("git", "init", "-q", f"--separate-git-dir={store}", str(tree)), check=True)
        found = discover(tree)
        assert (found.common_dir, found.top) == (store, tree)

    def test_a_submodule_is_a_repository_of_its_own(self, top: Path, make_repo: MakeRepo) -> None:
        library = make_repo("library")
        git(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.top), "lib")
        found = discover(top / "lib")
        assert found.top == top / "lib"
        assert found.common_dir == top / ".git" / "modules" / "lib"
        assert found.main == top / "lib"
        assert default_root(found) == top / ".git" / "modules" / "lib.paddock"

    def test_a_worktree_of_a_bare_repository_will_do(self, repo: Repo, tmp_path: Path) -> None:
        bare, linked = tmp_path / "app.git", tmp_path / "linked"
        git(tmp_path, "clone", "-q", "--bare", str(repo.top), str(bare))
        git(bare, "worktree", "add", "--detach", str(linked))
        found = discover(linked)
        assert (found.common_dir, found.top, found.main, found.name) == (bare, linked, None, "app")

    def test_a_bare_repository_is_refused(self, repo: Repo, tmp_path: Path) -> None:
        git(tmp_path, "clone", "-q", "--bare", str(repo.top), "bare.git")
        with pytest.raises(PaddockError, match="bare repository") as refused:
            discover(tmp_path / "bare.git")
        assert refused.value.hint

    def test_outside_any_repository_the_hint_says_what_to_run(self, tmp_path: Path) -> None:
        with pytest.raises(PaddockError, match="not inside a git repository") as refused:
            discover(tmp_path)
        assert "git init" in (refused.value.hint or "")

    def test_a_broken_gitfile_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / ".git").write_text("gitdir: /nowhere/at/all\n")
        with pytest.raises(PaddockError, match=r"not a git repository|not inside a git repository"):
            discover(tmp_path)

    def test_inherited_git_variables_are_ignored(
        self, top: Path, make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = make_repo("other")
        monkeypatch.setenv("GIT_DIR", str(other.git_dir))
        monkeypatch.setenv("GIT_WORK_TREE", str(other.top))
        assert discover(top / ".git").common_dir == top / ".git"
        assert run_git(top, "rev-parse", "--show-toplevel").text == str(top)

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give the repository to another user")
    def test_another_users_repository_is_refused_until_trusted(
        self, top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for path in (top, top / ".git"):
            os.chown(path, 12345, 12345)
        with pytest.raises(PaddockError, match="does not trust") as refused:
            discover(top)
        assert f"safe.directory {top}" in (refused.value.hint or "")
        trusting = tmp_path / "gitconfig"
        trusting.write_text(f"[safe]\n\tdirectory = {top}\n")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(trusting))
        assert discover(top).top == top

    def test_a_missing_git_is_named(self, top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(PaddockError, match="git was not found"):
            discover(top)

    def test_an_old_git_is_refused_with_both_versions(
        self, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path / "bin"
        folder.mkdir()
        executable(folder / "git", "#!/bin/sh\necho git version 2.37.9\n")
        monkeypatch.setenv("PATH", str(folder))
        with pytest.raises(PaddockError, match=r"2\.37\.9.*needs 2\.38"):
            repo.resolve("HEAD")


class TestRunGit:
    def test_hooks_and_fsmonitor_of_the_repository_do_not_run(self, top: Path, tmp_path: Path) -> None:
        trap = executable(tmp_path / "trap", f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
        for name in ("pre-commit", "post-checkout", "reference-transaction", "post-index-change"):
            (top / ".git" / "hooks").mkdir(exist_ok=True)
            shutil.copy(trap, top / ".git" / "hooks" / name)
        git(top, "config", "core.fsmonitor", str(trap))
        git(top, "config", "core.hooksPath", str(top / ".git" / "hooks"))
        (tmp_path / "sprung").unlink(missing_ok=True)
        run_git(top, "status")
        run_git(top, "commit", "-q", "--allow-empty", "-m", "x")
        run_git(top, "checkout", "-q", "-b", "other")
        assert not (tmp_path / "sprung").exists()

    def test_a_signature_program_of_the_repository_does_not_run(self, top: Path, tmp_path: Path) -> None:
        trap = executable(tmp_path / "trap", f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
        git(top, "config", "log.showSignature", "true")
        git(top, "config", "gpg.program", str(trap))
        plain = run_git(top, "cat-file", "commit", "HEAD").stdout
        head, _, message = plain.partition(b"\n\n")
        signed = head + b"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n\n" + message
        commit = run_git(top, "hash-object", "-t", "commit", "-w", "--stdin", input=signed).text
        assert run_git(top, "log", "-1", "--format=%H", commit).text == commit
        assert not (tmp_path / "sprung").exists()

    def test_a_failure_carries_command_code_and_what_git_said(self, top: Path) -> None:
        with pytest.raises(GitFailed) as failed:
            run_git(top, "rev-parse", "--verify", "nonsense")
        assert failed.value.result.code == 128
        assert "rev-parse --verify nonsense" in failed.value.message
        assert "Needed a single revision" in failed.value.message
        assert "hooksPath" not in failed.value.message

    def test_a_relative_directory_means_ours(self, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(top.parent)
        assert run_git(Path("app"), "rev-parse", "--show-toplevel").text == str(top)

    def test_a_hanging_remote_is_killed_with_all_its_children(self, repo: Repo, tmp_path: Path) -> None:
        pid_file = tmp_path / "pid"
        hang = executable(tmp_path / "hang", f"#!/bin/sh\necho $$ > {pid_file}\nexec sleep 600\n")
        repo.git("config", "core.sshCommand", str(hang))
        repo.git("remote", "add", "origin", "ssh://nobody@host.invalid/app.git")
        for seconds in (1, 10, 60):  # a busy machine has not come to the hanging within the first
            fetched = repo.fetch("origin", "main", timeout=seconds)
            assert fetched.sha is None
            assert f"within {seconds} s" in fetched.problem
            if pid_file.exists() and pid_file.read_text():
                break
        assert has_ended(int(pid_file.read_text()))

    def test_importing_it_does_not_import_subprocess(self) -> None:
        ended = subprocess.run(
            (sys.executable, "-c", "import sys, paddock.git.repo; print('subprocess' in sys.modules)"),
            check=True,
            capture_output=True,
            text=True,
        )
        assert ended.stdout.strip() == "False"


class TestRefs:
    def test_a_swap_happens_only_from_the_expected_value(self, repo: Repo, top: Path) -> None:
        one = git(top, "rev-parse", "HEAD")
        two = commit(top, {"a": "2"})
        ref = "refs/paddock/changes/t1.1"
        assert repo.update_ref(ref, one, ABSENT)
        assert not repo.update_ref(ref, two, ABSENT)
        assert not repo.update_ref(ref, one, two)
        assert repo.refs("refs/paddock") == {ref: one}
        assert repo.update_ref(ref, two, one)
        assert repo.update_ref(ref, ABSENT, two)
        assert repo.refs("refs/paddock") == {}

    def test_a_swap_to_nothing_that_exists_raises(self, repo: Repo) -> None:
        with pytest.raises(GitFailed):
            repo.update_ref("refs/paddock/x", "1" * 40, ABSENT)

    def test_names_that_are_no_commit_resolve_to_none(self, repo: Repo, top: Path) -> None:
        head = git(top, "rev-parse", "HEAD")
        assert repo.resolve("main") == repo.resolve(head[:10]) == head
        for name in ("nope", "", "--all", "main:README.md", "HEAD~5"):
            assert repo.resolve(name) is None

    def test_ancestry_and_changed_paths(self, repo: Repo, top: Path) -> None:
        base = git(top, "rev-parse", "HEAD")
        git(top, "checkout", "-q", "-b", "side")
        side = commit(top, {"side file é": "1"})
        git(top, "checkout", "-q", "main")
        head = commit(top, {"src/app.py": "changed\n"})
        git(top, "mv", "README.md", "LIESMICH.md")
        moved = commit(top, {})
        assert repo.is_ancestor(base, head)
        assert not repo.is_ancestor(head, base)
        assert repo.merge_base(side, head) == base
        assert repo.changed_paths(base, side) == ("side file é",)
        assert repo.changed_paths(head, moved) == ("LIESMICH.md", "README.md")
        assert repo.changed_paths(base, base) == ()

    def test_unrelated_histories_have_no_merge_base(self, repo: Repo, top: Path) -> None:
        head = git(top, "rev-parse", "HEAD")
        orphan = git(top, "commit-tree", repo.tree_of(head), "-m", "orphan")
        assert repo.merge_base(head, orphan) is None

    def test_an_empty_repository_has_no_commits_but_a_branch(self, make_repo: MakeRepo) -> None:
        empty = make_repo("empty", files={})
        assert not empty.has_commits()
        assert empty.head_branch() == empty.default_branch() == "main"
        assert empty.resolve("HEAD") is None

    def test_a_detached_head_has_no_branch(self, repo: Repo, top: Path) -> None:
        assert repo.has_commits()
        git(top, "checkout", "-q", "--detach")
        assert repo.head_branch() is None
        assert repo.default_branch() == "main"

    def test_the_default_branch_is_the_remotes(self, top: Path, tmp_path: Path) -> None:
        git(top, "branch", "release")
        git(top, "checkout", "-q", "release")
        git(tmp_path, "clone", "-q", str(top), "clone")
        git(tmp_path / "clone", "checkout", "-q", "-b", "main")
        assert discover(tmp_path / "clone").default_branch() == "release"

    def test_fetch_brings_the_remotes_tip_and_reports_trouble(self, top: Path, tmp_path: Path) -> None:
        git(tmp_path, "clone", "-q", str(top), "clone")
        clone = discover(tmp_path / "clone")
        tip = commit(top, {"new": "1"})
        assert clone.fetch("origin", "main").sha == tip
        assert clone.refs("refs/remotes/origin/main") == {"refs/remotes/origin/main": tip}
        missing = clone.fetch("origin", "nope")
        assert missing.sha is None
        assert "nope" in missing.problem
        assert clone.fetch("nowhere", "main").problem

    def test_status_reads_leave_the_index_alone(self, top: Path) -> None:
        index = top / ".git" / "index"
        os.utime(top / "README.md", (1, 1))
        before = index.read_bytes()
        run_git(top, "status", "--porcelain")
        assert index.read_bytes() == before
        assert stat.S_ISREG(index.stat().st_mode)

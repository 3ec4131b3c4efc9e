"""A git that a signal ends gives no answer, and its locks do not stay."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.core.merge.model import Member
from paddock.git import left_locks
from paddock.git.command import GitKilled, run_git
from paddock.git.landing.held import hold_change
from paddock.git.left_locks import noted, remove_left_locks
from paddock.git.lock_files import find_left_locks
from paddock.git.repo import ABSENT, GitFailed, Repo
from tests.git.conftest import git
from tests.git.killer import GitKiller

MAIN = "refs/heads/main"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(left_locks, "SETTLED_SECONDS", 0.01)


@pytest.fixture
def killer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitKiller:
    made = GitKiller(tmp_path / "killer")
    made.arm()
    monkeypatch.setenv("PATH", made.path)
    return made


@pytest.fixture
def tip(repo: Repo) -> str:
    found = repo.resolve(MAIN)
    assert found is not None
    return found


def lock_left_in(path: Path, text: str = "") -> str:
    return f"printf %s '{text}' > '{path}'"


def die_in_a_move(repo: Repo, tip: str, straggler: Callable[[], object] | None = None) -> Path:
    """The lock that a process killed in a move of main has left; `straggler` is what its git is still doing."""
    lock = repo.common_dir / f"{MAIN}.lock"
    child = os.fork()
    if child == 0:
        with noted(repo.common_dir, {MAIN: tip}):
            lock.touch()
            if straggler is not None and os.fork() == 0:
                straggler()
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    return lock


class TestAnswers:
    def test_a_question_is_asked_again(self, repo: Repo, tip: str, killer: GitKiller) -> None:
        killer.arm(1, 2, pattern="*rev-parse*")
        assert repo.resolve(MAIN) == tip
        assert killer.calls == 3

    @pytest.mark.parametrize(
        "ask",
        [
            lambda repo, tip: repo.resolve(tip),
            lambda repo, tip: repo.is_ancestor(tip, tip),
            lambda repo, tip: repo.merge_base(tip, tip),
            lambda repo, _: repo.config("user.name"),
            lambda repo, _: repo.refs("refs/heads"),
            lambda repo, tip: hold_change(repo, Member("t1", 1, tip), tip),
        ],
    )
    def test_what_is_killed_again_and_again_says_nothing(
        self, repo: Repo, tip: str, killer: GitKiller, ask: Callable[[Repo, str], object]
    ) -> None:
        killer.arm_always()
        with pytest.raises(GitKilled, match="was killed by SIGKILL"):
            ask(repo, tip)

    def test_a_child_of_git_that_is_killed_is_no_answer_either(self, repo: Repo, top: Path) -> None:
        git(top, "config", "filter.deadly.clean", "kill -9 $$")
        git(top, "config", "filter.deadly.required", "true")
        (top / ".gitattributes").write_text("*.txt filter=deadly\n")
        (top / "a.txt").write_text("a\n")
        with pytest.raises(GitKilled, match="was killed by SIGKILL"):
            run_git(top, "add", "a.txt", check=False)

    def test_the_version_is_asked_again(self, top: Path, killer: GitKiller) -> None:
        killer.arm(1, pattern="--version")
        assert run_git(top, "rev-parse", "--is-inside-work-tree").text == "true"

    def test_a_remote_whose_git_is_killed_is_unreachable(self, repo: Repo, killer: GitKiller) -> None:
        killer.arm_always("*fetch*")
        fetched = repo.fetch("origin", "main")
        assert fetched.sha is None


class TestMoves:
    @pytest.mark.parametrize("after", [False, True])
    def test_a_move_is_made_once_wherever_it_is_killed(
        self, repo: Repo, tip: str, killer: GitKiller, after: bool
    ) -> None:
        killer.arm(1, pattern="*update-ref*", after=after)
        assert repo.update_ref("refs/paddock/x", tip, ABSENT)
        assert repo.refs("refs/paddock") == {"refs/paddock/x": tip}
        assert not repo.update_ref("refs/paddock/x", tip, ABSENT)

    @pytest.mark.parametrize("name", ["refs/paddock/x.lock", "HEAD.lock", "packed-refs.lock"])
    def test_the_lock_of_a_killed_move_goes_with_it(self, repo: Repo, tip: str, killer: GitKiller, name: str) -> None:
        lock = repo.common_dir / name
        lock.parent.mkdir(parents=True, exist_ok=True)
        killer.arm(1, pattern="*update-ref*", before=lock_left_in(lock))
        assert repo.update_ref("refs/paddock/x", tip, ABSENT)
        assert not lock.exists()

    def test_a_lock_half_written_by_us_goes_and_one_of_somebody_else_stays(
        self, repo: Repo, tip: str, killer: GitKiller
    ) -> None:
        lock = repo.common_dir / "refs/paddock/x.lock"
        lock.parent.mkdir(parents=True)
        killer.arm(1, pattern="*update-ref*", before=lock_left_in(lock, tip))
        assert repo.update_ref("refs/paddock/x", tip, ABSENT)
        killer.arm(1, pattern="*update-ref*", before=lock_left_in(lock, "f" * 40))
        with pytest.raises(GitFailed, match=r"x\.lock"):
            repo.update_ref("refs/paddock/x", ABSENT, tip, options=("-c", "core.filesRefLockTimeout=1"))
        assert lock.read_text() == "f" * 40

    def test_a_lock_that_was_there_before_stays(self, repo: Repo, tip: str, killer: GitKiller) -> None:
        lock = repo.common_dir / "refs/paddock/x.lock"
        lock.parent.mkdir(parents=True)
        lock.touch()
        os.utime(lock, (1, 1))
        killer.arm(1, pattern="*update-ref*")
        with pytest.raises(GitFailed, match=r"x\.lock"):
            repo.update_ref("refs/paddock/x", tip, ABSENT, options=("-c", "core.filesRefLockTimeout=1"))
        assert lock.exists()

    def test_the_next_process_removes_what_a_killed_one_left(self, repo: Repo, tip: str) -> None:
        lock = die_in_a_move(repo, tip)
        assert remove_left_locks(repo.common_dir) == (lock,)
        assert list((repo.common_dir / left_locks.NOTES).iterdir()) == []

    def test_a_lock_that_somebody_has_open_stays(self, repo: Repo, tip: str) -> None:
        lock = die_in_a_move(repo, tip)
        with open(lock, "rb"):
            assert remove_left_locks(repo.common_dir) == ()
        assert remove_left_locks(repo.common_dir) == (lock,)

    def test_a_move_whose_git_lives_on_keeps_its_lock(self, repo: Repo, tip: str) -> None:
        reader, writer = os.pipe()
        lock = die_in_a_move(repo, tip, straggler=lambda: os.read(reader, 1))
        assert remove_left_locks(repo.common_dir) == ()
        assert lock.exists()
        os.write(writer, b"x")  # and it ends
        for descriptor in (reader, writer):
            os.close(descriptor)

    def test_a_branch_in_the_way_is_named_with_the_command_that_moves_it(self, repo: Repo, top: Path, tip: str) -> None:
        git(top, "branch", "paddock/t5-x/y")
        with pytest.raises(GitFailed) as refused:
            repo.update_ref("refs/heads/paddock/t5-x", tip, ABSENT)
        assert refused.value.hint is not None
        assert "git branch -m paddock/t5-x/y paddock-t5-x-y-old" in refused.value.hint


class TestFinding:
    def test_old_locks_are_found_with_their_age_wherever_they_are(self, repo: Repo) -> None:
        names = ("config.lock", "index.lock", "refs/heads/deep/er.lock", "packed-refs.lock")
        for name in names:
            path = repo.common_dir / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            os.utime(path, (1, 1))
        (repo.common_dir / "HEAD.lock").touch()
        found = {str(lock.path.relative_to(repo.common_dir)): lock for lock in find_left_locks(repo.common_dir)}
        assert sorted(found) == sorted(names)
        assert all(lock.age_seconds > 1e6 and lock.holders == () for lock in found.values())

    def test_who_has_it_open_is_named(self, repo: Repo) -> None:
        path = repo.common_dir / "index.lock"
        with open(path, "wb"):
            os.utime(path, (1, 1))
            assert [lock.holders for lock in find_left_locks(repo.common_dir)] == [(os.getpid(),)]

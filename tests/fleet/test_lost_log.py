"""Logs that are deleted, damaged, put back from a copy or out of room under a fleet: named, and never mistaken."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddock.core.tasks.task import Phase
from paddock.store.sqlite import SqliteStore
from paddock.store.witness import witness_path
from tests.fleet.conftest import MakeYard
from tests.fleet.test_leadership import start_daemon
from tests.fleet.yard import Yard, build_yard, commit, play, write
from tests.warm import RunningCommand

COMMANDS = (
    ("status",),
    ("add", "x"),
    ("show", "t1"),
    ("log",),
    ("log", "verify"),
    ("run",),
    ("up",),
    ("init",),
    ("queue",),
)


def remove_log(yard: Yard) -> None:
    for path in yard.log_path.parent.glob("log.db*"):
        path.unlink()


def remove_folder(yard: Yard) -> None:
    shutil.rmtree(yard.log_path.parent)


def deliver_old_work(yard: Yard) -> str:
    """What an old task's agent committed, approved by nobody."""
    yard.add(write("old.txt"), commit("Old work"))
    yard.run()
    branch = yard.task("t1").branch
    assert branch == "paddock/t1-task-1"
    return yard.git("rev-parse", branch)


@pytest.mark.parametrize("remove", [remove_log, remove_folder])
def test_a_new_log_takes_nothing_of_the_old_one_for_its_own(
    make_yard: MakeYard, remove: Callable[[Yard], None]
) -> None:
    yard = make_yard(PADDOCK_LAND_CI="true")
    old = deliver_old_work(yard)
    worktrees = yard.git("worktree", "list")
    remove(yard)
    for words in COMMANDS:
        said = yard.paddock(*words, code=1)
        assert "is gone: it had " in said, words
        assert "paddock log fetch" in said
        assert not yard.log_path.exists(), words
    assert "another log before" in yard.paddock("init", "--yes", "--new-log")
    assert "there is a log at" in yard.paddock("init", "--yes", "--new-log", code=1)
    yard.add(write("new.txt"), commit("New work"))
    yard.run()
    task, label = yard.task("t1"), yard.board().label
    assert task.branch == f"paddock/t1-task-1-{label}"
    assert (task.phase, task.attempts[0].commits) == ("approval", 1)
    yard.paddock("land", "t1")
    yard.run()
    assert yard.task("t1").phase == "landed"
    assert yard.git("ls-tree", "--name-only", "main").split() == ["README.md", "new.txt", "paddock.toml"]
    assert yard.git("rev-parse", "paddock/t1-task-1") == old
    kept = yard.git("for-each-ref", "--format=%(objectname)", "refs/paddock/kept").split()
    assert old in kept, "what the old log held is held"
    assert all(line.split()[0] in yard.git("worktree", "list") for line in worktrees.splitlines())


@pytest.mark.parametrize("again", [("init", "--yes", "--new-log"), ("init", "--yes")])
@pytest.mark.parametrize("point", ["retire.refs", "retire.witness", "init.log"])
def test_a_new_log_that_was_killed_at_its_beginning_is_begun_again(
    yard: Yard, point: str, again: tuple[str, ...]
) -> None:
    old = deliver_old_work(yard)
    remove_log(yard)
    yard.paddock("init", "--yes", "--new-log", code=-signal.SIGKILL, env={"PADDOCK_TEST_CRASH_AT": point})
    begun = yard.log_path.exists()
    assert begun == (point == "init.log")
    if not begun:
        yard.paddock("add", "x", code=1)
    still_gone = witness_path(yard.log_path).exists() and not begun
    refused = still_gone if again[-1] == "--yes" else begun
    said = yard.paddock(*again, code=int(refused))
    if still_gone and refused:
        assert "is gone: it had " in said, "a person has to say so once more"
        yard.paddock("init", "--yes", "--new-log")
    assert yard.board().label
    assert (yard.add({"noop": "new"}), yard.git("rev-parse", "paddock/t1-task-1")) == ("t1", old)
    assert old in yard.git("for-each-ref", "--format=%(objectname)", "refs/paddock/kept").split()
    assert list(yard.log_path.parent.parent.glob("paddock-log.witness.*")), "what the old one had is still known"
    assert "all hashes match" in yard.paddock("log", "verify")


def test_nothing_is_written_into_a_log_whose_setting_up_was_interrupted(yard: Yard) -> None:
    remove_log(yard)
    witness_path(yard.log_path).unlink()
    SqliteStore(yard.log_path, create=True, announce=False).close()
    assert "the log is empty: setting it up was interrupted" in yard.paddock("add", "x", code=1)
    assert "created the log" in yard.paddock("init", "--yes", "--new-log")
    assert yard.paddock("add", "x").startswith("added t1 ")
    assert yard.board().identity


def test_the_daemon_of_a_log_that_is_deleted_says_so_and_makes_no_other(yard: Yard) -> None:
    daemon = start_daemon(yard)
    remove_log(yard)
    assert daemon.wait() == 1, daemon.words
    assert f"the log `{yard.log_path}` is gone: it had " in daemon.words
    assert "paddock log fetch" in daemon.words
    assert not yard.log_path.exists()


def test_a_daemon_whose_log_was_put_back_from_an_older_copy_writes_nothing_more(yard: Yard) -> None:
    yard.add({"noop": "first"})
    yard.run()
    copy = yard.folder / "copy"
    shutil.copytree(yard.log_path.parent, copy, ignore=shutil.ignore_patterns("wake"))
    yard.add({"noop": "second"})
    yard.run()
    daemon = start_daemon(yard)
    yard.log_path.parent.rename(yard.folder / "newer")
    shutil.copytree(copy, yard.log_path.parent)
    assert daemon.wait() == 1, daemon.words
    assert "was removed or replaced while the log was open" in daemon.words
    for words in (("status",), ("add", "x"), ("run", "--until-idle")):
        assert "has lost records " in yard.paddock(*words, code=1)
    assert "continuing without record" in yard.paddock("log", "accept-loss", "--reason", "a backup")
    assert yard.paddock("add", "Third").startswith("added t3 "), "t2 was given"
    assert yard.task("t2").reason == "its records are lost"


def test_nothing_is_in_the_write_ahead_log_alone_when_no_command_runs(yard: Yard) -> None:
    yard.add({"noop": "first"})
    yard.run()
    before = yard.paddock("log", "--json")
    for name in ("log.db-wal", "log.db-shm"):
        (yard.log_path.parent / name).unlink()
    assert yard.paddock("log", "--json") == before
    assert "all hashes match" in yard.paddock("log", "verify")


def test_what_a_killed_daemon_had_in_its_write_ahead_log_is_missed_when_that_is_removed(yard: Yard) -> None:
    daemon = start_daemon(yard)
    yard.add({"noop": "first"})
    yard.await_board(lambda board: board.counts.get(Phase.NOOP) == 1, "the task")
    head = yard.board().seq
    daemon.send(signal.SIGKILL)
    daemon.wait()
    for name in ("log.db-wal", "log.db-shm"):
        (yard.log_path.parent / name).unlink()
    with yard.log() as store:
        lost = store.head() < head
    if lost:
        assert f"all up to {head} are missing" in yard.paddock("log", "verify", code=1)
        assert f" {head}, which it had" in yard.paddock("status", code=1)
        yard.paddock("log", "accept-loss")
    assert yard.paddock("add", "Second").startswith("added t2 ")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(("mount", "-t", "tmpfs", "-o", "size=24m", "none", str(place)), check=False)
    if mounted.returncode:
        pytest.skip("a file system of its own can only be mounted by root")
    yield place
    subprocess.run(("umount", "-l", str(place)), check=True)


def test_on_a_full_disk_the_daemon_waits_says_so_and_goes_on(
    make_yard: MakeYard, yard_template: Path, small_disk: Path
) -> None:
    make_yard("other")
    yard = build_yard(yard_template, small_disk, PADDOCK_DEBUG="1")
    daemon = start_daemon(yard)
    try:
        yard.add({"noop": "first"})
        yard.await_board(lambda board: board.counts.get(Phase.NOOP) == 1, "the task")
        filler = small_disk / "filler"
        yard.await_that(lambda: fill(filler), "a full disk")
        for size in (60_000, 8_000, 100):
            refusal = next(said for said in (add_much(yard, size) for _ in range(60)) if said)
            assert f"the disk of `{yard.log_path}` is full: nothing was written" in refusal
        # A checkpoint makes room in a log that stays as large as it was; more tasks use that, too.
        said = f"waiting: the disk of `{yard.log_path}` is full"
        yard.await_that(lambda: bool(add_much(yard, 100)) and said in daemon.words, said)
        assert "is full" in yard.paddock("status")
        filler.unlink()
        daemon.await_words("there is room on the disk again: resumed after")
        last = yard.add({"noop": "last"})
        yard.await_board(lambda board: board.task(last).phase == "noop", "the last task")
        assert "the disk was full for" in yard.paddock("log")
        assert "all hashes match" in yard.paddock("log", "verify")
    finally:
        daemon.send(signal.SIGKILL)
        daemon.wait()
        yard.close()


def add_much(yard: Yard, size: int) -> str:
    """What was said against a task of that size. What room the log has already is used first."""
    words = ["-C", str(yard.top), "add", f"{play({'noop': 'big'})} {'x' * size}"]
    command = RunningCommand(words, yard.top, yard.env, apart=True)
    return command.complaints if command.wait() else ""


def fill(filler: Path) -> bool:
    with filler.open("ab") as file:
        try:
            while True:
                file.write(b"x" * 65536)
                file.flush()
        except OSError:
            pass
    left = os.statvfs(filler.parent)
    return left.f_bavail == 0


def test_the_witness_is_put_back_by_whoever_writes(yard: Yard) -> None:
    witness_path(yard.log_path).unlink()
    assert "the log has no witness" in yard.paddock("log", "verify", "--json")
    yard.add({"noop": "first"})
    assert '"unseen":[]' in yard.paddock("log", "verify", "--json").replace(" ", "")

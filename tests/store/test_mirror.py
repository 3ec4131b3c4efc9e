"""The log in git: pushed to a bare remote, brought back in another clone, refused when histories differ."""

import subprocess
from pathlib import Path

import pytest

from paddock.core import events as ev
from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId
from paddock.git.repo import Repo, discover
from paddock.store.mirror import BATCH, REF, fetch_commit, push_mirror, restore_mirror, write_mirror
from paddock.store.protocol import LogLost, Query
from paddock.store.sqlite import SqliteStore
from paddock.store.witness import witness_path
from tests.store.drafts import ANA, add, write


def git(directory: Path, *arguments: str) -> str:
    ended = subprocess.run(("git", *arguments), cwd=directory, check=True, capture_output=True, text=True, timeout=60)
    return ended.stdout.strip()


class Clone:
    def __init__(self, top: Path) -> None:
        self.repo: Repo = discover(top)
        self.path = self.repo.common_dir / "paddock" / "log.db"

    def open(self, *, announce: bool = True) -> SqliteStore:
        return SqliteStore(self.path, create=True, announce=announce)

    def fetch(self, store: SqliteStore, remote: str | None = "origin") -> int:
        return restore_mirror(store, self.repo, fetch_commit(self.repo, remote))


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    top = tmp_path / "remote.git"
    git(tmp_path, "init", "--quiet", "--bare", str(top))
    return top


def clone(remote: Path, name: str) -> Clone:
    top = remote.parent / name
    git(remote.parent, "init", "--quiet", str(top))
    git(top, "remote", "add", "origin", str(remote))
    return Clone(top)


@pytest.fixture
def here(remote: Path) -> Clone:
    return clone(remote, "here")


@pytest.fixture
def there(remote: Path) -> Clone:
    return clone(remote, "there")


def batch_sizes(repo: Repo) -> list[int]:
    names = git(repo.common_dir, "ls-tree", "--name-only", REF).split()
    return [len(git(repo.common_dir, "show", f"{REF}:{name}").split("\n")) for name in names]


@pytest.mark.parametrize("count", [1, BATCH - 1, BATCH, BATCH + 1, 2 * BATCH, 3500])
def test_a_log_of_any_length_travels_through_a_remote_and_goes_on_there(here: Clone, there: Clone, count: int) -> None:
    store = here.open()
    if count > 1:
        store.append(add(count=count - 1), ANA)
    assert push_mirror(store, here.repo, "origin").seq == count
    other = there.open(announce=False)
    assert there.fetch(other) == count
    assert list(other.rows()) == list(store.rows())
    other.append(add(), ANA)
    assert push_mirror(other, there.repo, "origin").new == 1
    assert here.fetch(store) == 1
    assert list(store.rows()) == list(other.rows())
    store.close()
    other.close()


def test_records_are_kept_in_batches_and_only_the_last_one_grows(here: Clone) -> None:
    store = here.open()
    store.append(add(count=2499), ANA)
    write_mirror(store, here.repo)
    assert batch_sizes(here.repo) == [1000, 1000, 500]
    first = git(here.repo.common_dir, "ls-tree", REF).splitlines()
    store.append(add(count=1000), ANA)
    assert write_mirror(store, here.repo) == (3500, 1000)
    assert batch_sizes(here.repo) == [1000, 1000, 1000, 500]
    assert git(here.repo.common_dir, "ls-tree", REF).splitlines()[:2] == first[:2]
    store.close()


def test_a_push_without_news_changes_nothing(here: Clone) -> None:
    store = here.open()
    push_mirror(store, here.repo, "origin")
    before = git(here.repo.common_dir, "rev-parse", REF)
    assert push_mirror(store, here.repo, "origin").new == 0
    assert git(here.repo.common_dir, "rev-parse", REF) == before
    store.close()


def test_a_deleted_database_comes_back_from_the_local_mirror(here: Clone) -> None:
    store = here.open()
    store.append(add("keep me", 30), ANA)
    rows = list(store.rows())
    write_mirror(store, here.repo)
    store.close()
    for path in here.path.parent.glob("log.*"):
        path.unlink()
    store = here.open(announce=False)
    assert here.fetch(store, None) == 31
    assert list(store.rows()) == rows
    assert len(store.board().tasks) == 30
    store.close()


def test_a_database_file_deleted_under_its_write_ahead_log_comes_back_too(here: Clone) -> None:
    store = here.open()
    store.append(add(count=30), ANA)
    push_mirror(store, here.repo, "origin")
    store.append(add(), ANA)
    store.close()
    here.path.unlink()
    store = here.open(announce=False)
    assert here.fetch(store) == 31
    with pytest.raises(LogLost, match="has lost record 32, which it had"):
        store.append(add(), ANA)
    assert store.accept_loss(ANA) is not None
    assert store.verify().bad is None
    assert store.append(add(), ANA)[0].task == "t32", "t31 was in the record that is lost"
    store.close()


def test_logs_that_went_different_ways_are_refused_in_both_directions(here: Clone, there: Clone) -> None:
    store, other = here.open(), there.open(announce=False)
    push_mirror(store, here.repo, "origin")
    there.fetch(other)
    store.append(add("mine"), ANA)
    other.append(add("theirs"), ANA)
    push_mirror(store, here.repo, "origin")
    with pytest.raises(PaddockError, match="could not be pushed to `origin`") as refused:
        push_mirror(other, there.repo, "origin")
    assert refused.value.hint is not None
    with pytest.raises(PaddockError, match="different histories up to record 2"):
        there.fetch(other)
    assert [
        record.event.title for record in other.records(Query(after=1)) if isinstance(record.event, ev.TaskAdded)
    ] == ["theirs"]
    store.close()
    other.close()


def test_a_log_of_another_origin_is_refused(here: Clone, there: Clone) -> None:
    store, other = here.open(), there.open()
    push_mirror(store, here.repo, "origin")
    with pytest.raises(PaddockError, match="different histories"):
        there.fetch(other)
    write_mirror(other, there.repo)
    with pytest.raises(PaddockError, match="could not be pushed"):
        push_mirror(other, there.repo, "origin")
    store.close()
    other.close()


def test_a_mirror_ahead_of_the_log_asks_to_be_fetched_first(here: Clone) -> None:
    store = here.open()
    store.append(add(count=9), ANA)
    write_mirror(store, here.repo)
    store.close()
    for path in here.path.parent.glob("log.*"):
        path.unlink()
    witness_path(here.path).unlink()
    store = here.open()
    with pytest.raises(PaddockError, match="the mirror holds 10 records, this log only 1") as refused:
        write_mirror(store, here.repo)
    assert "paddock log fetch" in str(refused.value.hint)
    store.close()


def test_kinds_and_fields_of_a_newer_version_survive_the_journey(here: Clone, there: Clone) -> None:
    from tests.store.test_conformance import future_row

    store = here.open()
    store.append(add(), ANA)
    store.restore([future_row(list(store.rows())[-1])])
    push_mirror(store, here.repo, "origin")
    other = there.open(announce=False)
    assert there.fetch(other) == 3
    assert list(other.rows()) == list(store.rows())
    store.close()
    other.close()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("000000000000.jsonl", b"not json\n"),
        ("000000000000.jsonl", b'[1,2,"a",0,"k",null,null,{},"zz"]\n'),
        ("000000000000.jsonl", b'[1,2,"a",0,"log.created",null,null,{"version":"1"},"00"]\n'),
        ("readme.txt", b"hello\n"),
    ],
)
def test_a_damaged_mirror_is_refused_and_nothing_is_restored(here: Clone, name: str, content: bytes) -> None:
    blob = here.repo.git("hash-object", "-w", "--stdin", input=content).text
    tree = here.repo.git("mktree", input=f"100644 blob {blob}\t{name}\n").text
    identity = {f"GIT_{role}_{what}": "x" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    commit = here.repo.git("commit-tree", tree, "-m", "x", env=identity).text
    here.repo.git("update-ref", REF, commit)
    store = here.open(announce=False)
    with pytest.raises(PaddockError, match=r"mirror|does not follow"):
        here.fetch(store, None)
    assert store.head() == 0
    store.close()


def test_no_mirror_anywhere_is_said_so(here: Clone) -> None:
    with pytest.raises(PaddockError, match="there is no mirror in this repository"):
        fetch_commit(here.repo, None)
    with pytest.raises(PaddockError, match="there is no log to fetch from `origin`"):
        fetch_commit(here.repo, "origin")


def test_bodies_with_line_breaks_stay_one_line_a_record(here: Clone, there: Clone) -> None:
    store = here.open()
    odd = "a\nb\r\nc\u2028d\x85e"
    store.append(write(ev.Draft(ev.TaskAdded("odd", odd), task=TaskId("t1"))), ANA)
    push_mirror(store, here.repo, "origin")
    assert batch_sizes(here.repo) == [2]
    other = there.open(announce=False)
    assert there.fetch(other) == 2
    assert list(other.records(Query())) == list(store.records(Query()))
    store.close()
    other.close()

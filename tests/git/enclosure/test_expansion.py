"""Trees that name each other over and over are counted, not checked out."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.git.enclosure import expansion
from paddock.git.enclosure.expansion import Folder, count_paths, is_modest, named_elsewhere
from paddock.git.worktrees.delivery import NotImported
from tests.git.enclosure.conftest import Den


def tree(den: Den, *entries: str) -> str:
    return den.give("mktree", "".join(f"{entry}\n" for entry in entries))


def commit_tree(den: Den, inner: str) -> None:
    """What was there, and `inner` as the folder zz."""
    whole = tree(den, *den.git("ls-tree", "HEAD").splitlines(), f"040000 tree {inner}\tzz")
    den.git("update-ref", "HEAD", den.git("commit-tree", whole, "-p", "HEAD", "-m", "Bomb"))


def nested(den: Den, innermost: str, times: int = 10, levels: int = 9) -> str:
    for _ in range(levels):
        innermost = tree(den, *(f"040000 tree {innermost}\td{number:03}" for number in range(times)))
    return innermost


def test_a_few_trees_that_are_a_billion_files_are_refused(den: Den) -> None:
    commit_tree(den, nested(den, tree(den, f"100644 blob {den.give('hash-object -w --stdin', 'x')}\tf")))
    with pytest.raises(NotImported, match="more than 1,000,000 files and folders"):
        den.save()


def test_a_billion_empty_folders_are_refused(den: Den) -> None:
    commit_tree(den, nested(den, tree(den)))
    with pytest.raises(NotImported, match="more than 1,000,000 files and folders"):
        den.save()


def test_a_bomb_that_the_next_commit_removes_is_refused(den: Den) -> None:
    before = den.git("rev-parse", "HEAD^{tree}")
    commit_tree(den, nested(den, tree(den)))
    den.git("update-ref", "HEAD", den.git("commit-tree", before, "-p", "HEAD", "-m", "Nothing happened"))
    with pytest.raises(NotImported, match="more than 1,000,000 files and folders"):
        den.save()


def test_a_bomb_among_many_commits_is_refused(den: Den) -> None:
    for number in range(40):
        den.commit(**{f"file{number}": "x"})
    commit_tree(den, nested(den, tree(den)))
    with pytest.raises(NotImported, match="more than 1,000,000 files and folders"):
        den.save()


def test_copies_of_the_users_own_folders_count_with_what_is_in_them(den: Den, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "MOST_PATHS", 500)
    own = den.git("rev-parse", "HEAD^{tree}")
    names = len(den.git("ls-tree", "-r", "-t", "--name-only", "HEAD").splitlines())
    commit_tree(den, tree(den, *(f"040000 tree {own}\tcopy{number:03}" for number in range(500 // names + 2))))
    with pytest.raises(NotImported, match="files and folders"):
        den.save()


def test_some_copies_of_a_folder_are_delivered(den: Den) -> None:
    own = den.git("rev-parse", "HEAD^{tree}")
    commit_tree(den, tree(den, *(f"040000 tree {own}\tcopy{number:03}" for number in range(30))))
    den.git("reset", "-q", "--hard")
    assert den.save().head == den.git("rev-parse", "HEAD")


SMALL = st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 11), max_size=4)), min_size=1, max_size=8)


@given(SMALL)
def test_paths_are_counted_as_a_walk_finds_them(shape: list[tuple[int, list[int]]]) -> None:
    folders = {
        str(number): Folder(files + len(below), Counter(str(number + 1 + step) for step in below))
        for number, (files, below) in enumerate(shape)
    }

    def walk(name: str) -> int:
        folder = folders.get(name, Folder(0))
        return folder.entries + sum(walk(below) * times for below, times in folder.folders.items())

    assert count_paths(folders) == {name: walk(name) for name in folders}
    assert named_elsewhere(folders).isdisjoint(folders)


def test_a_chain_of_folders_without_end_is_counted() -> None:
    deep = {str(number): Folder(2, {str(number + 1): 2}) for number in range(50_000)}
    assert not is_modest(deep)
    assert is_modest({str(number): Folder(1, {str(number + 1): 1}) for number in range(50_000)})


def test_a_commit_on_a_repository_with_many_folders_needs_no_look_at_them() -> None:
    elsewhere = {f"known{number}": 1 for number in range(1000)}
    assert is_modest({"root": Folder(1000, elsewhere)})
    assert not is_modest({"root": Folder(1000, {"known": 1000})})

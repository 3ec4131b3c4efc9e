"""Which path of a checkout may be written to."""

from itertools import product

import pytest

from paddock.core.catchup import UNMERGED, OnDisk, PathFacts, Todo, judge_paths

OLD, NEW, MINE = "100644 old", "100644 new", "100644 mine"


def judge(
    staged: str | None, on_disk: OnDisk, *others: PathFacts, old: str | None = OLD, new: str | None = NEW
) -> Todo:
    return judge_paths([PathFacts("p", old, new, staged, on_disk), *others])["p"]


@pytest.mark.parametrize(
    ("staged", "on_disk", "todo"),
    [
        (OLD, OnDisk.OLD, Todo.WRITE),
        (OLD, OnDisk.NEW, Todo.RECORD),
        (OLD, OnDisk.OTHER, Todo.CLASH),
        (MINE, OnDisk.OLD, Todo.CLASH),
        (MINE, OnDisk.NEW, Todo.CLASH),
        (None, OnDisk.OLD, Todo.CLASH),
        (UNMERGED, OnDisk.OLD, Todo.CLASH),
        (NEW, OnDisk.NEW, Todo.NOTHING),
        (NEW, OnDisk.OLD, Todo.WRITE),
        (NEW, OnDisk.OTHER, Todo.CLASH),
    ],
)
def test_only_what_is_exactly_the_old_version_is_written(staged: str | None, on_disk: OnDisk, todo: Todo) -> None:
    assert judge(staged, on_disk) is todo


@pytest.mark.parametrize("on_disk", list(OnDisk))
def test_where_another_file_is_new_the_tree_was_brought_up_to_date_and_the_rest_is_somebodys(on_disk: OnDisk) -> None:
    assert judge(NEW, on_disk, PathFacts("q", OLD, NEW, NEW, OnDisk.NEW)) is Todo.NOTHING


def test_a_removed_file_that_is_not_there_does_not_count_as_brought_up_to_date() -> None:
    assert judge(NEW, OnDisk.OLD, PathFacts("q", OLD, None, None, OnDisk.NEW)) is Todo.WRITE


def test_nothing_is_ever_written_over_what_is_neither_old_nor_staged_as_old_or_new() -> None:
    for staged, on_disk, old, new in product((None, OLD, NEW, MINE, UNMERGED), OnDisk, (None, OLD), (None, NEW)):
        if old != new and (on_disk is OnDisk.OTHER or staged not in (old, new)):
            assert judge(staged, on_disk, old=old, new=new) is not Todo.WRITE

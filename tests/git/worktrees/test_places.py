"""A conversation comes back to its own folder, and others keep out of it while there is another."""

from dataclasses import replace
from pathlib import Path

import pytest

from paddock.core.tasks.conversations import Homes
from paddock.core.upkeep.survey import SlotState
from paddock.git.worktrees.claims import look_at_place
from paddock.git.worktrees.pool import count_idle, fill
from paddock.git.worktrees.prepare import PlaceTaken, WorktreeOrder, prepare, release
from paddock.git.worktrees.slots import (
    SlotRecord,
    WorktreeRoot,
    hold_slot,
    list_slots,
    slot_at,
    slot_of,
    write_record,
)
from tests.git.conftest import git
from tests.git.worktrees.collecting import find_waste, remove_waste


def order(number: int, start: str, place: Path | None = None, homes: Homes | None = None) -> WorktreeOrder:
    return WorktreeOrder(f"t{number}.1", f"paddock/t{number}-work", start, place, homes or Homes())


def take(root: WorktreeRoot, number: int, start: str, **more: object) -> Path:
    return prepare(root, order(number, start, **more)).worktree.path  # type: ignore[arg-type]


def live_in(root: WorktreeRoot, tip: str, *numbers: int) -> list[Path]:
    """Idle slots that attempts have worked in."""
    paths = [take(root, number, tip) for number in numbers]
    for number in numbers:
        release(root, f"t{number}.1", "done")
    return paths


def kept(*paths: Path) -> Homes:
    return Homes(kept=tuple(map(str, paths)))


def test_who_comes_back_gets_the_same_folder_whatever_else_is_idle(root: WorktreeRoot, tip: str) -> None:
    _, second, _ = live_in(root, tip, 1, 2, 3)
    assert take(root, 9, tip, place=second) == second
    assert git(second, "symbolic-ref", "--short", "HEAD") == "paddock/t9-work"


def test_a_folder_that_was_removed_is_made_again_where_it_was(root: WorktreeRoot, tip: str) -> None:
    _, second = live_in(root, tip, 1, 2)
    remove_waste(root)
    assert list_slots(root) == ()
    assert take(root, 9, tip, place=second) == second


def test_others_get_a_new_folder_and_not_the_number_of_a_removed_one(root: WorktreeRoot, tip: str) -> None:
    first, second = live_in(root, tip, 1, 2)
    assert take(root, 8, tip, homes=kept(first, second)).name == "w3"
    remove_waste(root, live={"t8.1"})
    assert take(root, 9, tip, homes=kept(first, second)).name == "w4"


def test_beyond_the_bound_the_least_wanted_folder_is_taken_and_never_one_that_is_due(
    root: WorktreeRoot, tip: str
) -> None:
    bound = replace(root, most=3)
    first, second, third = live_in(bound, tip, 1, 2, 3)
    homes = Homes(due=frozenset({str(first)}), kept=(str(third), str(second)))
    assert [take(bound, number, tip, homes=homes) for number in (7, 8)] == [third, second]
    assert take(bound, 9, tip, homes=homes).name == "w4"


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (SlotRecord(SlotState.KEPT, attempt="t5.1", reason="cannot be saved"), "kept for you: cannot be saved"),
        (SlotRecord(SlotState.READY, attempt="t5.resolve"), "t5 is being resolved there"),
        (SlotRecord(SlotState.READY, attempt="t5.1"), "t5.1 is working there"),
    ],
)
def test_a_folder_in_other_hands_is_refused_and_nothing_is_claimed(
    root: WorktreeRoot, tip: str, record: SlotRecord, words: str
) -> None:
    [first] = live_in(root, tip, 1)
    slot = slot_at(root, 1)
    with hold_slot(slot) as lock:
        write_record(slot, record, lock)
    with pytest.raises(PlaceTaken, match=words):
        prepare(root, order(9, tip, first))
    assert [slot.number for slot in list_slots(root)] == [1]


def test_what_is_not_ours_is_left_alone(root: WorktreeRoot, tip: str, tmp_path: Path) -> None:
    foreign = root.path / "w5"
    foreign.mkdir(parents=True)
    assert "not Paddock's" in look_at_place(root, foreign).lost
    with pytest.raises(PlaceTaken, match="not Paddock's"):
        prepare(root, order(9, tip, foreign))
    with pytest.raises(PlaceTaken, match=f"worktrees are in {root.path} now"):
        prepare(root, order(9, tip, tmp_path / "old.paddock" / "w1"))
    for name in ("w01", "w-1", "x1", "w", "w1.1"):
        assert slot_of(root, root.path / name) is None


def test_the_pool_is_filled_beside_the_folders_of_conversations(root: WorktreeRoot, tip: str) -> None:
    first, second = live_in(root, tip, 1, 2)
    assert fill(root, tip, 2, homes=kept(first, second)).made == 2
    assert count_idle(root) == 4
    assert fill(replace(root, most=4), tip, 3, homes=kept(first, second)).made == 0, "the bound holds"


def test_gc_spares_the_folder_of_a_conversation_unless_forced(root: WorktreeRoot, tip: str) -> None:
    first, second = live_in(root, tip, 1, 2)
    assert [one.name for one in find_waste(root, homes=kept(second))] == [str(first)]
    assert [one.name for one in find_waste(root, homes=kept(second), force=True)] == [str(first), str(second)]

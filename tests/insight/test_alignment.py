"""Two paths side by side: everything is there once and in order, and as much as possible beside its like."""

import random

from hypothesis import given
from hypothesis import strategies as st

from paddock.insight import alignment
from paddock.insight.alignment import Match, align, likeness

PATHS = st.lists(st.sampled_from(["READ:src", "EDIT:src", "EDIT:test", "TEST", "TEST!", "RUN"]), max_size=30)


def told(left: list[str], right: list[str]) -> list[tuple[str | None, str | None, str]]:
    return [
        (
            None if pair.left is None else left[pair.left],
            None if pair.right is None else right[pair.right],
            pair.match.value,
        )
        for pair in align(left, right)
    ]


@given(left=PATHS, right=PATHS)
def test_every_step_of_both_is_there_once_and_in_order(left: list[str], right: list[str]) -> None:
    pairs = align(left, right)
    assert [pair.left for pair in pairs if pair.left is not None] == list(range(len(left)))
    assert [pair.right for pair in pairs if pair.right is not None] == list(range(len(right)))
    for pair in pairs:
        same = pair.left is not None and pair.right is not None and left[pair.left] == right[pair.right]
        assert same == (pair.match is Match.SAME)


@given(path=PATHS, cut=st.sets(st.integers(0, 29)))
def test_what_only_leaves_steps_out_is_aligned_without_a_change(path: list[str], cut: set[int]) -> None:
    shorter = [symbol for place, symbol in enumerate(path) if place not in cut]
    assert {pair.match for pair in align(path, shorter)} <= {Match.SAME, Match.LEFT}
    assert {pair.match for pair in align(shorter, path)} <= {Match.SAME, Match.RIGHT}


@given(path=PATHS)
def test_a_path_is_wholly_like_itself(path: list[str]) -> None:
    assert likeness(align(path, path)) == 1.0


def test_steps_of_one_phase_stand_for_each_other_and_others_do_not() -> None:
    assert told(["READ:src", "TEST"], ["READ:src", "TEST!"])[-1] == ("TEST", "TEST!", "changed")
    assert told(["EDIT:src"], ["RUN"]) == [("EDIT:src", None, "left"), (None, "RUN", "right")]


def test_long_paths_are_aligned_in_parts_and_no_worse() -> None:
    draw = random.Random(1)
    left = [draw.choice(["READ:src", "EDIT:src", "TEST", "TEST!", "RUN", "SEARCH"]) for _ in range(3_000)]
    right = [symbol for symbol in left if draw.random() > 0.1]
    assert len(left) * len(right) > alignment.MOST_CELLS
    pairs = align(left, right)
    assert [pair.left for pair in pairs if pair.left is not None] == list(range(len(left)))
    assert [pair.right for pair in pairs if pair.right is not None] == list(range(len(right)))
    assert likeness(pairs) > 0.93


def test_what_is_too_long_and_cannot_be_divided_is_compared_place_by_place() -> None:
    pairs = align(["RUN"] * 3_000, ["TEST"] * 2_000)
    assert len(pairs) == 3_000
    assert likeness(pairs) == 0.0

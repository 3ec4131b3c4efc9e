"""Sets of templates, joined by what is rare in them."""

from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.insight.failures.likeness import MOST_LINKED, Features, alike

SETS = st.lists(
    st.builds(
        Features,
        st.sampled_from(["", "x", "y"]),
        st.frozensets(st.sampled_from("abcdefgh"), min_size=1, max_size=5),
    ),
    max_size=25,
)


def together(features: list[Features]) -> set[frozenset[int]]:
    return {frozenset(group) for group in alike(features)}


@given(SETS)
@settings(max_examples=80)
def test_each_is_in_one_group_and_equals_are_together(features: list[Features]) -> None:
    groups = alike(features)
    assert sorted(number for group in groups for number in group) == list(range(len(features)))
    of = {number: place for place, group in enumerate(groups) for number in group}
    for one, same in enumerate(features):
        assert all(of[one] == of[other] for other, that in enumerate(features) if that == same)


@given(SETS, st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_the_order_does_not_matter(features: list[Features], order: object) -> None:
    places = list(range(len(features)))
    order.shuffle(places)  # type: ignore[attr-defined]
    shuffled = together([features[place] for place in places])
    assert {frozenset(places[number] for number in group) for group in shuffled} == together(features)


@given(SETS, st.integers(1, 5))
@settings(max_examples=50)
def test_what_has_nothing_in_common_changes_no_group(features: list[Features], count: int) -> None:
    others = [Features("elsewhere", frozenset({"q", f"q{number}"})) for number in range(count)]
    groups = {group for group in together([*features, *others]) if min(group) < len(features)}
    assert groups == together(features)


def test_what_all_have_joins_nobody() -> None:
    features = [Features("", frozenset({"boilerplate", f"own {number}", f"more {number}"})) for number in range(6)]
    assert len(alike(features)) == 6


def test_more_sets_than_are_linked_still_find_their_group() -> None:
    features = [
        Features(f"root {number % 3}", frozenset({f"line {number % 3}", f"noise {number}"}))
        for number in range(MOST_LINKED + 60)
    ]
    groups = alike(features)
    assert len(groups) == 3
    assert all(len({number % 3 for number in group}) == 1 for group in groups)

"""A difference is all that a page needs to follow a live view, and no more."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from paddock.views.difference import Difference, difference
from tests.views.eyes import apply_difference


class Row(msgspec.Struct, frozen=True):
    title: str
    steps: int | None = None


class Inner(msgspec.Struct, frozen=True):
    running: int


class Live(msgspec.Struct, frozen=True):
    seq: int
    counts: dict[str, int]
    needs: tuple[str, ...]
    inner: Inner
    next: Inner | None
    tasks: dict[str, Row]
    convoys: dict[str, Row]


rows = st.builds(Row, st.sampled_from("abc"), st.none() | st.integers(0, 2))
tables = st.dictionaries(st.sampled_from(["t1", "t2", "t3", "__proto__"]), rows, max_size=4)
inner = st.builds(Inner, st.integers(0, 2))
views = st.builds(
    Live,
    seq=st.integers(0, 3),
    counts=st.dictionaries(st.sampled_from("xy"), st.integers(0, 2)),
    needs=st.lists(st.sampled_from("ab"), max_size=2).map(tuple),
    inner=inner,
    next=st.none() | inner,
    tasks=tables,
    convoys=tables,
)


@given(views, views)
def test_the_difference_makes_the_new_of_the_old(old: Live, new: Live) -> None:
    change = difference(old, new)
    assert (change is None) == (old == new)
    assert apply_difference(old, change or Difference({}, {})) == new


@given(views, views)
def test_a_page_that_knows_only_json_arrives_at_the_same_document(old: Live, new: Live) -> None:
    """What the page does: replace fields, put rows, delete those that are null."""
    page = msgspec.json.decode(msgspec.json.encode(old))
    if (change := difference(old, new)) is not None:
        told = msgspec.json.decode(msgspec.json.encode(change))
        page.update(told["set"])
        for table, changed in told["rows"].items():
            for key, row in changed.items():
                if row is None:
                    del page[table][key]
                else:
                    page[table][key] = row
    assert page == msgspec.json.decode(msgspec.json.encode(new))


@given(views, views)
def test_nothing_is_told_that_has_not_changed(old: Live, new: Live) -> None:
    change = difference(old, new) or Difference({}, {})
    assert all(getattr(old, name) != value for name, value in change.set.items())
    for table, changed in change.rows.items():
        assert changed
        assert all(getattr(old, table).get(key) != row for key, row in changed.items())


def test_rows_that_are_the_same_object_are_not_even_compared() -> None:
    class Incomparable(msgspec.Struct, frozen=True):
        number: int

        def __eq__(self, other: object) -> bool:
            raise AssertionError("compared")

        __hash__ = None  # type: ignore[assignment]

    class Board(msgspec.Struct, frozen=True):
        tasks: dict[str, Incomparable]

    kept = Incomparable(1)
    assert difference(Board({"t1": kept}), Board({"t1": kept})) is None
    added = difference(Board({"t1": kept}), Board({"t1": kept, "t2": (new := Incomparable(2))}))
    assert added is not None
    assert added.rows["tasks"]["t2"] is new
    assert list(added.rows["tasks"]) == ["t2"]

"""Whose turn it is: what fair shares promise for any limit and any wishes."""

from hypothesis import given
from hypothesis import strategies as st

from paddock.core.group.shares import Wish, fair_shares


@st.composite
def wish_lists(draw: st.DrawFn) -> list[Wish]:
    members = draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=6))
    return [Wish(name, draw(st.integers(-1, 9)), float(draw(st.integers(0, 3)))) for name in members]


@given(st.integers(-1, 20), wish_lists())
def test_shares_are_never_more_than_there_is_nor_than_anyone_can_use(limit: int, wishes: list[Wish]) -> None:
    shares = fair_shares(limit, wishes)
    assert shares.keys() == {wish.member for wish in wishes}
    assert all(0 <= shares[wish.member] <= max(0, wish.demand) for wish in wishes)
    assert sum(shares.values()) == min(max(0, limit), sum(max(0, wish.demand) for wish in wishes))


@given(st.integers(0, 20), wish_lists())
def test_nobody_gets_two_more_than_another_who_could_use_more(limit: int, wishes: list[Wish]) -> None:
    shares = fair_shares(limit, wishes)
    short = [shares[wish.member] for wish in wishes if shares[wish.member] < wish.demand]
    assert all(most <= min(short, default=most) + 1 for most in shares.values())


@given(st.integers(0, 20), wish_lists())
def test_the_odd_one_goes_to_who_has_waited_longest(limit: int, wishes: list[Wish]) -> None:
    shares = fair_shares(limit, wishes)
    short = [wish for wish in wishes if shares[wish.member] < wish.demand]
    for wish in short:
        for other in short:
            if wish.started < other.started:
                assert shares[wish.member] >= shares[other.member]


@given(st.integers(0, 20), wish_lists(), st.randoms(use_true_random=False))
def test_all_members_reckon_the_same_shares_in_whatever_order_they_see_each_other(
    limit: int, wishes: list[Wish], chance: object
) -> None:
    shuffled = list(wishes)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fair_shares(limit, shuffled) == fair_shares(limit, wishes)

"""When a change takes landed work back, and when it only goes on from there."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from paddock.core.merge.reversals import MainMove, Remit, Reversal, taken_back, unclaimed

T1 = MainMove("c1", ("t1",), {"a.py": ("0", "1")})
T2 = MainMove("c2", ("t2",), {"a.py": ("1", "2"), "b.py": ("x", "y")})
ADDS = MainMove("c3", ("t3",), {"new.py": (None, "n"), "also.py": (None, "m")})


def test_a_file_as_it_was_takes_every_landing_since_back() -> None:
    assert taken_back([T2, T1], {"a.py": ("2", "1")}) == {"c2": {"a.py"}}
    assert taken_back([T2, T1], {"a.py": ("2", "0")}) == {"c2": {"a.py"}, "c1": {"a.py"}}


def test_an_edit_of_what_landed_takes_nothing_back() -> None:
    assert taken_back([T2, T1], {"a.py": ("2", "3"), "other": (None, "z")}) == {}


def test_one_removed_file_of_several_is_no_reversal_and_all_of_them_are() -> None:
    assert taken_back([ADDS], {"new.py": ("n", None)}) == {}
    assert taken_back([ADDS], {"new.py": ("n", None), "also.py": ("m", None)}) == {"c3": {"new.py", "also.py"}}


def test_what_was_moved_elsewhere_is_not_lost() -> None:
    one = MainMove("c", ("t1",), {"new.py": (None, "n")})
    assert taken_back([one], {"new.py": ("n", None)}) == {"c": {"new.py"}}
    assert taken_back([one], {"new.py": ("n", None)}, {"new.py"}) == {}


def test_a_file_that_was_removed_and_comes_back_is_a_reversal() -> None:
    gone = MainMove("c", ("t1",), {"key.pem": ("k", None)})
    assert taken_back([gone], {"key.pem": (None, "k")}) == {"c": {"key.pem"}}


def test_the_nearest_landing_counts_where_a_file_has_been_so_more_than_once() -> None:
    there = MainMove("c1", ("t1",), {"v": ("A", "B")})
    back = MainMove("c2", ("t2",), {"v": ("B", "A")})
    on = MainMove("c3", ("t3",), {"v": ("A", "C")})
    assert taken_back([on, back, there], {"v": ("C", "A")}) == {"c3": {"v"}}


versions = st.sampled_from("ABCD")


@given(st.lists(versions, min_size=2, max_size=6), versions)
def test_exactly_the_landings_since_a_version_was_last_seen_are_taken_back(seen: list[str], now: str) -> None:
    """A file goes through `seen`; the change makes it `now`."""
    steps = [(before, after) for before, after in pairwise(seen) if before != after]
    landings = [MainMove(f"c{n}", (f"t{n}",), {"f": step}) for n, step in enumerate(steps)][::-1]
    if not landings or now == seen[-1]:
        return
    found = taken_back(landings, {"f": (seen[-1], now)})
    expected: list[str] = []
    if now in [before for before, _ in steps]:
        for landing in landings:
            expected.append(landing.commit)
            if landing.changes["f"][0] == now:
                break
    assert set(found) == set(expected)


def test_people_may_ask_for_a_reversal_by_glob_or_by_name() -> None:
    old = Reversal("t1", ("src/a.py",))
    assert unclaimed((old,), Remit()) == (old,)
    assert unclaimed((old,), Remit(words="Take back what t1 did.")) == ()
    assert unclaimed((old,), Remit(words="Work on src/a.py.")) == (old,)
    assert unclaimed((old,), Remit(globs=("src/**",))) == ()
    assert unclaimed((old,), Remit(words="Look at t12 and src/a.pyc")) == (old,)
    assert unclaimed((old,), Remit(globs=("docs/**",))) == (old,)


def test_what_landed_meanwhile_nobody_can_have_asked_for() -> None:
    new = Reversal("t1", ("src/a.py",), meanwhile=True)
    assert unclaimed((new,), Remit(("**",), "t1 src/a.py")) == (new,)

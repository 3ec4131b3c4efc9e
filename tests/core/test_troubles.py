"""One book of troubles: told once, tried ever more rarely, forgotten when healed, never more than it can hold."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from paddock.core.troubles import (
    BRISK,
    LONGEST_SILENCE_SECONDS,
    MOST_CHANGES_TOLD,
    MOST_OPEN,
    PATIENT,
    TOLD_AGAIN_SECONDS,
    Patience,
    TroubleBook,
)

PATIENCE = st.builds(
    Patience,
    first_seconds=st.floats(0.1, 10),
    longest_seconds=st.floats(10, 600),
    tries=st.integers(1, 20),
)


def told_while_retrying(book: TroubleBook, hours: float, problem: str = "no disk") -> int:
    """How often the log hears of a trouble that is tried again as soon as its pause is over."""
    now, told = 0.0, 0
    while now < hours * 3600:
        noted = book.note("landing", "", problem.format(now=now), now)
        told += noted.to_tell
        now = noted.trouble.retry_at
    return told


def test_the_same_trouble_is_told_once_and_then_after_pauses_that_grow() -> None:
    assert told_while_retrying(TroubleBook(), hours=0.9) == 1
    assert told_while_retrying(TroubleBook(), hours=24) == 5
    assert told_while_retrying(TroubleBook(), hours=24 * 10) < 15


def test_a_problem_that_reads_differently_each_time_is_not_news_for_ever() -> None:
    assert told_while_retrying(TroubleBook(), hours=1, problem="pid {now} is in the way") == MOST_CHANGES_TOLD


def test_a_changed_problem_is_told_at_once() -> None:
    book = TroubleBook()
    assert book.note("landing", "", "a lock", 0).to_tell
    assert not book.note("landing", "", "a lock", 1).to_tell
    assert book.note("landing", "", "a full disk", 2).to_tell
    assert [trouble.problem for trouble in book.open] == ["a full disk"]


def test_what_healed_is_forgotten_and_news_when_it_comes_back() -> None:
    book = TroubleBook()
    book.note("driving", "t1.1", "no", 0)
    book.note("driving", "t2.1", "no", 0)
    assert book.heal("driving", "t1.1")
    assert not book.heal("driving", "t1.1")
    assert [trouble.title for trouble in book.open] == ["driving t2.1"]
    again = book.note("driving", "t1.1", "no", 1)
    assert (again.to_tell, again.trouble.times, again.trouble.since) == (True, 1, 1)


def test_a_watched_trouble_asks_for_a_person_sooner() -> None:
    assert sum(map(BRISK.pause, range(1, BRISK.tries))) <= 20
    assert 60 <= sum(map(PATIENT.pause, range(1, PATIENT.tries))) <= 180


@given(PATIENCE, st.integers(1, 60))
def test_pauses_grow_up_to_their_bound_and_hope_ends_with_the_tries(patience: Patience, times: int) -> None:
    book, now, pauses = TroubleBook(), 0.0, []
    for number in range(1, times + 1):
        trouble = book.note("driving", "t1.1", "no", now, patience).trouble
        pauses.append(trouble.retry_at - now)
        assert trouble.hopeless == (number >= patience.tries)
        assert trouble.times == number
        now = trouble.retry_at
    assert all(later >= earlier - 1e-6 for earlier, later in pairwise(pauses))
    assert max(pauses) <= patience.longest_seconds + 1e-6


KEYS = st.tuples(st.sampled_from(["driving", "landing", "cleaning up"]), st.integers(0, 400).map(str))
STEPS = st.lists(st.tuples(KEYS, st.sampled_from(["a", "b", "heal"]), st.floats(0, 7200)), max_size=80)


@given(STEPS)
def test_the_book_holds_exactly_what_failed_last_and_tells_little(
    steps: list[tuple[tuple[str, str], str, float]],
) -> None:
    book, now = TroubleBook(), 0.0
    expected: dict[tuple[str, str], str] = {}
    told: dict[tuple[str, str], list[float]] = {}
    for key, problem, passed in steps:
        now += passed
        if problem == "heal":
            assert book.heal(*key) == (key in expected)
            expected.pop(key, None)
            told.pop(key, None)
            continue
        if book.note(*key, problem, now).to_tell:
            told.setdefault(key, []).append(now)
        expected[key] = problem
    assert {(trouble.what, trouble.whose): trouble.problem for trouble in book.open} == expected
    for times in told.values():
        allowed = MOST_CHANGES_TOLD + (times[-1] - times[0]) / TOLD_AGAIN_SECONDS
        assert 1 <= len(times) <= allowed + 1


@given(st.lists(st.integers(0, 2000), min_size=1, max_size=600))
def test_the_book_is_bounded_and_drops_what_was_heard_of_longest_ago(owners: list[int]) -> None:
    book = TroubleBook()
    for at, owner in enumerate(owners):
        book.note("driving", f"t{owner}.1", "no", float(at))
    latest = list(dict.fromkeys(reversed(owners)))[:MOST_OPEN]
    assert [trouble.whose for trouble in book.open] == [f"t{owner}.1" for owner in reversed(latest)]


def test_silence_has_a_bound() -> None:
    book = TroubleBook()
    now = 0.0
    for _ in range(40):
        book.note("landing", "", "no", now)
        now += LONGEST_SILENCE_SECONDS
    trouble = book.find("landing")
    assert trouble is not None
    assert trouble.told == 40


@given(st.integers(1, 40), st.floats(-200_000, 200_000))
def test_a_clock_that_is_set_back_puts_no_retry_off_for_longer_than_the_longest_pause(times: int, jump: float) -> None:
    book = TroubleBook()
    for _ in range(times):
        trouble = book.note("landing", "", "no disk", 1000.0).trouble
    now = 1000.0 + jump
    assert trouble.is_due(now) is not (now < trouble.retry_at <= now + PATIENT.longest_seconds)
    assert trouble.is_due(trouble.retry_at)
    assert trouble.is_due(now - 2 * PATIENT.longest_seconds) or jump > 0

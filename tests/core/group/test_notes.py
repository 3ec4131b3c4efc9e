"""What one repository hears of an account holds for all, until it is over or a person resets it."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from paddock.core.admission.clocks import Clock, Clocks, current_pause
from paddock.core.admission.controls import Account
from paddock.core.admission.windows import Windows, full_window
from paddock.core.group.notes import AccountNote, heed, reset, told
from paddock.core.trace import WindowUse
from tests.core.group.entries import NOW

clocks = st.builds(Clock, st.sampled_from([0.0, NOW - 5, NOW + 5, NOW + 60]), st.integers(0, 3))
windows = st.builds(
    Windows,
    st.dictionaries(
        st.sampled_from(["5 h", "7 d"]),
        st.builds(WindowUse, st.just("5 h"), st.sampled_from([0.1, 0.97, 1.0]), st.sampled_from([NOW - 1, NOW + 600])),
    ),
    st.booleans(),
)
accounts = st.builds(
    Account,
    clocks=st.builds(Clocks, clocks, clocks, clocks, st.sampled_from([None, "no such key"])),
    windows=windows,
)
PAUSED = Account(clocks=Clocks(per_minute=Clock(NOW + 60, 2)))
REFUSED = Account(clocks=Clocks(auth="no such key"))
FULL = Account(windows=Windows({"5 h": WindowUse("5 h", 1.0, NOW + 600)}))


@given(accounts, accounts, accounts)
def test_a_pause_that_one_has_told_holds_for_all_as_long_as_for_itself(
    teller: Account, other: Account, third: Account
) -> None:
    note = told(told(AccountNote(), third, "c", NOW), teller, "a", NOW)
    heeded = heed(other, note, NOW)
    for seconds in (0.0, 4.9, 30.0):
        if (pause := current_pause(teller.clocks, NOW + seconds)) is not None:
            mine = current_pause(heeded.clocks, NOW + seconds)
            assert mine is not None
            assert mine.until is None or (pause.until is not None and mine.until >= pause.until)


@given(accounts, accounts)
def test_what_is_over_says_nothing_and_what_is_known_is_kept(teller: Account, other: Account) -> None:
    heeded = heed(other, told(AccountNote(), teller, "a", NOW), NOW)
    own, theirs = current_pause(other.clocks, NOW), current_pause(teller.clocks, NOW)
    assert (current_pause(heeded.clocks, NOW) is None) == (own is None and theirs is None)
    assert heeded.quota == other.quota
    assert heeded.pacer == other.pacer
    assert heed(heeded, told(AccountNote(), teller, "a", NOW), NOW) == heeded


def test_how_often_a_clock_has_run_before_is_not_told_once_it_has_run_out() -> None:
    tried = Account(clocks=Clocks(overload=Clock(NOW - 5, 3)))
    assert heed(Account(), told(AccountNote(), tried, "a", NOW), NOW).clocks == Clocks()
    assert heed(Account(), AccountNote(clocks=tried.clocks), NOW).clocks == Clocks()


def test_a_full_window_that_one_has_seen_keeps_all_from_starting() -> None:
    heeded = heed(Account(), told(AccountNote(), FULL, "a", NOW), NOW)
    assert full_window(heeded.windows, 0.95, NOW) is not None
    assert full_window(heeded.windows, 0.95, NOW + 600) is None


def test_of_one_window_the_fuller_sight_counts_and_a_later_window_replaces_it() -> None:
    part = Account(windows=Windows({"5 h": WindowUse("5 h", 0.3, NOW + 600)}))
    fresh = Account(windows=Windows({"5 h": WindowUse("5 h", 0.0, NOW + 18_000)}))
    note = told(told(AccountNote(), FULL, "a", NOW), part, "b", NOW)
    assert note.windows.told["5 h"].used == 1.0
    assert told(note, fresh, "b", NOW).windows.told["5 h"].used == 0.0


def test_who_knows_nothing_of_windows_does_not_say_that_calls_beyond_them_stop() -> None:
    paid = replace(FULL, windows=replace(FULL.windows, extra=True))
    note = told(told(AccountNote(), paid, "a", NOW), PAUSED, "b", NOW)
    assert note.windows.extra
    assert heed(paid, told(AccountNote(), PAUSED, "b", NOW), NOW).windows.extra
    assert not heed(paid, told(AccountNote(), FULL, "b", NOW), NOW).windows.extra


def test_a_reset_takes_the_refusal_and_the_windows_from_the_note() -> None:
    both = replace(FULL, clocks=REFUSED.clocks)
    note = reset(told(AccountNote(), both, "a", NOW), "b", NOW + 1)
    assert (note.reset_at, note.by) == (NOW + 1, "b")
    heeded = heed(Account(), note, NOW + 1)
    assert current_pause(heeded.clocks, NOW + 1) is None
    assert full_window(heeded.windows, 0.95, NOW + 1) is None


def test_a_reset_leaves_the_pauses_that_end_by_themselves() -> None:
    note = reset(told(AccountNote(), PAUSED, "a", NOW), "b", NOW + 1)
    assert current_pause(heed(Account(), note, NOW + 1).clocks, NOW + 1) is not None

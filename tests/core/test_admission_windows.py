"""Quota windows as a provider tells them: what is left at their end is for the agents at work."""

from hypothesis import given
from hypothesis import strategies as st

from paddock.core.admission.admit import LimitedBy, admit
from paddock.core.admission.clocks import WINDOW_LONGEST_SECONDS
from paddock.core.admission.controls import Account, Controls, account_of, observe_windows, reset_account
from paddock.core.admission.windows import MOST_USED, Windows, full_window, note_windows, windows_open
from paddock.core.trace import WindowsTold, WindowUse
from tests.core.test_admission import NOW, candidate, snapshot, with_account

HOUR = 3600.0

uses = st.builds(
    WindowUse,
    st.sampled_from(["5-hour", "7-day"]),
    st.floats(0.0, 1.5),
    st.floats(NOW - 2 * HOUR, NOW + 2 * WINDOW_LONGEST_SECONDS),
)
tellings = st.builds(WindowsTold, st.lists(uses, max_size=3).map(tuple), st.booleans())


def told(used: float, *, resets_in: float = HOUR, name: str = "5-hour", extra: bool = False) -> WindowsTold:
    return WindowsTold((WindowUse(name, used, NOW + resets_in),), extra)


def controls_with(*said: WindowsTold) -> Controls:
    controls = with_account(Account())
    for words in said:
        controls = observe_windows(controls, "main", words, NOW)
    return controls


def test_a_window_that_is_nearly_used_up_takes_no_new_agent_until_its_reset() -> None:
    nearly, almost = controls_with(told(MOST_USED)), controls_with(told(MOST_USED - 0.01))
    refused = admit(snapshot(1, controls=nearly), NOW).refusals[0]
    assert (refused.by, refused.until) == (LimitedBy.WINDOW, NOW + HOUR)
    assert refused.reason == "account main: 95% of the 5-hour window used, resets in 1h"
    assert admit(snapshot(1, controls=almost), NOW).starts
    assert admit(snapshot(1, controls=nearly), NOW + HOUR).starts
    assert admit(snapshot(1, controls=nearly, most_used=1.0), NOW).starts


def test_a_full_account_holds_up_no_other() -> None:
    both = (candidate(1), candidate(2, account="second"))
    admission = admit(snapshot(0, candidates=both, controls=controls_with(told(1.0))), NOW)
    assert [start.account for start in admission.starts] == ["second"]


def test_where_calls_beyond_a_window_are_paid_for_it_stops_nothing() -> None:
    assert admit(snapshot(1, controls=controls_with(told(1.2, extra=True))), NOW).starts


def test_of_two_full_windows_the_later_reset_is_waited_for() -> None:
    week = told(0.99, name="7-day", resets_in=48 * HOUR)
    assert admit(snapshot(1, controls=controls_with(week, told(1.0))), NOW).refusals[0].until == NOW + 48 * HOUR


def test_what_was_told_of_an_earlier_window_is_no_news() -> None:
    now = controls_with(told(0.97, resets_in=4 * HOUR), told(0.2, resets_in=-HOUR), told(0.3, resets_in=HOUR))
    assert [window.used for window in windows_open(account_of(now, "main").windows, NOW)] == [0.97]
    newer = observe_windows(now, "main", told(0.1, resets_in=4 * HOUR + 1), NOW)
    assert [window.used for window in windows_open(account_of(newer, "main").windows, NOW)] == [0.1]


def test_a_person_can_say_that_there_is_more_quota() -> None:
    assert admit(snapshot(1, controls=reset_account(controls_with(told(1.0)), "main")), NOW).starts


@given(st.lists(tellings, max_size=5), st.floats(0.01, 1.0))
def test_whatever_is_told_a_full_window_ends_and_names_its_end(said: list[WindowsTold], most_used: float) -> None:
    windows = Windows()
    for words in said:
        windows = note_windows(windows, words, NOW)
    full = full_window(windows, most_used, NOW)
    if full is not None:
        assert full.used >= most_used
        assert NOW < full.resets_at <= NOW + WINDOW_LONGEST_SECONDS
    assert full_window(windows, most_used, NOW + WINDOW_LONGEST_SECONDS) is None


@given(st.lists(tellings, max_size=5), st.floats(0.01, 1.0), st.floats(0.0, 0.5))
def test_more_quota_never_means_fewer_agents(said: list[WindowsTold], most_used: float, more: float) -> None:
    windows = less = Windows()
    for words in said:
        windows = note_windows(windows, words, NOW)
        used_more = tuple(WindowUse(use.name, use.used + more, use.resets_at) for use in words.windows)
        less = note_windows(less, WindowsTold(used_more, words.extra), NOW)
    if full_window(windows, most_used, NOW) is not None:
        assert full_window(less, most_used, NOW) is not None

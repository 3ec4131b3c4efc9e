"""What the repositories of a group tell each other about an account: its pauses after refusals, its quota windows.

A pause that one has learnt holds for all. What a person has reset stays reset: who has not heard of it yet hears of
the reset before anything else.
"""

import msgspec
from msgspec.structs import replace

from paddock.core.admission.clocks import Clock, Clocks, clear_auth
from paddock.core.admission.controls import Account
from paddock.core.admission.windows import Windows, windows_open


class AccountNote(msgspec.Struct, frozen=True):
    """`by` is the repository that told something last; `reset_at` is when a person last reset the account."""

    clocks: Clocks = Clocks()
    windows: Windows = Windows()
    reset_at: float = 0.0
    at: float = 0.0
    by: str = ""


def told(note: AccountNote, account: Account, by: str, now: float) -> AccountNote:
    """With what a repository has just heard of the account."""
    clocks = _later_clocks(note.clocks, account.clocks, now)
    return replace(note, clocks=clocks, windows=_with_told(note.windows, account.windows, now), at=now, by=by)


def reset(note: AccountNote, by: str, now: float) -> AccountNote:
    """A person says that the account works again."""
    return replace(note, clocks=clear_auth(note.clocks), windows=Windows(), reset_at=now, at=now, by=by)


def heed(account: Account, note: AccountNote, now: float) -> Account:
    """The account with what others have told of it. Its number of agents stays its own."""
    windows = _with_told(account.windows, note.windows, now)
    return replace(account, clocks=_later_clocks(account.clocks, note.clocks, now), windows=windows)


def _later_clocks(one: Clocks, other: Clocks, now: float) -> Clocks:
    return Clocks(
        _later(one.per_minute, other.per_minute, now),
        _later(one.window, other.window, now),
        _later(one.overload, other.overload, now),
        one.auth if one.auth is not None else other.auth,
    )


def _later(one: Clock, other: Clock, now: float) -> Clock:
    """A clock that has run out says nothing to others."""
    return other if other.until > max(one.until, now) else one


def _with_told(known: Windows, told: Windows, now: float) -> Windows:
    """Who was told of no window knows nothing of calls beyond them either."""
    kept = {window.name: window for window in windows_open(known, now)}
    news = windows_open(told, now)
    for window in news:
        mine = kept.get(window.name)
        if mine is None or (window.resets_at, window.used) > (mine.resets_at, mine.used):
            kept[window.name] = window
    return Windows(kept, told.extra if news else known.extra)

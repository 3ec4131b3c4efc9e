"""What a repository tells the others of its group: totals by account, derived from its board.

An entry says how things are, never what has changed: writing it twice, or leaving one out, does no harm.
"""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from paddock.core.money.budget import Cost

WANTS_SECONDS = 15.0
"""Who has not said for so long that tasks wait has died, or nothing waits any more: its turn passes to others."""
BEARS_SECONDS = 900.0
"""What an account was seen to bear says little after this time."""


class AccountUse(msgspec.Struct, frozen=True):
    """One repository's use of an account. `wants` more agents would start but for what is shared; `started` is when
    the last one did. `reserved` and `spent` count towards the entry's day. `bears` is how many agents of all
    repositories the account was seen to bear, at `bears_at`; None where nothing was refused."""

    running: int = 0
    wants: int = 0
    reserved: Cost = Cost()
    spent: Cost = Cost()
    started: float = 0.0
    bears: int | None = None
    bears_at: float = 0.0


class Entry(msgspec.Struct, frozen=True):
    """`member` is the repository's log in its place, `generation` that of the daemon which wrote this `at` that time.
    Until `until` its agents may still run, if no daemon says otherwise."""

    member: str
    name: str
    place: str = ""
    host: str = ""
    host_id: str = ""
    generation: int = 0
    at: float = 0.0
    until: float = 0.0
    day: str = ""
    accounts: dict[str, AccountUse] = {}

    @property
    def running(self) -> int:
        return sum(use.running for use in self.accounts.values())

    @property
    def wants(self) -> int:
        return sum(use.wants for use in self.accounts.values())

    @property
    def started(self) -> float:
        return max((use.started for use in self.accounts.values()), default=0.0)

    def use_of(self, account: str) -> AccountUse:
        return self.accounts.get(account) or NOTHING


NOTHING = AccountUse()


def committed(use: AccountUse) -> Cost:
    """Spent and reserved. Money that nobody could price counts as nothing here: it is never let in unseen."""
    spent, reserved = use.spent, use.reserved
    return Cost((spent.money or 0.0) + (reserved.money or 0.0), spent.tokens + reserved.tokens)


def add_up(costs: Iterable[Cost]) -> Cost:
    total = Cost()
    for cost in costs:
        total = total.plus(Cost(cost.money or 0.0, cost.tokens))
    return total


def counted(entry: Entry, day: str, now: float) -> Entry:
    """As much of it as still holds: agents as long as they may run, money on its day, wishes for some seconds."""
    accounts = {}
    for name, use in entry.accounts.items():
        if now >= entry.until:
            use = replace(use, running=0)
        if now - entry.at >= WANTS_SECONDS:
            use = replace(use, wants=0)
        if entry.day != day:
            use = replace(use, reserved=Cost(), spent=Cost())
        if now - use.bears_at >= BEARS_SECONDS:
            use = replace(use, bears=None)
        accounts[name] = use
    return replace(entry, accounts=accounts)


def is_over(entry: Entry, day: str, now: float) -> bool:
    """Whether nothing of it counts any more."""
    return now >= entry.until and entry.day != day

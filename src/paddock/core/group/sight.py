"""Does one more agent fit into what a group shares? Pure: admission asks by what was last seen, and the transaction
that sets a start aside asks again by what is true then.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from paddock.core.group.entry import Entry, add_up, committed
from paddock.core.group.limits import GroupLimits
from paddock.core.group.notes import AccountNote
from paddock.core.group.shares import Wish, fair_shares
from paddock.core.money.budget import Cost

SHOWN_NAMES = 3


class Lack(StrEnum):
    """What one more agent does not fit into."""

    REACH = "reach"
    AGENTS = "agents"
    TURN = "turn"
    MONEY = "money"


@dataclass(frozen=True, slots=True)
class Unfit:
    lack: Lack
    reason: str


class GroupSight(msgspec.Struct, frozen=True):
    """`others` as far as they count now, `own` as the board has it. `trouble` is why the group cannot be reached.
    Without `yields` it is not asked whose turn it is: whoever has waited long for another's goes on."""

    name: str
    own: Entry
    limits: GroupLimits = GroupLimits()
    others: tuple[Entry, ...] = ()
    notes: dict[str, AccountNote] = {}
    trouble: str = ""
    yields: bool = True

    def elsewhere(self, account: str) -> int:
        """Agents of other repositories on the account."""
        return sum(entry.use_of(account).running for entry in self.others)

    @property
    def may_let_go(self) -> bool:
        """Whether there may soon be more room, without anything happening here."""
        return bool(self.trouble) or any(entry.running or entry.wants for entry in self.others)

    def bears(self, account: str) -> int | None:
        """The fewest agents that another repository has seen the account to bear."""
        told = (entry.use_of(account).bears for entry in self.others)
        return min((agents for agents in told if agents is not None), default=None)


@dataclass(frozen=True, slots=True)
class Wanted:
    """An attempt that is about to start, with what is reserved for it."""

    attempt: str
    account: str
    cost: Cost


@dataclass(frozen=True, slots=True)
class Settled:
    """`own` is what to write before anything is recorded; `dropped` maps attempts to why they may not start."""

    own: Entry
    dropped: dict[str, Unfit]


def settle_starts(sight: GroupSight, wanted: Sequence[Wanted], now: float, until: float) -> Settled:
    """Those of the wanted that fit, in this order, and the entry with all of them: the upper bound of what may run, up
    to `until` if nobody says otherwise."""
    dropped: dict[str, Unfit] = {}
    for one in wanted:
        if (unfit := why_not(sight, one.account, one.cost)) is not None:
            dropped[one.attempt] = unfit
        else:
            own = with_start(sight.own, one.account, one.cost, now)
            sight = replace(sight, own=replace(own, until=max(own.until, until)))
    return Settled(sight.own, dropped)


def with_start(own: Entry, account: str, cost: Cost, now: float) -> Entry:
    use = own.use_of(account)
    more = replace(
        use, running=use.running + 1, wants=max(0, use.wants - 1), reserved=add_up((use.reserved, cost)), started=now
    )
    return replace(own, accounts={**own.accounts, account: more})


def why_not(sight: GroupSight, account: str, cost: Cost) -> Unfit | None:
    """Why one more agent on the account does not fit; None if it does."""
    if sight.trouble:
        return Unfit(Lack.REACH, f"group `{sight.name}` cannot be reached: {sight.trouble}")
    limits, of_account = sight.limits, sight.limits.of(account)
    return (
        why_full(sight, account, of_account.agents, f"group `{sight.name}` allows")
        or _why_machine_is_full(sight)
        or _why_unpaid(
            sight,
            f"account {account}, group `{sight.name}`",
            _of(account),
            of_account.day_usd,
            of_account.day_tokens,
            cost,
        )
        or _why_unpaid(sight, f"group `{sight.name}`", _of_all, limits.day_usd, limits.day_tokens, cost)
    )


def why_full(sight: GroupSight, account: str, limit: int | None, allowed: str) -> Unfit | None:
    """Why the account takes no more agents, with so many allowed to all repositories together; None if it does."""

    def wish_of(entry: Entry) -> Wish:
        use = entry.use_of(account)
        return Wish(entry.member, use.running + use.wants, use.started)

    def running_of(entry: Entry) -> int:
        return entry.use_of(account).running

    if limit is None:
        return None
    return _why_full(sight, sight.others, wish_of, running_of, limit, f"account {account}", allowed)


def _why_machine_is_full(sight: GroupSight) -> Unfit | None:
    def wish_of(entry: Entry) -> Wish:
        return Wish(entry.member, entry.running + entry.wants, entry.started)

    def running_of(entry: Entry) -> int:
        return entry.running

    if sight.limits.agents is None:
        return None
    here = [entry for entry in sight.others if entry.host_id == sight.own.host_id]
    allowed = f"group `{sight.name}` allows"
    return _why_full(sight, here, wish_of, running_of, sight.limits.agents, "this machine", allowed)


def _why_full(
    sight: GroupSight,
    others: Sequence[Entry],
    wish_of: Callable[[Entry], Wish],
    running_of: Callable[[Entry], int],
    limit: int,
    what: str,
    allowed: str,
) -> Unfit | None:
    here, elsewhere = running_of(sight.own), [entry for entry in others if running_of(entry)]
    there = sum(map(running_of, elsewhere))
    agents = f"{here} agent{'s' if here != 1 else ''} here"
    if there:
        agents += f" and {there} in {names_of(elsewhere)}"
    if here + there >= limit:
        return Unfit(Lack.AGENTS, f"{what}: {agents}, {allowed} {limit}")
    if not sight.yields:
        return None
    own = wish_of(sight.own)
    own = Wish(own.member, max(own.demand, here + 1), own.started)
    wishes = [own, *map(wish_of, others)]
    running = {own.member: here, **{entry.member: running_of(entry) for entry in others}}
    first = _ahead_of(own, wishes, fair_shares(limit, wishes), running, limit - here - there)
    if not first:
        return None
    waiting = [entry for entry in others if entry.member in first]
    return Unfit(Lack.TURN, f"{what}: {agents}, {allowed} {limit}; the next is the turn of {names_of(waiting)}")


def _ahead_of(
    own: Wish, wishes: Sequence[Wish], shares: Mapping[str, int], running: Mapping[str, int], free: int
) -> set[str]:
    """Whose turn it is before this one's, where nothing is left for it then. A share may be in use by those who got
    theirs before more wanted something: what is free goes to who has waited longest."""
    lacking = {wish.member: shares[wish.member] - running[wish.member] for wish in wishes}
    order = sorted((wish for wish in wishes if lacking[wish.member] > 0), key=lambda wish: (wish.started, wish.member))
    if own not in order:
        return {wish.member for wish in order}
    before = order[: order.index(own)]
    return {wish.member for wish in before} if sum(lacking[wish.member] for wish in before) >= free else set()


def _why_unpaid(
    sight: GroupSight,
    what: str,
    cost_of: Callable[[Entry], Cost],
    most_usd: float | None,
    most_tokens: float | None,
    cost: Cost,
) -> Unfit | None:
    here, there = cost_of(sight.own), add_up(map(cost_of, sight.others))
    usd, tokens = (here.money or 0.0) + (there.money or 0.0), here.tokens + there.tokens
    words = "spent or reserved today"
    if most_usd is not None and cost.money is None:
        return Unfit(Lack.MONEY, f"{what} has a limit in money, and this model has no price")
    if most_usd is not None and cost.money is not None and usd + cost.money > most_usd:
        taken = f"${usd:.2f} of ${most_usd:.2f} {words} (${here.money or 0.0:.2f} here)"
        return Unfit(Lack.MONEY, f"{what}: ${cost.money:.2f} needed, {taken}")
    if most_tokens is not None and tokens + cost.tokens > most_tokens:
        taken = f"{tokens:,.0f} of {most_tokens:,.0f} tokens {words} ({here.tokens:,.0f} here)"
        return Unfit(Lack.MONEY, f"{what}: {cost.tokens:,.0f} needed, {taken}")
    return None


def _of(account: str) -> Callable[[Entry], Cost]:
    return lambda entry: committed(entry.use_of(account))


def _of_all(entry: Entry) -> Cost:
    return add_up(committed(use) for use in entry.accounts.values())


def names_of(entries: Sequence[Entry]) -> str:
    named = [f"`{entry.name}`" for entry in entries[:SHOWN_NAMES]]
    more = len(entries) - len(named)
    if more > 0:
        named.append(f"{more} more")
    if len(named) < 2:
        return named[0] if named else "others"
    return f"{', '.join(named[:-1])} and {named[-1]}"

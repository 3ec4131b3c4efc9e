"""How full each limit is: by the same arithmetic that admits agents, for those who want to see it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from paddock.core.admission.admit import LimitedBy, Snapshot, agents_of_quota, elsewhere_on, fleet_rooms
from paddock.core.admission.breaker import how_to_restart, why_stopped
from paddock.core.admission.clocks import current_pause
from paddock.core.admission.controls import Account
from paddock.core.admission.windows import describe_window, full_window
from paddock.core.group.entry import add_up
from paddock.core.group.entry import committed as committed_of_use
from paddock.core.group.sight import GroupSight
from paddock.core.money.budget import Amount, BudgetBook, Cost, committed, limit_of

UNBOUNDED = 100_000
"""An engine without a provider has a quota of this many agents or more, which is none."""


class LimitUnit(StrEnum):
    AGENTS = "agents"
    CHANGES = "changes"
    DOLLARS = "usd"
    TOKENS = "tokens"


@dataclass(frozen=True, slots=True)
class Rung:
    """One limit: `used` of at most `most`, None where it has no number. `on` is the account, engine or budget that it
    is about. `until` is when it changes by itself, in epoch seconds; `cure` what a person may run."""

    by: LimitedBy
    used: float
    most: float | None
    reason: str
    on: str = ""
    unit: LimitUnit = LimitUnit.AGENTS
    until: float | None = None
    cure: str = ""

    @property
    def name(self) -> str:
        return _NAMES.get(self.by, f"account: {self.on}") if self.by not in _NAMED else f"{_NAMED[self.by]}: {self.on}"

    @property
    def fullness(self) -> float:
        """Of one; above it where something was lowered below what is used already."""
        if self.most is None:
            return 0.0
        return self.used / self.most if self.most > 0 else 1.0


_NAMES = {
    LimitedBy.CAP: "cap",
    LimitedBy.LOAD: "machine: load",
    LimitedBy.MEMORY: "machine: memory",
    LimitedBy.DISK: "machine: disk",
    LimitedBy.MERGE_QUEUE: "merge queue",
    LimitedBy.FAILURES: "failures",
}
_NAMED = {
    LimitedBy.BREAKER: "engine",
    LimitedBy.BUDGET: "budget",
    LimitedBy.GROUP: "group",
    LimitedBy.GROUP_BUDGET: "group day",
}


def rungs_of(snapshot: Snapshot, now: float) -> tuple[Rung, ...]:
    """Every limit that is in force, the fullest first; at last those that have no number."""
    shared = shared_rungs(snapshot.group) if snapshot.group is not None else ()
    rungs = [*_fleet(snapshot), *_accounts(snapshot, now), *_engines(snapshot), *_budgets(snapshot), *shared]
    return tuple(sorted(rungs, key=lambda rung: (rung.most is None, -rung.fullness, rung.name)))


def _fleet(snapshot: Snapshot) -> Iterator[Rung]:
    running = sum(snapshot.running.values())
    for room, by, reason in fleet_rooms(snapshot):
        if by is LimitedBy.MERGE_QUEUE:
            yield Rung(by, snapshot.merge_queue_depth, snapshot.merge_queue_limit, reason, unit=LimitUnit.CHANGES)
        elif by is LimitedBy.DISK:
            yield Rung(by, running, 0, reason)
        elif by is not LimitedBy.FAILURES:
            most = int(snapshot.controls.host.slots + 1e-9) if by is LimitedBy.LOAD else running + room
            yield Rung(by, running, max(0, most), reason)
    for one in snapshot.measures:
        yield Rung(LimitedBy.FAILURES, running, one.agents, one.reason, until=one.until, cure=one.cure)


def _accounts(snapshot: Snapshot, now: float) -> Iterator[Rung]:
    names = dict.fromkeys((*snapshot.running, *snapshot.controls.accounts))
    for name in names:
        account = snapshot.controls.accounts.get(name) or Account()
        running = snapshot.running.get(name, 0)
        pause = current_pause(account.clocks, now)
        full = full_window(account.windows, snapshot.most_used, now)
        borne = agents_of_quota(account, name, snapshot.pace, snapshot.group)
        most = None if borne is None or borne >= UNBOUNDED else borne
        if pause is not None:
            cure = "" if pause.until is not None else how_to_restart(name)
            yield Rung(LimitedBy(pause.kind.value), running, 0, pause.reason, name, until=pause.until, cure=cure)
        elif full is not None:
            yield Rung(LimitedBy.WINDOW, running, running, describe_window(full, now), name, until=full.resets_at)
        elif most is not None:
            known = "its quota has room for" if account.quota.has_limit else "nothing was refused so far: room for"
            there = elsewhere_on(snapshot.group, name)
            words = f"{known} {most} agents" + (f"; {there} run in other repositories" if there else "")
            yield Rung(LimitedBy.QUOTA, running + there, most, words, name)
        else:
            yield Rung(LimitedBy.QUOTA, running, None, "no limit is known", name)


def shared_rungs(group: GroupSight) -> Iterator[Rung]:
    """What the group's file limits, over all of its repositories."""
    if group.trouble:
        yield Rung(LimitedBy.GROUP, 0, 0, f"cannot be reached: {group.trouble}", group.name, cure="paddock group show")
    everyone = (group.own, *group.others)
    if (most := group.limits.agents) is not None:
        here = sum(entry.running for entry in everyone if entry.host_id == group.own.host_id)
        yield Rung(LimitedBy.GROUP, here, most, f"{group.own.running} of them here, on this machine", group.name)
    for name, limits in group.limits.accounts.items():
        uses = [entry.use_of(name) for entry in everyone]
        if limits.agents is not None:
            words = f"{group.own.use_of(name).running} of them here"
            yield Rung(LimitedBy.GROUP, sum(use.running for use in uses), limits.agents, words, name)
        yield from _day(name, add_up(map(committed_of_use, uses)), limits.day_usd, limits.day_tokens)
    taken = add_up(committed_of_use(use) for entry in everyone for use in entry.accounts.values())
    yield from _day(group.name, taken, group.limits.day_usd, group.limits.day_tokens)


def _day(on: str, taken: Cost, usd: float | None, tokens: float | None) -> Iterator[Rung]:
    words = "spent or reserved today in all of its repositories"
    if usd is not None:
        yield Rung(LimitedBy.GROUP_BUDGET, taken.money or 0.0, usd, words, on, LimitUnit.DOLLARS)
    if tokens is not None:
        yield Rung(LimitedBy.GROUP_BUDGET, taken.tokens, tokens, words, on, LimitUnit.TOKENS)


def _engines(snapshot: Snapshot) -> Iterator[Rung]:
    for engine, breaker in snapshot.controls.breakers.items():
        stopped = why_stopped(breaker, engine)
        if stopped is not None:
            cure = how_to_restart(engine, breaker.cause)
            yield Rung(LimitedBy.BREAKER, 0, 0, stopped, engine, until=breaker.trial_at, cure=cure)


def _budgets(snapshot: Snapshot) -> Iterator[Rung]:
    """Of the fleet, of today and of each convoy: what is reserved counts as spent. Those of single tasks are theirs."""
    ledger = snapshot.ledger
    today = f"day:{snapshot.day}"
    convoys = [scope for scope in ledger.limits if scope.startswith("convoy:")]
    for scope, name in (("fleet", "fleet"), (today, "day"), *((scope, scope) for scope in convoys)):
        limit = limit_of(ledger, scope)
        if limit is not None:
            yield from _budget(ledger, scope, name, limit)


def _budget(ledger: BudgetBook, scope: str, name: str, limit: Amount) -> Iterator[Rung]:
    taken = committed(ledger, scope)
    cure = f"paddock budget set {name}"
    if limit.money is not None:
        left = max(0.0, limit.money - (taken.money or 0.0))
        reason = f"${left:.2f} of ${limit.money:.2f} left, what is reserved counted as spent"
        yield Rung(LimitedBy.BUDGET, taken.money or 0.0, limit.money, reason, name, LimitUnit.DOLLARS, cure=cure)
    if limit.tokens is not None:
        left = max(0.0, limit.tokens - taken.tokens)
        reason = f"{left:,.0f} of {limit.tokens:,.0f} tokens left"
        yield Rung(LimitedBy.BUDGET, taken.tokens, limit.tokens, reason, name, LimitUnit.TOKENS, cure=cure)


def binding_rung(rungs: tuple[Rung, ...], by: str, on: str) -> Rung | None:
    """The one that the gate named as what keeps tasks from starting; `by` is empty where nothing does."""
    if not by:
        return None
    found = [rung for rung in rungs if rung.by.value == by and (not rung.on or _same_scope(rung.on, on))]
    if not found and on:
        found = [rung for rung in rungs if rung.on == on]
    return found[0] if found else None


def _same_scope(mine: str, named: str) -> bool:
    """A budget is named by its day, and shown as that of the day."""
    return mine == named or (mine == "day" and named.startswith("day:"))


def amount_words(rung: Rung) -> str:
    """`14 of 40`, `$3.20 of $80.00`, `$120 of $400`; alone what is used where there is no limit."""
    if rung.unit is LimitUnit.DOLLARS:
        digits = 0 if (rung.most or 0.0) >= 100 else 2
        used, most = f"${rung.used:,.{digits}f}", f"${rung.most or 0.0:,.{digits}f}"
    else:
        used, most = f"{rung.used:,.0f}", f"{rung.most or 0.0:,.0f}"
    return used if rung.most is None else f"{used} of {most}"

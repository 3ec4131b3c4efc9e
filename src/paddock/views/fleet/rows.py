"""What the fleet's page shows in rows: accounts and their clocks, money, leases, machines."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from paddock.core.admission.admit import LimitedBy
from paddock.core.admission.controls import Account, Controls
from paddock.core.admission.ladder import Rung
from paddock.core.admission.windows import windows_open
from paddock.core.board import Board
from paddock.core.ids import printable
from paddock.core.leases.lease import log_time
from paddock.core.money.budget import limit_of
from paddock.core.money.day_rate import Spent, forecast_day
from paddock.core.money.spending import day_of, money_of
from paddock.core.tasks.task import Attempt
from paddock.fleet.dispatch.gate import LimitsFile
from paddock.fleet.glance import Glance
from paddock.fleet.service.presence import Presence
from paddock.views.board.page import not_booked_yet
from paddock.views.document import iso, iso_or_none
from paddock.views.sight import Sight

DAY_SECONDS = 86400.0
SHOWN_CONVOYS = 12
MOST_STEPS = 300
WORDS = 300
REFUSED = (LimitedBy.AUTH,)
ELSEWHERE_SHOWN = (LimitedBy.BUDGET, LimitedBy.BREAKER, LimitedBy.GROUP, LimitedBy.GROUP_BUDGET)
PAUSED = (LimitedBy.OVERLOAD, LimitedBy.PER_MINUTE, LimitedBy.WINDOW)


class AgentsNow(msgspec.Struct, frozen=True):
    """`most` could run now. `limit` keeps ready tasks from starting, with its reason; empty where nothing does."""

    running: int
    cap: int
    most: int | None
    ready: int
    limit: str
    reason: str
    until: str | None


class WindowRow(msgspec.Struct, frozen=True):
    """`used` is a share of one; `resets` is None for a quota per minute."""

    name: str
    used: float
    resets: str | None
    words: str


class AccountRow(msgspec.Struct, frozen=True):
    """`state`: binds, room, paused, refused (its credentials). `run` is what helps, where a person must."""

    name: str
    agents: int
    bears: int | None
    state: str
    windows: tuple[WindowRow, ...]
    words: str
    until: str | None
    run: str


class ConvoySpend(msgspec.Struct, frozen=True):
    name: str
    cost_usd: float
    budget_usd: float | None


class SpendToday(msgspec.Struct, frozen=True):
    """Dollars since midnight in UTC. `steps` are times and what had been spent by then."""

    day: str
    begins: str
    ends: str
    cost_usd: float | None
    assumed_usd: float
    budget_usd: float | None
    per_hour_usd: float | None
    forecast_usd: float | None
    low_usd: float | None
    high_usd: float | None
    steps: tuple[tuple[str, float], ...]
    convoys: tuple[ConvoySpend, ...]


class MachineNow(msgspec.Struct, frozen=True):
    """As the daemon last saw it. `busy` is runnable processes per core."""

    host: str
    at: str
    cores: int
    busy: float
    free_memory_bytes: int
    free_disk_bytes: int


class WorktreeCounts(msgspec.Struct, frozen=True):
    """`warm` ones are ready for the next attempt, `kept` hold something that could not be saved."""

    total: int
    warm: int
    in_use: int
    kept: int


class LeaseRow(msgspec.Struct, frozen=True):
    name: str
    holder: str
    attempt: str | None
    host: str
    generation: int
    since: str
    expires: str
    waits: tuple[str, ...]


class NodeRow(msgspec.Struct, frozen=True):
    """A host that agents or CI runs are on. `state`: well, silent (its daemon), gone, idle or away (out of reach)."""

    name: str
    here: bool
    state: str
    agents: int
    runs: int


def view_accounts(
    rungs: Sequence[Rung], controls: Controls, running: Mapping[str, int], bound: Rung | None, now: float
) -> dict[str, AccountRow]:
    """Of every account that was ever drawn on, the busiest first."""
    names = dict.fromkeys((*running, *controls.accounts))
    by_name = {rung.on: rung for rung in rungs if rung.on in names and rung.by not in ELSEWHERE_SHOWN}
    order = sorted(names, key=lambda name: (-running.get(name, 0), name))
    return {
        name: _view_account(name, by_name.get(name), controls.accounts.get(name) or Account(), running, bound, now)
        for name in order
    }


def _view_account(
    name: str, rung: Rung | None, account: Account, running: Mapping[str, int], bound: Rung | None, now: float
) -> AccountRow:
    by = rung.by if rung is not None else LimitedBy.QUOTA
    state = "refused" if by in REFUSED else "paused" if by in PAUSED else "room"
    if bound is not None and bound.on == name and state == "room":
        state = "binds"
    return AccountRow(
        name,
        running.get(name, 0),
        int(rung.most) if rung is not None and rung.most is not None else None,
        state,
        (*_windows(account, now), *_per_minute(account)),
        printable(rung.reason, WORDS) if rung is not None else "",
        iso_or_none(rung.until if rung is not None else None),
        rung.cure if rung is not None else "",
    )


def _windows(account: Account, now: float) -> list[WindowRow]:
    told = sorted(windows_open(account.windows, now), key=lambda window: window.resets_at)
    return [WindowRow(one.name, round(one.used, 4), iso(one.resets_at), "") for one in told]


def _per_minute(account: Account) -> list[WindowRow]:
    """Of the limits that are shown; else what was seen to get through."""
    quota = account.quota
    if quota.limits:
        shares = {name: 1.0 - seen.remaining / seen.limit for name, seen in quota.limits.items() if seen.limit > 0}
        return [WindowRow("a minute", round(max(0.0, share), 4), None, f"of {name}") for name, share in shares.items()]
    if quota.capacity is not None:
        return [WindowRow("a minute", 0.0, None, f"{quota.capacity:,.0f} calls get through")]
    return []


def view_spend(board: Board, glance: Glance, spent: Sequence[Spent], now: float) -> SpendToday:
    """By the same sums as on the board."""
    day, begins = day_of(now), now - now % DAY_SECONDS
    cost = board.cost_of_day(day)
    total = cost.known + not_booked_yet(board, glance, day) if cost is not None else 0.0
    limit = limit_of(board.spending.ledger, f"day:{day}")
    ahead = forecast_day(spent, total, now, begins + DAY_SECONDS)
    return SpendToday(
        day,
        iso(begins),
        iso(begins + DAY_SECONDS),
        round(total, 4) if cost is not None else None,
        round(cost.assumed, 4) if cost is not None else 0.0,
        limit.money if limit is not None else None,
        round(ahead.per_hour, 2) if ahead is not None else None,
        round(ahead.expected, 2) if ahead is not None else None,
        round(ahead.low, 2) if ahead is not None else None,
        round(ahead.high, 2) if ahead is not None else None,
        _steps(spent),
        _convoys(board),
    )


def _steps(spent: Sequence[Spent]) -> tuple[tuple[str, float], ...]:
    """Thinned out where there are many: the last of each group stays."""
    every = max(1, -(-len(spent) // MOST_STEPS))
    total, steps = 0.0, []
    for number, (at, usd) in enumerate(spent, 1):
        total += usd
        if number % every == 0 or number == len(spent):
            steps.append((iso(at), round(total, 4)))
    return tuple(steps)


def _convoys(board: Board) -> tuple[ConvoySpend, ...]:
    """Those at work first, then the dearest."""
    ledger = board.spending.ledger
    live: dict[str, float] = defaultdict(float)
    for name in board.live:
        task = board.tasks[name]
        if task.convoy is not None and task.live_attempt is not None:
            live[task.convoy] += money_of(task.live_attempt)
    rows: list[tuple[bool, ConvoySpend]] = []
    for convoy in board.convoys:
        spent, limit = ledger.spent.get(f"convoy:{convoy}"), limit_of(ledger, f"convoy:{convoy}")
        cost = (spent.money or 0.0 if spent is not None else 0.0) + live.get(convoy, 0.0)
        is_open = any(member in board.open for member in board.members.get(convoy, ()))
        if is_open or cost:
            rows.append((is_open, ConvoySpend(convoy, round(cost, 4), limit.money if limit is not None else None)))
    rows.sort(key=lambda row: (not row[0], -row[1].cost_usd))
    return tuple(spend for _, spend in rows[:SHOWN_CONVOYS])


def view_machine(sight: Sight, known: LimitsFile) -> MachineNow | None:
    host, lease = known.host, sight.outlook.daemon.lease
    if host is None:
        return None
    name = lease.holder.host if lease is not None else ""
    return MachineNow(name, iso(host.at), host.cores, round(host.busy, 3), host.free_memory_bytes, host.free_disk_bytes)


def waiters_of(board: Board) -> dict[str, tuple[str, ...]]:
    waits: dict[str, list[str]] = defaultdict(list)
    for one in board.leases.waiting:
        waits[one.name].append(one.holder.attempt or one.holder.name)
    return {name: tuple(names) for name, names in waits.items()}


def view_lease_rows(board: Board, waits: Mapping[str, tuple[str, ...]], now: float) -> dict[str, LeaseRow]:
    """`expires` is by the wall clock, which a page counts down by."""
    time = log_time(board.leases, now)
    return {
        one.name: LeaseRow(
            one.name,
            one.holder.name,
            one.holder.attempt or None,
            one.holder.host,
            one.generation,
            iso(one.since),
            iso(round(now + one.expires_at - time)),
            waits.get(one.name, ()),
        )
        for one in board.leases.held.values()
    }


def view_nodes(sight: Sight) -> dict[str, NodeRow]:
    """Every host that the daemon, an agent or a CI run is on; this one first."""
    board, lease = sight.board, sight.outlook.daemon.lease
    attempts = [one for name in board.live if (one := board.tasks[name].live_attempt) is not None]
    home = lease.holder.host if lease is not None else ""
    away = {one.host for one in sight.outlook.elsewhere}
    runs = list(board.queue.running.values())
    names = dict.fromkeys((home, *(one.host for one in attempts), *(run.host for run in runs)))
    here = sight.outlook.daemon.presence
    states = {Presence.RUNNING: "well", Presence.SILENT: "silent", Presence.GONE: "gone", Presence.NONE: "idle"}
    return {
        name: NodeRow(
            name,
            name == home and name not in away,
            "away" if name in away else states[here] if name == home else "well",
            _count_on(name, attempts),
            sum(1 for run in runs if run.host == name),
        )
        for name in names
        if name
    }


def _count_on(host: str, attempts: Sequence[Attempt]) -> int:
    return sum(1 for one in attempts if one.host == host)

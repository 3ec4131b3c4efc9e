"""May it start? Every candidate gets a yes, or a no with its reason.

The tightest limit wins: the configured cap, the machine's load, memory and disk, the merge queue, the
engine's breaker, the account's clocks, quota and start bucket, and every budget. Each limit alone only ever says "at
most this many", so more of anything never means fewer agents.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from msgspec.structs import replace

from paddock.core.admission.breaker import Breaker, why_stopped
from paddock.core.admission.clocks import current_pause
from paddock.core.admission.controls import Account, Controls, account_of, observe_start, observe_trial
from paddock.core.admission.host import AGENT_MEMORY_BYTES, Floor, HostSample, lack_of_disk, load_room, memory_room
from paddock.core.admission.pacing import (
    COLD_START_TOKENS,
    Pace,
    agents_borne,
    is_paced,
    may_start,
    refill,
    start_tokens,
)
from paddock.core.admission.windows import MOST_USED, describe_window, full_window
from paddock.core.causes.measures import Measure
from paddock.core.group.sight import GroupSight, Lack, why_full, why_not, with_start
from paddock.core.money.budget import BudgetBook, Cost, OverBudget, cap_to_attempt, reserve, scopes_of

# Refusals are evaluated about every ten seconds; until then nothing more starts.
UNWEIGHED_SECONDS = 20.0


class LimitedBy(StrEnum):
    CAP = "cap"
    LOAD = "load"
    MEMORY = "memory"
    DISK = "disk"
    MERGE_QUEUE = "merge_queue"
    FAILURES = "failures"
    BREAKER = "breaker"
    AUTH = "auth"
    WINDOW = "window"
    OVERLOAD = "overload"
    PER_MINUTE = "per_minute"
    QUOTA = "quota"
    PACING = "pacing"
    BUDGET = "budget"
    GROUP = "group"
    GROUP_BUDGET = "group_budget"
    TURN = "turn"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An attempt that is ready to start. `cost` is its 90th percentile; `prefix` names the prompt cache it shares
    with others, if any."""

    attempt: str
    task: str
    engine: str
    account: str
    cost: Cost
    convoy: str | None = None
    prefix: str = ""
    cold_tokens: float = COLD_START_TOKENS


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything admission looks at. `running` counts agents by account; a limit of None does not apply.

    `host` is None if the machine was not sampled; with `adapts_to_load` false its load is ignored, but not its memory
    or disk. `disk_trouble` is the last error from a write that failed. `most_used` is the share of a
    quota window that may be used up when an agent starts. `measures` are those taken on the host about failures.
    `group` is what the repositories that share the accounts do, None where there are none.
    """

    candidates: tuple[Candidate, ...]
    running: dict[str, int]
    controls: Controls
    ledger: BudgetBook
    day: str
    cap: int
    host: HostSample | None = None
    adapts_to_load: bool = True
    floor: Floor = Floor()  # noqa: RUF009 (frozen)
    disk_trouble: str | None = None
    agent_memory_bytes: int = AGENT_MEMORY_BYTES
    merge_queue_depth: int = 0
    merge_queue_limit: int | None = None
    pace: Pace = Pace.AUTO
    most_used: float = MOST_USED
    measures: tuple[Measure, ...] = ()
    group: GroupSight | None = None


@dataclass(frozen=True, slots=True)
class Start:
    attempt: str
    account: str
    cost: Cost = Cost()  # noqa: RUF009 (frozen)


@dataclass(frozen=True, slots=True)
class Refusal:
    """`until` is when to ask again (epoch seconds), None if that is unknown or time alone does not help. `on` is the
    account, the engine or the budget that refuses; empty for the limits on the whole fleet."""

    attempt: str
    by: LimitedBy
    reason: str
    until: float | None = None
    on: str = ""


@dataclass(frozen=True, slots=True)
class Admission:
    """`ledger` and `controls` are the state once all starts have been made, to be recorded with them."""

    starts: tuple[Start, ...]
    refusals: tuple[Refusal, ...]
    ledger: BudgetBook
    controls: Controls


def admit(snapshot: Snapshot, now: float) -> Admission:
    """Who may start now. One candidate's refusal does not hold up those behind it."""
    starts: list[Start] = []
    refusals: list[Refusal] = []
    running = dict(snapshot.running)
    ledger, controls, group = snapshot.ledger, snapshot.controls, snapshot.group
    room, fleet_by, fleet_reason = fleet_room(snapshot)
    for candidate in snapshot.candidates:
        if len(starts) >= room:
            reason = fleet_reason if fleet_by is not LimitedBy.CAP else _used_up(sum(running.values()), snapshot.cap)
            refusals.append(Refusal(candidate.attempt, fleet_by, reason))
            continue
        account, cost = candidate.account, cap_to_attempt(ledger, candidate.attempt, candidate.cost)
        breaker = controls.breakers.get(candidate.engine) or Breaker()
        refusal = (
            _stopped(candidate, breaker, now)
            or _refusal(candidate, account_of(controls, account), running.get(account, 0), now, snapshot, group)
            or _unshared(candidate, cost, group)
        )
        if refusal is not None:
            refusals.append(refusal)
            continue
        scopes = scopes_of(candidate.attempt, candidate.task, candidate.convoy, snapshot.day)
        reserved = reserve(ledger, candidate.attempt, scopes, candidate.cost)
        if isinstance(reserved, OverBudget):
            refusals.append(Refusal(candidate.attempt, LimitedBy.BUDGET, reserved.reason, on=reserved.scope))
            continue
        ledger = reserved
        running[account] = running.get(account, 0) + 1
        group = replace(group, own=with_start(group.own, account, cost, now)) if group is not None else None
        everywhere = running[account] + elsewhere_on(group, account)
        controls = observe_start(controls, account, candidate.prefix, candidate.cold_tokens, now, running=everywhere)
        controls = observe_trial(controls, candidate.engine, now)
        starts.append(Start(candidate.attempt, account, cost))
    return Admission(tuple(starts), tuple(refusals), ledger, controls)


def elsewhere_on(group: GroupSight | None, account: str) -> int:
    """Agents of other repositories on the account."""
    return group.elsewhere(account) if group is not None else 0


def agents_of_quota(account: Account, name: str, pace: Pace, group: GroupSight | None) -> int | None:
    """How many agents of all repositories the account's quota allows, None for no limit: the fewest that any of them
    has seen it to bear."""
    seen = (agents_borne(account.quota, pace), group.bears(name) if group is not None else None)
    return min((agents for agents in seen if agents is not None), default=None)


def fleet_room(snapshot: Snapshot) -> tuple[int, LimitedBy, str]:
    """How many may start under the limits on the whole fleet, and which limit decided that."""
    return min(fleet_rooms(snapshot), key=lambda room: room[0])


def fleet_rooms(snapshot: Snapshot) -> list[tuple[int, LimitedBy, str]]:
    """How many may start under each limit on the whole fleet."""
    running = sum(snapshot.running.values())
    rooms = [(snapshot.cap - running, LimitedBy.CAP, _used_up(running, snapshot.cap))]
    if snapshot.host is not None and snapshot.adapts_to_load:
        load = load_room(snapshot.controls.host, running)
        rooms.append((load.agents, LimitedBy.LOAD, load.reason))
    if snapshot.host is not None:
        memory = memory_room(snapshot.host, snapshot.floor, snapshot.agent_memory_bytes)
        rooms.append((memory.agents, LimitedBy.MEMORY, memory.reason))
    lack = lack_of_disk(snapshot.host, snapshot.floor) if snapshot.host is not None else None
    if trouble := snapshot.disk_trouble or lack:
        rooms.append((0, LimitedBy.DISK, trouble))
    limit, depth = snapshot.merge_queue_limit, snapshot.merge_queue_depth
    if limit is not None:
        reason = f"merge queue: {depth} changes waiting to land (limit {limit})"
        rooms.append((max(0, limit - depth), LimitedBy.MERGE_QUEUE, reason))
    rooms += [(max(0, one.agents - running), LimitedBy.FAILURES, one.reason) for one in snapshot.measures]
    return rooms


def binding_refusal(refusals: Sequence[Refusal]) -> Refusal | None:
    """The first by the limit that holds up most of those who want to start; None when nobody is held up."""
    held_up = Counter(refusal.by for refusal in refusals)
    return max(refusals, key=lambda refusal: held_up[refusal.by], default=None)


def _used_up(running: int, cap: int) -> str:
    return f"agent cap reached ({running}/{cap})"


def _stopped(candidate: Candidate, breaker: Breaker, now: float) -> Refusal | None:
    """One agent of a stopped engine is let try now and then; until it has ended it is the only one."""
    stopped = why_stopped(breaker, candidate.engine)
    if stopped is None or breaker.may_try(now):
        return None
    return Refusal(candidate.attempt, LimitedBy.BREAKER, stopped, breaker.trial_at, candidate.engine)


def limit_of_lack(lack: Lack) -> LimitedBy:
    """What a start that does not fit into the group is held up by."""
    return {Lack.TURN: LimitedBy.TURN, Lack.MONEY: LimitedBy.GROUP_BUDGET}.get(lack, LimitedBy.GROUP)


def _unshared(candidate: Candidate, cost: Cost, group: GroupSight | None) -> Refusal | None:
    unfit = why_not(group, candidate.account, cost) if group is not None else None
    if unfit is None:
        return None
    return Refusal(candidate.attempt, limit_of_lack(unfit.lack), unfit.reason, on=candidate.account)


def _refusal(
    candidate: Candidate, account: Account, running: int, now: float, snapshot: Snapshot, group: GroupSight | None
) -> Refusal | None:
    """Why the candidate's account does not take it, with so many agents on the account."""
    name = candidate.account
    pause = current_pause(account.clocks, now)
    if pause is not None:
        reason = f"account {name}: {pause.reason}"
        return Refusal(candidate.attempt, LimitedBy(pause.kind.value), reason, pause.until, name)
    full = full_window(account.windows, snapshot.most_used, now)
    if full is not None:
        reason = f"account {name}: {describe_window(full, now)}"
        return Refusal(candidate.attempt, LimitedBy.WINDOW, reason, full.resets_at, name)
    agents = agents_of_quota(account, name, snapshot.pace, group)
    if agents is not None and running >= agents:
        reason = f"account {name}: {running} agents running, its quota allows {agents}"
        return Refusal(candidate.attempt, LimitedBy.QUOTA, reason, on=name)
    unfit = why_full(group, name, agents, "its quota allows") if group is not None else None
    if unfit is not None:
        by = LimitedBy.TURN if unfit.lack is Lack.TURN else LimitedBy.QUOTA
        return Refusal(candidate.attempt, by, unfit.reason, on=name)
    until = account.quota.stepped_at + UNWEIGHED_SECONDS
    if account.quota.is_refused and now < until:
        reason = f"account {name}: the provider is refusing calls"
        return Refusal(candidate.attempt, LimitedBy.QUOTA, reason, until, name)
    if not is_paced(account.quota, snapshot.pace):
        return None
    pacer = refill(account.pacer, account.quota, now)
    tokens = start_tokens(pacer, candidate.prefix, candidate.cold_tokens, now)
    if not may_start(pacer, account.quota, tokens, now):
        reason = f"account {name}: starts are spaced out; this one reads {tokens:,.0f} tokens"
        return Refusal(candidate.attempt, LimitedBy.PACING, reason, on=name)
    return None

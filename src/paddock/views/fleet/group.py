"""The group as JSON: its repositories, what each has running and has spent, what is left, and what pauses accounts."""

import msgspec

from paddock.core.admission.clocks import current_pause
from paddock.core.admission.ladder import shared_rungs
from paddock.core.group.entry import Entry, add_up, committed
from paddock.core.group.notes import AccountNote
from paddock.core.ids import printable
from paddock.core.money.budget import Cost
from paddock.fleet.group.roll import GroupRoll
from paddock.views.document import Document, iso, iso_or_none
from paddock.views.fleet.limits import LimitRow, view_rung


class AccountShare(msgspec.Struct, frozen=True):
    """One repository's use of an account: `waiting` tasks would start but for what is shared; money and tokens are
    those of today (UTC)."""

    account: str
    agents: int
    waiting: int
    spent_usd: float
    reserved_usd: float
    tokens: float


class MemberRow(msgspec.Struct, frozen=True):
    """`told` is when its daemon last said so; until `until` its agents count if it says nothing more. `is_own` is the
    repository that asks, `is_here` one of this machine."""

    name: str
    place: str
    host: str
    is_own: bool
    is_here: bool
    agents: int
    waiting: int
    spent_usd: float
    reserved_usd: float
    tokens: float
    told: str
    until: str | None
    accounts: list[AccountShare]


class AccountPause(msgspec.Struct, frozen=True):
    """`by` is the repository that told of it last; `until` is null where only a person can end it, with `run`."""

    account: str
    words: str
    by: str
    until: str | None
    run: str


class GroupView(Document, frozen=True, kw_only=True):
    """`group` is empty where this repository is in none. `file` has its limits; the repositories meet in `told_in`.
    `trouble` is why nothing is known of them, and nothing starts."""

    group: str
    file: str
    told_in: str
    trouble: str
    hint: str
    repositories: list[MemberRow]
    limits: list[LimitRow]
    pauses: list[AccountPause]


NO_GROUP = GroupView(group="", file="", told_in="", trouble="", hint="", repositories=[], limits=[], pauses=[])


def view_group(roll: GroupRoll, member: str) -> GroupView:
    """`member` is the repository that asks; empty if it is none of the group."""
    return GroupView(
        group=roll.place.name,
        file=str(roll.place.file),
        told_in=roll.told_in,
        trouble=printable(roll.trouble, 400),
        hint=printable(roll.hint, 300),
        repositories=[_view_member(entry, member, roll.host_id) for entry in roll.entries],
        limits=[] if roll.trouble else [view_rung(rung) for rung in shared_rungs(roll.sight_of(member))],
        pauses=[pause for name, note in roll.notes if (pause := _view_pause(name, note, roll.now)) is not None],
    )


def _view_member(entry: Entry, own: str, host_id: str) -> MemberRow:
    spent = add_up(use.spent for use in entry.accounts.values())
    reserved = add_up(use.reserved for use in entry.accounts.values())
    return MemberRow(
        name=printable(entry.name, 80),
        place=printable(entry.place, 1000),
        host=printable(entry.host, 80),
        is_own=entry.member == own,
        is_here=entry.host_id == host_id,
        agents=entry.running,
        waiting=entry.wants,
        spent_usd=_dollars(spent),
        reserved_usd=_dollars(reserved),
        tokens=spent.tokens + reserved.tokens,
        told=iso(entry.at),
        until=iso_or_none(entry.until if entry.running else None),
        accounts=[
            AccountShare(
                name,
                use.running,
                use.wants,
                _dollars(use.spent),
                _dollars(use.reserved),
                committed(use).tokens,
            )
            for name, use in sorted(entry.accounts.items())
        ],
    )


def _dollars(cost: Cost) -> float:
    return round(cost.money or 0.0, 4)


def _view_pause(account: str, note: AccountNote, now: float) -> AccountPause | None:
    pause = current_pause(note.clocks, now)
    if pause is None:
        return None
    run = f"paddock limits --reset {account}" if pause.until is None else ""
    return AccountPause(account, printable(pause.reason, 300), note.by, iso_or_none(pause.until), run)

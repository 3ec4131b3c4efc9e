"""The group in words: its repositories, its limits, and what pauses its accounts."""

import time
from collections.abc import Iterator

from paddock.cli.terminal.text import age, cut, paint, plural
from paddock.core.admission.admit import LimitedBy
from paddock.fleet.group.place import group_of
from paddock.fleet.group.roll import GroupRoll, read_roll
from paddock.fleet.workspace import Workspace
from paddock.views.fleet.group import GroupView, MemberRow, view_group


def group_lines(roll: GroupRoll, view: GroupView) -> Iterator[str]:
    if roll.trouble:
        return
    agents = sum(row.agents for row in view.repositories)
    money = sum(row.spent_usd + row.reserved_usd for row in view.repositories)
    count = len(view.repositories)
    repositories = f"{count} {'repository' if count == 1 else 'repositories'}"
    yield (
        f"group {view.group}: {repositories}, {plural(agents, 'agent')} at work, ${money:,.2f} spent or reserved today"
    )
    for limit in view.limits:
        yield f"  {limit.name:<22} {limit.amount}"
    if not view.limits:
        yield paint(f"  no limits: they would be in {view.file}", dim=True)
    if count:
        yield ""
    for row, entry in zip(view.repositories, roll.entries, strict=True):
        yield from _member_lines(row, age(entry.at, roll.now))
    for pause in view.pauses:
        cure = f"; once it works again: {pause.run}" if pause.run else ""
        yield f"account {pause.account} is paused: {cut(pause.words, 160)} (told by {pause.by}){cure}"


def _member_lines(row: MemberRow, told: str) -> Iterator[str]:
    waiting = f", {row.waiting} waiting" if row.waiting else ""
    money = f"${row.spent_usd + row.reserved_usd:,.2f} today"
    yield f"{'*' if row.is_own else ' '} {cut(row.name, 22):<22} {plural(row.agents, 'agent')}{waiting}, {money}"
    where = row.place if row.is_here else f"{row.place} on {row.host}"
    yield paint(f"  {'':<22} {where}, told {told} ago", dim=True)


def shared_budget_lines(workspace: Workspace) -> Iterator[str]:
    """What all repositories of the group may spend a day, and have."""
    place = group_of(workspace.config)
    if place is None:
        return
    view = view_group(read_roll(place, time.time()), marker_in_group(workspace))
    if view.trouble:
        yield f"group {view.group} cannot be reached: {cut(view.trouble, 160)}"
    for limit in view.limits:
        if limit.by == LimitedBy.GROUP_BUDGET:
            yield f"{limit.name:<20} {limit.amount}{' tokens' if limit.unit == 'tokens' else ''}; {limit.words}"


def marker_in_group(workspace: Workspace) -> str:
    """Which of the group's repositories asks; empty before it has a log."""
    return workspace.marker if workspace.has_log else ""

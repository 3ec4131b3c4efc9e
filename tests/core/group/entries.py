"""Entries and sights for tests of groups."""

from paddock.core.group.entry import AccountUse, Entry
from paddock.core.group.limits import AccountLimits, GroupLimits
from paddock.core.group.sight import GroupSight

NOW = 1_800_000_000.0
DAY = "2027-01-15"
ACCOUNT = "claude"


def entry(name: str, *, host: str = "h1", at: float = NOW, until: float = NOW + 3600.0, **use: object) -> Entry:
    """Of one that uses a single account."""
    accounts = {ACCOUNT: AccountUse(**use)} if use else {}  # type: ignore[arg-type]
    return Entry(f"log-{name}", name, f"/src/{name}", host, host, at=at, until=until, day=DAY, accounts=accounts)


def sight(own: Entry, *others: Entry, limits: GroupLimits = GroupLimits(), **more: object) -> GroupSight:  # noqa: B008 (frozen)
    return GroupSight("team", own, limits, others, **more)  # type: ignore[arg-type]


def allow(agents: int | None = None, *, usd: float | None = None, tokens: float | None = None) -> GroupLimits:
    """Limits on the one account alone."""
    return GroupLimits(accounts={ACCOUNT: AccountLimits(agents, usd, tokens)})

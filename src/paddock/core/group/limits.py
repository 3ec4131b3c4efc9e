"""The limits that the repositories of a group share, as the group's file has them. None is no limit."""

import msgspec


class AccountLimits(msgspec.Struct, frozen=True):
    """Of one account, over all repositories: agents at the same time, and what may be spent each day (UTC)."""

    agents: int | None = None
    day_usd: float | None = None
    day_tokens: float | None = None


class GroupLimits(msgspec.Struct, frozen=True):
    """`agents` counts those on one machine, the money and tokens of a day those of the whole group."""

    agents: int | None = None
    day_usd: float | None = None
    day_tokens: float | None = None
    accounts: dict[str, AccountLimits] = {}

    def of(self, account: str) -> AccountLimits:
        return self.accounts.get(account) or NO_LIMITS


NO_LIMITS = AccountLimits()

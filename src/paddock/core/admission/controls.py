"""Everything admission has learned, in one value that fits a snapshot, and the observations that change it."""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from paddock.core.admission.breaker import Breaker, follow_streaks, note_never_ran, note_ran, note_trial
from paddock.core.admission.clocks import Clocks, clear_auth, note_success, note_trouble
from paddock.core.admission.host import HostPace, HostSample, pace_host
from paddock.core.admission.pacing import Pacer, note_header_seen, note_start, refill, start_tokens
from paddock.core.admission.quota import Limit, Quota, note_admitted, note_call, note_limits, note_rejected
from paddock.core.admission.steering import step_quota
from paddock.core.admission.windows import Windows, note_windows
from paddock.core.causes.model import Streak
from paddock.core.trace import STEP_LIMIT, RateLimited, TokenUsage, TroubleKind, WindowsTold


class Account(msgspec.Struct, frozen=True):
    quota: Quota = Quota()
    clocks: Clocks = Clocks()
    pacer: Pacer = Pacer()
    windows: Windows = Windows()


class Controls(msgspec.Struct, frozen=True):
    """By account name and by engine name; each appears when it is first seen."""

    accounts: dict[str, Account] = {}
    breakers: dict[str, Breaker] = {}
    host: HostPace = HostPace()


def account_of(controls: Controls, name: str) -> Account:
    return controls.accounts.get(name) or Account()


def observe_call(controls: Controls, name: str, tokens: TokenUsage, now: float, *, is_first: bool = False) -> Controls:
    """A call went through; `is_first` if it was the first of its agent. Without input it is the rest of one."""
    account = account_of(controls, name)
    uncached = tokens.input_uncached + tokens.cache_write
    calls = 1 if tokens.input_total else 0
    quota = note_call(account.quota, uncached, tokens.output, is_first=is_first, calls=calls)
    return _with_account(controls, name, replace(account, quota=quota, clocks=note_success(account.clocks, now)))


def observe_windows(controls: Controls, name: str, told: WindowsTold, now: float) -> Controls:
    """The provider said how far the account's quota windows are used up."""
    account = account_of(controls, name)
    return _with_account(controls, name, replace(account, windows=note_windows(account.windows, told, now)))


def observe_limits(controls: Controls, name: str, limits: dict[str, Limit]) -> Controls:
    """Headers of a call said what is left. Dimensions: requests, input, output; per minute.

    No agent CLI passes these headers on: it takes somebody who reads the calls themselves.
    """
    account = account_of(controls, name)
    quota, pacer = note_limits(account.quota, limits), note_header_seen(account.pacer)
    return _with_account(controls, name, replace(account, quota=quota, pacer=pacer))


def observe_trouble(controls: Controls, name: str, trouble: RateLimited, now: float, seed: int) -> Controls:
    """A call was refused. Only a per-minute throttle says that there are too many agents."""
    account = account_of(controls, name)
    clocks = note_trouble(
        account.clocks,
        trouble.kind,
        now,
        seed,
        retry_after=trouble.retry_after,
        resets_at=trouble.resets_at,
        message=trouble.message[:STEP_LIMIT],
    )
    per_minute = trouble.kind is TroubleKind.PER_MINUTE
    quota = note_rejected(account.quota) if per_minute else account.quota
    return _with_account(controls, name, replace(account, quota=quota, clocks=clocks))


def observe_start(
    controls: Controls, name: str, prefix: str, cold_tokens: float, now: float, *, running: int = 0
) -> Controls:
    """An agent was started on the account; `running` counts it."""
    account = account_of(controls, name)
    pacer = refill(account.pacer, account.quota, now)
    tokens = start_tokens(pacer, prefix, cold_tokens, now)
    pacer, quota = note_start(pacer, prefix, tokens, now), note_admitted(account.quota, running)
    return _with_account(controls, name, replace(account, pacer=pacer, quota=quota))


def observe_end(
    controls: Controls, engine: str, never_ran: str | None, task: str, started: float, now: float
) -> Controls:
    """An attempt at a task ended; `never_ran` is the evidence if its agent did not take a single step."""
    breaker = controls.breakers.get(engine) or Breaker()
    changed = note_ran(breaker, started) if never_ran is None else note_never_ran(breaker, never_ran, task, now)
    return replace(controls, breakers={**controls.breakers, engine: changed})


def observe_trial(controls: Controls, engine: str, now: float) -> Controls:
    """An agent of the engine was started; if that is stopped, to see whether it runs again."""
    breaker = controls.breakers.get(engine)
    if breaker is None or not breaker.is_open:
        return controls
    return replace(controls, breakers={**controls.breakers, engine: note_trial(breaker, now)})


def observe_streaks(controls: Controls, streaks: Mapping[str, Streak]) -> Controls:
    """What the log has about engines whose attempts never ran."""
    followed = follow_streaks(controls.breakers, streaks)
    return controls if followed == controls.breakers else replace(controls, breakers=followed)


def tick(
    controls: Controls,
    running_by_account: dict[str, int],
    sample: HostSample | None,
    now: float,
    elsewhere: Mapping[str, int] = MappingProxyType({}),
) -> Controls:
    """Lets every controller update itself; call it every few seconds. `elsewhere` are agents of other repositories on
    the same accounts: a quota is that of all, whoever runs them."""
    accounts = dict(controls.accounts)
    for name, account in controls.accounts.items():
        quota = step_quota(account.quota, now, running_by_account.get(name, 0) + elsewhere.get(name, 0))
        if quota is not account.quota:
            accounts[name] = replace(account, quota=quota)
    host = controls.host
    if sample is not None:
        host = pace_host(host, sample, sum(running_by_account.values()))
    return replace(controls, accounts=accounts, host=host)


def reset_engine(controls: Controls, engine: str) -> Controls:
    """A person re-enabled the engine."""
    return replace(controls, breakers={**controls.breakers, engine: Breaker()})


def reset_account(controls: Controls, name: str) -> Controls:
    """A person says the account works again: with other credentials, or more quota."""
    account = account_of(controls, name)
    return _with_account(controls, name, replace(account, clocks=clear_auth(account.clocks), windows=Windows()))


def _with_account(controls: Controls, name: str, account: Account) -> Controls:
    return replace(controls, accounts={**controls.accounts, name: account})

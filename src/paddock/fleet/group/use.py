"""This repository's entry in its group, derived from the board: what runs, is reserved and was spent, by account."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from paddock.core.admission.controls import Controls
from paddock.core.admission.pacing import Pace, agents_borne
from paddock.core.board import Board
from paddock.core.events import AttemptEnded
from paddock.core.group.entry import AccountUse, Entry, add_up
from paddock.core.ids import printable
from paddock.core.money.budget import Cost
from paddock.core.money.spending import DAY_SECONDS, day_of, money_of, tokens_of
from paddock.core.tasks.task import Attempt
from paddock.fleet.site import Site
from paddock.store.protocol import Query, Store


@dataclass
class DaySpent:
    """What the attempts that began on one day (UTC) and have ended did cost, by account. Each record is read once."""

    site: Site
    day: str = ""
    _seen: int = 0
    _spent: dict[str, Cost] = field(default_factory=dict)

    def look(self, board: Board, store: Store, now: float) -> Mapping[str, Cost]:
        if self.day != day_of(now) or board.seq < self._seen:
            self.day, self._seen, self._spent = day_of(now), 0, {}
        if board.seq > self._seen:
            began = now - now % DAY_SECONDS
            ended = Query(after=self._seen, until=board.seq, kind=AttemptEnded.kind, since=began)
            for record in store.records(ended):
                attempts = board.tasks[record.task].attempts if record.task is not None else ()
                for attempt in attempts:
                    if attempt.id == record.attempt and day_of(attempt.started) == self.day:
                        account = account_of(self.site, attempt)
                        self._spent[account] = add_up((self._spent.get(account, Cost()), _cost_of(attempt)))
            self._seen = board.seq
        return self._spent


def account_of(site: Site, attempt: Attempt) -> str:
    return attempt.account or site.account_of(attempt.engine)


def _cost_of(attempt: Attempt) -> Cost:
    return Cost(money_of(attempt), float(tokens_of(attempt)))


def blank_entry(site: Site, generation: int) -> Entry:
    host = site.sessions.host
    top = site.repo.main or site.repo.common_dir
    return Entry(
        site.marker, printable(top.name, 80), printable(str(top), 1000), host.name, host.id, generation=generation
    )


def fill_entry(
    site: Site, blank: Entry, board: Board, spent: Mapping[str, Cost], controls: Controls, now: float
) -> Entry:
    """Totals as of this board. What is reserved counts on the day its attempt began, and at least with what it has
    already cost."""
    day = day_of(now)
    live = [one for name in board.live if (one := board.tasks[name].live_attempt) is not None]
    running = Counter(account_of(site, attempt) for attempt in live)
    accounts = {name: AccountUse(running=running[name], spent=spent.get(name, Cost())) for name in (*spent, *running)}
    for attempt in live:
        name = account_of(site, attempt)
        use = replace(accounts[name], started=max(accounts[name].started, attempt.started))
        if day_of(attempt.started) == day:
            use = replace(use, reserved=add_up((use.reserved, _held_for(board, attempt))))
        accounts[name] = use
    accounts = {name: _with_bears(site, use, controls, name) for name, use in accounts.items()}
    until = now + longest_seconds(site) if live else now
    return replace(blank, at=now, until=until, day=day, accounts=accounts)


def _held_for(board: Board, attempt: Attempt) -> Cost:
    held, cost = board.spending.ledger.reservations.get(attempt.id), _cost_of(attempt)
    if held is None:
        return cost
    return Cost(max(held.amount.money or 0.0, cost.money or 0.0), max(held.amount.tokens, cost.tokens))


def _with_bears(site: Site, use: AccountUse, controls: Controls, name: str) -> AccountUse:
    """Who runs nothing on an account learns nothing about it."""
    account = controls.accounts.get(name)
    if account is None or not use.running or not account.quota.has_limit:
        return use
    bears = agents_borne(account.quota, Pace(site.config.limits.pace))
    return replace(use, bears=bears, bears_at=account.quota.stepped_at)


def longest_seconds(site: Site) -> float:
    """How long a turn may go on by its deadlines, if nobody hears of it any more."""
    times = site.config.timeouts
    own = (agent.timeouts.turn for agent in site.config.agents.values())
    return max(times.turn, *(seconds for seconds in own if seconds is not None), 0.0) + times.grace + times.linger

"""A group under any order of starts, ends, crashes and midnights: what really runs and is paid for stays within its
limits, and what nobody uses any more is free again."""

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from paddock.core.group.entry import AccountUse, Entry, add_up, counted, is_over
from paddock.core.group.limits import AccountLimits, GroupLimits
from paddock.core.group.sight import GroupSight, Wanted, settle_starts, why_not
from paddock.core.money.budget import Cost
from paddock.core.money.spending import DAY_SECONDS, day_of

ACCOUNTS = ("claude", "codex")
TURN_SECONDS = 7200.0
MEMBERS = range(3)


@dataclass
class Running:
    account: str
    cost: Cost
    began: float


@dataclass
class Repository:
    """What is true of it: its own log. What it has told is apart from that."""

    name: str
    host: str
    running: list[Running] = field(default_factory=list)
    spent: dict[tuple[str, str], Cost] = field(default_factory=dict)

    def entry(self, now: float) -> Entry:
        day, accounts = day_of(now), {}
        for account in ACCOUNTS:
            live = [one for one in self.running if one.account == account]
            today = [one.cost for one in live if day_of(one.began) == day]
            accounts[account] = AccountUse(
                running=len(live),
                reserved=add_up(today),
                spent=self.spent.get((day, account), Cost()),
                started=max((one.began for one in live), default=0.0),
            )
        until = now + TURN_SECONDS if self.running else now
        return Entry(f"log-{self.name}", self.name, host_id=self.host, at=now, until=until, day=day, accounts=accounts)

    def end(self, one: Running, cost: Cost) -> None:
        self.running.remove(one)
        place = (day_of(one.began), one.account)
        self.spent[place] = add_up((self.spent.get(place, Cost()), cost))


class Group(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now = 20_000 * DAY_SECONDS + 80_000.0
        self.book: dict[str, Entry] = {}
        self.repositories = [Repository(f"r{n}", f"h{n % 2}") for n in MEMBERS]
        self.limits = GroupLimits()

    @initialize(
        here=st.integers(1, 5), account=st.integers(1, 4), day=st.integers(2, 9), tokens=st.none() | st.integers(2, 9)
    )
    def begins(self, here: int, account: int, day: int, tokens: int | None) -> None:
        most = None if tokens is None else 100.0 * tokens
        of_account = AccountLimits(account, float(day - 1), most)
        self.limits = GroupLimits(here, float(day), most, {"claude": of_account})

    @rule(
        n=st.sampled_from(MEMBERS),
        wanted=st.lists(st.tuples(st.sampled_from(ACCOUNTS), st.integers(1, 3)), min_size=1, max_size=4),
        recorded=st.integers(0, 4),
        yields=st.booleans(),
    )
    def starts(self, n: int, wanted: list[tuple[str, int]], recorded: int, yields: bool) -> None:
        """As many as `recorded` begin; then its daemon is killed, unless all did."""
        asker = self.repositories[n]
        asked = [Wanted(f"t{i}.1", name, Cost(float(c), 100.0 * c)) for i, (name, c) in enumerate(wanted)]
        settled = settle_starts(self.sight(asker, yields=yields), asked, self.now, self.now + TURN_SECONDS)
        self.book[settled.own.member] = settled.own
        admitted = [one for one in asked if one.attempt not in settled.dropped]
        asker.running += [Running(one.account, one.cost, self.now) for one in admitted[:recorded]]

    @rule(n=st.sampled_from(MEMBERS), part=st.floats(0, 1))
    def ends_one(self, n: int, part: float) -> None:
        if running := self.repositories[n].running:
            cost = running[0].cost
            self.repositories[n].end(running[0], Cost(part * (cost.money or 0.0), part * cost.tokens))

    @rule(n=st.sampled_from(MEMBERS))
    def tells(self, n: int) -> None:
        """Also a successor's first word."""
        own = self.repositories[n].entry(self.now)
        over = [name for name, one in self.book.items() if is_over(one, day_of(self.now), self.now)]
        self.book = {name: one for name, one in self.book.items() if name not in over} | {own.member: own}

    @rule(seconds=st.sampled_from([1.0, 20.0, 3000.0, 7200.0, 20_000.0]))
    def time_passes(self, seconds: float) -> None:
        """No turn outlasts its deadline, whether or not a daemon is there to see it."""
        self.now += seconds
        for each in self.repositories:
            for one in [one for one in each.running if one.began + TURN_SECONDS <= self.now]:
                each.end(one, one.cost)

    def sight(self, asker: Repository, *, yields: bool) -> GroupSight:
        own = asker.entry(self.now)
        others = [counted(one, day_of(self.now), self.now) for one in self.book.values() if one.member != own.member]
        return GroupSight("team", own, self.limits, tuple(others), yields=yields)

    @invariant()
    def no_more_run_than_the_group_allows(self) -> None:
        everyone = [(each, one) for each in self.repositories for one in each.running]
        assert sum(one.account == "claude" for _, one in everyone) <= (self.limits.of("claude").agents or 0)
        for host in ("h0", "h1"):
            assert sum(each.host == host for each, _ in everyone) <= (self.limits.agents or 0)

    @invariant()
    def no_day_is_paid_for_twice(self) -> None:
        day = day_of(self.now)
        for names, limits in ((ACCOUNTS, self.limits), (("claude",), self.limits.of("claude"))):
            taken = add_up(
                [one.cost for each in self.repositories for one in each.running
                 if one.account in names and day_of(one.began) == day]
                + [cost for each in self.repositories for (when, name), cost in each.spent.items()
                   if name in names and when == day]
            )  # fmt: skip
            assert limits.day_usd is not None
            assert (taken.money or 0.0) <= limits.day_usd + 1e-9
            assert limits.day_tokens is None or taken.tokens <= limits.day_tokens + 1e-9

    def teardown(self) -> None:
        """Whoever died and never came back leaves nothing for ever."""
        self.now += 2 * DAY_SECONDS
        for each in self.repositories:
            each.running.clear()
        if self.limits.agents:
            sight = self.sight(self.repositories[0], yields=True)
            assert not any(one.running for one in sight.others)
            assert why_not(sight, "claude", Cost(1.0, 100.0)) is None
        self.tells(0)
        assert list(self.book) == ["log-r0"]


TestGroup = Group.TestCase
TestGroup.settings = settings(max_examples=60, stateful_step_count=30)

"""Whether one more agent fits into what a group shares, and the words for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from paddock.core.group.entry import NOTHING, AccountUse, Entry
from paddock.core.group.limits import GroupLimits
from paddock.core.group.sight import GroupSight, Lack, Unfit, Wanted, names_of, settle_starts, why_full, why_not
from paddock.core.money.budget import Cost
from tests.core.group.entries import ACCOUNT, NOW, allow, entry, sight

ONE, FREE = Cost(1.0, 100.0), Cost(0.0, 0.0)


def lack(seen: GroupSight, cost: Cost = FREE) -> Unfit | None:
    return why_not(seen, ACCOUNT, cost)


def test_an_account_takes_no_more_agents_than_the_group_allows_wherever_they_run() -> None:
    api, web = entry("api", running=2), entry("web", host="h2", running=1)
    assert lack(sight(api, web, limits=allow(4))) is None
    assert lack(sight(api, web, limits=allow(3))) == Unfit(
        Lack.AGENTS, "account claude: 2 agents here and 1 in `web`, group `team` allows 3"
    )


def test_other_accounts_do_not_count_for_an_account() -> None:
    assert why_not(sight(entry("api", running=3), limits=allow(3)), "codex", FREE) is None


def test_the_machines_limit_counts_agents_of_all_accounts_on_this_machine_only() -> None:
    limits = GroupLimits(agents=3)
    here, there = entry("web", running=2), entry("far", host="h2", running=9)
    own = entry("api")
    assert lack(sight(own, here, there, limits=limits)) is None
    own = replace(own, accounts={"codex": AccountUse(running=1)})
    assert lack(sight(own, here, there, limits=limits)) == Unfit(
        Lack.AGENTS, "this machine: 1 agent here and 2 in `web`, group `team` allows 3"
    )


@pytest.mark.parametrize("is_of_group", [True, False])
def test_a_day_is_paid_for_once_by_all(is_of_group: bool) -> None:
    limits = GroupLimits(day_usd=5.0) if is_of_group else allow(usd=5.0)
    what = "group `team`" if is_of_group else "account claude, group `team`"
    api, web = entry("api", spent=Cost(1.0)), entry("web", spent=Cost(1.5), reserved=Cost(1.0))
    assert lack(sight(api, web, limits=limits), Cost(1.5)) is None
    unfit = lack(sight(api, web, limits=limits), Cost(1.75))
    assert unfit == Unfit(
        Lack.MONEY,
        f"{what}: $1.75 needed, $3.50 of $5.00 spent or reserved today ($1.00 here)",
    )


@pytest.mark.parametrize("is_of_group", [True, False])
def test_a_day_of_tokens_is_taken_once_by_all(is_of_group: bool) -> None:
    limits = GroupLimits(day_tokens=500) if is_of_group else allow(tokens=500)
    api, web = entry("api", spent=Cost(None, 100.0)), entry("web", reserved=Cost(0.0, 300.0))
    assert lack(sight(api, web, limits=limits), Cost(None, 100.0)) is None
    unfit = lack(sight(api, web, limits=limits), Cost(None, 101.0))
    assert unfit is not None
    assert (unfit.lack, "400 of 500 tokens" in unfit.reason) == (Lack.MONEY, True)


def test_where_money_is_limited_what_has_no_price_does_not_start() -> None:
    for limits in (GroupLimits(day_usd=100.0), allow(usd=100.0)):
        unfit = lack(sight(entry("api"), limits=limits), Cost(None, 10.0))
        assert unfit is not None
        assert unfit.reason.endswith("has a limit in money, and this model has no price")
    assert lack(sight(entry("api"), limits=allow(9)), Cost(None, 10.0)) is None


def test_nothing_fits_into_a_group_that_cannot_be_reached() -> None:
    seen = sight(entry("api"), trouble="the disk of `x` is full")
    assert lack(seen) == Unfit(Lack.REACH, "group `team` cannot be reached: the disk of `x` is full")
    assert seen.may_let_go


def test_a_free_place_is_left_to_whose_turn_it_is_unless_it_was_left_for_long() -> None:
    api = entry("api", running=1, wants=2, started=NOW - 5)
    web = entry("web", wants=1, started=NOW - 60)
    seen = sight(api, web, limits=allow(2))
    assert lack(seen) == Unfit(
        Lack.TURN, "account claude: 1 agent here, group `team` allows 2; the next is the turn of `web`"
    )
    assert lack(replace(seen, yields=False)) is None
    assert lack(sight(web, api, limits=allow(2))) is None
    assert lack(sight(api, replace(web, accounts={}), limits=allow(2))) is None


def test_nobody_waits_for_another_as_long_as_there_is_room_for_both() -> None:
    first, second = entry("api", wants=1, started=NOW - 60), entry("web", wants=1, started=NOW - 5)
    busy = entry("cli", running=2)
    assert lack(sight(second, first, busy, limits=allow(4))) is None
    assert lack(sight(second, first, busy, limits=allow(3))) is not None


def test_who_has_not_waited_before_has_a_share_as_well() -> None:
    assert lack(sight(entry("api"), entry("web", running=1, wants=9, started=NOW), limits=allow(4))) is None


def test_there_may_soon_be_room_where_others_run_or_wait() -> None:
    assert not sight(entry("api", running=5), entry("web")).may_let_go
    assert sight(entry("api"), entry("web", running=1)).may_let_go
    assert sight(entry("api"), entry("web", wants=1)).may_let_go


def test_the_fewest_agents_that_another_has_seen_an_account_to_bear_count() -> None:
    seen = sight(entry("api", bears=1), entry("web", bears=4), entry("cli", bears=3), entry("doc"))
    assert seen.bears(ACCOUNT) == 3
    assert seen.bears("codex") is None
    assert why_full(seen, ACCOUNT, None, "its quota allows") is None


def test_names_are_told_up_to_three() -> None:
    names = [entry(name) for name in ("a", "b", "c", "d", "e")]
    told = [names_of(names[:count]) for count in (0, 1, 2, 3, 5)]
    assert told == ["others", "`a`", "`a` and `b`", "`a`, `b` and `c`", "`a`, `b`, `c` and 2 more"]


uses = st.builds(
    AccountUse,
    running=st.integers(0, 4),
    wants=st.integers(0, 4),
    reserved=st.integers(0, 3).map(lambda n: Cost(float(n), 100.0 * n)),
    spent=st.integers(0, 3).map(lambda n: Cost(float(n), 100.0 * n)),
    started=st.integers(0, 3).map(lambda n: NOW - n),
)
entries = st.lists(uses, min_size=1, max_size=4).map(
    lambda found: [
        Entry(f"log-{n}", f"r{n}", host_id=f"h{n % 2}", accounts={ACCOUNT: use}) for n, use in enumerate(found)
    ]
)
limit_sets = st.builds(
    lambda agents, on_account, usd, tokens: replace(allow(on_account), agents=agents, day_usd=usd, day_tokens=tokens),
    st.none() | st.integers(0, 8),
    st.none() | st.integers(0, 8),
    st.none() | st.integers(0, 12).map(float),
    st.none() | st.integers(0, 1200).map(float),
)


@given(entries, limit_sets, st.integers(1, 6), st.booleans())
def test_what_is_settled_fits_and_what_is_dropped_would_not_have(
    everyone: list[Entry], limits: GroupLimits, count: int, yields: bool
) -> None:
    own, *others = everyone
    seen = sight(own, *others, limits=limits, yields=yields)
    wanted = [Wanted(f"t{n}.1", ACCOUNT, ONE) for n in range(count)]
    settled = settle_starts(seen, wanted, NOW, NOW + 60)
    started = count - len(settled.dropped)
    use = settled.own.use_of(ACCOUNT)
    before = own.use_of(ACCOUNT)
    assert use.running == before.running + started
    assert use.wants == max(0, before.wants - started)
    assert use.reserved == (before.reserved.plus(Cost(started * 1.0, started * 100.0)))
    after = replace(seen, own=settled.own)
    if settled.dropped:
        assert why_not(after, ACCOUNT, ONE) is not None
    if started:
        everywhere = use.running + sum(other.use_of(ACCOUNT).running for other in others)
        assert everywhere <= (limits.of(ACCOUNT).agents or everywhere)
        assert use.started == NOW
        assert settled.own.until == NOW + 60


@given(entries, st.integers(1, 8))
def test_a_free_place_is_somebodys_turn(everyone: list[Entry], limit: int) -> None:
    """Whoever is told that it is another's turn: that other one may start. So no place stays free for good."""
    wanting = [one for one in everyone if one.wants]
    running = sum(one.running for one in everyone)
    if not wanting or running >= limit:
        return
    others_of = {one.member: [other for other in everyone if other is not one] for one in wanting}
    refused = [why_not(sight(one, *others_of[one.member], limits=allow(limit)), ACCOUNT, FREE) for one in wanting]
    assert None in refused


@given(st.integers(1, 4), st.integers(1, 4), st.lists(st.integers(0, 3), min_size=30, max_size=60))
def test_nobody_who_waits_is_passed_over_for_long(limit: int, members: int, ends: list[int]) -> None:
    """All always want more; whoever asks first is the same each time, and who ends is anybody's choice. Who has nothing
    sees each other one start once at most."""
    everyone = {n: entry(f"r{n}", wants=5) for n in range(members)}
    passed = dict.fromkeys(everyone, 0)
    for turn, end in enumerate(ends):
        for n in sorted(everyone):
            others = [other for m, other in everyone.items() if m != n]
            settled = settle_starts(
                sight(everyone[n], *others, limits=allow(limit)),
                [Wanted("t1.1", ACCOUNT, FREE)],
                NOW + turn,
                NOW + 9999,
            )
            if settled.dropped:
                continue
            everyone[n] = _wanting(settled.own)
            passed = {m: 0 if everyone[m].running else count + 1 for m, count in passed.items()}
            assert max(passed.values()) < members
        busy = [n for n in everyone if everyone[n].running]
        n = busy[end % len(busy)]
        use = everyone[n].use_of(ACCOUNT)
        everyone[n] = replace(everyone[n], accounts={ACCOUNT: replace(use, running=use.running - 1)})


def _wanting(own: Entry) -> Entry:
    return replace(own, accounts={ACCOUNT: replace(own.accounts.get(ACCOUNT, NOTHING), wants=5)})

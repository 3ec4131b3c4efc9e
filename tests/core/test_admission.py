"""Who may start and why not: `admit` as a whole, and its properties."""

from dataclasses import replace as change

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from paddock.core.admission.admit import Admission, Candidate, LimitedBy, Snapshot, admit
from paddock.core.admission.controls import (
    Account,
    Controls,
    observe_call,
    observe_end,
    observe_limits,
    observe_trouble,
    reset_account,
    reset_engine,
    tick,
)
from paddock.core.admission.host import HostPace, HostSample
from paddock.core.admission.pacing import Pace
from paddock.core.admission.quota import INPUT, REQUESTS, Limit, Quota, note_call, note_rejected
from paddock.core.admission.steering import ceiling_by_headers
from paddock.core.causes.model import STREAK_STOPS
from paddock.core.money.budget import Amount, BudgetBook, Cost, committed, limit_of, set_limit
from paddock.core.trace import RateLimited, TokenUsage, TroubleKind

NOW = 1_800_000_000.0
GIB = 2**30
CALM = HostSample(NOW, busy=0.2, free_memory_bytes=64 * GIB, free_disk_bytes=500 * GIB)


ONE_DOLLAR = Cost(1.0, 1000.0)


def candidate(number: int, cost: Cost = ONE_DOLLAR, **changes: object) -> Candidate:
    made = Candidate(f"t{number}.1", f"t{number}", "claude", "main", cost, cold_tokens=1000.0)
    return change(made, **changes)  # type: ignore[arg-type]


def account(target: float, **limits: Limit) -> Account:
    return Account(quota=Quota(target=target, limits=limits))


def refused_before(target: float) -> Account:
    """An account that nobody shows the limits of, and that has refused calls some time ago."""
    return Account(quota=Quota(target=target, cut_at=NOW - 3600))


def snapshot(count: int = 4, **changes: object) -> Snapshot:
    made = Snapshot(
        candidates=tuple(candidate(n) for n in range(count)),
        running={},
        controls=Controls(accounts={"main": account(100.0)}, host=HostPace(slots=100.0)),
        ledger=BudgetBook(),
        day="2026-11-15",
        cap=100,
        host=CALM,
    )
    return change(made, **changes)  # type: ignore[arg-type]


def with_account(made: Account) -> Controls:
    return Controls(accounts={"main": made}, host=HostPace(slots=100.0))


def limited(admission: Admission) -> LimitedBy | None:
    return admission.refusals[0].by if admission.refusals else None


def test_with_room_everywhere_all_may_start() -> None:
    admission = admit(snapshot(4), NOW)
    assert [start.attempt for start in admission.starts] == ["t0.1", "t1.1", "t2.1", "t3.1"]
    assert admission.refusals == ()


@pytest.mark.parametrize(
    ("changes", "by", "words"),
    [
        ({"cap": 3, "running": {"main": 1}}, LimitedBy.CAP, "agent cap reached (3/3)"),
        (
            {"host": replace(CALM, free_memory_bytes=GIB), "agent_memory_bytes": GIB // 4},
            LimitedBy.MEMORY,
            "1.0 GiB of memory free; an agent needs 256 MiB",
        ),
        (
            {"controls": Controls(host=HostPace(slots=2.0))},
            LimitedBy.LOAD,
            "CPU load 0.0 per core; limited to 2 agents",
        ),
        (
            {"host": replace(CALM, free_disk_bytes=GIB // 2)},
            LimitedBy.DISK,
            "0.5 GiB free, below the minimum of 1.0 GiB",
        ),
        ({"host": replace(CALM, free_inodes=9)}, LimitedBy.DISK, "9 inodes free"),
        ({"host": None, "disk_trouble": "cannot write"}, LimitedBy.DISK, "cannot write"),
        (
            {"merge_queue_depth": 18, "merge_queue_limit": 20},
            LimitedBy.MERGE_QUEUE,
            "18 changes waiting to land (limit 20)",
        ),
        ({"controls": with_account(refused_before(2.0))}, LimitedBy.QUOTA, "2 agents running, its quota allows 2"),
        (
            {"ledger": BudgetBook(limits={"fleet": Amount(money=2.5)})},
            LimitedBy.BUDGET,
            "fleet has $0.50 of $2.50 left, $1.00 needed",
        ),
        (
            {"ledger": BudgetBook(limits={"day": Amount(tokens=2000.0)})},
            LimitedBy.BUDGET,
            "day:2026-11-15 has 0 of 2,000 tokens left, 1,000 needed",
        ),
    ],
)
def test_every_limit_holds_and_says_so(changes: dict[str, object], by: LimitedBy, words: str) -> None:
    admission = admit(snapshot(4, **changes), NOW)
    assert len(admission.starts) <= 2
    assert admission.refusals[0].by is by
    assert words in admission.refusals[0].reason
    assert len(admission.starts) + len(admission.refusals) == 4


@pytest.mark.parametrize("kind", list(TroubleKind))
def test_each_kind_of_trouble_has_a_clock_of_its_own(kind: TroubleKind) -> None:
    trouble = RateLimited(kind, retry_after=20.0, resets_at=NOW + 7200.0, message="no")
    controls = observe_trouble(snapshot().controls, "main", trouble, NOW, seed=1)
    admission = admit(snapshot(1, controls=controls), NOW + 1)
    assert limited(admission) == LimitedBy(kind.value)
    until = admission.refusals[0].until
    if kind is TroubleKind.AUTH:
        assert until is None
        assert limited(admit(snapshot(1, controls=controls), NOW + 1e6)) is LimitedBy.AUTH
        assert admit(snapshot(1, controls=reset_account(controls, "main")), NOW + 1).starts
    else:
        assert until is not None
        assert until >= NOW + (7200.0 if kind is TroubleKind.WINDOW else 20.0)
        assert not admit(snapshot(1, controls=controls), until - 0.1).starts
        assert admit(snapshot(1, controls=controls), until).starts


def test_only_a_per_minute_throttle_counts_against_the_number_of_agents() -> None:
    controls = snapshot().controls
    for kind in (TroubleKind.WINDOW, TroubleKind.OVERLOAD, TroubleKind.AUTH):
        controls = observe_trouble(controls, "main", RateLimited(kind), NOW, seed=1)
    assert controls.accounts["main"].quota.rejected == 0
    controls = observe_trouble(controls, "main", RateLimited(TroubleKind.PER_MINUTE), NOW, seed=1)
    assert controls.accounts["main"].quota.rejected == 1


def test_one_accounts_clock_holds_up_no_other_account() -> None:
    controls = Controls(accounts={"a": account(9.0), "b": account(9.0)}, host=HostPace(slots=100.0))
    controls = observe_trouble(controls, "a", RateLimited(TroubleKind.PER_MINUTE, retry_after=30.0), NOW, seed=1)
    both = (candidate(1, account="a"), candidate(2, account="b"))
    admission = admit(snapshot(candidates=both, controls=controls), NOW + 1)
    assert [start.account for start in admission.starts] == ["b"]
    assert [(refusal.attempt, refusal.by) for refusal in admission.refusals] == [("t1.1", LimitedBy.PER_MINUTE)]


def test_one_refused_candidate_does_not_hold_up_the_others() -> None:
    dear, cheap = candidate(1, Cost(50.0, 1.0)), candidate(2, Cost(1.0, 1.0))
    ledger = BudgetBook(limits={"fleet": Amount(money=10.0)})
    admission = admit(snapshot(candidates=(dear, cheap), ledger=ledger), NOW)
    assert [start.attempt for start in admission.starts] == ["t2.1"]
    assert [refusal.attempt for refusal in admission.refusals] == ["t1.1"]


def test_an_engine_whose_agents_never_run_is_stopped_until_somebody_resets_it() -> None:
    controls = snapshot().controls
    for number in range(STREAK_STOPS):
        assert admit(snapshot(1, controls=controls), NOW).starts, number
        controls = observe_end(controls, "claude", "claude: command not found", f"t{number}", NOW, NOW)
    admission = admit(snapshot(1, controls=controls), NOW)
    assert limited(admission) is LimitedBy.BREAKER
    assert "command not found" in admission.refusals[0].reason
    assert not admit(snapshot(1, controls=observe_end(controls, "claude", None, "t9", NOW + 1, NOW)), NOW).starts
    assert admit(snapshot(1, controls=reset_engine(controls, "claude")), NOW).starts
    other = candidate(1, engine="codex")
    assert admit(snapshot(candidates=(other,), controls=controls), NOW).starts


def test_one_agent_that_ran_starts_the_count_anew() -> None:
    controls = snapshot().controls
    for number, evidence in enumerate(("gone", "gone", None, "gone", "gone")):
        controls = observe_end(controls, "claude", evidence, f"t{number}", NOW, NOW)
    assert admit(snapshot(1, controls=controls), NOW).starts


def test_one_poisoned_task_never_stops_an_engine() -> None:
    controls = snapshot().controls
    for _ in range(50):
        controls = observe_end(controls, "claude", "gone", "t1", NOW, NOW)
    assert admit(snapshot(1, controls=controls), NOW).starts
    controls = observe_end(controls, "claude", "gone", "t2", NOW, NOW)
    assert limited(admit(snapshot(1, controls=controls), NOW)) is LimitedBy.BREAKER


def test_cold_starts_are_spaced_out_and_warm_ones_hardly() -> None:
    limit = Limit(200_000.0, 100_000.0, NOW)
    controls = with_account(account(50.0, input=limit))
    cold = tuple(candidate(n, cold_tokens=41_000.0) for n in range(6))
    admission = admit(snapshot(candidates=cold, controls=controls), NOW)
    assert len(admission.starts) == 1
    assert limited(admission) is LimitedBy.PACING
    alike = tuple(candidate(n, cold_tokens=41_000.0, prefix="coder") for n in range(6))
    first = admit(snapshot(candidates=alike[:1], controls=controls), NOW)
    later = NOW + 30.0
    seen = observe_limits(first.controls, "main", {INPUT: Limit(200_000.0, 100_000.0, later)})
    assert len(admit(snapshot(candidates=alike[1:], controls=seen), later).starts) == 5


def many(count: int) -> tuple[Candidate, ...]:
    return tuple(candidate(n, cold_tokens=41_000.0) for n in range(count))


def test_on_an_account_that_has_shown_no_limit_twelve_start_at_once() -> None:
    new = with_account(Account())
    assert len(admit(snapshot(candidates=many(12), controls=new), NOW).starts) == 12
    sixteen = admit(snapshot(candidates=many(40), controls=new), NOW)
    assert (len(sixteen.starts), limited(sixteen)) == (16, LimitedBy.QUOTA), "nearly every account bears so many"


@pytest.mark.parametrize(
    "known",
    [
        Account(quota=Quota(cut_at=NOW - 3600)),
        Account(quota=Quota(rejected=1, used={"requests": 100.0})),
        account(4.0, requests=Limit(100.0, 90.0, NOW)),
    ],
    ids=["refused-before", "refused-just-now", "shown"],
)
def test_where_a_limit_is_known_or_was_hit_starts_are_spaced_out(known: Account) -> None:
    admission = admit(snapshot(candidates=many(12), controls=with_account(known)), NOW)
    assert (len(admission.starts), limited(admission)) == (2, LimitedBy.PACING)


def test_the_setting_decides_over_what_is_known() -> None:
    hit, new = with_account(Account(quota=Quota(target=9.0, cut_at=NOW - 3600))), with_account(Account())
    always = admit(snapshot(candidates=many(12), controls=new, pace=Pace.ALWAYS), NOW)
    assert (len(always.starts), limited(always)) == (2, LimitedBy.PACING)
    assert len(admit(snapshot(candidates=many(40), controls=new, pace=Pace.NEVER), NOW).starts) == 40
    never = admit(snapshot(candidates=many(12), controls=hit, pace=Pace.NEVER), NOW)
    assert (len(never.starts), limited(never)) == (9, LimitedBy.QUOTA), "what was refused is never forgotten"


def test_a_first_refusal_is_weighed_against_all_that_were_let_in() -> None:
    controls = admit(snapshot(candidates=many(12), controls=with_account(Account())), NOW).controls
    assert controls.accounts["main"].quota.target == 12.0


def test_a_start_larger_than_the_limit_goes_through_when_the_bucket_is_full() -> None:
    huge = (candidate(1, cold_tokens=500_000.0),)
    full, half = Limit(100_000.0, 100_000.0, NOW), Limit(100_000.0, 50_000.0, NOW)
    assert admit(snapshot(candidates=huge, controls=with_account(account(9.0, input=full))), NOW).starts
    assert not admit(snapshot(candidates=huge, controls=with_account(account(9.0, input=half))), NOW).starts


@pytest.mark.parametrize(
    ("changes", "by"),
    [
        ({}, None),
        ({"free_memory_bytes": GIB // 2}, LimitedBy.MEMORY),
        ({"free_disk_bytes": GIB // 2}, LimitedBy.DISK),
        ({"free_inodes": 5}, LimitedBy.DISK),
    ],
)
def test_a_fleet_that_ignores_the_load_still_spares_memory_and_disk(
    changes: dict[str, int], by: LimitedBy | None
) -> None:
    busy = Controls(host=HostPace(slots=1.0, busy=9.0))
    made = snapshot(2, controls=busy, host=replace(CALM, **changes), adapts_to_load=False)
    assert limited(admit(made, NOW)) is by


def test_nobody_starts_into_refusals_that_nobody_has_weighed_yet() -> None:
    quota = Quota(target=50.0, stepped_at=NOW)
    for _ in range(30):
        quota = note_call(quota, 10.0, 10.0)
    refused = Account(quota=note_rejected(quota))
    assert limited(admit(snapshot(1, controls=with_account(refused)), NOW)) is LimitedBy.QUOTA
    for _ in range(30):
        quota = note_call(quota, 10.0, 10.0)
    assert admit(snapshot(1, controls=with_account(Account(quota=note_rejected(quota)))), NOW).starts, "one in 61"


def test_controls_survive_a_snapshot() -> None:
    controls = admit(snapshot(3), NOW).controls
    controls = observe_call(controls, "main", TokenUsage(input_uncached=5, output=7), NOW)
    controls = observe_trouble(controls, "main", RateLimited(TroubleKind.WINDOW), NOW, seed=1)
    controls = observe_end(controls, "claude", "gone", "t1", NOW, NOW)
    controls = tick(controls, {"main": 3}, CALM, NOW)
    assert msgspec.json.decode(msgspec.json.encode(controls), type=Controls) == controls
    ledger = admit(snapshot(3, ledger=BudgetBook(limits={"fleet": Amount(9.0)})), NOW).ledger
    assert msgspec.json.decode(msgspec.json.encode(ledger), type=BudgetBook) == ledger


counts = st.integers(0, 12)
more = st.integers(0, 6)


@settings(max_examples=300)
@given(
    quota=st.tuples(counts, counts),
    extra=st.tuples(more, more),
    routes=st.lists(st.sampled_from(["a", "b"]), max_size=12),
    cap=st.tuples(counts, more),
    money=st.tuples(counts, more),
    memory=st.tuples(counts, more),
    queue=st.tuples(counts, more),
)
def test_more_of_anything_never_means_fewer_agents(
    quota: tuple[int, int],
    extra: tuple[int, int],
    routes: list[str],
    cap: tuple[int, int],
    money: tuple[int, int],
    memory: tuple[int, int],
    queue: tuple[int, int],
) -> None:
    def started(step: int) -> int:
        accounts = {name: account(float(quota[n] + step * extra[n])) for n, name in enumerate(("a", "b"))}
        free = GIB // 2 + (memory[0] + step * memory[1]) * (GIB // 4)
        made = snapshot(
            candidates=tuple(candidate(n, account=route) for n, route in enumerate(routes)),
            controls=Controls(accounts=accounts, host=HostPace(slots=100.0)),
            cap=cap[0] + step * cap[1],
            ledger=BudgetBook(limits={"fleet": Amount(money=float(money[0] + step * money[1]))}),
            host=replace(CALM, free_memory_bytes=free),
            agent_memory_bytes=GIB // 4,
            merge_queue_limit=queue[0] + step * queue[1],
        )
        return len(admit(made, NOW).starts)

    assert started(0) <= started(1)


limits = st.tuples(st.floats(1, 1e7), st.floats(0, 1))


@settings(max_examples=300)
@given(
    seen=st.tuples(limits, limits),
    raised=st.tuples(st.floats(1, 10), st.floats(0, 1)),
    rates=st.tuples(st.floats(0.01, 100), st.floats(1, 1e5)),
    start_rate=st.floats(0, 1e6),
)
def test_a_higher_limit_or_more_left_of_it_never_lowers_the_ceiling(
    seen: tuple[tuple[float, float], tuple[float, float]],
    raised: tuple[float, float],
    rates: tuple[float, float],
    start_rate: float,
) -> None:
    (requests, requests_left), (tokens, tokens_left) = seen
    before = {
        REQUESTS: Limit(requests, requests_left * requests, NOW),
        INPUT: Limit(tokens, tokens_left * tokens, NOW),
    }
    limit = tokens * raised[0]
    left = before[INPUT].remaining + raised[1] * (limit - before[INPUT].remaining)
    after = {**before, INPUT: Limit(limit, left, NOW)}
    known = {REQUESTS: rates[0], INPUT: rates[1]}
    low, high = (
        ceiling_by_headers(Quota(limits=shown, rates=known, start_rate=start_rate), NOW) for shown in (before, after)
    )
    assert low is not None
    assert high is not None
    assert low <= high * (1 + 1e-9)


@settings(max_examples=200)
@given(
    costs=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3000)), max_size=15),
    money=st.integers(0, 100),
    tokens=st.integers(0, 9000),
)
def test_what_is_admitted_fits_every_budget(costs: list[tuple[int, int]], money: int, tokens: int) -> None:
    ledger = set_limit(BudgetBook(), "fleet", Amount(float(money), float(tokens)))
    ledger = set_limit(ledger, "convoy", Amount(money=money / 2))
    made = snapshot(
        candidates=tuple(
            candidate(n, Cost(float(dollars), float(count)), convoy=f"c{n % 2}")
            for n, (dollars, count) in enumerate(costs)
        ),
        ledger=ledger,
    )
    settled = admit(made, NOW).ledger
    for scope in ("fleet", "convoy:c0", "convoy:c1"):
        limit, taken = limit_of(settled, scope), committed(settled, scope)
        assert limit is not None
        assert limit.money is not None
        assert (taken.money or 0.0) <= limit.money
        assert limit.tokens is None or taken.tokens <= limit.tokens

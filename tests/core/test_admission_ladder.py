"""How full each limit is agrees with who is admitted."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.admission.admit import Candidate, LimitedBy, Snapshot, admit, binding_refusal
from paddock.core.admission.controls import Account, Controls
from paddock.core.admission.host import HostPace, HostSample
from paddock.core.admission.ladder import LimitUnit, Rung, amount_words, binding_rung, rungs_of
from paddock.core.admission.quota import Quota
from paddock.core.admission.windows import Windows
from paddock.core.money.budget import Amount, BudgetBook, Cost
from paddock.core.trace import WindowUse

NOW = 1_800_000_000.0
DAY = "2027-01-15"


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    running = draw(st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 6), max_size=2))
    host = HostSample(NOW, 1.0, draw(st.integers(0, 8)) * 2**29, draw(st.integers(0, 4)) * 2**30)
    used = draw(st.floats(0.5, 1.0))
    account = Account(
        quota=Quota(target=float(draw(st.integers(1, 8))), cut_at=draw(st.sampled_from([None, NOW - 500]))),
        windows=Windows({"5 h": WindowUse("5 h", used, NOW + 600)}),
    )
    ledger = BudgetBook(
        limits=draw(st.dictionaries(st.sampled_from(["day", "fleet"]), st.just(Amount(money=10.0)), max_size=2)),
        spent={f"day:{DAY}": Cost(float(draw(st.integers(0, 12))))},
    )
    return Snapshot(
        (),
        running,
        Controls({"a": account}, {}, HostPace(slots=float(draw(st.integers(1, 8))))),
        ledger,
        DAY,
        draw(st.integers(0, 10)),
        host,
        merge_queue_depth=draw(st.integers(0, 5)),
        merge_queue_limit=draw(st.sampled_from([None, 3, 9])),
    )


@given(snapshots())
def test_one_more_agent_starts_just_when_no_limit_is_full(snapshot: Snapshot) -> None:
    candidate = Candidate("t1.1", "t1", "a", "a", Cost(0.0))
    refusals = admit(replace(snapshot, candidates=(candidate,)), NOW).refusals
    refusals = tuple(one for one in refusals if one.by is not LimitedBy.PACING)
    rungs = [rung for rung in rungs_of(snapshot, NOW) if rung.on in ("", "a") and rung.by is not LimitedBy.BUDGET]
    full = [rung for rung in rungs if rung.most is not None and rung.used >= rung.most]
    over = [rung for rung in rungs_of(snapshot, NOW) if rung.by is LimitedBy.BUDGET and rung.used > (rung.most or 0)]
    assert bool(refusals) == bool(full or over)
    bound = binding_refusal(refusals)
    if bound is not None:
        rung = binding_rung(rungs_of(snapshot, NOW), bound.by.value, bound.on)
        assert rung in (*full, *over)


@given(snapshots())
def test_limits_come_fullest_first_and_each_says_why(snapshot: Snapshot) -> None:
    rungs = rungs_of(snapshot, NOW)
    assert [rung.fullness for rung in rungs] == sorted((rung.fullness for rung in rungs), reverse=True)
    assert all(rung.reason and rung.name and amount_words(rung) for rung in rungs)
    names = [rung.name for rung in rungs]
    assert len(names) == len(set(names))


def test_a_window_that_is_nearly_used_up_is_full_until_its_reset() -> None:
    windows = Windows({"5 h": WindowUse("5 h", 0.97, NOW + 600)})
    controls = Controls({"max": Account(windows=windows)})
    snapshot = Snapshot((), {"max": 3}, controls, BudgetBook(), DAY, 8)
    first = rungs_of(snapshot, NOW)[0]
    assert (first.name, first.by, first.used, first.most) == ("account: max", LimitedBy.WINDOW, 3, 3)
    assert first.until == NOW + 600
    assert first.reason == "97% of the 5 h window used, resets in 10m"


def test_amounts_are_told_in_their_unit() -> None:
    assert amount_words(Rung(LimitedBy.CAP, 3, 8, "")) == "3 of 8"
    assert amount_words(Rung(LimitedBy.BUDGET, 3.5, 80.0, "", "day", LimitUnit.DOLLARS)) == "$3.50 of $80.00"
    assert amount_words(Rung(LimitedBy.QUOTA, 3, None, "", "free")) == "3"
    assert msgspec.to_builtins(LimitUnit.TOKENS) == "tokens"

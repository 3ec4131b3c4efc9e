"""Which changes wait for a person because of their paths, kind, agent or size."""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.config.schema import LandGate
from paddock.core.merge.gates import ChangeSize, gate_reasons, outside_reasons

CHANGE = ChangeSize(("db/schema.sql", "src/a.py"), (), 120, "fix", frozenset({"fixer"}))
MET: dict[str, Any] = {"paths": ("db/**",), "kinds": ("fix", "docs"), "agents": ("fixer",), "files": 1, "lines": 119}
MISSED: dict[str, Any] = {"paths": ("web/**",), "kinds": ("docs",), "agents": ("writer",), "files": 2, "lines": 120}


def reasons(change: ChangeSize = CHANGE, /, **conditions: Any) -> tuple[str, ...]:
    return gate_reasons((LandGate(**conditions),), change)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("paths", "touches db/schema.sql"),
        ("kinds", "is of kind fix"),
        ("agents", "made by fixer"),
        ("files", "changes 2 files, more than 1"),
        ("lines", "changes 120 lines, more than 119"),
    ],
)
def test_each_condition_is_told_in_words_and_a_limit_itself_is_not_beyond_it(key: str, words: str) -> None:
    assert reasons(**{key: MET[key]}) == (f"meets a gate: {words}",)
    assert reasons(**{key: MISSED[key]}) == ()


def test_a_gate_has_a_name_and_tells_all_that_it_met() -> None:
    told = reasons(name="schema", paths=("**/*.sql",), lines=100)
    assert told == ("meets the gate `schema`: touches db/schema.sql, changes 120 lines, more than 100",)


def test_all_that_is_set_must_hold() -> None:
    for size in range(1, len(MET) + 1):
        for keys in combinations(MET, size):
            held = {key: MET[key] for key in keys}
            assert reasons(**held)
            for key in keys:
                assert not reasons(**{**held, key: MISSED[key]}), (keys, key)


def test_several_gates_each_have_their_say_and_one_with_nothing_set_has_none() -> None:
    gates = (
        LandGate(name="any"),
        LandGate(name="sql", paths=("*.sql",)),
        LandGate(kinds=("fix",)),
        LandGate(kinds=("docs",)),
    )
    assert gate_reasons(gates, CHANGE) == ("meets a gate: is of kind fix",)
    assert gate_reasons((), CHANGE) == ()


def test_a_branch_of_a_person_has_no_kind_and_no_agent_and_is_measured_all_the_same() -> None:
    branch = ChangeSize(("db/schema.sql",), (), 500)
    assert reasons(branch, kinds=("fix",)) == reasons(branch, agents=("fixer",)) == ()
    assert reasons(branch, lines=100) == ("meets a gate: changes 500 lines, more than 100",)


def test_a_link_may_lead_to_what_a_gate_names_below_it() -> None:
    assert reasons(ChangeSize((), ("db",)), paths=("db/*.sql",)) == ("meets a gate: touches db",)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_a_larger_change_meets_whatever_a_smaller_one_meets(few: int, more: int, short: int, long: int) -> None:
    gate = (LandGate(files=3, lines=20),)
    small = ChangeSize(tuple(f"f{n}" for n in range(few)), (), short)
    large = ChangeSize(tuple(f"f{n}" for n in range(few + more)), (), short + long)
    assert not gate_reasons(gate, small) or gate_reasons(gate, large)


def test_files_outside_the_paths_are_named_unless_they_are_gone_or_allowed_by_now() -> None:
    outside = ("web/a.js", "web/b.js", "db/x.sql")
    assert outside_reasons(outside, outside, ("src/**",)) == (
        "changes files outside its paths: web/a.js, web/b.js, db/x.sql",
    )
    assert outside_reasons(outside, ("web/a.js", "db/x.sql"), ("src/**", "db/**")) == (
        "changes files outside its paths: web/a.js",
    )
    assert outside_reasons(outside, ("src/a.py",), ()) == outside_reasons((), outside, ()) == ()

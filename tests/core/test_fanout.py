"""When several agents pay: against the formula, against every partition, against sampled stragglers."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.core.economics.fanout import (
    FanOut,
    Piece,
    Spawn,
    Worth,
    best_plan,
    decide_fan_out,
    evaluate,
)

seconds = st.floats(0.001, 10_000, allow_nan=False)


def equal_pieces(count: int, each: float, spread: float = 0.0) -> list[Piece]:
    return [Piece(f"p{n}", each, spread) for n in range(count)]


def all_partitions(count: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """By labels, unlike the code under test; repeats do no harm."""

    def label(prefix: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(prefix) == count:
            yield prefix
        else:
            for group in range(max(prefix, default=-1) + 2):
                yield from label((*prefix, group))

    for labels in label(()):
        groups = range(max(labels) + 1)
        yield tuple(tuple(i for i, owner in enumerate(labels) if owner == group) for group in groups)


@given(count=st.integers(1, 60), each=seconds, spawn=seconds)
def test_equal_pieces_and_unlimited_slots_fan_out_exactly_when_the_formula_says(
    count: int, each: float, spawn: float
) -> None:
    assert decide_fan_out(equal_pieces(count, each), Spawn(spawn)).pays == ((count - 1) * each > spawn)


@given(count=st.integers(1, 60), each=seconds, spawn=seconds, hour=st.floats(0.01, 1e6))
def test_what_an_hour_is_worth_does_not_matter_where_tokens_cost_nothing(
    count: int, each: float, spawn: float, hour: float
) -> None:
    pieces, worth = equal_pieces(count, each), Worth(money_per_hour=hour, tokens_per_hour=hour)
    assert decide_fan_out(pieces, Spawn(spawn, 0.0, 0.0), None, worth).pays == ((count - 1) * each > spawn)


@given(count=st.integers(2, 40), each=st.integers(1, 1000), data=st.data())
def test_the_formula_holds_at_its_very_edge(count: int, each: int, data: st.DataObject) -> None:
    edge = (count - 1) * each
    spawn = data.draw(st.sampled_from([edge - 1, edge, edge + 1]))
    assert decide_fan_out(equal_pieces(count, each), Spawn(spawn)).pays == (spawn < edge)


@given(count=st.integers(1, 40), each=st.integers(1, 100), spawn=st.integers(0, 2000), slots=st.integers(0, 12))
def test_with_k_slots_one_agent_is_held_against_the_rounds_of_k(count: int, each: int, spawn: int, slots: int) -> None:
    decision = decide_fan_out(equal_pieces(count, each), Spawn(spawn), slots)
    rounds = -(-count // max(1, min(slots, count)))
    pays = slots >= 2 and count >= 2 and count * each > spawn + rounds * each
    assert decision.pays == pays
    if pays:
        assert decision.chosen.wall_seconds == spawn + rounds * each
        assert decision.chosen.agents == -(-count // rounds)


@settings(max_examples=60, deadline=None)
@given(
    pieces=st.lists(st.tuples(st.integers(1, 500), st.sampled_from([0, 0, 20, 90])), min_size=1, max_size=6),
    spawn=st.builds(Spawn, st.integers(0, 400), st.just(41_000.0), st.sampled_from([None, 0.3])),
    worth=st.sampled_from([Worth(), Worth(money_per_hour=20.0), Worth(tokens_per_hour=2e6)]),
    slots=st.sampled_from([None, 1, 2, 3, 6]),
)
def test_the_decision_equals_brute_force_over_all_partitions(
    pieces: list[tuple[int, int]], spawn: Spawn, worth: Worth, slots: int | None
) -> None:
    work = [Piece(f"p{n}", t, spread) for n, (t, spread) in enumerate(pieces)]
    limit = len(work) if slots is None else slots
    gains = [
        evaluate(work, shares, spawn, worth).gain_seconds
        for shares in all_partitions(len(work))
        if 2 <= len(shares) <= limit
    ]
    decision = decide_fan_out(work, spawn, slots, worth)
    assert decision.chosen.gain_seconds == pytest.approx(max([0.0, *gains]))
    assert decision.pays == (max([0.0, *gains]) > 0)


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 900), min_size=1, max_size=6),
    spawn=st.integers(0, 400),
    tokens=st.sampled_from([0, 20_000, 41_000]),
    dollars=st.sampled_from([0.0, 0.05, 0.3, 2.0]),
    worth=st.builds(Worth, st.sampled_from([0.0, 5.0, 30.0]), st.sampled_from([0.0, 1e6, 1e7])),
    slots=st.sampled_from([None, 2, 4]),
)
def test_time_tokens_and_money_together_are_as_good_as_the_best_of_all_partitions(
    lengths: list[int], spawn: int, tokens: int, dollars: float, worth: Worth, slots: int | None
) -> None:
    """The objective is written out here once more: seconds, and an hour for every so many dollars and tokens."""
    hours = (dollars / worth.money_per_hour if worth.money_per_hour else 0.0) + (
        tokens / worth.tokens_per_hour if worth.tokens_per_hour else 0.0
    )

    def burden(shares: tuple[tuple[int, ...], ...]) -> float:
        longest = max(sum(lengths[i] for i in share) for share in shares)
        return longest + (spawn if len(shares) > 1 else 0) + 3600 * hours * (len(shares) - 1)

    most = len(lengths) if slots is None else slots
    least = min(burden(shares) for shares in all_partitions(len(lengths)) if len(shares) <= most)
    pieces = [Piece(f"p{n}", length) for n, length in enumerate(lengths)]
    chosen = decide_fan_out(pieces, Spawn(spawn, tokens, dollars), slots, worth).chosen
    numbers = tuple(tuple(int(name[1:]) for name in share) for share in chosen.shares)
    assert burden(numbers) == pytest.approx(least)


def test_the_reasons_name_the_price_and_the_hour() -> None:
    decision = decide_fan_out(equal_pieces(3, 60), Spawn(30, 41_000, 0.5), None, Worth(money_per_hour=30.0))
    assert not decision.pays
    assert "1 more start costs as much as 1m at $30.00 an hour" in decision.reasons
    assert "the 30s saved would be worth less than the extra agents cost" in decision.reasons


@settings(max_examples=50, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 600), min_size=1, max_size=40),
    slots=st.integers(0, 9),
    spawn=st.integers(0, 600),
)
def test_every_piece_is_given_to_exactly_one_agent_within_the_slots(lengths: list[int], slots: int, spawn: int) -> None:
    pieces = [Piece(f"p{n}", length) for n, length in enumerate(lengths)]
    decision = decide_fan_out(pieces, Spawn(spawn), slots)
    for plan in (decision.chosen, *decision.plans):
        assert sorted(name for share in plan.shares for name in share) == sorted(p.name for p in pieces)
        assert all(plan.shares)
    assert decision.chosen.agents <= max(1, slots)


@settings(max_examples=20, deadline=None)
@given(lengths=st.lists(st.integers(1, 600), min_size=8, max_size=8), agents=st.integers(2, 4))
def test_more_pieces_than_are_tried_exactly_are_shared_out_within_a_third_of_the_best(
    lengths: list[int], agents: int
) -> None:
    pieces = [Piece(f"p{n}", length) for n, length in enumerate(lengths)]
    plan = best_plan(pieces, Spawn(0.0), agents)
    best = min(
        max(sum(lengths[i] for i in share) for share in shares)
        for shares in all_partitions(len(lengths))
        if len(shares) == agents
    )
    assert best <= plan.wall_seconds <= best * 4 / 3


def test_expected_straggling_agrees_with_sampling() -> None:
    pieces = [Piece("a", 100, 30), Piece("b", 90, 40), Piece("c", 95, 20), Piece("d", 20, 5)]
    plan = evaluate(pieces, ((0,), (1,), (2, 3)), Spawn(10.0))
    draw = random.Random(7).gauss
    ends = [max(draw(100, 30), draw(90, 40), draw(95, 20) + draw(20, 5)) + 10.0 for _ in range(20_000)]
    assert plan.wall_seconds == pytest.approx(sum(ends) / len(ends), rel=0.02)


def test_uncertain_durations_can_turn_the_decision() -> None:
    certain, uncertain = equal_pieces(2, 100), equal_pieces(2, 100, spread=60)
    assert decide_fan_out(certain, Spawn(80.0)).pays
    assert not decide_fan_out(uncertain, Spawn(80.0)).pays


def test_an_hour_worth_little_keeps_the_work_with_one_agent() -> None:
    pieces, spawn = equal_pieces(10, 60), Spawn(90.0, tokens=41_000, money=0.25)
    assert decide_fan_out(pieces, spawn, None, Worth(money_per_hour=100.0)).pays
    frugal = decide_fan_out(pieces, spawn, None, Worth(money_per_hour=0.5))
    assert not frugal.pays
    assert any("worth less" in reason for reason in frugal.reasons)


def test_a_dearer_hour_never_means_fewer_agents() -> None:
    pieces, spawn = equal_pieces(12, 300), Spawn(60.0, tokens=41_000, money=0.25)
    counts = [
        decide_fan_out(pieces, spawn, None, Worth(money_per_hour=worth)).chosen.agents
        for worth in (0.5, 2.0, 8.0, 32.0, 128.0)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_the_reasons_show_the_arithmetic() -> None:
    decision = decide_fan_out(equal_pieces(10, 60), Spawn(90.0, tokens=41_000, money=0.25), 8)
    assert decision.reasons == (
        "10 pieces, 10m for one agent alone",
        "5 agents: 1m30s to spawn + 2m for the longest share = 3m30s, 164k more tokens ($1.00)",
        "done 6m30s sooner",
        "more than 5 agents would not be worth it",
    )
    assert _last_words(decide_fan_out(equal_pieces(3, 10), Spawn(90.0))) == (
        "(N−1)·t = 20s ≤ 1m30s to spawn",
        "no sooner than one agent alone (1m10s later)",
    )
    assert _last_words(decide_fan_out(equal_pieces(3, 10), Spawn(90.0), 1))[-1].startswith("1 free slot:")
    assert decide_fan_out([Piece("only", 5.0)], Spawn(1.0)).reasons[-1] == "nothing to split"


def test_no_pieces_need_no_agent() -> None:
    decision = decide_fan_out([], Spawn(10.0))
    assert not decision.pays
    assert decision.chosen.wall_seconds == 0


def test_a_large_convoy_is_decided_without_trying_every_partition() -> None:
    draw = random.Random(3)
    pieces = [Piece(f"p{n}", draw.uniform(10, 600), draw.uniform(0, 90)) for n in range(200)]
    decision = decide_fan_out(pieces, Spawn(60.0), 40)
    assert 30 <= decision.chosen.agents <= 40


def _last_words(decision: FanOut) -> tuple[str, ...]:
    return decision.reasons[-2:]

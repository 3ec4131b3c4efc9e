"""Durations and spawn costs learnt from finished turns."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.economics.estimates import (
    ENOUGH_SAMPLES,
    KEPT_KEYS,
    KEPT_SAMPLES,
    PRIOR,
    Estimate,
    Experience,
    TurnSample,
    estimate,
    learn,
    remember,
)


def experience_of(*samples: TurnSample) -> Experience:
    experience = Experience()
    for sample in samples:
        experience = remember(experience, sample)
    return experience


def test_before_there_is_data_the_prior_stands() -> None:
    assert learn(Experience(), "coder", "fix") == PRIOR


def test_enough_samples_of_agent_and_kind_outweigh_everything_else() -> None:
    others = [TurnSample("writer", "docs", 5000.0, 1e6) for _ in range(20)]
    own = [TurnSample("coder", "fix", seconds, 1000.0) for seconds in (100.0, 110.0, 120.0, 130.0, 9000.0)]
    learnt = learn(experience_of(*others, *own), "coder", "fix")
    assert learnt.work_seconds.median == 120.0
    assert learnt.work_seconds.most == 9000.0


def test_an_unknown_kind_leans_on_the_agent_and_an_unknown_agent_on_the_fleet() -> None:
    coder = [TurnSample("coder", "fix", 100.0, 1000.0) for _ in range(5)]
    writer = [TurnSample("writer", "docs", 900.0, 1000.0) for _ in range(9)]
    experience = experience_of(*coder, *writer)
    assert learn(experience, "coder", "feature").work_seconds.median == 100.0
    assert learn(experience, "stranger", "feature").work_seconds.median == 900.0


def test_one_sample_does_not_throw_the_prior_over() -> None:
    learnt = learn(experience_of(TurnSample("coder", "fix", 5.0, 10.0)), "coder", "fix")
    assert learnt.work_seconds.median == PRIOR.work_seconds.median
    assert learnt.work_seconds.spread > 0


def test_the_cost_of_spawning_is_learnt_where_it_was_seen() -> None:
    seen = [TurnSample("coder", "fix", 60.0, 1e4, 0.5, spawn_seconds=20.0, spawn_tokens=30e3, spawn_money=0.2)] * 4
    blind = [TurnSample("coder", "fix", 60.0, 1e4)] * 4
    learnt = learn(experience_of(*seen, *blind), "coder", "fix")
    assert (learnt.spawn_seconds.median, learnt.spawn_tokens.median) == (20.0, 30e3)
    assert learnt.spawn_money is not None
    assert learnt.spawn_money.median == 0.2
    assert learn(experience_of(*blind), "coder", "fix").spawn_money is None


def test_experience_is_bounded_and_keeps_the_latest() -> None:
    experience = Experience()
    for number in range(KEPT_SAMPLES + 10):
        experience = remember(experience, TurnSample("coder", "fix", float(number), 1.0))
    assert experience.samples["coder/fix"][0].work_seconds == 10.0
    for number in range(KEPT_KEYS + 5):
        experience = remember(experience, TurnSample("coder", f"kind{number}", 1.0, 1.0))
    assert len(experience.samples) == KEPT_KEYS
    assert "coder/fix" not in experience.samples
    assert msgspec.json.decode(msgspec.json.encode(experience), type=Experience) == experience


@given(values=st.lists(st.floats(0, 1e6), max_size=30))
def test_an_estimate_lies_among_what_it_was_made_from(values: list[float]) -> None:
    prior = Estimate(50.0, 10.0)
    learnt = estimate(values, prior)
    assert learnt is not None
    known = values if len(values) >= ENOUGH_SAMPLES else [*values, prior.median]
    assert min(known) <= learnt.median <= max(known)
    assert learnt.spread >= 0
    assert learnt.p90 >= learnt.median

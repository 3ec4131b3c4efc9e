"""docs/scale.md says what the capacity model says."""

import math
from dataclasses import fields, replace

import pytest
from bench.grow import constants
from bench.grow.model import (
    A_THOUSAND,
    PAGE,
    RESOURCES,
    SIZES,
    TEN_THOUSAND,
    TODAY,
    Load,
    Resource,
    Shape,
    by_limit,
    logs_needed,
    with_tables,
)

from paddock.fleet.ledger import RENEW_SECONDS
from paddock.fleet.nodes.slots import READING_SHARE

PAGE_TEXT = PAGE.read_text()


def name_of(resource: Resource) -> str:
    return resource.name


def test_the_tables_are_those_of_the_model() -> None:
    assert with_tables(PAGE_TEXT) == PAGE_TEXT, "run `python -m bench.grow.model --write`"


def test_the_page_names_what_is_full_first() -> None:
    first, second, third = by_limit(TODAY)[:3]
    assert (first.name, second.name, third.name) == ("people who approve", "merge queue", "provider's account")
    assert (round(first.full_at(TODAY), -1), round(second.full_at(TODAY))) == (30, 46)
    limits = {one.name: round(one.full_at(TODAY), -2) for one in RESOURCES if math.isfinite(one.full_at(TODAY))}
    assert f"its daemon is full at {limits['daemon: its one thread']:,.0f}" in PAGE_TEXT


@pytest.mark.parametrize(("shape", "size"), [(TODAY, 10), (A_THOUSAND, 1_000), (TEN_THOUSAND, 10_000)])
def test_the_sizes_that_the_page_calls_possible_use_up_nothing(shape: Shape, size: int) -> None:
    assert {one.name for one in RESOURCES if one.used(size, shape) > 1} == set()
    assert logs_needed(size, shape) <= shape.logs


@pytest.mark.parametrize("resource", RESOURCES, ids=name_of)
@pytest.mark.parametrize("shape", [TODAY, TEN_THOUSAND], ids=["today", "ten thousand"])
def test_more_agents_never_use_less_and_the_limit_is_where_nothing_is_left(resource: Resource, shape: Shape) -> None:
    used = [resource.used(size, shape) for size in SIZES]
    assert used == sorted(used)
    assert used[0] > 0
    if math.isfinite(limit := resource.full_at(shape)):
        assert resource.used(limit + 1, shape) >= 1 > resource.used(limit - 2, shape)


@pytest.mark.parametrize("resource", [one for one in RESOURCES if not one.shared], ids=name_of)
def test_what_belongs_to_a_repository_is_relieved_by_a_second_one(resource: Resource) -> None:
    if math.isfinite(limit := resource.full_at(TODAY)):
        assert resource.full_at(replace(TODAY, logs=2)) == pytest.approx(2 * limit, abs=2)


@pytest.mark.parametrize("name", [field.name for field in fields(Shape)])
def test_everything_that_is_chosen_makes_a_difference(name: str) -> None:
    value = {"ci_slots": 64}.get(name, 2 * getattr(TODAY, name))
    other = replace(TODAY, **{name: value})
    assert any(one.used(1_000, other) != one.used(1_000, TODAY) for one in RESOURCES)


def test_what_the_code_says_is_what_the_model_counts_with() -> None:
    assert (constants.RENEWAL_SECONDS, constants.READING_SHARE) == (RENEW_SECONDS, READING_SHARE)


def test_an_event_is_counted_for_everything_that_a_landed_task_records() -> None:
    """Once around, with one turn: what tests/histories and every fleet of scripted agents record."""
    load = Load(900.0, replace(TODAY, slots_per_node=10**9))
    assert load.attempts == pytest.approx(1)
    renewals = 1 / constants.RENEWAL_SECONDS
    assert load.events - renewals == pytest.approx(2 + 3 * 2 + 0.8 * 7, abs=0.01)


def test_every_number_has_a_source_and_says_whether_it_was_measured() -> None:
    assert all(one.source and one.value > 0 for one in constants.KNOWN)
    assert len({(one.name, one.unit) for one in constants.KNOWN}) == len(constants.KNOWN)

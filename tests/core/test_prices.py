"""Prices: dated, overridable, never zero by accident."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.errors import PaddockError
from paddock.core.money.prices import (
    Price,
    Rates,
    canonical_model,
    cost_of,
    find_price,
    price_book,
    read_table,
)
from paddock.core.money.pricetable import TABLE
from paddock.core.trace import TokenUsage

TODAY = "2026-11-20"
SHIPPED = price_book(read_table(TABLE))


def shipped(model: str) -> Price:
    price = find_price(SHIPPED, model, TODAY)
    assert price is not None, model
    return price


def test_every_shipped_price_is_dated_positive_and_found_under_its_own_name() -> None:
    book = SHIPPED
    assert len(book.by_model) > 80
    for rows in book.by_model.values():
        for price in rows:
            datetime.date.fromisoformat(price.effective_from)
            found = find_price(book, price.model, price.effective_from)
            assert found == price
            assert price.rates.cache_read is None or price.rates.cache_read < price.rates.input
            assert price.rates.output > price.rates.input
            tiers = [tier.above_tokens for tier in price.long_context]
            assert tiers == sorted(set(tiers))


@pytest.mark.parametrize(
    ("spelling", "model"),
    [
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5"),
        ("anthropic/claude-opus-4-5", "claude-opus-4-5"),
        ("openrouter/anthropic/claude-opus-4-5", "claude-opus-4-5"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("gpt-5.1-2025-11-13", "gpt-5.1"),
        ("gpt-5-codex", "gpt-5-codex"),
        ("gemini/gemini-2.5-pro", "gemini-2.5-pro"),
        ("Qwen/Qwen3-Coder-Plus", "qwen3-coder-plus"),
    ],
)
def test_a_model_is_recognised_however_it_is_addressed(spelling: str, model: str) -> None:
    assert canonical_model(spelling) == model
    assert shipped(spelling) == shipped(model)


@pytest.mark.parametrize("model", ["", "mock-model", "claude", "gpt-5.1-codex-ultra", "claude-opus-4-55"])
def test_an_unknown_model_is_unpriced_and_not_guessed(model: str) -> None:
    assert find_price(SHIPPED, model, TODAY) is None


def test_the_price_of_the_day_is_taken() -> None:
    book = price_book(read_table("m 2026-01-01 1 2 - - -\nm 2026-06-01 3 4 - - -"))
    for day, expected in (("2025-05-05", 1.0), ("2026-05-31", 1.0), ("2026-06-01", 3.0), ("2027-01-01", 3.0)):
        price = find_price(book, "m", day)
        assert price is not None
        assert price.rates.input == expected


def test_the_users_price_replaces_the_shipped_one() -> None:
    own = Price("claude-opus-4-5", "2020-01-01", Rates(1.0, 2.0))
    shipped_rows = [row for rows in SHIPPED.by_model.values() for row in rows]
    book = price_book(shipped_rows, [own])
    assert find_price(book, "claude-opus-4-5-20251101", TODAY) == own
    assert find_price(book, "gpt-5", TODAY) == shipped("gpt-5")


def test_every_class_of_token_has_its_own_price() -> None:
    price = Price("m", TODAY, Rates(10.0, 50.0, 1.0, 12.5, 20.0))
    million = 1_000_000
    assert cost_of(price, TokenUsage(input_uncached=million)) == 10.0
    assert cost_of(price, TokenUsage(output=million)) == 50.0
    assert cost_of(price, TokenUsage(cache_read=million)) == 1.0
    assert cost_of(price, TokenUsage(cache_write=million)) == 12.5
    assert cost_of(price, TokenUsage(cache_write=million), hour_writes=million) == 20.0


def test_a_price_the_vendor_does_not_list_is_that_of_fresh_input() -> None:
    price = Price("m", TODAY, Rates(10.0, 50.0))
    assert cost_of(price, TokenUsage(cache_read=500_000, cache_write=500_000)) == 10.0


def test_a_long_call_costs_what_its_tier_says() -> None:
    price = shipped("gemini-2.5-pro")
    tokens = TokenUsage(input_uncached=200_000)
    assert cost_of(price, tokens, call_tokens=200_000) == pytest.approx(0.25)
    assert cost_of(price, tokens, call_tokens=200_001) == pytest.approx(0.5)


@given(
    st.builds(
        TokenUsage,
        input_uncached=st.integers(0, 10**9),
        cache_write=st.integers(0, 10**9),
        cache_read=st.integers(0, 10**9),
        output=st.integers(0, 10**9),
    ),
    st.sampled_from(sorted(SHIPPED.by_model)),
)
def test_tokens_of_a_priced_model_never_cost_nothing(tokens: TokenUsage, model: str) -> None:
    cost = cost_of(shipped(model), tokens)
    assert cost > 0 if tokens != TokenUsage() else cost == 0


@pytest.mark.parametrize(
    "line", ["m 2026-01-01 1 2", "m 2026-01-01 0 2 - - -", "m 2026-01-01 - 2 - - -", ">100 1 2 - - -", "m"]
)
def test_a_line_that_is_no_price_is_named(line: str) -> None:
    with pytest.raises(PaddockError, match="cannot read the price"):
        read_table(line)

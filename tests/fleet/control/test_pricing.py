"""What turns cost and what attempts are expected to cost: the engine's word, own prices, the table, never nothing."""

from pathlib import Path

import pytest

from paddock.config.load import load_config
from paddock.core.economics.estimates import PRIOR
from paddock.core.errors import Misuse
from paddock.core.events import AttemptStarted
from paddock.core.money.startup import Startup
from paddock.core.trace import ModelTokens, TokenUsage
from paddock.fleet.dispatch.pricing import bill, expected_cost, spawn_money
from paddock.fleet.site import Site
from paddock.git.repo import discover
from tests.core.ledger import START, Ledger
from tests.fleet.yard import Yard

DAY = "2027-01-01"
USED = TokenUsage(input_uncached=1_000, cache_write=10_000, cache_read=100_000, output=2_000)


def site_with(yard: Yard, config: str = "") -> Site:
    (yard.top / "paddock.toml").write_text(f'engine = "claude"\n{config}')
    return Site(discover(yard.top), load_config(yard.top, {}).config, yard.log_path.parent, "marker")


def test_the_engines_own_figure_comes_first(yard: Yard) -> None:
    charged = bill(TokenUsage(output=5, cost_usd=0.25), "claude-opus-5", Startup(), site_with(yard).prices, DAY)
    assert (charged.cost, charged.source, charged.assumed) == (0.25, "engine", 0.0)


def test_tokens_are_priced_by_the_dated_table(yard: Yard) -> None:
    charged = bill(USED, "claude-opus-5-20270101", Startup(), site_with(yard).prices, DAY)
    assert charged.source == "table"
    assert charged.cost == pytest.approx((1_000 * 5 + 10_000 * 6.25 + 100_000 * 0.5 + 2_000 * 25) / 1e6)


def test_long_calls_are_priced_as_such(yard: Yard) -> None:
    prices, used = site_with(yard).prices, TokenUsage(input_uncached=600_000)
    short, long = (bill(used, "gemini-2.5-pro", Startup(calls=calls), prices, DAY).cost for calls in (3, 2))
    assert short == pytest.approx(0.6 * 1.25)
    assert long == pytest.approx(0.6 * 2.5)


def test_own_prices_replace_the_tables_and_add_to_them(yard: Yard) -> None:
    own = '[prices."claude-opus-5"]\ninput = 1\noutput = 2\n'
    own += '[prices."house-model"]\ninput = 3\noutput = 4\ncache_read = 0\n'
    prices = site_with(yard, own).prices
    assert bill(USED, "claude-opus-5", Startup(), prices, DAY).cost == pytest.approx((111_000 * 1 + 2_000 * 2) / 1e6)
    house = bill(USED, "openrouter/house-model", Startup(), prices, DAY)
    assert house.cost == pytest.approx((11_000 * 3 + 100_000 * 0 + 2_000 * 4) / 1e6)
    assert bill(USED, "claude-sonnet-5", Startup(), prices, DAY).source == "table"


def test_each_model_of_a_turn_is_paid_at_its_own_price_and_one_without_leaves_all_unpriced(yard: Yard) -> None:
    prices, part = site_with(yard).prices, TokenUsage(input_uncached=1_000_000)
    dear, cheap, odd = (ModelTokens(name, part) for name in ("gemini-2.5-pro", "gemini-2.5-flash", "mystery-9"))
    both = part.plus(part)
    charged = bill(both, dear.model, Startup(), prices, DAY, (dear, cheap))
    alone = [bill(part, share.model, Startup(), prices, DAY).cost for share in (dear, cheap)]
    assert charged.cost == pytest.approx(sum(cost or 0.0 for cost in alone))
    assert charged.source == "table"
    assert alone[0] != alone[1]
    assert bill(both, dear.model, Startup(), prices, DAY, (dear, odd)).source == "unpriced"


def test_a_model_named_in_the_engines_table_is_the_attempts(yard: Yard) -> None:
    (yard.top / "paddock.toml").write_text('engine = "scripted"\n[engines.scripted]\nmodel = "claude-opus-5"\n')
    yard.add({"say": "hi"}, {"noop": "nothing to do"})
    yard.run(code=0)
    started = yard.records(AttemptStarted)[0].event
    assert isinstance(started, AttemptStarted)
    assert started.model == "claude-opus-5"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[prices."x"]\ninput = 1\n', "missing required field `output`"),
        ('[prices."x"]\ninput = -1\noutput = 1\n', "`float` >= 0.0"),
        ('[prices."x"]\ninput = "dear"\noutput = 1\n', "Expected `float`"),
        ('[prices."x"]\ninput = 1\noutput = 1\ncahce_read = 1\n', "unknown key `prices.x.cahce_read`"),
        ("[prices]\nx = 3\n", "Expected `object`"),
    ],
)
def test_a_price_that_is_none_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "paddock.toml").write_text(text)
    with pytest.raises(Misuse, match=words):
        load_config(tmp_path, {})


def test_an_unknown_model_is_unpriced_and_assumed_to_be_dear(yard: Yard) -> None:
    prices = site_with(yard).prices
    for model in ("mystery-9", None):
        charged = bill(USED, model, Startup(), prices, DAY)
        assert (charged.cost, charged.source) == (None, "unpriced")
        known = bill(USED, "claude-opus-5", Startup(), prices, DAY).cost
        assert known is not None
        assert charged.assumed > known
    nothing = bill(TokenUsage(), "mystery-9", Startup(), prices, DAY)
    assert (nothing.cost, nothing.source, nothing.assumed) == (None, "", 0.0)


def test_the_start_up_context_is_priced_apart_over_all_calls(yard: Yard) -> None:
    """41k tokens written once and read nine times more by a run of ten calls."""
    prices = site_with(yard).prices
    usage = TokenUsage(cache_write=41_000 + 9_000, cache_read=9 * 41_000 + 30_000, output=3_000)
    startup = Startup(TokenUsage(cache_write=41_000, output=100), calls=10)
    charged = bill(usage, "claude-opus-5", startup, prices, DAY)
    assert charged.startup == pytest.approx((41_000 * 6.25 + 9 * 41_000 * 0.5) / 1e6)
    assert charged.cost is not None
    assert charged.cost > (charged.startup or 0.0)
    one_call = TokenUsage(cache_write=41_000, output=0)
    alone = bill(one_call, "claude-opus-5", Startup(one_call, 1), prices, DAY)
    assert alone.startup == alone.cost
    by_engine = bill(TokenUsage(0, 50_000, 399_000, 3_000, cost_usd=10.0), "claude-opus-5", startup, prices, DAY)
    assert by_engine.startup == pytest.approx(10.0 * (charged.startup or 0.0) / charged.cost)
    assert bill(usage, "claude-opus-5", Startup(), prices, DAY).startup is None, "who tells of no call tells no start"


def test_what_is_expected_before_anything_was_seen(yard: Yard) -> None:
    ledger = Ledger()
    task = ledger.task(ledger.add())

    def money(config: str, engine: str = "claude") -> float | None:
        return expected_cost(site_with(yard, config), ledger.board, task, engine, START).money

    named = money('[engines.claude]\nmodel = "claude-haiku-4-5"\n')
    unnamed = money("")
    assert named is not None
    assert unnamed is not None
    assert 0 < named < unnamed < 10, "a default model nobody named is taken to be dear"
    assert money('[engines.claude]\nmodel = "mystery-9"\n') == unnamed, "so is one whose price nobody knows"
    priced = money('[engines.claude]\nmodel = "mystery-9"\n[prices."mystery-9"]\ninput = 1\noutput = 5\n')
    assert priced is not None
    assert priced > 0
    assert money("", engine="scripted") == unnamed, "nothing is expected to be free before it was seen to be"


@pytest.mark.parametrize(
    ("table", "quota", "start_costs"),
    [
        ('like = "claude"', True, True),
        ('like = "scripted"', False, False),
        ('command = ["x", "{prompt}"]', False, True),
    ],
)
def test_the_engine_itself_says_whether_it_has_a_quota_and_whether_a_start_costs_money(
    yard: Yard, table: str, quota: bool, start_costs: bool
) -> None:
    site, ledger = site_with(yard, f"[engines.mine]\n{table}\n"), Ledger()
    task = ledger.task(ledger.add())
    assert site.capabilities_of("mine").quota is quota
    assert (spawn_money(site, PRIOR, task, "mine", START) > 0) is start_costs
    assert expected_cost(site, ledger.board, task, "mine", START).money

"""`paddock costs`, `budget` and `limits`: what was spent, what may be, what holds agents back."""

import time

import msgspec
import pytest

from paddock.core.admission.breaker import Breaker
from paddock.core.admission.clocks import Clocks
from paddock.core.admission.controls import Account, Controls
from paddock.core.admission.host import HostSample
from paddock.core.admission.quota import Limit, Quota
from paddock.core.admission.windows import Windows
from paddock.core.events import AttemptEnded, AttemptStarted, Draft, LimitsReset, TurnEnded, TurnStarted
from paddock.core.ids import AttemptId, TaskId
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.core.trace import WindowUse
from paddock.fleet.dispatch.gate import NO_QUOTA, LimitsFile
from paddock.store.protocol import Author, Query
from paddock.store.sqlite import SqliteStore
from tests.cli.conftest import Cli


def write(cli: Cli, *drafts: Draft) -> None:
    store = SqliteStore(cli.log)
    store.append(lambda _board: drafts, Author("daemon"))
    store.close()


def attempt(
    task: str, turn: TurnEnded, engine: str = "claude", outcome: str = "delivered", then: str = "noop"
) -> list[Draft]:
    """One attempt of one turn."""
    name, number = TaskId(task), AttemptId(f"{task}.1")
    events = (
        AttemptStarted(engine, "b" * 40, f"paddock/{task}", reserved_usd=1.0, reserved_tokens=1000.0),
        TurnStarted(turn=1),
        turn,
        AttemptEnded(Outcome(outcome), Step(then), counted=False),
    )
    return [Draft(event, name, number) for event in events]


def spent(cost: float | None, source: str = "engine", **more: object) -> TurnEnded:
    figures = {"input_tokens": 100, "cache_read_tokens": 800, "output_tokens": 100, "model": "claude-opus-5", **more}
    return TurnEnded(turn=1, exit=0, cost_usd=cost, cost_source=source, **figures)  # type: ignore[arg-type]


WHERE_IT_WENT = """\
where $7.0000 went                               cost      share
  start-up context                            $0.7500        11%
  work                                        $2.2500        32%
  thrown away                                 $4.0000        57%

thrown away                                  attempts       cost
  failed attempts                                   1    $4.0000

start-up context by agent            runs      p5  median     p95  of input  of cost cold start      warm
  claude                                3     400     400     400         -      25%          -         -

files that starts read, by their size
  CLAUDE.md                                 about 250 of 400 tokens, 1 start of claude
"""


@pytest.fixture
def seasoned(cli: Cli) -> Cli:
    """Two tasks of a convoy and one without, one of them with a model nobody knows the price of."""
    cli.good("add", "--file", "-", stdin=b'{"convoy": "api", "tasks": [{"brief": "One"}, {"brief": "Two"}]}')
    cli.good("add", "Three")
    write(
        cli,
        *attempt("t1", spent(2.0, startup_usd=0.5, startup_tokens=400)),
        *attempt("t2", spent(1.0, "table", startup_usd=0.25), engine="codex"),
        *attempt("t3", spent(None, "unpriced", model="mystery-9", assumed_usd=3.0)),
    )
    return cli


def test_costs_split_start_up_from_work_and_tell_the_cost_of_a_landed_change(seasoned: Cli) -> None:
    said = seasoned.good("costs", "--json").json()
    assert said["rows"][0] == {
        "task": "t1",
        "turns": 1,
        "input_tokens": 900,
        "output_tokens": 100,
        "cost_usd": 2.0,
        "startup_usd": 0.5,
        "work_usd": 1.5,
        "startup_tokens": 400,
        "unpriced_turns": 0,
        "unknown_turns": 0,
        "uncounted_calls": 0,
    }
    assert (said["total"]["cost_usd"], said["total"]["unpriced_turns"]) == (3.0, 1)
    assert (said["landed"], said["per_landed_usd"]) == (0, None)


def test_a_model_without_a_price_is_unpriced_with_a_warning_and_never_nothing(seasoned: Cli) -> None:
    unpriced = seasoned.good("costs", "--json").json()["rows"][2]
    assert (unpriced["cost_usd"], unpriced["work_usd"], unpriced["unpriced_turns"]) == (None, None, 1)
    said = seasoned.good("costs")
    assert "unpriced" in next(line for line in said.out.splitlines() if line.startswith("t3"))
    assert "$0.00" not in next(line for line in said.out.splitlines() if line.startswith("t3"))
    assert ">$3.0000" in next(line for line in said.out.splitlines() if line.startswith("total"))
    assert said.err == 'warning: 1 turn of `mystery-9` without a price: add [prices."mystery-9"] to paddock.toml\n'


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("task", {"t1": 2.0, "t2": 1.0, "t3": None}),
        ("agent", {"claude": 2.0, "codex": 1.0}),
        ("engine", {"claude": 2.0, "codex": 1.0}),
        ("model", {"claude-opus-5": 3.0, "mystery-9": None}),
        ("convoy", {"api": 3.0, "none": None}),
    ],
)
def test_costs_can_be_grouped(seasoned: Cli, by: str, expected: dict[str, float | None]) -> None:
    rows = seasoned.good("costs", "--by", by, "--json").json()["rows"]
    assert {row[by]: row["cost_usd"] for row in rows} == expected


def test_costs_are_those_of_the_day_they_were_recorded_on(seasoned: Cli) -> None:
    day = seasoned.good("log", "--json").lines[-1]["at"][:10]
    rows = seasoned.good("costs", "--by", "day", "--json").json()["rows"]
    assert {row["day"]: row["cost_usd"] for row in rows} == {day: 3.0}


def test_costs_say_where_the_money_went_and_what_was_thrown_away(seasoned: Cli) -> None:
    seasoned.good("add", "Four")
    write(seasoned, *attempt("t4", spent(4.0, startup_usd=1.0), outcome="crashed", then="fail"))
    (seasoned.top / "CLAUDE.md").write_text("Be kind.\n\n" * 100)
    said = seasoned.good("costs", "--by", "engine")
    _, _, told = said.out.partition("\n\n")
    assert told == WHERE_IT_WENT
    figures = seasoned.good("costs", "--json").json()
    split = figures["split"]
    assert (
        sum(split[name] for name in split if name.endswith("_usd") and name != "cost_usd") == split["cost_usd"] == 7.0
    )
    assert [(row["fate"], row["lost_usd"]) for row in figures["thrown_away"]] == [("failed", 4.0)]
    assert figures["unpriced_models"] == [{"model": "mystery-9", "count": 1}]


def test_costs_since_leave_out_what_was_before(seasoned: Cli) -> None:
    said = seasoned.good("costs", "--since", "2h", "--json").json()
    assert (len(said["rows"]), said["split"]["attempts"]) == (3, 3)
    later = seasoned.good("costs", "--since", "2100-01-01T00:00", "--json").json()
    assert (later["rows"], later["split"]["attempts"], later["since"][:4]) == ([], 0, "2100")
    assert "neither a time nor an age" in seasoned("costs", "--since", "soon").err


def test_costs_of_a_label_that_nobody_imported_say_so(seasoned: Cli) -> None:
    refused = seasoned("costs", "--label", "ours")
    assert (refused.code, "paddock traces" in refused.err) == (1, True)
    assert seasoned("costs", "--label", "ours", "--by", "day").code == 2


def test_costs_before_anything_ran_are_nothing(cli: Cli) -> None:
    said = cli.good("costs", "--json").json()
    assert (said["rows"], said["total"]["cost_usd"]) == ([], 0)
    assert cli("costs", "--by", "moon").code == 2


def test_a_budget_shows_what_is_spent_and_reserved(seasoned: Cli) -> None:
    assert seasoned.good("budget", "show").out == "no budgets; `paddock budget set day --usd 20` sets one\n"
    for scope in ("fleet", "day", "convoy:api", "task:T1", "task", "attempt"):
        seasoned.good("budget", "set", scope, "--usd", "20", "--tokens", "1e6")
    seasoned.good("add", "Four")
    start = AttemptStarted("claude", "b" * 40, "paddock/t4", reserved_usd=1.5, reserved_tokens=500.0)
    write(seasoned, Draft(start, TaskId("t4"), AttemptId("t4.1")))
    rows = {row["scope"]: row for row in seasoned.good("budget", "show", "--json").json()["budgets"]}
    assert (rows["fleet"]["spent_usd"], rows["fleet"]["committed_usd"]) == (6.0, 7.5), "unpriced counts as assumed"
    assert (rows["day"]["spent_tokens"], rows["day"]["committed_tokens"]) == (3000, 3500)
    assert (rows["convoy:api"]["spent_usd"], rows["convoy:api"]["committed_usd"]) == (3.0, 3.0)
    assert (rows["task:t1"]["spent_usd"], rows["task:t1"]["committed_usd"]) == (2.0, 2.0)
    assert rows["task"]["spent_usd"] is rows["attempt"]["committed_usd"] is None
    lines = seasoned.good("budget", "show").out.splitlines()
    assert lines[0] == (
        "fleet                $20.00 and 1,000,000 tokens  "
        "$6.0000 and 3,000 tokens spent; $7.5000 and 3,500 tokens including reservations"
    )
    assert lines[-1].split() == ["attempt", "$20.00", "and", "1,000,000", "tokens", "each"]


def test_a_limit_can_be_lifted(cli: Cli) -> None:
    cli.good("budget", "set", "day", "--usd", "1")
    assert cli.good("budget", "set", "day", "--none").out == "day: no limit\n"
    assert cli.good("budget", "show", "--json").json()["budgets"] == []


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("moon", "--usd", "1"), 2, "`moon` is not a scope"),
        (("task:", "--usd", "1"), 2, "`task:` is not a scope"),
        (("fleet:x", "--usd", "1"), 2, "`fleet:x` is not a scope"),
        (("day:2026-01-01", "--usd", "1"), 2, "is not a scope"),
        (("task:seven", "--usd", "1"), 2, "`seven` is not a task id"),
        (("task:t9", "--usd", "1"), 1, "there is no task `t9`"),
        (("attempt:t9", "--usd", "1"), 2, "`t9` is not an attempt"),
        (("attempt:t9.1", "--usd", "1"), 1, "there is no task `t9`"),
        (("convoy:nope", "--usd", "1"), 1, "there is no convoy `nope`"),
        (("fleet",), 2, "no amount was given"),
        (("fleet", "--usd", "1", "--none"), 2, "--none and an amount cannot be used together"),
        (("fleet", "--usd", "0"), 2, "the budget must be above 0, not 0"),
        (("fleet", "--usd", "-3"), 2, "the budget must be above 0, not -3"),
        (("fleet", "--tokens", "nan"), 2, "the budget must be above 0, not nan"),
        (("fleet", "--tokens", "inf"), 2, "the budget must be above 0, not inf"),
        (("fleet", "--usd", "much"), 2, "'much' is not a valid float"),
    ],
)
def test_a_budget_that_means_nothing_is_refused(cli: Cli, arguments: tuple[str, ...], code: int, words: str) -> None:
    said = cli("budget", "set", *arguments)
    assert (said.code, words in said.err) == (code, True), said.err
    assert cli.good("budget", "show", "--json").json()["budgets"] == []


def test_before_a_daemon_ran_only_the_cap_is_known(cli: Cli) -> None:
    assert cli.good("limits").out.startswith("at most 4 agents; nothing else is known")
    said = cli.good("limits", "--json").json()
    assert (said["schema"], said["at"], said["controls"]["accounts"], said["waiting"]) == (1, None, {}, {})


def test_limits_tell_what_each_number_was_made_from(cli: Cli) -> None:
    now = time.time()
    cli.monkeypatch.setattr(time, "time", lambda: now)
    controls = Controls(
        accounts={
            "free": Account(quota=Quota(target=NO_QUOTA)),
            "new": Account(quota=Quota(target=5.0)),
            "shown": Account(quota=Quota(target=50.0, limits={"requests": Limit(200.0, 120.0, now)})),
            "met": Account(quota=Quota(target=4.0, capacity=120.0, rates={"requests": 30.0}, cut_at=now - 90)),
            "shut": Account(clocks=Clocks(auth="who are you?")),
            "told": Account(
                quota=Quota(target=NO_QUOTA),
                windows=Windows(
                    {"5-hour": WindowUse("5-hour", 0.934, now + 3600), "7-day": WindowUse("7-day", 1.0, now - 1)},
                    extra=True,
                ),
            ),
        },
        breakers={"odd": Breaker(2, "no such file"), "gone": Breaker(3, "exit 127", ("t1", "t2", "t3"))},
    )
    host = HostSample(now, 0.5, 3 * 2**30, 40 * 2**30)
    kept = LimitsFile(now, controls, {"t1": "agent cap reached (4/4)"}, host)
    (cli.log.parent / "limits.json").write_bytes(msgspec.json.encode(kept))
    assert cli.good("limits").out.splitlines() == [
        "as of 0s ago; at most 4 agents",
        "account free         no quota",
        "account new          quota allows 16.0 agents; no limit hit so far; starts are not spaced out",
        "account shown        quota allows 50.0 agents; "
        "120 of 200 requests per minute left, 0s ago; starts are spaced out",
        "account met          quota allows 4.0 agents; reduced: calls were refused 1m ago; "
        "120 calls per minute get through; 30.0 calls per minute per agent; starts are spaced out",
        "account shut         quota allows 16.0 agents; no limit hit so far; starts are not spaced out; "
        "paused: credentials refused: who are you?",
        "account told         no quota; 93% of the 5-hour window used, resets in 1h; "
        "calls beyond its windows are billed",
        "engine  odd          2 attempts in a row never ran: no such file",
        "engine  gone         3 attempts in a row never ran: exit 127",
        "engine  gone         stopped; run paddock engines check gone, then paddock limits --reset gone",
        "host    CPU load 0.50 per core, room for 4.0 agents; 3.0 GiB of memory and 40.0 GiB of disk free",
        "queue   0 changes waiting to land (limit 200)",
        "limits  account: shut 0 of 0; engine: gone 0 of 0; account: met 0 of 4; account: new 0 of 16; "
        "account: shown 0 of 50; cap 0 of 4; machine: load 0 of 4; machine: memory 0 of 8; merge queue 0 of 200",
        "t1      waiting: agent cap reached (4/4)",
    ]
    said = cli.good("limits", "--json").json()
    assert said["host"]["free_memory_bytes"] == 3 * 2**30
    shut = next(limit for limit in said["limits"] if limit["on"] == "shut")
    assert (shut["by"], shut["most"], shut["words"]) == ("auth", 0, "credentials refused: who are you?")
    assert shut["run"] == "paddock engines check shut, then paddock limits --reset shut"


def test_a_reset_is_recorded_for_engines_and_accounts_there_are(cli: Cli) -> None:
    with (cli.top / "paddock.toml").open("a") as file:
        file.write('[engines.second]\nlike = "claude"\naccount = "team"\n')
    for name in ("claude", "second", "team"):
        assert cli.good("limits", "--reset", name).out == f"{name}: re-enabled\n"
    said = cli("limits", "--reset", "clade")
    assert (said.code, said.err) == (
        2,
        "error: there is no engine or account `clade`\n\nhint: did you mean `claude`?\n",
    )
    store = SqliteStore(cli.log, read_only=True)
    names = [
        record.event.name
        for record in store.records(Query(kind=LimitsReset.kind))
        if isinstance(record.event, LimitsReset)
    ]
    store.close()
    assert names == ["claude", "second", "team"]

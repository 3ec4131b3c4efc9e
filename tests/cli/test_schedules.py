"""`paddock schedule`: what it refuses, what it says before it saves, and what it shows from then on."""

import re

import pytest

from paddock.core.events import AttemptEnded, AttemptStarted, Draft, TaskAdded, TurnEnded, TurnStarted
from paddock.core.ids import AttemptId, TaskId
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.core.trace import TokenUsage
from paddock.insight.dataset.headers import FLEET
from paddock.insight.dataset.location import dataset_path
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.trace import Trace
from paddock.store.protocol import Author, Query
from paddock.store.sqlite import SqliteStore
from tests.cli.conftest import Cli

TASK = ("--task", "Look around.", "--engine", "claude", "--tz", "UTC")


def spend(cli: Cli, *costs: float, engine: str = "claude") -> None:
    """A task for each, which the schedule `watch` has added and an agent has done."""
    store = SqliteStore(cli.log)
    for cost in costs:
        name = TaskId(f"t{store.board().next_task}")
        attempt = AttemptId(f"{name}.1")
        turn = TurnEnded(
            turn=1, exit=0, cost_usd=cost, cost_source="engine", input_tokens=20_000, cache_read_tokens=300_000,
            output_tokens=4_000, model="claude-opus-5", startup_tokens=40_000, startup_usd=cost / 4,
        )  # fmt: skip
        drafts = [
            Draft(TaskAdded("Look", "Look around.", engine=engine, series="schedule:watch"), name),
            Draft(AttemptStarted(engine, "b" * 40, f"paddock/{name}"), name, attempt),
            Draft(TurnStarted(turn=1), name, attempt),
            Draft(turn, name, attempt),
            Draft(AttemptEnded(Outcome.NOOP, Step.NOOP, counted=False), name, attempt),
        ]
        store.append(lambda _board, drafts=drafts: drafts, Author("daemon"))  # type: ignore[misc]
    store.close()


def show_starts(cli: Cli, tasks: int, *, cached: int) -> None:
    """The transcripts of so many of those tasks: a call each that reads 100k tokens, of which a cache had `cached`."""
    with DatasetWriter.open(dataset_path(cli.log.parent)) as writer:
        for number in range(1, tasks + 1):
            usage = TokenUsage.of_all_input(100_000, 100, cached=cached, written=100_000 - cached)
            told = Trace(
                run=f"t{number}.1", label=FLEET, engine="claude", model="claude-opus-5", usage=usage, model_calls=1,
                startup_tokens=100_000, startup_cached=cached,
            )  # fmt: skip
            writer.add(told)
        writer.commit()


BAD: dict[str, tuple[tuple[str, ...], str, str]] = {
    "nothing": (("@daily",), "the schedule has no work", '--workflow NAME, --plan "goal" or --task "brief"'),
    "two at once": (
        ("@daily", "--task", "a", "--plan", "b"), "--plan and --task cannot be used together", "one schedule for each",
    ),
    "nonsense": (("every tuesday", *TASK), "`every tuesday` is not a cron time", "`0 0 * * 2`"),
    "31 February": (("0 0 31 2 *", *TASK), "`0 0 31 2 *` never happens", "check day, month and weekday"),
    "every second": (("* * * * * *", *TASK), "seconds are not possible", "`* * * * *`"),
    "no such hour": (("0 25 * * *", *TASK), "hour: 25 is not between 0 and 23", "minute hour day month weekday"),
    "no such zone": (
        ("@daily", "--task", "a", "--tz", "Europe/Berlim"), "there is no time zone `Europe/Berlim`", "`Europe/Berlin`",
    ),
    "long jitter": (
        ("0 * * * *", *TASK, "--jitter", "2h"), "the jitter of 2h is longer than the 1h between two", "`--jitter 1h`",
    ),
    "odd jitter": (
        ("0 * * * *", *TASK, "--jitter", "soon"), "--jitter: `soon` is not a duration", "",
    ),
    "no workflow": (("@daily", "--workflow", "nightly"), "there is no workflow `nightly`", "there are code-review"),
    "no value": (("@daily", "--workflow", "feature"), "goal", ""),
    "odd value": (("@daily", "--workflow", "feature", "-v", "goal"), "`-v goal` has no value", "-v name=value"),
    "empty goal": (("@daily", "--plan", " "), "the goal is empty", ""),
    "empty brief": (("@daily", "--task", "", "--engine", "claude"), "the brief is empty", ""),
    "no such agent": (("@daily", "--task", "a", "--agent", "nobody"), "nobody", ""),
    "unused option": (
        ("@daily", "--workflow", "feature", "-v", "goal=x", "--title", "T"), "no effect with --workflow", "steps say",
    ),
    "budget": (("@daily", *TASK, "--budget", "-1"), "the budget must be above 0 dollars", ""),
    "message": (("@daily", *TASK, "-m", "because"), "--message is the reason for --force", ""),
    "name": (("@daily", *TASK, "--name", "../up"), "../up", ""),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_is_refused_with_what_was_meant(cli: Cli, what: str) -> None:
    arguments, words, hint = BAD[what]
    said = cli("schedule", "add", *arguments)
    assert said.code in (1, 2)
    assert words in said.err
    assert hint in said.err
    assert not cli.good("schedule", "list", "--json").json()["schedules"]


def test_a_schedule_without_an_engine_is_told_where_to_name_one(cli: Cli) -> None:
    said = cli("schedule", "add", "@daily", "--task", "Look.", "--tz", "UTC", "--name", "watch")
    assert (said.code, said.err) == (
        1,
        "error: no engine is set for what schedule `watch` adds\n\n"
        "hint: set `engine` in paddock.toml, or name one with `paddock schedule add … --engine NAME`\n",
    )


def test_no_jitter_needs_no_unit(cli: Cli) -> None:
    cli.good("schedule", "add", "@daily", *TASK, "--jitter", "0", "--name", "watch")
    assert cli.good("schedule", "show", "watch", "--json").json()["schedule"]["jitter_seconds"] == 0


ADDED = """\
watch  0 9 * * 1-5: at 09:00 on Monday through Friday (Europe/Berlin)
  a day of 1 run: p50 $N, p90 $N, Nk–Nk tokens
  start-up context $N–$N, work $N–$N (p50–p90 each)
  from
    8 past tasks of this schedule
added schedule watch
--- stderr
no daemon is running, so nothing fires: `paddock up` starts one
"""


def test_the_forecast_is_shown_before_it_is_saved(cli: Cli) -> None:
    spend(cli, 1.0, 2.0, 3.0, 2.0, 1.5, 2.5, 2.0, 4.0)
    task = ("--task", "Look around.", "--engine", "claude", "--name", "watch")
    shown = cli.shown("schedule", "add", "0 9 * * 1-5", *task, "--tz", "Europe/Berlin")
    assert re.sub(r"(?<=\$)[\d.]+|\d+(?=k)", "N", shown) == ADDED


def test_a_dry_run_saves_nothing(cli: Cli) -> None:
    told = cli.good("schedule", "add", "0 * * * *", *TASK, "--dry-run", "--json").json()
    assert told["forecast"]["is_guess"] is True
    assert len(told["forecast"]["days"]) == 7
    assert told["over"] is None
    assert cli.good("schedule", "list").out == 'no schedules; `paddock schedule add "@daily" --task "…"` adds one\n'


def test_a_forecast_above_its_budget_is_refused_with_times_that_fit(cli: Cli) -> None:
    spend(cli, *[1.0, 1.2, 0.8, 1.1, 0.9] * 4)
    dense = ("schedule", "add", "0 * * * *", *TASK, "--name", "watch", "--budget", "8")
    said = cli(*dense)
    assert said.code == 1
    assert (
        "schedule `watch` is not added: its forecast is above the budget: nine out of ten days stay below" in said.err
    )
    assert "merge these 4 runs into 1 with `0 */4 * * *`: −$" in said.err
    assert "is start-up context, saved even if one run then does the work of 4" in said.err
    sparse = ("schedule", "add", "0 */4 * * *", *TASK, "--name", "watch", "--budget", "8")
    assert "added schedule watch" in cli.good(*sparse).out


def test_costs_that_the_scripted_engine_told_are_forecast(cli: Cli) -> None:
    asked = ("schedule", "add", "@daily", "--task", "Look.", "--engine", "scripted", "--dry-run")
    assert "p50 $0.00" in cli.good(*asked).out
    spend(cli, *[0.45] * 20, engine="scripted")
    for name in ("watch", "again"):
        usd = cli.good(*asked, "--name", name, "--json").json()["forecast"]["fullest"]["usd"]
        assert usd["p50"] == pytest.approx(0.45, rel=0.2)


def forecast_of(cli: Cli, cron: str, *more: str) -> dict[str, float]:
    asked = ("schedule", "add", cron, *TASK, "--dry-run", "--json", *more)
    usd: dict[str, float] = cli.good(*asked).json()["forecast"]["fullest"]["usd"]
    return usd


def test_starts_are_as_warm_as_those_before_them_were(cli: Cli) -> None:
    spend(cli, *[0.45] * 20)
    show_starts(cli, 20, cached=0)
    twice, once = (forecast_of(cli, cron, "--name", "watch")["p50"] for cron in ("*/5 * * * *", "*/10 * * * *"))
    assert once == pytest.approx(144 * 0.45, rel=0.1)
    assert twice == pytest.approx(2 * once, rel=0.01)


def test_what_a_name_is_changes_no_figure_and_no_verdict(cli: Cli) -> None:
    spend(cli, *[1.0, 1.2, 0.8, 1.1, 0.9])
    assert forecast_of(cli, "*/5 * * * *", "--name", "a") == forecast_of(cli, "*/5 * * * *", "--name", "b")


@pytest.mark.parametrize("budget", ["5", "8", "13", "21", "34"])
def test_times_that_were_said_to_fit_do_fit(cli: Cli, budget: str) -> None:
    spend(cli, *[1.0, 1.2, 0.8, 1.1, 0.9])
    refused = cli("schedule", "add", "*/10 * * * *", *TASK, "--budget", budget)
    [(offered, p90)] = re.findall(r"into 1 with `(.*?)`: −\S+ a day, p90 (\$[\d.]+);", refused.err)
    added = cli.good("schedule", "add", offered, *TASK, "--budget", budget, "--name", "another")
    assert f"p90 {p90}," in added.out


def test_a_dry_run_tells_what_would_fit(cli: Cli) -> None:
    spend(cli, *[1.0, 1.2, 0.8, 1.1, 0.9] * 4)
    said = cli.good("schedule", "add", "0 * * * *", *TASK, "--name", "watch", "--budget", "8", "--dry-run")
    assert "  to fit: merge these 4 runs into 1 with `0 */4 * * *`: −$" in said.out
    assert "no daemon is running" not in said.err


def test_nothing_fires_without_a_daemon_and_that_is_said(cli: Cli) -> None:
    said = cli.good("schedule", "add", "@daily", *TASK)
    assert "no daemon is running, so nothing fires: `paddock up` starts one" in said.err
    assert "so nothing fires" in cli.good("schedule", "list").err
    assert "~ is a wide guess" in cli.good("schedule", "list").out


def test_it_is_added_all_the_same_when_somebody_insists_and_the_log_says_why(cli: Cli) -> None:
    spend(cli, *[1.0, 1.2, 0.8] * 5)
    dense = ("schedule", "add", "0 * * * *", *TASK, "--name", "watch", "--budget", "5")
    cli.good(*dense, "--force", "-m", "the release needs it")
    shown = cli.good("schedule", "show", "watch", "--json").json()["schedule"]
    assert "above the budget" in shown["forced"]
    assert shown["forced"].endswith(": the release needs it")
    listed = cli.good("schedule", "list")
    assert "above its own budget of $5.00: p90 $" in listed.out
    assert "although its forecast was above the budget" in cli.good("log").out


def test_the_budget_of_the_day_is_for_all_schedules(cli: Cli) -> None:
    spend(cli, *[1.0, 1.2, 0.8] * 5)
    cli.good("budget", "set", "day", "--usd", "40")
    cli.good("schedule", "add", "0 * * * *", *TASK, "--name", "watch")
    said = cli("schedule", "add", "30 * * * *", *TASK, "--name", "again")
    assert said.code == 1
    assert "and the day's, with all schedules together, is $40.00 a day" in said.err
    assert "paddock budget set day" in said.err


def test_schedules_that_leave_no_room_are_named(cli: Cli) -> None:
    spend(cli, *[1.0, 1.2, 0.8] * 5)
    cli.good("schedule", "add", "0 * * * *", *TASK, "--name", "watch")
    cli.good("schedule", "add", "0 9 * * *", *TASK, "--name", "daily")
    cli.good("budget", "set", "day", "--usd", "20")
    said = cli("schedule", "add", "@daily", *TASK, "--name", "again")
    assert said.code == 1
    hint = said.err.partition("hint: ")[2]
    assert re.sub(r"\$[\d.]+\d", "$N", hint) == (
        "other schedules leave no room: their own p90 is $N, and the day's budget is $N (`watch` $N, `daily` $N); "
        "pause one with `paddock schedule pause NAME`, raise the budget with `paddock budget set day`, or add it all "
        "the same with --force\n"
    )
    cli.good("schedule", "pause", "watch")
    cli.good("schedule", "add", "@daily", *TASK, "--name", "again")


def test_it_is_listed_paused_resumed_and_removed(cli: Cli) -> None:
    cli.good("schedule", "add", "@daily", *TASK, "--name", "watch")
    cli.good("schedule", "add", "0 3 * * *", "--plan", "Find work.", "--tz", "UTC", "--engine", "scripted")
    names = [one["name"] for one in cli.good("schedule", "list", "--json").json()["schedules"]]
    assert names == ["watch", "find-work"]
    cli.good("schedule", "pause", "watch", "-m", "holidays")
    paused = cli.good("schedule", "list", "--json").json()["schedules"][0]
    assert (paused["paused"], paused["next"], paused["forecast"]) == ("holidays", None, None)
    assert "paused: holidays" in cli.good("schedule", "list").out
    assert cli("schedule", "pause", "watch").code == 1
    cli.good("schedule", "resume", "watch")
    assert cli.good("schedule", "list", "--json").json()["schedules"][0]["next"].endswith("T00:00:00.000Z")
    cli.good("schedule", "remove", "watch")
    said = cli("schedule", "show", "watch")
    assert "there is no schedule `watch`" in said.err
    assert "find-work" in said.err


def test_every_day_ahead_is_told(cli: Cli) -> None:
    spend(cli, 1.0, 2.0, 3.0)
    cli.good("schedule", "add", "0 9 * * 1-5", *TASK, "--name", "watch")
    told = cli.good("schedule", "forecast", "--days", "14", "--json").json()
    assert len(told["total"]) == 14
    assert sum(day["due"] for day in told["total"]) == 10
    [one] = told["schedules"]
    assert [day["due"] for day in one["forecast"]["days"]] == [day["due"] for day in told["total"]]
    assert cli.good("schedule", "forecast", "watch").out.count("\n2") == 7
    assert "rests on\n    3 past tasks of this schedule" in cli.good("schedule", "forecast").out
    assert "0 days is not between 1 and 366" in cli("schedule", "forecast", "--days", "0").err


def test_running_it_now_adds_its_tasks(cli: Cli) -> None:
    cli.good("schedule", "add", "@daily", *TASK, "--name", "watch")
    assert cli.shown("schedule", "run", "watch") == "added t1  Look around.\n"
    store = SqliteStore(cli.log, read_only=True)
    [added] = [record.event for record in store.records(Query(kind="task.added"))]
    store.close()
    assert isinstance(added, TaskAdded)
    assert (added.series, added.labels) == ("schedule:watch", ("schedule:watch",))
    row = cli.good("schedule", "list", "--json").json()["schedules"][0]
    assert (row["behind"], row["last"]["tasks"]) == ("t1", ["t1"])
    assert "left out as long as t1 is unfinished" in cli.good("schedule", "list").out


def test_text_from_the_log_cannot_write_to_the_terminal(cli: Cli) -> None:
    cli.good(
        "schedule", "add", "@daily", "--task", "Look\x1b[31m red", "--tz", "UTC", "--engine", "claude", "--name", "x"
    )
    for command in (("list",), ("show", "x"), ("forecast",)):
        assert "\x1b" not in cli.good("schedule", *command).out


def test_a_command_that_is_not_there_is_told_with_the_nearest(cli: Cli) -> None:
    said = cli("schedule", "pasue", "x")
    assert (said.code, said.err) == (
        2, "error: there is no command `paddock schedule pasue`\n\nhint: did you mean `paddock schedule pause`?\n",
    )  # fmt: skip
    assert "hint: `paddock failures --help` lists its commands" in cli("failures", "xyz").err

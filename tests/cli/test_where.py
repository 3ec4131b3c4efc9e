"""`--where` means the same for every command that names tasks."""

import pytest

from paddock.cli import selection
from paddock.core.filter.fields import FIELDS
from tests.cli.conftest import Cli
from tests.cli.test_overview import deliver


@pytest.fixture
def many(cli: Cli) -> Cli:
    """t1 to t3 in a convoy, of which t2 waits for approval; t4 and t5 in none; t5 is cancelled."""
    cli.good("add", "--file", "-", "--convoy", "parser", stdin=b"- lex\n- parse\n- print\n")
    cli.good("add", "four", "--label", "area/web", "--priority", "7")
    cli.good("add", "five")
    deliver(cli, "t2", cost=2.5)
    cli.good("cancel", "t5")
    return cli


def ids(cli: Cli, *words: str) -> list[str]:
    return [row["id"] for row in cli.good("status", "--json", *words).json()["tasks"]]


def test_status_shows_what_matches_whatever_its_phase(many: Cli) -> None:
    assert ids(many, "--where", "convoy=parser -phase=approval") == ["t1", "t3"]
    assert ids(many, "--where", "t2-t9 and not label=area/*") == ["t2", "t3", "t5"]
    assert ids(many, "--convoy", "parser", "--where", "par*r") == ["t1", "t2", "t3"]
    assert many.good("status", "--json", "--where", "phase=ready").json()["needs_you"]["tasks"] == []
    shown = many.shown("status", "--where", "t4-t5").splitlines()
    assert shown[:3] == ["2 tasks match: 1 ready, 1 cancelled", "", "tasks"]
    assert [line.split()[1:4] for line in shown[3:]] == [["ready", "t4", "four"], ["cancelled", "t5", "five"]]
    assert many.shown("status", "--where", "need=approve").startswith(
        "1 task matches: 1 approval; 1 needs you\n\nneeds"
    )
    assert many.shown("status", "--where", "engine=nobody") == "no task matches\n"


def test_the_log_tells_of_what_matches(many: Cli) -> None:
    told = many.good("log", "--json", "--where", "priority>5 or t5", "--kind", "task.*").lines
    assert [(line["task"], line["kind"]) for line in told] == [
        ("t4", "task.added"),
        ("t5", "task.added"),
        ("t5", "task.cancelled"),
    ]
    assert many.good("log", "--where", "t5", "-n", "1").out.count("\n") == 1
    assert many.good("log", "--where", "engine=nobody").out == ""


def test_other_readers_take_it_too(many: Cli) -> None:
    rows = many.good("costs", "--json", "--where", "need=approve").json()
    assert ([row["task"] for row in rows["rows"]], rows["total"]["cost_usd"]) == (["t2"], 2.5)
    assert many.good("costs", "--json", "--where", "phase=ready").json()["rows"] == []
    found = many.good("results", "--json", "--where", "convoy=parser -t2").json()["results"]
    assert [one["task"] for one in found] == ["t1", "t3"]
    assert [one["task"] for one in many.good("results", "--json", "t3-t4").json()["results"]] == ["t3", "t4"]
    assert many("results").err.startswith("error: no task was named")
    assert many.good("findings", "--where", "phase=ready").out == "no open findings\n"


def test_what_a_task_waits_for_can_be_a_range(many: Cli) -> None:
    many.good("add", "six", "--after", "t1-t2,t4")
    many.good("edit", "t6", "--after", "t3-t4")
    assert many.good("show", "t6", "--json").json()["after"] == ["t3", "t4"]
    assert ids(many, "--where", "after=t1-t4") == ["t6"]


def test_the_help_names_every_field() -> None:
    assert selection.FIELDS.split(", ") == list(FIELDS)


def test_requests_apply_to_what_matches_and_qualifies(many: Cli) -> None:
    assert many.shown("land", "--where", "id=t1-t9", "--dry-run") == "would land 1 task:\n  t2    approval  parse\n"
    assert many.shown("retry", "--where", "t1-t3") == "no task to retry: 3 tasks match, but none of them qualifies\n"
    assert many.shown("stop", "--where", "nothing", "--yes") == "no task to stop\n"
    assert many.shown("cancel", "--where", "convoy=parser phase=ready", stdin=b"") == (
        "--- stderr\nerror: this would cancel 2 tasks\n\n"
        "hint: add --yes to confirm, or preview it with --dry-run\n[exit 2]\n"
    )
    assert many.shown("cancel", "--where", "convoy=parser phase=ready", "--yes") == "cancelled t1, t3\n"
    assert many.good("approve", "--where", "cost>$2", "--dry-run", "--json").json()["ids"] == ["t2"]
    assert "for t2" in many.good("message", "--where", "outcome=delivered", "go on").out
    assert many.shown("approve", "--where", "t2") == "no task to approve: t2 matches, but does not qualify\n"


READERS = ("status", "log", "costs", "results", "findings", "wait", "resurrect")


@pytest.mark.parametrize("command", [*READERS, "land", "approve", "retry", "cancel", "stop", "message hello"])
def test_a_mistake_is_shown_with_a_caret_by_every_command(cli: Cli, command: str) -> None:
    assert cli.shown(*command.split(), "--where", "agent=fixer and phase=bloked") == (
        "--- stderr\n"
        "error: there is no phase `bloked`\n"
        "\n"
        "    agent=fixer and phase=bloked\n"
        "                          ^^^^^^\n"
        "\n"
        "hint: did you mean `blocked`? phase is one of waiting, ready, running, reviewing, approval, queued, landed, "
        "blocked, failed, cancelled, noop, done\n"
        "[exit 2]\n"
    )


def test_a_filter_that_says_nothing_is_refused(many: Cli) -> None:
    """`--where "$FILTER"` with no such variable must not mean every task."""
    said = many("cancel", "--yes", "--where", " ")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: the filter is empty\n")
    assert many("cancel", "t1", "--where", "t2").err.startswith("error: task names cannot be combined with")
    assert many("message", "t1", "hello", "--where", "t2").code == 2
    assert many("status", "--watch", "--where", "t2").code == 2


def test_a_filter_is_harmless_to_the_terminal_it_is_shown_on(cli: Cli) -> None:
    said = cli("status", "--where", "\x1b[2J\nphase=\x1b]0;x\x07")
    assert "\x1b" not in said.err
    assert "    phase=�]0;x�\n          ^^^^^^\n" in said.err

"""`paddock wait` in scripts: what it prints, and what its exit status says."""

import pytest

from tests.cli.conftest import Cli
from tests.cli.test_contracts import deliver


@pytest.fixture
def tasks(cli: Cli) -> Cli:
    for brief in ("Fix the parser", "Fix the lexer"):
        cli.good("add", brief)
    cli.good("cancel", "t1")
    return cli


def test_what_has_ended_elsewhere_is_status_1(tasks: Cli) -> None:
    said = tasks("wait", "t1")
    assert said.code == 1
    assert said.out == "t1    cancelled Fix the parser\n"
    assert tasks("wait", "t1", "--until", "cancelled,landed").code == 0
    shown = tasks("wait", "t1", "--json")
    assert shown.code == 1
    told = shown.json()
    [row] = told["tasks"]
    assert (told["status"], row["id"], row["phase"], row["standing"]) == ("elsewhere", "t1", "cancelled", "elsewhere")


def test_where_nothing_can_move_it_says_so_at_once_and_with_a_timeout_waits(tasks: Cli) -> None:
    assert tasks.shown("wait", "t2", "--until", "landed") == (
        "--- stderr\n"
        "error: no daemon is running, and 1 task cannot move without one\n\n"
        "hint: `paddock up` starts one; with --timeout this command waits for it\n"
        "[exit 1]\n"
    )
    assert tasks.shown("wait", "t2", "--timeout", "10ms") == (
        "t2    ready     Fix the lexer\n"
        "--- stderr\n"
        "warning: no daemon is running, and 1 task cannot move without one: `paddock up` starts one\n"
        "warning: the time ran out: 1 task still under way\n"
        "[exit 124]\n"
    )
    assert tasks("wait", "t1", "t2", "--any", "--until", "cancelled").code == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "say what to wait for"),
        (("t1", "--convoy", "c"), "say what to wait for"),
        (("t1", "--until", "dead"), "there is no phase `dead`"),
        (("t1", "--timeout", "soon"), "soon"),
        (("--where", "phase=nowhere"), "nowhere"),
    ],
)
def test_wrong_arguments_are_status_2(tasks: Cli, words: tuple[str, ...], why: str) -> None:
    said = tasks("wait", *words)
    assert said.code == 2
    assert why in said.err


def test_a_filter_and_a_convoy_say_which(tasks: Cli) -> None:
    assert tasks("wait", "--where", "phase=cancelled").out == "t1    cancelled Fix the parser\n"
    assert "nothing to wait for" in tasks("wait", "--where", "phase=landed").err
    assert tasks("wait", "--convoy", "none").code == 1
    assert tasks("wait", "t9").code == 1


def test_a_task_behind_one_that_needs_a_person_is_not_waited_for(cli: Cli) -> None:
    cli.good("add", "Rewrite the lexer")
    cli.good("add", "Use it", "--after", "t1")
    cli.good("add", "Use it twice", "--after", "t2")
    deliver(cli.log)
    assert cli.shown("wait", "t1", "t3", "--timeout", "1m") == (
        "t1    approval  Rewrite the lexer\n"
        "t3    waiting   Use it twice  after t2: that waits for a person, see `paddock status`\n"
        "[exit 1]\n"
    )
    assert cli("wait", "t3", "--until", "landed", "--timeout", "10ms").code == 124
    assert cli("wait", "t1", "t3", "--any").code == 0

"""What `paddock queue` and its commands print, whole, and how they end. The daemon runs in this process."""

import os
import re
from textwrap import dedent

import pytest

from tests.cli.conftest import Cli, git, mask

CONFIGURATION = """\
[worktrees]
pool = 0
disk_floor_mb = 0
[land]
ci = "if [ -e bad ]; then echo it is bad; exit 3; fi"
slots = 2
"""


def expect(text: str) -> str:
    return dedent(text).lstrip("\n")


@pytest.fixture
def cli(fresh: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    # A CI run needs the plain tools of the system.
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/usr/bin:/bin")
    (fresh.top / "paddock.toml").write_text(CONFIGURATION)
    fresh.good("init", "--yes")
    for name in ("good", "bad", "later"):
        make_branch(fresh, name)
    return fresh


def make_branch(cli: Cli, name: str) -> None:
    """One new file of that name, on a branch of that name."""
    git(cli.top, "switch", "--quiet", "-c", name, "main")
    (cli.top / name).write_text(f"{name}\n")
    git(cli.top, "add", name)
    git(cli.top, "commit", "--quiet", "-m", f"Add {name}")
    git(cli.top, "switch", "--quiet", "main")


def steady(text: str) -> str:
    """Ages and shortened hashes vary."""
    text = re.sub(r"\b[0-9a-f]{10}\b", "ABBREVIATED", text)
    return re.sub(r"\b\d+s\b", "AGE", text)


def shown(cli: Cli, *words: str) -> str:
    return steady(cli.shown(*words))


def ids(cli: Cli) -> dict[str, str]:
    return {entry["branch"]: entry["id"] for entry in cli.good("queue", "--json").json()["next"]}


def test_an_empty_queue_says_how_to_fill_it(cli: Cli) -> None:
    assert shown(cli, "queue") == expect("""
        main not seen yet; queue open

        nothing is queued; `paddock land t3` queues a task's change
    """)
    assert cli.good("queue", "--json").json() == {
        "schema": 1,
        "main": None,
        "verified": False,
        "state": "open",
        "reason": "",
        "halted": None,
        "running": [],
        "next": [],
        "decided": [],
        "typical_seconds": None,
        "unreachable": None,
        "behind": [],
        "undone": [],
        "locks": [],
        "ci": {"flake_share": 0.01, "failures_to_reject": 2, "checks": [], "collisions": None},
    }


def test_queued_changes_are_listed_in_the_order_they_go(cli: Cli) -> None:
    assert shown(cli, "land", "--branch", "good", "--branch", "later") == expect("""
        queued good at ABBREVIATED  Add good
        queued later at ABBREVIATED  Add later

        no daemon is running: `paddock up` or `paddock run` tests and lands what is queued
    """)
    assert shown(cli, "queue") == expect("""
        main not seen yet; queue open

        queued
          good       Add good                                            waits for a slot · AGE
          later      Add later                                           waits for a slot · AGE

        no daemon is running: `paddock up` or `paddock run` tests and lands what is queued
    """)
    assert shown(cli, "queue", "move", ids(cli)["later"], "--front") == "moved later\n"
    assert list(ids(cli)) == ["later", "good"]
    cli.good("queue", "move", ids(cli)["later"], "--priority", "-1")
    assert list(ids(cli)) == ["good", "later"]
    entry = cli.good("queue", "--json").json()["next"][1]
    assert {key: entry[key] for key in ("title", "version", "priority", "state", "waits_on", "eta_seconds")} == {
        "title": "Add later",
        "version": 1,
        "priority": -1,
        "state": "waits for a slot",
        "waits_on": [],
        "eta_seconds": None,
    }


def test_what_landed_and_what_was_rejected_is_told_with_the_reason(cli: Cli) -> None:
    cli.good("land", "--branch", "good", "--branch", "bad")
    cli.good("run", "--until-idle")
    assert re.sub(r"\br\d+\b", "RUN", shown(cli, "queue")) == expect("""
        main ABBREVIATED, verified; queue open

        recent
          good       landed     Add good                 ABBREVIATED  AGE ago
          bad        rejected   Add bad                  CI fails with this change: RUN fail, RUN fail  AGE ago

        nothing is queued; `paddock land t3` queues a task's change
    """)
    told = cli.good("queue", "--json").json()
    assert [(old["outcome"], bool(old["commit"]), len(old["runs"])) for old in told["decided"]] == [
        ("landed", True, 1),
        ("rejected", False, 2),
    ]
    assert told["verified"] is True
    assert told["behind"] == []
    assert (cli.top / "good").read_text() == "good\n"


def test_why_shows_every_run_and_the_end_of_the_last_failure(cli: Cli) -> None:
    cli.good("land", "--branch", "bad")
    change = ids(cli)["bad"]
    cli.good("run", "--until-idle")
    told = shown(cli, "queue", "why", change).replace("tree ABBREVIATED", "tree TREE").replace("HOST :", "HOST:")
    assert told == expect("""
        TIME  queued bad version 1 at ABBREVIATED by ana@HOST: Add bad
        TIME  train r2 of bad began on ABBREVIATED, tree TREE
        TIME  CI run r2: fail: `ci` failed with exit 3
        TIME  confirm r3 of bad began on ABBREVIATED, tree TREE
        TIME  CI run r3: fail: `ci` failed with exit 3
        TIME  rejected bad: CI fails with this change: r2 fail, r3 fail, on the evidence of r2, r3

        the end of run r3 (2 failed runs; logs in TOP/.git/paddock/runs/LOG/r3):
          it is bad

        next: fix it, then `paddock land --branch bad`; to test it again unchanged, run `paddock retry bad`
    """)
    events = cli.good("queue", "why", change, "--json").json()["events"]
    assert [event["run"] for event in events] == [None, "r2", "r2", "r3", "r3", None]


@pytest.mark.parametrize(
    ("switch", "back", "state", "words"),
    [
        ("freeze", "unfreeze", "frozen", "nothing lands until `paddock queue unfreeze`"),
        ("pause", "resume", "paused", "no run starts until `paddock queue resume`"),
        ("drain", "resume", "draining", "later changes wait until `paddock queue resume`"),
    ],
)
def test_switches_say_what_they_do_and_how_to_undo_it(cli: Cli, switch: str, back: str, state: str, words: str) -> None:
    assert cli.good("queue", switch).out == f"{state}: {words}\n"
    assert words in cli.good("queue").out
    assert cli.good("queue", "--json").json()["state"] == state
    assert cli.good("queue", back).code == 0
    assert cli.good("queue", "--json").json()["state"] == "open"


def test_why_the_queue_was_frozen_is_shown_to_everybody(cli: Cli) -> None:
    cli.good("queue", "freeze", "-m", "release day")
    assert "frozen by ana@HOST : release day\n" in mask(cli.good("queue").out, cli.top)
    assert cli.good("queue", "--json").json()["reason"].endswith(": release day")


def test_frozen_tests_but_does_not_land_and_paused_does_not_even_test(cli: Cli) -> None:
    cli.good("land", "--branch", "good")
    cli.good("queue", "pause")
    cli.good("run", "--until-idle")
    assert not (cli.top / ".git" / "paddock" / "runs").exists()

    cli.good("queue", "freeze")
    cli.good("queue", "resume")
    main = git(cli.top, "rev-parse", "main")
    cli.good("run", "--until-idle")
    assert git(cli.top, "rev-parse", "main") == main
    assert cli.good("queue", "--json").json()["next"][0]["state"] == "passed, lands when the queue is unfrozen"

    cli.good("queue", "unfreeze")
    cli.good("run", "--until-idle")
    assert git(cli.top, "show", "main:good") == "good"


def test_draining_finishes_what_is_queued_and_leaves_what_comes_later(cli: Cli) -> None:
    cli.good("land", "--branch", "good")
    cli.good("queue", "drain")
    cli.good("land", "--branch", "later")
    cli.good("run", "--until-idle")
    told = cli.good("queue", "--json").json()
    assert [old["outcome"] for old in told["decided"]] == ["landed"]
    assert [entry["id"] for entry in told["next"]] == ["later"]
    cli.good("queue", "resume")
    cli.good("run", "--until-idle")
    assert not cli.good("queue", "--json").json()["next"]


def test_a_branch_that_was_queued_by_name_is_known_by_that_name(cli: Cli) -> None:
    cli.good("land", "--branch", "good")
    assert shown(cli, "queue", "move", "good", "--front") == "moved good\n"
    assert shown(cli, "queue", "cancel", "good") == "removed good from the queue\n"
    assert "`paddock land --branch good` queues it again" in cli.good("queue", "why", "good").out
    cli.good("retry", "good", "-m", "the outage is over")
    queued = r"queued good version \d+ at \w+ by ana@\S+: Add good \(the outage is over\)"
    assert re.search(queued, cli.good("queue", "why", "good").out)
    assert re.search(queued, cli.good("log").out)


def test_a_name_that_looks_like_a_task_gets_an_id_of_its_own_and_is_found_by_its_name(cli: Cli) -> None:
    for name in ("t9", "r9", "Über/öl"):
        git(cli.top, "branch", name, "good")
        cli.good("land", "--branch", name)
    found = ids(cli)
    assert re.fullmatch(r"t9-[0-9a-f]{8}", found["t9"])
    assert re.fullmatch(r"r9-[0-9a-f]{8}", found["r9"])
    assert re.fullmatch(r"ber-l-[0-9a-f]{8}", found["Über/öl"])
    assert cli.good("queue", "cancel", "Über/öl").out == f"removed {found['Über/öl']} from the queue\n"


def test_a_long_list_is_cut_and_says_how_to_see_it_all(cli: Cli) -> None:
    names = [f"many/{number}" for number in range(33)]
    for name in names:
        git(cli.top, "branch", name, "good")
    cli.good("land", *(word for name in names for word in ("--branch", name)))
    listed = cli.good("queue").out
    assert "  and 3 more; `paddock queue --all` lists them\n" in listed
    assert listed.count("many/") - listed.count("waits for many/") >= 30
    everything = cli.good("queue", "--all").out
    assert "more;" not in everything
    assert all(f"  {name} " in everything for name in names)
    assert len(cli.good("queue", "--json").json()["next"]) == 33


def test_a_cancelled_change_leaves_the_queue_and_may_come_back(cli: Cli) -> None:
    cli.good("land", "--branch", "good")
    change = ids(cli)["good"]
    assert shown(cli, "queue", "cancel", change, "-m", "not today") == "removed good from the queue\n"
    assert "removed good from the queue: not today" in cli.good("queue", "why", change).out
    assert not ids(cli)
    cli.good("land", "--branch", "good")
    cli.good("run", "--until-idle")
    assert [old["outcome"] for old in cli.good("queue", "--json").json()["decided"]] == ["cancelled", "landed"]


@pytest.mark.parametrize("command", [("cancel",), ("move",), ("why",)])
def test_a_change_nobody_queued_is_refused_with_what_there_is(cli: Cli, command: tuple[str, ...]) -> None:
    said = cli("queue", *command, "t9")
    assert said.code == 1
    assert not said.out
    assert "`t9`" in said.err
    assert "hint:" in said.err

"""`paddock group`: what it shows of repositories that share accounts, and what it says where there is none."""

import os
import time
from pathlib import Path

from paddock.core.admission.clocks import Clocks
from paddock.core.group.entry import AccountUse, Entry
from paddock.core.group.notes import AccountNote
from paddock.core.money.budget import Cost
from paddock.core.money.spending import day_of
from paddock.fleet.group.protocol import GroupChange
from paddock.fleet.group.sqlite import SqliteGroup
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.sessions.host import this_host
from tests.cli.conftest import Cli

LIMITS = "agents = 6\nday_usd = 20\nday_tokens = 5e6\n[accounts.claude]\nagents = 4\n"


def team(cli: Cli, limits: str = LIMITS) -> SqliteGroup:
    """This repository has joined; it and another one have told something, one of them on another machine."""
    with (cli.top / "paddock.toml").open("a") as file:
        file.write('\n[group]\nname = "team"\n')
    home, now, host = Path(os.environ["HOME"]), time.time(), this_host()
    if limits:
        (folder := home / ".config/paddock/groups").mkdir(parents=True)
        (folder / "team.toml").write_text(limits)
    book = SqliteGroup(home / ".local/state/paddock/groups/team.db")
    at, until, day = now - 4, now + 3600, day_of(now)
    own = Entry(
        Workspace(discover(cli.top)).marker, "repo", str(cli.top), host.name, host.id, 1,
        accounts={"claude": AccountUse(1, 0, Cost(0.5, 1e5), Cost(1.25, 3e5))}, at=at, until=until, day=day,
    )  # fmt: skip
    far = Entry(
        "log-far",
        "web",
        "/src/web",
        "build-7",
        "id-7",
        1,
        accounts={"claude": AccountUse(2, 3, Cost(1.0, 1e5))},
        at=at,
        until=until,
        day=day,
    )
    note = AccountNote(Clocks(auth="no key"), by="web")
    book.change(lambda _: GroupChange({own.member: own, far.member: far}, {"claude": note}))
    return book


SHOWN = """\
group team: 2 repositories, 3 agents at work, $2.75 spent or reserved today
  group: team            1 of 6
  group: claude          3 of 4
  group day: team        $2.75 of $20.00
  group day: team        500,000 of 5,000,000

* repo                   1 agent, $1.75 today
                         TOP, told 4s ago
  web                    2 agents, 3 waiting, $1.00 today
                         /src/web on build-7, told 4s ago
account claude is paused: credentials refused: no key (told by web); once it works again: paddock limits --reset \
claude
"""


def test_it_shows_every_repository_every_limit_and_what_pauses_accounts(cli: Cli) -> None:
    team(cli)
    assert cli.shown("group", "show") == SHOWN
    assert cli.shown("group", "show", "team") == SHOWN


def test_as_json(cli: Cli) -> None:
    team(cli)
    shown = cli.good("group", "show", "--json").json()
    assert list(shown) == ["schema", "group", "file", "told_in", "trouble", "hint", "repositories", "limits", "pauses"]
    own, far = shown["repositories"]
    assert {key: own[key] for key in ("name", "is_own", "is_here", "agents", "waiting", "tokens")} == {
        "name": "repo", "is_own": True, "is_here": True, "agents": 1, "waiting": 0, "tokens": 400_000,
    }  # fmt: skip
    assert (far["is_own"], far["is_here"], far["host"], far["reserved_usd"]) == (False, False, "build-7", 1.0)
    assert far["accounts"] == [
        {"account": "claude", "agents": 2, "waiting": 3, "spent_usd": 0.0, "reserved_usd": 1.0, "tokens": 100_000.0}
    ]
    assert [(one["by"], one["on"], one["used"], one["most"]) for one in shown["limits"]] == [
        ("group", "team", 1, 6), ("group", "claude", 3, 4),
        ("group_budget", "team", 2.75, 20.0), ("group_budget", "team", 500_000, 5_000_000),
    ]  # fmt: skip
    assert shown["pauses"][0]["run"] == "paddock limits --reset claude"


def test_budgets_of_the_group_are_shown_with_the_repositorys_own(cli: Cli) -> None:
    team(cli)
    words = "spent or reserved today in all of its repositories"
    assert cli.shown("budget", "show") == (
        f"group day: team      $2.75 of $20.00; {words}\ngroup day: team      500,000 of 5,000,000 tokens; {words}\n"
    )


def test_the_doctor_looks_at_the_group(cli: Cli) -> None:
    book = team(cli)
    assert "ok       group        team: repo, web; 3 agents at work\n" in cli("doctor").out
    book.path.write_bytes(b"damaged" * 1000)
    said = cli("doctor").out
    assert f"problem  group        `team` cannot be reached: `{book.path}` is damaged" in said
    assert f"fix: move it away (`mv '{book.path}' '{book.path}.bad'`)" in said
    refused = cli("group", "show")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("error: group `team` cannot be reached: ")
    assert cli.good("group", "show", "--json").json()["trouble"].endswith("is damaged: file is not a database")


def test_a_group_without_a_file_says_where_its_limits_would_be(cli: Cli) -> None:
    team(cli, "")
    lines = cli.shown("group", "show").splitlines()
    assert lines[1] == f"  no limits: they would be in {os.environ['HOME']}/.config/paddock/groups/team.toml"


def test_where_there_is_no_group_it_says_how_to_join_one(cli: Cli) -> None:
    join = 'set `name = "NAME"` under [group] in paddock.toml, the same in each repository'
    for words in (("show",), ("forget", "web")):
        assert cli.shown("group", *words) == (
            f"--- stderr\nerror: this repository is in no group\n\nhint: to join one, {join}\n[exit 1]\n"
        )
    assert cli.shown("group", "show", "nope") == (
        f"--- stderr\nerror: there is no group `nope`\n\nhint: to make one, {join}\n[exit 1]\n"
    )
    team(cli)
    assert "hint: known here: `team`" in cli("group", "show", "nope").err


def test_one_is_forgotten_by_its_name_or_its_path(cli: Cli) -> None:
    book = team(cli)
    fresh = cli("group", "forget", "web")
    assert fresh.code == 1
    assert "told something 4 s ago: its daemon is running on build-7" in fresh.err
    assert cli.shown("group", "forget", "cobol") == (
        "--- stderr\nerror: group `team` has no repository `cobol`\n\nhint: it has: `repo`, `web`\n[exit 1]\n"
    )
    entries = book.look().entries
    old = {
        "log-far": _older(entries["log-far"], "/src/web"),
        "log-two": _older(entries["log-far"], "/old/web", "log-two"),
    }
    book.change(lambda _: GroupChange(old))
    twice = cli("group", "forget", "web").err
    assert "`web` is the name of 2 repositories: `/src/web` on build-7, `/old/web` on build-7" in twice
    assert cli.good("group", "forget", "/old/web/").out == (
        "group `team` has forgotten `/old/web`, of which 2 agents may have been at work\n"
    )
    assert cli.good("group", "forget", "web", "--json").json() == {
        "schema": 1, "group": "team", "forgotten": "/src/web", "agents": 2,
    }  # fmt: skip
    assert [entry.name for entry in book.look().entries.values()] == ["repo"]


def _older(entry: Entry, place: str, member: str = "log-far") -> Entry:
    from msgspec.structs import replace

    return replace(entry, member=member, place=place, at=entry.at - 3600)

"""Repositories that draw on the same account: real daemons, scripted agents, one group file."""

import itertools
import json
import os
import signal
from pathlib import Path

import apsw
import pytest

from paddock.core.events import AttemptEnded, AttemptStarted
from paddock.core.group.entry import Entry
from paddock.core.tasks.task import Phase
from paddock.fleet.group.sqlite import SqliteGroup
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard, commit, play, write
from tests.store.postgres_session import server_of_session

LIMIT = 3


def join(make_yard: MakeYard, name: str, **settings: str) -> Yard:
    return make_yard(name, PADDOCK_GROUP_NAME="team", PADDOCK_LIMITS_MAX_AGENTS="8", **settings)


def limit(yard: Yard, text: str) -> None:
    file = Path(yard.env["HOME"], ".config/paddock/groups/team.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def book(yard: Yard) -> SqliteGroup:
    return SqliteGroup(Path(yard.env["HOME"], ".local/state/paddock/groups/team.db"))


def entry_of(yard: Yard) -> Entry | None:
    return book(yard).look().entries.get(yard.marker)


def give(yard: Yard, count: int, *steps: dict[str, object]) -> None:
    yard.add_all([{"brief": play(*steps, write(f"f{number}.txt"), commit())} for number in range(count)])


def used_of_group(yard: Yard) -> float:
    """As `paddock limits` tells it: by what the daemon saw of the group last."""
    limits = json.loads(yard.paddock("limits", "--json"))["limits"]
    [used] = [one["used"] for one in limits if one["by"] == "group"]
    return float(used)


def most_at_once(*yards: Yard) -> int:
    """By what the logs say: a start counts before an end of the same moment."""
    moments: list[tuple[float, int]] = []
    for yard in yards:
        moments += [(record.at, 1) for record in yard.records(AttemptStarted)]
        moments += [(record.at, -1) for record in yard.records(AttemptEnded)]
    return max(itertools.accumulate(step for _, step in sorted(moments, key=lambda one: (one[0], -one[1]))))


def delivered(yard: Yard) -> int:
    return yard.board().counts.get(Phase.APPROVAL, 0)


def test_two_daemons_never_run_more_than_an_account_bears_and_both_get_on(make_yard: MakeYard) -> None:
    api, web = join(make_yard, "api"), join(make_yard, "web")
    limit(api, f"[accounts.scripted]\nagents = {LIMIT}\n")
    give(api, 6, {"think": 0.3})
    give(web, 6, {"think": 0.3})
    daemons = [yard.start("run", "--until-idle") for yard in (api, web)]
    api.await_that(lambda: delivered(api) and delivered(web), "both")
    assert [daemon.wait() for daemon in daemons] == [0, 0]
    assert delivered(api) == delivered(web) == 6
    assert most_at_once(api, web) == LIMIT
    firsts = [yard.records(AttemptEnded)[0].at for yard in (api, web)]
    lasts = [yard.records(AttemptEnded)[-1].at for yard in (api, web)]
    assert max(firsts) < min(lasts), "one repository had the account to itself first"


def test_a_killed_daemons_agents_count_until_its_successor_tells_otherwise(make_yard: MakeYard) -> None:
    api, web = join(make_yard, "api"), join(make_yard, "web")
    limit(api, f"[accounts.scripted]\nagents = {LIMIT}\n")
    go = api.folder / "go"
    give(api, LIMIT, {"wait_for": str(go)})
    doomed = api.start("run")
    api.await_board(lambda board: len(board.live) == LIMIT, "three at work")
    api.await_that(lambda: (entry := entry_of(api)) and entry.running == LIMIT, "the entry")
    doomed.send(signal.SIGKILL)
    assert doomed.wait() == -signal.SIGKILL

    give(web, 2)
    daemon = web.start("run", "--until-idle")
    reason = web.await_that(lambda: "here" in (words := web.row("t1")["reason"]) and words, "the reason")
    assert reason == "account scripted: 0 agents here and 3 in `api`, group `team` allows 3"
    assert not web.records(AttemptStarted)

    go.touch()
    successor = api.start("run", "--until-idle")
    assert daemon.wait() == 0
    assert successor.wait() == 0
    assert delivered(web) == 2
    assert most_at_once(api, web) == LIMIT
    last = entry_of(api)
    assert last is not None
    assert last.running == 0


@pytest.fixture
def locked(make_yard: MakeYard) -> Yard:
    yard = join(make_yard, "api")
    path = Path(book(yard).path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this is no database, and it is long enough to be looked at as one" * 20)
    return yard


def test_a_damaged_group_keeps_agents_from_starting_and_the_daemon_goes_on(locked: Yard) -> None:
    give(locked, 1)
    daemon = locked.start("run")
    reason = locked.await_that(lambda: "group" in (words := locked.row("t1")["reason"]) and words, "the reason")
    assert "group `team` cannot be reached" in reason
    assert "is damaged" in reason
    assert not locked.records(AttemptStarted)
    book(locked).path.rename(f"{book(locked).path}.bad")
    locked.await_that(lambda: delivered(locked), "what waited")
    assert daemon.exit_code is None


def test_a_locked_group_keeps_nothing_at_work_from_ending(make_yard: MakeYard) -> None:
    yard = join(make_yard, "api")
    go = yard.folder / "go"
    give(yard, 1, {"wait_for": str(go)})
    yard.start("run")
    yard.await_that(lambda: (entry := entry_of(yard)) and entry.running == 1, "the entry")
    connection = apsw.Connection(str(book(yard).path))
    connection.execute("BEGIN EXCLUSIVE")
    go.touch()
    yard.await_that(lambda: delivered(yard), "the end of the attempt")
    give(yard, 1)
    reason = yard.await_that(lambda: "group" in (words := yard.row("t2")["reason"]) and words, "the reason")
    assert "locked by another program" in reason
    connection.execute("ROLLBACK")
    connection.close()
    yard.await_that(lambda: delivered(yard) == 2, "the second")


def test_a_day_of_the_group_is_paid_for_once(make_yard: MakeYard) -> None:
    api, web = join(make_yard, "api"), join(make_yard, "web")
    limit(api, "day_usd = 1.0\n")
    for yard in (api, web):
        yard.paddock("budget", "set", "attempt", "--usd", "0.4")
        give(yard, 3, {"usage": {"cost": 0.35}})
    daemons = [yard.start("run", "--until-idle") for yard in (api, web)]
    for daemon in daemons:
        daemon.wait()
    spent = sum(
        attempt.cost_usd or 0.0
        for yard in (api, web)
        for task in yard.board().tasks.values()
        for attempt in task.attempts
    )
    assert 0 < spent <= 1.0, spent
    refused = [yard.row(name)["reason"] for yard in (api, web) for name in yard.board().ready]
    assert refused
    assert all("of $1.00 spent or reserved today (" in reason for reason in refused)


def test_a_refusal_that_one_hears_pauses_all_until_a_person_resets_it(make_yard: MakeYard) -> None:
    api, web = join(make_yard, "api"), join(make_yard, "web")
    api.add({"auth_failed": 1})
    first = api.start("run")
    api.await_that(lambda: book(api).look().notes.get("scripted"), "the note")
    give(web, 1)
    second = web.start("run")
    reason = web.await_that(lambda: "credentials" in (words := web.row("t1")["reason"]) and words, "the reason")
    assert "account scripted: credentials refused" in reason
    api.paddock("limits", "--reset", "scripted")
    web.await_that(lambda: delivered(web), "what waited")
    for daemon in (first, second):
        assert daemon.exit_code is None


def test_a_daemon_killed_between_setting_aside_and_recording_holds_others_up_until_its_successor_speaks(
    make_yard: MakeYard,
) -> None:
    api, web = join(make_yard, "api"), join(make_yard, "web")
    limit(api, f"[accounts.scripted]\nagents = {LIMIT}\n")
    give(api, LIMIT)
    doomed = api.start("run", env={"PADDOCK_TEST_CRASH_AT": "group.set_aside"})
    assert doomed.wait() == -signal.SIGKILL
    assert not api.records(AttemptStarted)
    assert (entry := entry_of(api)) is not None
    assert entry.running == LIMIT, "too much, never too little"
    give(web, 1)
    waiting = web.start("run", "--until-idle")
    web.await_that(lambda: "3 in `api`" in web.row("t1")["reason"], "the reason")
    assert api.start("run", "--until-idle").wait() == 0
    assert waiting.wait() == 0
    assert (delivered(api), delivered(web)) == (LIMIT, 1)
    assert (entry := entry_of(api)) is not None
    assert entry.running == 0


def test_a_repository_that_is_gone_for_good_can_be_forgotten_but_not_one_that_has_a_daemon(make_yard: MakeYard) -> None:
    api, web = join(make_yard, "api"), join(make_yard, "web")
    limit(api, f"[accounts.scripted]\nagents = {LIMIT}\n")
    give(api, LIMIT)
    assert api.start("run", env={"PADDOCK_TEST_CRASH_AT": "group.set_aside"}).wait() == -signal.SIGKILL
    give(web, 1)
    daemon = web.start("run")
    web.await_that(lambda: "3 in `api`" in web.row("t1")["reason"], "the reason")
    refused = web.paddock("group", "forget", "web", code=1)
    assert "error: the daemon of `web` is running: it would tell the group the same again" in refused
    assert f"hint: end it with `paddock -C {web.top} down`" in refused
    told = web.paddock("group", "forget", "api")
    assert told == f"group `team` has forgotten `{api.top}`, of which 3 agents may have been at work\n"
    web.await_that(lambda: delivered(web), "what waited")
    web.await_that(lambda: not used_of_group(web), "limits that tell of the end")
    assert daemon.exit_code is None
    shown = web.paddock("group", "show").splitlines()
    assert shown[0].startswith("group team: 1 repository, 0 agents at work, $0.00")
    assert "* web" in "\n".join(shown)


def test_repositories_of_several_machines_meet_in_a_database(make_yard: MakeYard) -> None:
    server = server_of_session()
    names = {"PADDOCK_GROUP_NAME": f"team-{os.getpid()}"}
    api = make_yard("api", PADDOCK_LIMITS_MAX_AGENTS="8", DATABASE=server.url(), **names)
    web = make_yard("web", PADDOCK_LIMITS_MAX_AGENTS="8", DATABASE=server.url(), **names)
    file = Path(api.env["HOME"], f".config/paddock/groups/{names['PADDOCK_GROUP_NAME']}.toml")
    file.parent.mkdir(parents=True)
    file.write_text('url = "${DATABASE}"\n[accounts.scripted]\nagents = 2\n')
    for yard in (api, web):
        give(yard, 3, {"think": 0.1})
    daemons = [yard.start("run", "--until-idle") for yard in (api, web)]
    assert [daemon.wait() for daemon in daemons] == [0, 0]
    assert delivered(api) == delivered(web) == 3
    assert most_at_once(api, web) == 2
    shown = json.loads(web.paddock("group", "show", "--json"))
    assert [row["name"] for row in shown["repositories"]] == ["api", "web"]
    assert shown["told_in"] == "${DATABASE}", "never what the variable holds"

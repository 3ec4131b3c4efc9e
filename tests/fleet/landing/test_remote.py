"""Main lives on a remote: pushed with a lease, moved by others, away for a while, unwilling."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import Farm, busy_hand, land_beside, write_commit
from tests.fleet.yard import commit, write


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return tmp_path / "remote.git"


@pytest.fixture
def farm(make_farm: MakeFarm, remote: Path) -> Farm:
    """`farm.main` is the local branch; main is the remote's."""
    farm = make_farm('remote = "origin"')
    farm.yard.git("init", "-q", "--bare", "-b", "main", str(remote))
    farm.yard.git("remote", "add", "origin", str(remote))
    farm.yard.git("push", "-q", "origin", "main")
    farm.yard.git("switch", "-q", "--detach")  # a main that is checked out does not follow
    return farm


def tip(remote: Path) -> str:
    told = subprocess.run(
        ("git", "-C", str(remote), "rev-parse", "refs/heads/main"), check=True, capture_output=True, text=True
    )
    return told.stdout.strip()


def test_what_lands_is_pushed_and_the_local_branch_follows(farm: Farm, remote: Path) -> None:
    farm.yard.add(write("parts/a"), commit("Add a"), {"say": "done"})
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    farm.yard.run(code=0)
    assert farm.yard.task().phase == "landed"
    assert tip(remote) == farm.main != farm.first
    assert {"parts/a", "parts/one"} <= set(farm.files())
    farm.assert_green()
    farm.assert_at_rest()


def test_a_local_main_that_is_checked_out_stays_and_git_pull_brings_it_up_to_date(farm: Farm, remote: Path) -> None:
    farm.yard.git("switch", "-q", "main")
    farm.yard.git("branch", "-q", "--set-upstream-to=origin/main")
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    farm.yard.run(code=0)
    assert (farm.main, farm.yard.git("status", "--porcelain")) == (farm.first, "")
    assert "`git pull`" in farm.yard.paddock("sync")
    farm.yard.git("pull", "-q")
    assert farm.main == tip(remote) != farm.first
    assert (farm.top / "parts" / "one").exists()


def test_a_local_main_with_commits_of_its_own_is_left_alone(farm: Farm, remote: Path) -> None:
    mine = farm.push({"mine": "not pushed\n"})
    farm.branch("one", {"parts/one": "good\n"}, start=farm.first)
    farm.land("one")
    farm.yard.run(code=0)
    assert farm.outcomes() == {"one": "landed"}
    assert farm.main == mine
    assert "mine" not in farm.yard.git("ls-tree", "-r", "--name-only", tip(remote)).splitlines()


def test_somebody_who_pushes_while_ci_runs_time_and_again_neither_loses_a_commit_nor_halts_the_queue(
    farm: Farm, remote: Path, tmp_path: Path
) -> None:
    command, made = busy_hand(tmp_path, remote, times=5)
    farm.yard.env["PADDOCK_LAND_CI"] = f"{command}; sh ./ci.sh"

    pushed = land_beside(farm, made, 3)

    farm.yard.git("fetch", "-q", "origin")
    for by_hand in pushed:
        farm.yard.git("merge-base", "--is-ancestor", by_hand, "origin/main")
    assert farm.queue.halted is None


def test_a_remote_that_is_away_when_we_push_is_waited_for_and_named_once(
    farm: Farm, remote: Path, tmp_path: Path
) -> None:
    away = tmp_path / "away.git"
    farm.yard.env["PADDOCK_LAND_CI"] = (
        f"sh ./ci.sh; if [ -e parts/one ] && [ -d {remote} ]; then mv {remote} {away}; fi"
    )
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    daemon = farm.yard.start("run", "--until-idle")
    daemon.await_words("main cannot be moved")
    assert "one" not in farm.outcomes()
    farm.yard.await_board(lambda board: board.queue.lost_remote is not None, "the remote to be missed")
    told = json.loads(farm.yard.paddock("queue", "--json"))
    assert told["unreachable"]["remote"] == "origin"
    assert told["next"][0]["state"] == "passed, waits for the remote `origin`, which cannot be reached"
    assert told["next"][0]["eta_seconds"] is None
    assert "the remote origin has been unreachable for" in farm.yard.paddock("queue")

    os.rename(away, remote)
    assert daemon.wait() == 0, daemon.words

    assert daemon.words.count("main cannot be moved") == 1
    assert farm.outcomes() == {"one": "landed"}
    assert farm.queue.lost_remote is None
    assert tip(remote) == farm.main
    farm.assert_at_rest()


def test_a_remote_that_will_not_have_it_halts_the_queue_with_its_words(farm: Farm, remote: Path) -> None:
    hook = remote / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho main is protected on Sundays >&2\nexit 1\n")
    hook.chmod(0o755)
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    farm.yard.run()
    halted = farm.queue.halted
    assert halted is not None
    assert "main is protected on Sundays" in halted.reason
    assert tip(remote) == farm.first

    hook.unlink()
    farm.yard.paddock("queue", "resume")
    farm.yard.run(code=0)
    assert farm.outcomes() == {"one": "landed"}


def test_a_remote_main_that_was_rewound_halts_the_queue(farm: Farm, remote: Path) -> None:
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    farm.yard.run(code=0)
    subprocess.run(("git", "-C", str(remote), "update-ref", "refs/heads/main", farm.first), check=True, timeout=60)
    farm.branch("two", {"parts/two": "good\n"}, start=farm.first)
    farm.land("two")
    farm.yard.run()
    halted = farm.queue.halted
    assert halted is not None
    assert "rewound" in halted.reason
    assert tip(remote) == farm.first


@pytest.mark.parametrize("point", ["land.pushed", "land.done"])
def test_a_daemon_killed_around_the_push_is_followed_by_one_that_knows(farm: Farm, remote: Path, point: str) -> None:
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    killed = farm.yard.start("run", "--until-idle", env={"PADDOCK_TEST_CRASH_AT": point})
    assert killed.wait() < 0
    farm.yard.run(code=0)
    assert farm.outcomes() == {"one": "landed"}
    assert tip(remote) == farm.main
    farm.assert_green()
    farm.assert_at_rest()


def test_a_remote_without_the_branch_is_explained(farm: Farm, remote: Path) -> None:
    farm.yard.git("update-ref", "-d", "refs/remotes/origin/main")
    subprocess.run(("git", "-C", str(remote), "update-ref", "-d", "refs/heads/main"), check=True, timeout=60)
    farm.branch("one", {"parts/one": "good\n"})
    said = farm.yard.paddock("land", "--branch", "one", code=1)
    assert "there is no `refs/remotes/origin/main` to land on" in said
    assert "git push origin main" in said


def push_red(farm: Farm, remote: Path) -> tuple[str, str]:
    """Main as it landed, and the red commit that somebody pushes onto it."""
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    farm.yard.run(code=0)
    tested = tip(remote)
    red = write_commit(farm.top, "refs/heads/red", {"parts/red": "bad\n"}, tested, "Red")
    farm.yard.git("push", "-q", "origin", "red:main")
    return tested, red


@pytest.mark.parametrize("point", ["", "restore.kept", "restore.pushed", "restore.moved"])
def test_a_red_main_of_the_remote_is_put_back_there_also_by_one_that_is_killed(
    farm: Farm, remote: Path, point: str
) -> None:
    tested, red = push_red(farm, remote)
    farm.branch("two", {"parts/two": "good\n"}, start=tested)
    farm.land("two")
    farm.yard.run(code=1)
    assert farm.queue.halted is not None
    if point:
        farm.yard.paddock("queue", "restore", code=-signal.SIGKILL, env={"PADDOCK_TEST_CRASH_AT": point})
    told = json.loads(farm.yard.paddock("queue", "restore", "--json"))
    assert told["main"] == tip(remote) == tested
    assert red in farm.yard.git("for-each-ref", "--format=%(objectname)", "refs/paddock/kept/main").split()
    farm.yard.run(code=0)
    assert farm.outcomes() == {"one": "landed", "two": "landed"}
    farm.assert_green()


def test_a_main_that_is_gone_from_the_remote_is_put_back_and_one_out_of_reach_is_not_moved(
    farm: Farm, remote: Path
) -> None:
    tested, red = push_red(farm, remote)
    away = remote.with_name("away.git")
    remote.rename(away)
    told = farm.yard.paddock("queue", "restore", code=1)
    assert "`origin` cannot be asked where main is" in told
    away.rename(remote)
    assert tip(remote) == red
    subprocess.run(("git", "-C", str(remote), "update-ref", "-d", "refs/heads/main"), check=True, timeout=60)
    farm.yard.paddock("queue", "restore")
    assert tip(remote) == tested


def test_a_remote_that_refuses_it_is_quoted(farm: Farm, remote: Path) -> None:
    _, red = push_red(farm, remote)
    subprocess.run(("git", "-C", str(remote), "config", "receive.denyNonFastForwards", "true"), check=True, timeout=60)
    told = farm.yard.paddock("queue", "restore", code=1)
    assert "main was not restored on `origin`" in told
    assert "non-fast-forward" in told
    assert tip(remote) == red

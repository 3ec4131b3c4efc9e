"""Main moved by somebody who is not the queue: recorded with who, tested first, blamed on nobody, and put back."""

import json
import signal
import subprocess

import pytest

from paddock.core.board import Board
from paddock.core.events import ChangeRebased
from paddock.core.merge import events as qe
from paddock.core.merge.model import HaltCause
from paddock.core.tasks.task import Phase
from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import Farm, write_commit
from tests.fleet.yard import commit, write

FORGED = {"GIT_COMMITTER_NAME": "Paddock", "GIT_COMMITTER_EMAIL": "paddock@localhost"}


def land_one(farm: Farm, name: str = "one") -> str:
    """A change that the queue lands; returns main, which has passed."""
    farm.branch(name, {f"parts/{name}": "good\n"})
    farm.land(name)
    farm.yard.run(code=0)
    return farm.main


def move_main(farm: Farm, text: str, parent: str = "main") -> str:
    """Somebody writes a commit beside the checkout and moves the ref alone, under the name of the queue."""
    commit = write_commit(
        farm.top, "refs/heads/aside", {"parts/foreign": text}, farm.yard.git("rev-parse", parent), "Land t1"
    )
    words = ("git", "-C", str(farm.top), "update-ref", "-m", "paddock: land t1@v1", "refs/heads/main", commit)
    subprocess.run(words, check=True, env={"PATH": "/usr/bin:/bin:/usr/local/bin", **FORGED}, timeout=60)
    return commit


def moves(farm: Farm) -> list[qe.MainMoved]:
    return [record.event for record in farm.yard.records(qe.MainMoved) if isinstance(record.event, qe.MainMoved)]


def test_a_red_main_of_somebody_else_is_recorded_blames_nobody_and_is_put_back(farm: Farm) -> None:
    tested = land_one(farm)
    foreign = move_main(farm, "bad\n")
    farm.branch("two", {"parts/two": "good\n"}, start=tested)
    farm.land("two")
    farm.yard.run(code=1)

    last = moves(farm)[-1]
    assert (last.commit, last.by) == (foreign, "Paddock <paddock@localhost> (paddock: land t1@v1); "
                                      "committed by Test Person <test@example.invalid>")  # fmt: skip
    halted = farm.queue.halted
    assert halted is not None
    assert "moved there by Paddock <paddock@localhost>" in halted.reason
    assert [old.id for old in farm.queue.decided] == ["one"]
    assert "paddock queue restore" in farm.yard.paddock("queue")
    assert "moved by Paddock <paddock@localhost>" in farm.yard.paddock("queue", "why", "main")

    told = json.loads(farm.yard.paddock("queue", "restore", "--json"))
    assert (told["main"], told["old"], told["tested"]) == (tested, foreign, True)
    assert farm.main == tested
    assert farm.yard.git("rev-parse", told["kept"]) == foreign
    assert farm.yard.git("status", "--porcelain") == ""
    assert farm.queue.halted is None
    farm.yard.run(code=0)
    assert farm.outcomes() == {"one": "landed", "two": "landed"}
    farm.assert_green()


def test_a_main_that_was_rewound_is_put_back_with_what_had_landed(farm: Farm) -> None:
    tested = land_one(farm)
    farm.yard.git("update-ref", "refs/heads/main", farm.first)
    farm.branch("two", {"parts/two": "good\n"}, start=tested)
    farm.land("two")
    farm.yard.run(code=1)
    assert farm.queue.halted is not None
    assert "put back" in farm.yard.paddock("queue") or "puts back" in farm.yard.paddock("queue")

    assert f"main is back at {tested[:10]}" in farm.yard.paddock("queue", "restore")
    assert farm.main == tested
    assert not any(old.lost for old in farm.queue.decided)
    farm.yard.run(code=0)
    assert farm.outcomes() == {"one": "landed", "two": "landed"}
    assert "nothing to restore" in farm.yard.paddock("queue", "restore", code=1)


def test_a_main_that_is_gone_is_put_back(farm: Farm) -> None:
    tested = land_one(farm)
    farm.yard.git("update-ref", "-d", "refs/heads/main")
    farm.yard.paddock("queue", "restore")
    assert farm.main == tested


def test_uncommitted_work_in_a_checkout_keeps_main_where_it_is(farm: Farm) -> None:
    land_one(farm)
    (farm.top / "ten.txt").write_text("by somebody else\n")
    farm.yard.git("commit", "-qam", "By hand")
    by_hand = farm.main
    (farm.top / "ten.txt").write_text("not committed yet\n")
    told = farm.yard.paddock("queue", "restore", code=1)
    assert "main was not restored" in told
    assert "ten.txt" in told
    assert farm.main == by_hand
    assert (farm.top / "ten.txt").read_text() == "not committed yet\n"

    farm.yard.git("stash", "-q")
    farm.yard.paddock("queue", "restore")
    assert (farm.top / "ten.txt").read_text().startswith("line 1\n")
    assert farm.yard.git("status", "--porcelain") == ""


def test_main_is_known_before_anything_is_queued(farm: Farm) -> None:
    """So that whoever moves it before the first change is queued is seen to have moved it."""
    farm.yard.run(code=0)
    foreign = move_main(farm, "bad\n")
    farm.branch("one", {"parts/one": "good\n"}, start=farm.first)
    farm.land("one")
    farm.yard.run(code=1)
    assert [one.commit for one in moves(farm)] == [farm.first, foreign]
    assert not farm.queue.decided
    assert f"main is back at {farm.first[:10]}, the first one seen" in farm.yard.paddock("queue", "restore")
    farm.yard.run(code=0)
    assert farm.outcomes() == {"one": "landed"}
    farm.assert_green()


@pytest.mark.parametrize("policy", ["merge", "rebase"])
def test_work_that_began_on_a_red_main_lands_by_its_own_commits_once_that_was_put_back(
    make_farm: MakeFarm, policy: str
) -> None:
    farm = make_farm(policy=policy)
    tested = land_one(farm)
    red = move_main(farm, "bad\n")
    task = farm.yard.add(write("parts/own", "good\n"), commit("Own work"), {"say": "done"}, title="Own work")
    farm.yard.run(code=1)
    assert farm.yard.attempt(task).base == red
    assert farm.yard.task(task).phase is Phase.QUEUED
    assert farm.queue.halted is not None

    farm.yard.paddock("queue", "restore")
    farm.yard.run(code=0)
    assert farm.yard.task(task).phase is Phase.LANDED
    rebased = [record.event for record in farm.yard.records(ChangeRebased)]
    assert [one.lost for one in rebased if isinstance(one, ChangeRebased)] == [(red,)]
    assert "parts/own" in farm.files()
    assert "parts/foreign" not in farm.files()
    assert red not in farm.yard.git("rev-list", "main").split()
    assert tested in farm.yard.git("rev-list", "main").split()
    farm.assert_green()


def test_what_waits_for_a_person_shows_only_its_own_work_after_main_was_put_back(make_farm: MakeFarm) -> None:
    farm = make_farm(approval="human")
    land_one(farm)
    move_main(farm, "bad\n")
    task = farm.yard.add(write("parts/own", "good\n"), commit("Own work"), {"say": "done"}, title="Own work")
    farm.yard.run()
    farm.yard.paddock("queue", "restore")
    farm.yard.run()
    assert farm.yard.task(task).phase is Phase.APPROVAL
    told = farm.yard.paddock("diff", task)
    assert "parts/own" in told
    assert "parts/foreign" not in told
    farm.yard.paddock("land", task)
    farm.yard.run(code=0)
    assert farm.yard.task(task).phase is Phase.LANDED
    farm.assert_green()


def test_work_that_needs_the_main_that_was_put_back_is_for_a_person_and_not_blamed(farm: Farm) -> None:
    land_one(farm)
    move_main(farm, "bad\n")
    task = farm.yard.add(write("parts/foreign", "worse\nbad\n"), commit("On top"), {"say": "done"}, title="On top")
    farm.yard.run(code=1)
    farm.yard.paddock("queue", "restore")
    farm.yard.run()
    now = farm.yard.task(task)
    assert now.phase is Phase.APPROVAL
    assert "no longer in main, and does not apply without it" in now.reason
    assert [old.outcome.value for old in farm.queue.decided] == ["landed", "cancelled"]


def notices(farm: Farm) -> dict[str, str]:
    told = json.loads(farm.yard.paddock("status", "--json"))["needs_you"]["notices"]
    return {one["kind"]: one["text"] for one in told}


def test_an_idle_daemon_tests_a_main_that_somebody_else_has_moved(farm: Farm) -> None:
    tested = land_one(farm)
    daemon = farm.yard.start("run")
    farm.yard.await_board(lambda board: "daemon" in board.leases.held, "the daemon")
    green = farm.push({"parts/pushed": "good\n"})

    def is_verified(board: Board) -> object:
        return board.queue.main is not None and board.queue.main.commit == green and board.queue.main.verified_by

    farm.yard.await_board(is_verified, "the test of main")
    assert not notices(farm)

    red = move_main(farm, "bad\n")
    board = farm.yard.await_board(lambda board: board.halted, "the halt")
    assert board.halted is not None
    assert board.halted.cause is HaltCause.MAIN_RED
    assert red in board.halted.reason
    assert "paddock queue restore" in notices(farm)["queue-halted"]
    farm.yard.paddock("queue", "restore")
    assert farm.main == green != tested
    farm.yard.await_board(lambda board: board.halted is None and not board.queue.running)
    assert daemon.exit_code is None


def test_status_tells_of_a_main_that_somebody_else_has_moved_and_nobody_has_tested(make_farm: MakeFarm) -> None:
    farm = make_farm()
    land_one(farm)
    foreign = move_main(farm, "good\n")
    farm.yard.run(code=0)
    told = notices(farm)["main-untested"]
    assert told.startswith(
        f"main is at {foreign[:10]}, moved there by Paddock <paddock@localhost> (paddock: land t1@v1)"
    )
    land_one(farm, "two")
    assert not notices(farm)


BACK = ("restore.swapped", "sync.refreshed", "restore.moved", "restore.recorded")
POINTS = ("restore.kept", "sync.prepared", "sync.locked", *BACK)


def test_a_restore_that_is_killed_anywhere_is_finished_by_the_next_one(farm: Farm) -> None:
    tested = land_one(farm)
    for number, point in enumerate(POINTS):
        (farm.top / "ten.txt").write_text(f"by hand {number}\n")
        farm.yard.git("commit", "-qam", f"By hand {number}")
        by_hand = farm.main
        farm.yard.paddock("queue", "restore", code=-signal.SIGKILL, env={"PADDOCK_TEST_CRASH_AT": point})
        again = farm.yard.start("queue", "restore")
        # No daemon has seen main elsewhere, so once it is back there is nothing left to record.
        assert again.wait() == int(point in BACK), f"{point}: {again.words}"
        assert farm.main == tested, point
        assert farm.yard.git("status", "--porcelain") == "", point
        assert by_hand in farm.yard.git("for-each-ref", "--format=%(objectname)", "refs/paddock/kept/main").split()
        assert farm.queue.main is not None
        assert (farm.queue.main.commit, farm.queue.halted) == (tested, None), point


def test_a_restore_that_was_killed_before_it_was_recorded_is_taken_for_a_rewind_until_it_is_run_again(
    farm: Farm,
) -> None:
    tested = land_one(farm)
    move_main(farm, "bad\n")
    farm.branch("two", {"parts/two": "good\n"}, start=tested)
    farm.land("two")
    farm.yard.run(code=1)
    assert farm.queue.halted is not None
    farm.yard.paddock("queue", "restore", code=-signal.SIGKILL, env={"PADDOCK_TEST_CRASH_AT": "restore.moved"})
    farm.yard.run(code=1)
    assert "main was rewound" in farm.yard.paddock("status")
    farm.yard.paddock("queue", "restore")
    farm.yard.run(code=0)
    assert farm.outcomes() == {"one": "landed", "two": "landed"}
    farm.assert_green()

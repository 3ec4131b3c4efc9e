"""Who is in charge: one daemon at a time, and nothing a former one says counts."""

import json
import os
import shutil
import signal
import socket
from pathlib import Path

import psutil

from paddock.core.board import DAEMON_LEASE, Board
from paddock.core.events import Draft
from paddock.core.ids import TaskId
from paddock.core.leases.lease import LeaseReleased
from paddock.sessions.marks import find_marked
from paddock.sessions.sweep import sweep
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.fleet.yard import Yard, commit, write
from tests.warm import RunningCommand

T1 = TaskId("t1")


def start_daemon(yard: Yard, *words: str) -> RunningCommand:
    daemon = yard.start("run", *words)
    yard.await_that(lambda: holder_pid(yard) == daemon.pid, "the lease")
    return daemon


def holder_pid(yard: Yard) -> int | None:
    held = yard.board().leases.held.get(DAEMON_LEASE)
    return None if held is None else held.holder.pid


def test_a_second_daemon_is_refused_and_told_who_is_in_charge(yard: Yard) -> None:
    first = start_daemon(yard)
    said = yard.paddock("run", "--until-idle", code=1)
    assert f"a daemon is already running on this log: pid {first.pid} on {socket.gethostname()}, since 20" in said
    assert "paddock down" in said
    assert "the fleet is already up (pid " in yard.paddock("up")


def test_a_second_daemon_may_wait_and_then_leads(yard: Yard) -> None:
    first = start_daemon(yard)
    second = yard.start("run", "--wait")
    second.await_words(f"waiting: a daemon is already running on this log: pid {first.pid}")
    first.send(signal.SIGTERM)
    assert first.wait() == 130
    yard.add({"noop": "only to see who leads"})
    yard.await_board(lambda board: board.task(T1).phase == "noop", "the second daemon's work")
    assert holder_pid(yard) == second.pid
    second.send(signal.SIGTERM)
    assert second.wait() == 130
    assert holder_pid(yard) is None


def test_a_dead_daemons_lease_needs_no_waiting(yard: Yard) -> None:
    first = start_daemon(yard)
    first.kill()
    assert holder_pid(yard) == first.pid
    start_daemon(yard)


def test_a_daemon_that_slept_through_its_succession_says_nothing_that_counts(yard: Yard) -> None:
    ready, gate = yard.folder / "ready", yard.folder / "gate"
    touch = {"run": ["touch", str(ready)]}
    yard.add(touch, {"wait_for": str(gate)}, write("a.txt"), commit("Add a"))
    first = start_daemon(yard)
    yard.await_that(ready.exists, "the agent")
    put_to_sleep_and_give_lease_away(yard, first)
    second = start_daemon(yard, "--until-idle")
    gate.touch()
    assert second.wait() == 0, second.words
    before = yard.board()

    # The turn's end wakes the old daemon, which wants to record and judge it.
    first.send(signal.SIGCONT)
    assert first.wait() == 1
    assert "another daemon (generation 2) has taken over" in first.words
    after = yard.board()
    assert after.seq == before.seq
    assert yard.task().phase == "approval"
    yard.assert_nothing_is_left()


def put_to_sleep_and_give_lease_away(yard: Yard, daemon: RunningCommand) -> None:
    """What happens when the lease of a daemon that cannot renew it runs out, without the minute's wait.

    It falls asleep while the log is locked by another: one that slept in the middle of writing would keep all out.
    """
    process = psutil.Process(daemon.pid)

    def decide(board: Board) -> list[Draft]:
        daemon.send(signal.SIGSTOP)
        yard.await_that(lambda: process.status() == psutil.STATUS_STOPPED, "its sleep")
        held = board.leases.held[DAEMON_LEASE]
        return [Draft(LeaseReleased(DAEMON_LEASE, held.generation, "ran out"))]

    store = SqliteStore(yard.log_path)
    try:
        store.append(decide, Author("test"))
    finally:
        store.close()


def test_a_daemon_ends_when_its_repository_is_moved_away(yard: Yard) -> None:
    daemon = start_daemon(yard)
    os.rename(yard.top, yard.folder / "elsewhere")
    assert daemon.wait() == 0, daemon.words
    assert daemon.words == f"`{yard.top}` is gone: there is nothing left to run\n"


def deleted(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def test_a_daemon_ends_when_its_repository_is_deleted_under_its_agents(yard: Yard) -> None:
    ready = yard.folder / "ready"
    yard.add({"run": ["touch", str(ready)]}, {"chatter": 600, "every": 0.05})
    daemon = start_daemon(yard)
    marker = yard.marker
    yard.await_that(ready.exists, "the agent")
    yard.await_that(lambda: deleted(yard.top), "an end of what is written meanwhile")
    try:
        assert daemon.wait() == 0, daemon.words
        assert "is gone: there is nothing left to run" in daemon.words
        assert "internal error" not in daemon.words
    finally:
        sweep({process.mark for process in find_marked(marker)})


def test_up_starts_one_daemon_and_down_ends_it(yard: Yard) -> None:
    assert "the fleet is up (pid " in yard.paddock("up")
    pid = holder_pid(yard)
    assert pid is not None
    assert psutil.Process(pid).cmdline()[-1] == "run"
    yard.add(write("a.txt"), commit("Add a"))
    yard.await_board(lambda board: board.task(T1).phase == "approval", "the task's end")
    assert f"ended the daemon (pid {pid} on" in yard.paddock("down")
    assert holder_pid(yard) is None
    assert "no daemon was running" in yard.paddock("down")


def test_status_json_says_who_runs_the_fleet(yard: Yard) -> None:
    assert json.loads(yard.paddock("status", "--json"))["daemon"] is None
    daemon = yard.start("run")
    yard.await_board(lambda board: board.daemon_generation == 1, "the daemon")
    said = json.loads(yard.paddock("status", "--json"))["daemon"]
    assert (said["pid"], said["generation"]) == (daemon.pid, 1)
    daemon.kill()
    assert json.loads(yard.paddock("status", "--json"))["daemon"] is None


def test_a_stopped_daemon_is_woken_by_its_successor_to_let_go_of_what_it_holds(yard: Yard) -> None:
    first = start_daemon(yard)
    yard.await_that((yard.log_path.parent / "leader").exists, "its seat")
    put_to_sleep_and_give_lease_away(yard, first)
    start_daemon(yard)
    assert first.wait() == 1
    assert "another daemon (generation 2) has taken over" in first.words

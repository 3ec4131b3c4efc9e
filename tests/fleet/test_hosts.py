"""Work belongs to the host it was started on: other daemons leave it alone, say where it is, and may take it over."""

import json
import signal

from tests.fleet.yard import Yard, commit, write

LAPTOP, DESK = {"PADDOCK_HOST": "laptop"}, {"PADDOCK_HOST": "desk"}


def leave_an_attempt_on_the_laptop(yard: Yard) -> None:
    ready, gate = yard.folder / "ready", yard.folder / "gate"
    yard.add({"run": ["touch", str(ready)]}, {"wait_for": str(gate)}, write("a.txt"), commit("Add a"))
    daemon = yard.start("run", env=LAPTOP)
    yard.await_that(ready.exists, "the agent")
    daemon.send(signal.SIGTERM)
    assert daemon.wait() == 130


def test_a_daemon_leaves_an_attempt_of_another_host_alone_and_says_where_it_is(yard: Yard) -> None:
    leave_an_attempt_on_the_laptop(yard)
    assert (yard.attempt().host, yard.attempt().host_id) == ("laptop", "laptop")
    yard.run(env=DESK)
    assert yard.attempt().live
    assert yard.processes()

    shown = yard.paddock("status", env=DESK)
    assert "t1.1 has been running on host `laptop` for " in shown
    told = json.loads(yard.paddock("status", "--json", env=DESK))["needs_you"]["notices"]
    [notice] = [notice for notice in told if notice["kind"] == "elsewhere"]
    assert "PADDOCK_HOST=laptop paddock run" in notice["run"]
    assert "elsewhere" not in yard.paddock("status", "--json", env=LAPTOP)

    (yard.folder / "gate").touch()
    yard.run(env=LAPTOP, code=0)
    assert [attempt.outcome for attempt in yard.task().attempts] == ["delivered"]


def test_down_now_on_another_host_gives_no_reason_for_the_end_of_what_runs_elsewhere(yard: Yard) -> None:
    leave_an_attempt_on_the_laptop(yard)
    yard.paddock("down", "--now", env=DESK)
    assert not list(yard.attempt_folder("t1.1").glob("*.stop"))

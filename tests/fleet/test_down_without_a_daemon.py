"""`down --now` also ends agents whose daemon is dead, and the next daemon knows why they ended."""

import shutil

from tests.fleet.yard import Yard, commit, write


def test_agents_ended_without_a_daemon_cost_their_task_no_attempt(yard: Yard) -> None:
    ready = yard.folder / "ready"
    yard.add({"run": ["touch", str(ready)], "attempt": 1}, {"hang": 600, "attempt": 1}, write("a.txt"), commit("Add a"))
    daemon = yard.start("run")
    yard.await_that(ready.exists, "the agent")
    daemon.kill()
    assert yard.processes()
    assert "no daemon was running" in yard.paddock("down", "--now")
    assert not yard.processes()
    yard.run()
    task = yard.task()
    assert (task.phase, task.counted) == ("approval", 0)
    assert [attempt.outcome for attempt in task.attempts] == ["killed", "delivered"]
    assert task.attempts[0].reason == "stopped by `paddock down --now`"


def test_a_copied_repository_does_not_end_the_agents_of_the_first(yard: Yard) -> None:
    """Its log is the same, and names the same attempts."""
    ready, gate = yard.folder / "ready", yard.folder / "gate"
    yard.add({"run": ["touch", str(ready)]}, {"wait_for": str(gate)}, write("a.txt"), commit("Add a"))
    daemon = yard.start("run")
    yard.await_that(ready.exists, "the agent")
    daemon.kill()
    copy = Yard(yard.folder / "copy", yard.folder, yard.env)
    shutil.copytree(yard.top, copy.top, symlinks=True, ignore=shutil.ignore_patterns("socket", "wake"))
    assert copy.marker != yard.marker
    assert "without a daemon" not in copy.paddock("down", "--now")
    gate.touch()
    yard.run(code=0)
    assert yard.attempt().outcome == "delivered"

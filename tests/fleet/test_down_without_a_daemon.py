"""`down --now` also ends agents whose daemon is dead, and the next daemon knows why they ended."""

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

"""Traces of a real fleet of scripted agents: what they did, told while they do it and afterwards."""

import json
import signal
import time
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.fleet.conftest import MakeYard
from tests.fleet.test_leadership import put_to_sleep_and_give_lease_away, start_daemon
from tests.fleet.yard import Yard, commit, write
from tests.web.api import serve_api

if TYPE_CHECKING:
    from paddock.insight.watch import Watch

LIVE = {"PADDOCK_INSIGHT_FOLLOW": "true", "PADDOCK_INSIGHT_EVERY": "50ms"}


@pytest.fixture
def live(make_yard: MakeYard) -> Yard:
    return make_yard(**LIVE)


def ask(yard: Yard, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(yard.paddock("traces", *words, "--json"))
    return found


def exported(yard: Yard) -> list[str]:
    """Every trace with all that is in it."""
    return yard.paddock("traces", "export", "--format", "jsonl").splitlines()


def dataset(yard: Yard) -> Path:
    return yard.log_path.parent / "insight" / "traces.db"


def steps_seen(yard: Yard, attempt: str = "t1.1") -> int:
    """As anybody finds them who takes nothing in."""
    from paddock.insight.dataset.dataset import Dataset
    from paddock.insight.dataset.trouble import DatasetUnusable

    try:
        with Dataset.open(dataset(yard)) as found:
            kept = found.find(attempt)
    except DatasetUnusable:
        return 0
    return 0 if kept is None else kept.step_count


def test_a_fleet_is_told_as_it_was(yard: Yard) -> None:
    yard.add(write("a.py"), {"run": ["false"]}, {"run": ["git", "commit", "--no-verify"]}, commit())
    yard.add({"run": ["true"]}, {"fail": "the tool is missing"}, attempts=1)
    yard.add({"noop": "nothing to do"})
    yard.run()
    rows = {row["name"]: row for row in ask(yard, "list")["runs"]}
    assert {name: (row["outcome"], row["end_state"], row["steps"]) for name, row in rows.items()} == {
        "t1.1": ("success", "ok", 4),
        "t2.1": ("failure", "crashed", 1),
        "t3.1": ("success", "ok", 0),
    }
    one = ask(yard, "show", "t1.1")
    assert one["path"] == ["CREATE:src", "RUN!", "GIT_WRITE!", "GIT_WRITE"]
    assert [step["status"] for step in one["steps"]] == ["ok", "error", "error", "ok"]
    assert one["row"]["model_calls"] == 4
    assert one["row"]["usage"]["cost_usd"] == yard.attempt("t1").cost_usd
    facts = one["facts"]
    assert (facts["files"], facts["insertions"], facts["no_verify"], facts["tests_run"]) == (["a.py"], 1, True, 0)
    assert facts["verified_last_edit"] is False
    assert one["attributes"]["head"] == yard.task("t1").head
    assert "the tool is missing" in rows["t2.1"]["error"]
    assert [row["name"] for row in ask(yard, "list", "--failed")["runs"]] == ["t2.1"]
    difference = ask(yard, "diff", "t1.1", "t2.1")
    assert [pair["match"] for pair in difference["pairs"]].count("same") == 0
    before = exported(yard)
    assert ask(yard, "rebuild")["attempts"] == 3
    assert exported(yard) == before


def test_what_agents_do_is_seen_while_they_do_it_also_by_the_daemon_after_the_first(live: Yard) -> None:
    gate = live.folder / "gate"
    live.add({"run": ["true"]}, {"run": ["false"]}, {"wait_for": str(gate)}, write("a.py"), commit())
    first = live.start("run")
    live.await_that(lambda: steps_seen(live) == 2, "both steps")
    first.kill()
    gate.touch()
    live.run()
    told = exported(live)
    [trace] = [json.loads(line) for line in told]
    assert [step["activity"] for step in trace["steps"]] == ["RUN", "RUN", "CREATE:src", "GIT_WRITE"]
    assert trace["outcome"] == "success"
    live.paddock("traces", "rebuild")
    assert [without_times(line) for line in exported(live)] == [without_times(line) for line in told]


def without_times(line: str) -> dict[str, Any]:
    """Of what was written while no daemon was there to note it, nobody knows when."""
    trace: dict[str, Any] = json.loads(line)
    for part in (*trace["steps"], *trace.get("calls", ())):
        part.pop("at", None)
        part.pop("seconds", None)
    return trace


def test_a_daemon_makes_a_damaged_dataset_again(live: Yard) -> None:
    gate = live.folder / "gate"
    live.add({"run": ["true"]}, {"wait_for": str(gate)}, write("a.py"), commit())
    dataset(live).parent.mkdir(parents=True)
    dataset(live).write_bytes(b"no dataset of anybody's" * 1000)
    daemon = live.start("run")
    live.await_that(lambda: steps_seen(live) == 1, "the first step")
    gate.touch()
    live.await_that(lambda: steps_seen(live) == 3, "the others")
    daemon.kill()
    assert dataset(live).with_name("traces.db.damaged").exists()


def test_output_that_was_swept_up_takes_no_trace_along(yard: Yard) -> None:
    yard.add(write("a.py"), commit())
    yard.run()
    before = ask(yard, "show", "t1.1")
    folder = yard.attempt_folder("t1.1")
    for file in sorted(folder.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() and not file.is_symlink() else file.unlink()
    folder.rmdir()
    said = yard.paddock("traces", "rebuild")
    assert "1 attempt keeps the trace it had" in said
    assert ask(yard, "show", "t1.1") == before


def test_a_daemon_that_is_told_not_to_follow_leaves_it_to_who_asks(yard: Yard) -> None:
    yard.add(write("a.py"), commit())
    yard.run()
    assert not dataset(yard).exists()
    assert len(ask(yard, "list")["runs"]) == 1


def test_a_name_that_no_run_has_is_told_with_those_that_it_may_mean(yard: Yard) -> None:
    yard.add(write("a.py"), commit())
    yard.run()
    assert "its attempts are t1.1" in yard.paddock("traces", "show", "t1", code=1)
    assert "there is no trace of `t9.1`" in yard.paddock("traces", "diff", "t1.1", "t9.1", code=1)
    assert "--labels lists all batches" in yard.paddock("traces", "list", "--labels", "--failed", code=2)


def test_who_watches_is_told_what_ended_and_keeps_nobody_else_from_it(yard: Yard) -> None:
    from paddock.core.events import DaemonTroubled, Draft
    from paddock.fleet.workspace import Workspace
    from paddock.git.repo import discover
    from paddock.insight.look import Decide, Look
    from paddock.insight.watch import Watch

    looks: list[Look] = []

    def observe_badly(_look: Look) -> list[Decide]:
        raise ZeroDivisionError("no")

    def observe_well(look: Look) -> list[Decide]:
        looks.append(look)
        return [lambda _board: [Draft(DaemonTroubled("x", "y"))]]

    yard.add(write("a.py"), commit())
    yard.run()
    watch = Watch(Workspace(discover(yard.top)).site, (observe_badly, observe_well))
    found = watch.look()
    assert found.problems == {"badly": "ZeroDivisionError: no", "well": ""}
    assert [(whose, len(decides)) for whose, decides in found.decided] == [("well", 1)]
    assert [(look.changed, look.ended) for look in looks] == [(("t1.1",), ("t1.1",))]
    look_rested(watch)
    assert looks[-1].ended == (), "what has ended is told once"
    dataset(yard).write_bytes(b"x" * 5000)
    for name in ("traces.db-wal", "traces.db-shm"):
        dataset(yard).with_name(name).unlink(missing_ok=True)
    while not watch.look(at_once=True).more:
        pass  # until it is laid aside
    look_rested(watch)
    assert steps_seen(yard) == 2
    watch.stop()


def look_rested(watch: "Watch", unrecorded: Collection[str] = ()) -> None:
    """Until everything is taken in, and those who watch have been asked."""
    found = watch.look(at_once=True, unrecorded=unrecorded)
    while found.more or found.rests:
        found = watch.look(at_once=True)


def test_what_has_ended_is_told_again_to_whom_it_was_lost(yard: Yard) -> None:
    from paddock.fleet.workspace import Workspace
    from paddock.git.repo import discover
    from paddock.insight.look import Decide, Look
    from paddock.insight.watch import Watch

    told: dict[str, list[tuple[str, ...]]] = {"once": [], "twice": []}

    def observe_once(look: Look) -> list[Decide]:
        told["once"].append(look.ended)
        return []

    def observe_twice(look: Look) -> list[Decide]:
        told["twice"].append(look.ended)
        if len(told["twice"]) == 1:
            raise ZeroDivisionError("not now")
        return [lambda _board: []]

    yard.add(write("a.py"), commit())
    yard.run()
    watch = Watch(Workspace(discover(yard.top)).site, (observe_once, observe_twice))
    watch.look()
    look_rested(watch)
    look_rested(watch, unrecorded=("twice",))
    look_rested(watch)
    watch.stop()
    assert told == {"once": [("t1.1",), (), (), ()], "twice": [("t1.1",), ("t1.1",), ("t1.1",), ()]}


def test_those_who_watch_rest_a_little_also_while_attempts_fail_all_the_time(yard: Yard) -> None:
    from paddock.fleet.workspace import Workspace
    from paddock.git.repo import discover
    from paddock.insight.look import Decide, Look
    from paddock.insight.watch import Watch

    looks: list[float] = []

    def observe_slowly(_look: Look) -> list[Decide]:
        begun = time.thread_time()
        while time.thread_time() - begun < 0.05:
            pass
        looks.append(time.monotonic())
        return []

    yard.add(write("a.py"), commit())
    yard.run()
    watch = Watch(Workspace(discover(yard.top)).site, (observe_slowly,))
    watch.look()
    assert watch.look(at_once=True).rests > 0.0
    look_rested(watch)
    watch.stop()
    assert looks[1] - looks[0] >= 0.1


def test_whoever_asks_while_another_writes_gets_what_is_there(yard: Yard) -> None:
    from paddock.insight.dataset.writer import DatasetWriter

    yard.add(write("a.py"), commit())
    yard.run()
    assert len(ask(yard, "list")["runs"]) == 1
    yard.add(write("b.py"), commit())
    yard.run()
    with DatasetWriter.open(dataset(yard)) as writer:
        writer.enter()
        found = ask(yard, "list")
    assert ([row["name"] for row in found["runs"]], "written by another" in found["behind"]) == (["t1.1"], True)
    assert [row["name"] for row in ask(yard, "list")["runs"]] == ["t1.1", "t2.1"]


def test_a_daemon_that_was_replaced_writes_no_more(live: Yard) -> None:
    gate, ready = live.folder / "gate", live.folder / "ready"
    live.add({"run": ["touch", str(ready)]}, {"wait_for": str(gate)}, write("a.py"), commit())
    first = start_daemon(live)
    live.await_that(lambda: steps_seen(live) == 1, "the first step")
    put_to_sleep_and_give_lease_away(live, first)
    second = start_daemon(live, "--until-idle")
    gate.touch()
    assert second.wait() == 0, second.words
    told = exported(live)
    written = dataset(live).read_bytes()
    first.send(signal.SIGCONT)
    assert first.wait() == 1
    assert dataset(live).read_bytes() == written
    assert exported(live) == told
    assert [step["activity"] for step in json.loads(told[0])["steps"]] == ["FS", "CREATE:src", "GIT_WRITE"]


def test_the_api_tells_what_the_commands_tell(yard: Yard) -> None:
    yard.add(write("a.py"), commit())
    yard.add({"run": ["false"]}, {"noop": "nothing"})
    yard.run()
    served = serve_api(yard)
    assert served.get("traces") == ask(yard, "list")
    assert served.get("traces?failed=true&limit=1")["runs"] == []
    assert served.get("traces/labels") == ask(yard, "list", "--labels")
    assert served.get("traces/t1.1") == ask(yard, "show", "t1.1")
    assert len(served.get("traces/t1.1?limit=1")["steps"]) == 1
    assert served.get("traces/diff?left=t1.1&right=t2.1") == ask(yard, "diff", "t1.1", "t2.1")
    for path, status in (("traces/t9.1", 404), ("traces/diff?left=t1.1", 400), ("traces?limit=0", 400)):
        assert served.ask("GET", f"/api/v1/{path}").status == status

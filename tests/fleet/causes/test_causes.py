"""What follows from why attempts failed, in fleets of scripted agents that meet real trouble."""

import json
import socket
import sys

from paddock.core.causes.model import Cause
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.leases.lease import LeaseGranted
from paddock.core.tasks.task import Phase
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Step, Yard, commit, write

FOLLOWS = {"PADDOCK_INSIGHT_FOLLOW": "true"}
FIGHT = """
import os, socket, sys, time
folder, port, many = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
own = os.urandom(8).hex()
def marks(kind):
    return sum(name.startswith(kind) for name in os.listdir(folder))
def await_marks(kind, count):
    end = time.monotonic() + 60
    while marks(kind) < count and time.monotonic() < end:
        time.sleep(0.01)
open(f"{folder}/here-{own}", "w").close()
await_marks("here", many)
held = socket.socket()
try:
    held.bind(("127.0.0.1", port))
    held.listen()
except OSError:
    open(f"{folder}/lost-{own}", "w").close()
    print(f"Error: listen EADDRINUSE: address already in use 127.0.0.1:{port}")
    sys.exit(1)
await_marks("lost", many - 1)
time.sleep(0.1)
"""
"""All who fight are there before one of them wins; the winner has it until all others have lost."""


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
        return port


def run(*words: str, **more: object) -> Step:
    return {"run": list(words), "must_pass": True, **more}


def only_cause(yard: Yard) -> Cause:
    [cause] = yard.board().causes.standing.values()
    return cause


def test_agents_that_fought_over_a_port_take_turns_and_all_deliver(make_yard: MakeYard) -> None:
    many = 6
    yard = make_yard(PADDOCK_LIMITS_MAX_AGENTS=str(many), **FOLLOWS)
    ring = yard.folder / "ring"
    ring.mkdir()
    port = free_port()
    fight = run(sys.executable, "-c", FIGHT, str(ring), str(port), str(many))
    names = [yard.add(fight, write(f"{number}.txt"), commit()) for number in range(many)]
    yard.run()
    tasks = [yard.task(name) for name in names]
    assert [task.phase for task in tasks] == [Phase.APPROVAL] * many
    assert sorted(task.started for task in tasks) == [1] + [2] * (many - 1), "n - 1 of n failed, each once"
    assert [task.counted for task in tasks] == [0] * many, "it was nobody's failure"
    cause = only_cause(yard)
    assert (cause.cause, cause.count) == (FailureCause.CONTENTION, many - 1)
    assert cause.resource == f"port:{port}"
    granted = (record.event for record in yard.records(LeaseGranted))
    turns = [one.name for one in granted if isinstance(one, LeaseGranted) and one.name.startswith("turn:")]
    assert turns == [f"turn:{cause.resource}"] * (many - 1), "one after the other"


def test_a_missing_tool_blocks_each_task_once_and_clearing_the_cause_lets_them_go_on(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_LIMITS_MAX_AGENTS="3", **FOLLOWS)
    tool = yard.folder / "bin" / "frobnicate"
    tool.parent.mkdir()
    shell = f"PATH={tool.parent}:$PATH; frobnicate"
    names = [yard.add(run("sh", "-c", shell), write(f"{number}.txt"), commit()) for number in range(4)]
    yard.run()
    cause = only_cause(yard)
    assert cause.cause is FailureCause.DEPENDENCY
    for name in names:
        task = yard.task(name)
        assert (task.phase, task.started, task.counted) == (Phase.BLOCKED, 1, 0)
        assert "frobnicate" in task.reason
        assert task.unblock == f"paddock failures clear {cause.id}"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    yard.paddock("failures", "clear", cause.id, "--reason", "it is installed")
    yard.run()
    assert [yard.task(name).phase for name in names] == [Phase.APPROVAL] * 4


def test_an_engine_that_never_runs_is_stopped_after_three_and_the_others_go_on(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_LIMITS_MAX_AGENTS="1", **FOLLOWS)
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text() + '[engines.broken]\ncommand = ["no-such-agent-cli"]\n')
    broken = [yard.add(write("a.txt"), commit(), engine="broken") for _ in range(4)]
    sound = yard.add(write("b.txt"), commit())
    yard.run()
    assert sum(yard.task(name).started for name in broken) == 3
    assert yard.task(sound).phase is Phase.APPROVAL
    cause = only_cause(yard)
    [stopped] = json.loads(yard.paddock("status", "--json"))["stopped"]
    assert stopped["unblock"] == f"paddock engines check broken, then paddock failures clear {cause.id}"
    assert "no-such-agent-cli" in stopped["reason"]


def test_a_turn_that_timed_out_in_a_rate_limit_is_tried_again_for_nothing(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_LIMITS_MAX_AGENTS="2", PADDOCK_TIMEOUTS_TURN="3s", **FOLLOWS)
    limited: list[Step] = [{"rate_limited": 2.5, "recovers": True, "attempt": 1}, {"hang": 60, "attempt": 1}]
    names = [yard.add(*limited, write(f"{number}.txt"), commit()) for number in range(2)]
    yard.run()
    tasks = [yard.task(name) for name in names]
    assert [(task.phase, task.counted) for task in tasks] == [(Phase.APPROVAL, 0)] * 2


def test_a_probe_repeats_what_failed_with_another_account_and_settles_the_cause(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_LIMITS_MAX_AGENTS="2", **FOLLOWS)
    config = yard.top / "paddock.toml"
    other = '[engines.other]\nlike = "scripted"\naccount = "second"\nset = { PAID = "yes" }\n'
    config.write_text(config.read_text() + other)
    odd = run("sh", "-c", 'test -n "$PAID" || { echo the widget is at odds with itself; exit 1; }')
    yard.add({"say": "on it"}, odd, write("a.txt"), commit(), attempts=2)
    yard.run()
    cause = only_cause(yard)
    assert (cause.cause, cause.count, yard.task("t1").phase) == (FailureCause.UNKNOWN, 2, Phase.FAILED)
    probed = json.loads(yard.paddock("failures", "probe", cause.id, "--json"))
    assert probed["tasks"] == {"unchanged": "t2", "another-account": "t3"}
    assert [words.partition(":")[0] for words in probed["skipped"]] == ["another host"]
    yard.paddock("failures", "probe", cause.id, code=1)
    yard.paddock("cancel", "t1")
    yard.run()
    cause = only_cause(yard)
    told = ("repeated unchanged, it failed again", "repeated with another account, it went well")
    assert (cause.is_settled, cause.cause, cause.settled) == (True, FailureCause.RATE_LIMIT, told)
    assert yard.task("t3").phase is Phase.CANCELLED, "what only probed does not wait for anybody"

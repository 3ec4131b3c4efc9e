"""What `show`, `tail`, `costs` and `engines check` let a person see of attempts and of engines."""

import json
import re
from pathlib import Path

import pytest

from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard, commit, write

QUIET_AGENT = """\
import json, sys
print(json.dumps({"type": "thread.started", "thread_id": "one"}))
item = {"id": "1", "type": "agent_message", "text": "I have looked."}
print(json.dumps({"type": "item.completed", "item": item}))
print("fatal: it broke", file=sys.stderr)
sys.exit(4)
"""

CACHING_AGENT = """\
import json
def say(**told): print(json.dumps({**told, "session_id": "s"}))
say(type="system", subtype="init", model="claude-opus-4-5", tools=[])
for number, cached in (1, 900), (2, 1000):
    usage = {"input_tokens": 100, "cache_read_input_tokens": cached, "output_tokens": 5}
    message = {"id": f"m{number}", "role": "assistant", "model": "claude-opus-4-5", "usage": usage}
    say(type="assistant", message={**message, "content": [{"type": "text", "text": "I look."}]})
total = {"input_tokens": 200, "cache_read_input_tokens": 1900, "output_tokens": 10}
say(type="result", subtype="success", result="done", usage=total, total_cost_usd=0.02)
"""


def engine(yard: Yard, table: str) -> None:
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text() + table)


def test_show_tells_files_tools_tokens_and_cost(yard: Yard) -> None:
    usage = {"usage": {"input_tokens": 1500, "output_tokens": 20, "cost": 0.02}}
    yard.add(write("a.txt"), write("b.txt"), commit("Add both"), {"run": ["true"]}, usage)
    yard.run(code=0)
    said = yard.paddock("show", "t1")
    assert "1,500 tokens in, 20 out · $0.0200" in said
    assert "files     A a.txt, A b.txt" in said
    assert "tools     Write ×2, Bash ×2" in said
    work = json.loads(yard.paddock("show", "t1", "--json"))["work"]["t1.1"]
    assert work["files"] == [{"how": "A", "path": "a.txt"}, {"how": "A", "path": "b.txt"}]
    assert (work["tool_calls"], work["stderr"], work["stopped"]) == ({"Write": 2, "Bash": 2}, [], "")


def test_a_failure_is_shown_with_its_stderr_and_tokens_nobody_told_as_unknown(yard: Yard) -> None:
    program = yard.folder / "agent.py"
    program.write_text(QUIET_AGENT)
    engine(yard, f'[engines.quiet]\ncommand = ["python3", "{program}", "{{prompt}}"]\nformat = "codex-jsonl"\n')
    yard.add_all([{"brief": "x", "engine": "quiet", "attempts": 1}])
    yard.run(code=1)
    said = yard.paddock("show", "t1")
    assert "tokens and cost unknown" in said
    assert re.search(r"stderr +fatal: it broke", said)
    costs = yard.paddock("costs").splitlines()
    assert re.fullmatch(r"t1 +1 +unknown +unknown +unknown +-", costs[1])
    row = json.loads(yard.paddock("costs", "--json"))["rows"][0]
    assert (row["cost_usd"], row["unknown_turns"], row["uncounted_calls"]) == (None, 1, 1)
    assert "tokens unknown" in yard.paddock("tail", "t1")
    attempt = yard.attempt()
    assert attempt.assumed_usd > 0, "budgets count it as it was expected"
    assert attempt.assumed_tokens > 0


@pytest.mark.parametrize("follow", ["true", "false"])
def test_costs_know_right_after_a_run_what_only_its_transcript_tells(make_yard: MakeYard, follow: str) -> None:
    yard = make_yard(PADDOCK_INSIGHT_FOLLOW=follow, PADDOCK_INSIGHT_EVERY="1h")
    program = yard.folder / "agent.py"
    program.write_text(CACHING_AGENT)
    engine(yard, f'[engines.caching]\ncommand = ["python3", "{program}", "{{prompt}}"]\nformat = "claude-stream"\n')
    yard.add_all([{"brief": "x", "engine": "caching", "attempts": 1}])
    yard.run()
    [start] = json.loads(yard.paddock("costs", "--json"))["agents"]
    assert (start["calls"], start["warm"], start["warmth_unknown"]) == (2, 1, 0)
    assert start["share_of_input"] > 0.9


def test_show_tells_who_stopped_an_attempt_and_why(yard: Yard) -> None:
    ready = yard.folder / "ready"
    yard.add({"run": ["touch", str(ready)]}, {"hang": True})
    fleet = yard.start("run", "--until-idle")
    yard.await_that(ready.exists, "the agent")
    yard.paddock("stop", "t1", "-m", "wrong \x1b[31mapproach")
    assert fleet.wait() == 1, fleet.words
    assert re.search(r"stopped +by \S+: wrong �\[31mapproach\n", yard.paddock("show", "t1"))
    work = json.loads(yard.paddock("show", "t1", "--json"))["work"]["t1.1"]
    assert work["stopped"].endswith("approach")


def test_an_engine_is_checked_in_a_worktree_with_what_an_attempt_has(make_yard: MakeYard) -> None:
    yard = make_yard(SECRET_OF_MINE="x")
    told = yard.folder / "told"
    script = f"(pwd; git rev-parse --git-common-dir; env) > {told}; echo ready"
    engine(yard, f'[engines.nosy]\ncommand = ["sh", "-c", "{script}"]\n')
    yard.paddock("engines", "check", "nosy")
    place, common, *environment = told.read_text().splitlines()
    assert Path(place).parent.name == ".check"
    assert Path(place).parent.parent == yard.folder / "app.paddock"
    assert Path(common) == Path(place).with_name(f".{Path(place).name}") / "repo"
    assert not Path(common).exists()
    assert f"PADDOCK_WORKTREE={place}" in environment
    assert not any(line.startswith("SECRET_OF_MINE=") for line in environment)
    assert not Path(place).exists()
    assert not (yard.folder / "app.paddock" / ".check").exists()


def test_a_check_ends_in_time_and_says_what_was_heard(make_yard: MakeYard) -> None:
    yard = make_yard()
    engine(yard, '[engines.slow]\ncommand = ["sh", "-c", "echo thinking; sleep 600"]\n')
    # Making the worktree and starting the shell are part of it.
    said = yard.paddock("engines", "check", "slow", "--timeout", "5", code=1)
    assert "no answer within 5 s: its turn was still running; it had said: thinking" in said
    assert "hint: `--timeout 15` waits longer" in said
    assert not (yard.folder / "app.paddock" / ".check").exists()

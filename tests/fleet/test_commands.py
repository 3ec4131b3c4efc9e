"""What the fleet's commands print, whole, and how they end."""

import json
import re
from pathlib import Path

from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard, commit, play, write

STEPS = (
    write("a.txt", "hi\nthere\n"),
    commit("Add a"),
    {"run": ["seq", "5"]},
    {"run": ["false"]},
    {"say": "\x1b[31mred\x1b[0m done"},
    {"usage": {"input_tokens": 1500, "output_tokens": 20, "cost": 0.02}},
)

TAIL = """\
── turn 1 at TIME
task from tester@HOST:
│ PROMPT
TIME ── session SESSION scripted
TIME ▸ Write a.txt
TIME     +hi
             +there
TIME   ok: ok
TIME ▸ Bash git add -A && git commit -m 'Add a'
TIME   ok
TIME ▸ Bash seq 5
TIME   ok: 1  (+4 lines)
TIME ▸ Bash false
TIME   error
TIME �[31mred�[0m done
TIME   1,500 tokens in, 20 out, $0.0200
TIME ── done: completed
"""

DIFF = """\
diff --git a/a.txt b/a.txt
new file mode 100644
index 0000000..0e2f46c
--- /dev/null
+++ b/a.txt
@@ -0,0 +1,2 @@
+hi
+there
"""

PROMPT = """\
You repair things.

# Task t1: Fix the gate
Make it close.

# Your paths
Change nothing outside:
- src/**

# How to finish
You are alone in this git worktree, on branch `paddock/t1-fix-the-gate`. Commit your work here: what is not \
committed does not count. Do not push, and do not switch, merge or rebase branches.
If only a person can decide something, run `paddock ask "..."` and end your turn: the answer is your next message.
If nothing needs to change, commit nothing and end with this line:
PADDOCK-NOOP: <reason>
"""


def without_clock(text: str) -> list[str]:
    """Lines without the time of day."""
    return [re.sub(r"^\d\d:\d\d:\d\d  ", "", line) for line in text.splitlines()]


def without_session(text: str) -> str:
    for pattern, word in (
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "SESSION"),
        (r"\d\d:\d\d:\d\d", "TIME"),
        (r"(?m)^│ .*$", "│ PROMPT"),
        (r"(?m)@\S+:$", "@HOST:"),
    ):
        text = re.sub(pattern, word, text)
    return text


def test_run_tells_plainly_what_happens_and_ends_with_0_when_nothing_failed(yard: Yard) -> None:
    yard.add(*STEPS)
    said = yard.run(code=0)
    assert without_clock(said) == [
        "t1.1    started with scripted",
        "t1.1    delivered: 1 commit (+2 −0 in 1 file)",
        "1 task is waiting for your approval: `paddock diff t1`, then `paddock land t1`",
    ]


def test_run_ends_with_1_when_a_task_failed(yard: Yard) -> None:
    yard.add({"say": "all done, believe me"}, attempts=2)
    assert without_clock(yard.run(code=1)) == [
        "t1.1    started with scripted",
        "t1.1    empty: reported done but committed nothing; will be retried",
        "t1.2    continues with scripted where t1.1 ended",
        "t1.2    empty: reported done but committed nothing; no attempts left",
    ]


def test_run_ends_with_1_and_names_the_cure_when_a_person_is_needed(yard: Yard) -> None:
    yard.add({"auth_failed": True})
    assert without_clock(yard.run(code=1))[-1].endswith(
        "needs you: paddock engines check scripted, then paddock retry t1"
    )


def test_run_only_touches_the_tasks_it_was_told(yard: Yard) -> None:
    done = play(write("a.txt"), commit("Add a"))
    yard.add_all([{"brief": done}, {"brief": done}, {"brief": play({"fail": "no"})}])
    yard.run("--only", "t2", code=0)
    assert [yard.task(name).phase.value for name in ("t1", "t2", "t3")] == ["ready", "approval", "ready"]
    assert "there is no task `t9`" in yard.paddock("run", "--only", "t9", code=1)


def test_run_starts_no_more_agents_than_it_may(make_yard: MakeYard) -> None:
    yard = make_yard()
    counted = yard.folder / "counted"
    # Each agent writes down how many are at work, when it begins and before it leaves.
    busy = f"echo $(ls '{yard.folder}' | grep -c at-work) >> '{counted}'"
    enter = {"run": ["sh", "-c", f"touch '{yard.folder}'/at-work-$PADDOCK_TASK && {busy}"]}
    leave = {"run": ["sh", "-c", f"{busy}; rm '{yard.folder}'/at-work-$PADDOCK_TASK"]}
    yard.add_all([{"brief": play(enter, {"think": 0.2}, leave, {"noop": "counted"})} for _ in range(6)])
    yard.run("--max", "2", code=0)
    assert set(counted.read_text().split()) <= {"1", "2"}


def test_tail_renders_what_an_agent_did_and_lets_no_control_character_through(yard: Yard) -> None:
    yard.add(*STEPS)
    yard.run()
    assert without_session(yard.paddock("tail", "t1")) == TAIL
    assert yard.paddock("tail", "t1.1") == yard.paddock("tail", "T1")


def test_tail_raw_is_byte_for_byte_and_json_is_one_entry_a_line(yard: Yard) -> None:
    yard.add(*STEPS)
    yard.run()
    raw = yard.attempt_folder("t1.1") / "turn-1.out"
    assert yard.paddock("tail", "t1", "--raw") == raw.read_text()
    kinds = [json.loads(line)["type"] for line in yard.paddock("tail", "t1", "--json").splitlines()]
    assert kinds[:2] == ["turn", "session"]
    assert kinds[-1] == "end"
    assert kinds.count("call") == 4


def test_tail_follows_a_running_agent_through_its_turns_to_the_end(yard: Yard) -> None:
    ready, gate = yard.folder / "ready", yard.folder / "gate"
    yard.add({"say": "first words"}, {"run": ["touch", str(ready)]}, {"wait_for": str(gate)}, {"say": "last words"})
    fleet = yard.start("run", "--until-idle")
    yard.await_that(ready.exists, "the agent")
    tail = yard.start("tail", "-f", "t1")
    tail.await_words(" first words")
    assert " last words" not in tail.words
    yard.paddock("message", "t1", play(write("a.txt"), commit("Add a"), {"say": "second turn"}))
    gate.touch()
    assert tail.wait() == 0
    fleet.wait()
    asked = [line for line in tail.words.splitlines() if line.startswith("│")]
    assert ["second turn" in line for line in asked] == [False, True], "what began each turn is told"
    said = "\n".join(line for line in tail.words.splitlines() if line not in asked)
    assert said.index("first words") < said.index("last words") < said.index("second turn")
    assert said.splitlines()[-1] == "── t1.1 delivered: 1 commit"
    for words in ("first words", "last words", "second turn"):
        assert said.count(words) == 1


def test_tail_of_a_task_nobody_has_begun_says_so(yard: Yard) -> None:
    yard.add(*STEPS)
    assert yard.paddock("tail", "t1", code=1) == (
        "error: task `t1` has had no agent yet\n\nhint: `paddock run` starts one when it is ready\n"
    )


def test_diff_shows_the_change_against_where_it_started(yard: Yard) -> None:
    yard.add(*STEPS)
    yard.run()
    (yard.top / "elsewhere.txt").write_text("main moves on\n")
    yard.git("add", "-A")
    yard.git("commit", "-q", "-m", "Elsewhere")
    assert yard.paddock("diff", "t1") == DIFF
    assert yard.paddock("diff", "t1", "--stat") == " a.txt | 2 ++\n 1 file changed, 2 insertions(+)\n"
    assert yard.paddock("diff", "t1", "--name-only") == "a.txt\n"


def test_gc_frees_what_ended_attempts_left_and_says_how_much(yard: Yard) -> None:
    yard.add(*STEPS)
    yard.run()
    [slot] = [path for path in yard.worktrees.path.iterdir() if path.name.startswith("w")]
    assert yard.paddock("gc") == "nothing to remove\n", "its agent may be told more"
    yard.paddock("cancel", "t1")
    planned = yard.paddock("gc", "--dry-run")
    assert re.fullmatch(rf"surplus +\d+ KB  {slot}\nwould free \d+ KB\n", planned)
    assert slot.exists()
    assert yard.paddock("gc") == planned.replace("would free", "freed")
    assert not slot.exists()
    assert yard.paddock("gc") == "nothing to remove\n"
    assert yard.paddock("diff", "t1") == DIFF


def test_gc_spares_the_worktree_of_an_agent_at_work(yard: Yard) -> None:
    ready, gate = yard.folder / "ready", yard.folder / "gate"
    yard.add(write("a.txt"), {"run": ["touch", str(ready)]}, {"wait_for": str(gate)}, commit("Add a"))
    fleet = yard.start("run", "--until-idle")
    yard.await_that(ready.exists, "the agent")
    assert yard.paddock("gc") == "nothing to remove\n"
    gate.touch()
    assert fleet.wait() == 0, fleet.words
    assert yard.attempt().outcome == "delivered"


def test_engines_tells_what_is_here_and_check_makes_a_round_trip(make_yard: MakeYard) -> None:
    yard = make_yard()
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text() + '[engines.sh]\ncommand = ["sh", "-c", "{task}"]\n')
    rows = {row["name"]: row for row in json.loads(yard.paddock("engines", "--json"))["engines"]}
    assert rows["scripted"]["installed"]
    assert rows["scripted"]["authenticated"]
    assert rows["sh"]["installed"]
    assert {"claude", "codex", "aider", "opencode", "gemini", "qwen", "copilot", "cn"} <= set(rows)
    lines = yard.paddock("engines").splitlines()
    assert len(lines) == len(rows)
    assert "  answer: ready" in yard.paddock("engines", "check", "sh")


def test_engines_check_ends_with_1_and_a_hint_for_what_is_missing(make_yard: MakeYard) -> None:
    yard = make_yard()
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text() + '[engines.mine]\ncommand = ["no-such-tool", "{prompt}"]\n')
    said = yard.paddock("engines", "check", "mine", code=1)
    assert "no answer: it is not installed" in said
    assert "unknown engine `clade`" in yard.paddock("engines", "check", "clade", code=2)


def test_show_prompt_is_the_whole_prompt_and_nothing_else(make_yard: MakeYard) -> None:
    yard = make_yard()
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text() + '[agents.fixer]\nbrief = "You repair things."\nowns = ["src/**"]\n')
    yard.add_all([{"title": "Fix the gate", "brief": "Make it close.", "agent": "fixer"}])
    assert yard.paddock("show", "t1", "--prompt") == PROMPT


def test_an_agent_gets_exactly_the_prompt_that_is_shown(make_yard: MakeYard) -> None:
    yard = make_yard()
    seen = yard.folder / "seen"
    config = yard.top / "paddock.toml"
    config.write_text(
        config.read_text()
        + f'[engines.scribe]\ncommand = ["sh", "-c", "cat \\"$1\\" > {seen}", "x", "{{prompt_file}}"]\n'
    )
    yard.add_all([{"title": "Fix the gate", "brief": "Make it close.", "engine": "scribe", "attempts": 1}])
    shown = yard.paddock("show", "t1", "--prompt")
    yard.run(code=1)
    assert Path(seen).read_text().rstrip("\n") == shown.rstrip("\n")


def test_any_shell_script_is_an_agent(make_yard: MakeYard) -> None:
    yard = make_yard()
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text() + '[engines.sh]\ncommand = ["bash", "-c", "{task}"]\n')
    brief = "echo hi > a.txt && git add a.txt && git commit -qm 'Add a'"
    yard.add_all([{"brief": brief, "engine": "sh"}, {"brief": "exit 3", "engine": "sh", "attempts": 1}])
    yard.run(code=1)
    assert yard.task("t1").phase == "approval"
    assert yard.attempt("t2").reason == "exit 3"


def test_a_task_nobody_can_run_is_blocked_with_the_cure(make_yard: MakeYard) -> None:
    yard = make_yard()
    yard.add_all([{"brief": "x"}])
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text().replace('engine = "scripted"', ""))
    yard.run(code=1)
    task = yard.task()
    assert (task.phase, task.reason) == ("blocked", "no engine is set for `t1`")
    assert task.unblock == "paddock edit t1 --engine …, then paddock retry t1"

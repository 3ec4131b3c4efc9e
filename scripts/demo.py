"""`make demo`: a fleet of scripted agents fixes a throw-away project, live, and the merge queue lands it.

Twelve tests of the project are known to fail. Twelve agents fix one function each; one crashes first, one
hangs, one says it is done and is not, two are at odds over the same line. No account, no network.

`make demo WEB=1` shows the same in the browser: slowly enough to watch, until Ctrl-C.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIXES: dict[str, tuple[str, str, str]] = {
    "clamp": ("a, low, high", "max(a, high)", "max(low, min(a, high))"),
    "words": ("text", "len(text)", "len(text.split())"),
    "add": ("a, b", "a - b", "a + b"),
    "triple": ("a", "a + 3", "a * 3"),
    "is_even": ("a", "a % 2 == 1", "a % 2 == 0"),
    "largest": ("items", "min(items)", "max(items)"),
    "last": ("items", "items[0]", "items[-1]"),
    "backwards": ("text", "text", "text[::-1]"),
    "shout": ("text", "text.lower()", "text.upper()"),
    "initials": ("text", "text[:2]", "''.join(word[0] for word in text.split())"),
    "average": ("items", "sum(items)", "sum(items) / len(items)"),
    "unique": ("items", "items", "sorted(set(items))"),
}
EXPECT: dict[str, str] = {
    "add": "add(2, 3) == 5",
    "triple": "triple(4) == 12",
    "is_even": "is_even(4)",
    "largest": "largest([1, 9, 4]) == 9",
    "last": "last([1, 2, 3]) == 3",
    "backwards": "backwards('abc') == 'cba'",
    "shout": "shout('hi') == 'HI'",
    "initials": "initials('ada lovelace') == 'al'",
    "average": "average([2, 4]) == 3",
    "unique": "unique([2, 1, 2]) == [1, 2]",
    "clamp": "clamp(7, 1, 5) == 5",
    "words": "words('three short words') == 3",
}
CONFIG = """\
main = "main"
engine = "scripted"

[limits]
max_agents = 6
adapt_to_load = false
inline = false

[timeouts]
silence = "{silence}s"
grace = "1s"

[land]
ci = "{ci}"
slots = 2
approval = "none"
protected = {protected}

[engines.scripted]
args = ["--plays", {plays}]
"""

THOUGHTS = ("The function returns the wrong thing", "Its test is known to fail: no longer", "Does it pass?", "It does")

Step = dict[str, object]


@dataclass(frozen=True, slots=True)
class Pace:
    """How slowly it goes: `think` multiplies the pauses of agents, `ci_seconds` is what a CI run takes at the least."""

    think: float
    ci_seconds: int
    silence_seconds: int
    protected: tuple[str, ...] = ()


QUICK = Pace(think=1.0, ci_seconds=0, silence_seconds=4)
# A person approves what touches VERSION, so that there is something to decide.
TO_WATCH = Pace(think=6.0, ci_seconds=8, silence_seconds=30, protected=("VERSION",))


def main() -> int:
    web = sys.argv[1:] == ["--web"]
    folder = Path(tempfile.mkdtemp(prefix="paddock-demo-"))
    project = folder / "toolbox"
    keep = bool(os.environ.get("PADDOCK_DEMO_KEEP"))
    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, lambda *_: sys.exit(1))
    try:
        make_project(project, TO_WATCH if web else QUICK)
        return play_in_the_browser(project) if web else play(project)
    finally:
        paddock(project, "down", "--now", quiet=True)
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def make_project(project: Path, pace: Pace = QUICK) -> None:
    (project / "tests").mkdir(parents=True)
    (project / "tests" / "__init__.py").touch()
    (project / "VERSION").write_text("toolbox 1.0\n")
    for name, (arguments, wrong, _) in FIXES.items():
        (project / f"{name}.py").write_text(f"def {name}({arguments}):\n    return {wrong}\n")
        (project / "tests" / f"test_{name}.py").write_text(
            f"import unittest\n\nfrom {name} import {name}\n\n\nclass Test(unittest.TestCase):\n"
            f"    @unittest.expectedFailure\n    def test_{name}(self):\n        self.assertTrue({EXPECT[name]})\n"
        )
    (project / "paddock.toml").write_text(config(project, pace))
    (project / ".gitignore").write_text("__pycache__/\n")
    git(project, "init", "-q", "-b", "main")
    git(project, "add", "-A")
    git(
        project,
        "-c",
        "user.name=Demo",
        "-c",
        "user.email=demo@localhost",
        "commit",
        "-qm",
        "A toolbox that mostly fails",
    )


def plays_of(project: Path) -> Path:
    """What each agent does, in a file named like the first line of its task."""
    return project.parent / "plays"


def config(project: Path, pace: Pace) -> str:
    pause = f"sleep {pace.ci_seconds} && " if pace.ci_seconds else ""
    return CONFIG.format(
        ci=f"{pause}{sys.executable} -m unittest -q",
        silence=pace.silence_seconds,
        protected=json.dumps(list(pace.protected)),
        plays=json.dumps(str(plays_of(project))),
    )


def convoy() -> dict[str, object]:
    tasks = [{"key": name, "title": f"Fix {name}", "brief": brief_of(name)} for name in FIXES]
    return {"convoy": "toolbox", "title": "Make every test pass", "tasks": tasks}


def brief_of(name: str) -> str:
    return (
        f"Fix {name}\n\n`{name}.py` returns the wrong thing, and `tests/test_{name}.py` is marked as known to fail for "
        f"it. Make `{name}` do what its test expects, remove the mark, and run the test. Change nothing else."
    )


def write_plays(folder: Path, pace: Pace) -> None:
    folder.mkdir()
    for number, name in enumerate(FIXES):
        script: list[Step] = [{"say": f"Looking at {name}.py"}, {"think": pace.think * (1.0 + (number // 2 % 4) * 0.5)}]
        script += trouble_of(name)
        script += slowly(fix(name), pace)
        if name in ("clamp", "words"):
            script += quarrel(name)
        script.append({"done": f"{name} works now"})
        (folder / f"fix-{name.replace('_', '-')}.json").write_text(json.dumps(script))


def slowly(steps: list[Step], pace: Pace) -> list[Step]:
    """With a word and a pause before each step, and what it costs."""
    if pace is QUICK:
        return steps
    paced: list[Step] = [{"usage": {"cost": 0.31, "input_tokens": 24_000, "output_tokens": 1_900}}]
    for thought, step in zip(THOUGHTS, steps, strict=True):
        paced += [{"say": thought}, {"think": pace.think / 2}, step]
    return paced


def trouble_of(name: str) -> list[Step]:
    first_time: dict[str, list[Step]] = {
        "is_even": [{"crash": 3, "attempt": 1}],
        "last": [{"hang": 600, "attempt": 1}],
        "shout": [{"done": "All done, the tests pass!", "attempt": 1}],
    }
    return first_time.get(name, [])


def fix(name: str) -> list[Step]:
    _, wrong, right = FIXES[name]
    test = f"tests/test_{name}.py"
    return [
        {"replace": f"{name}.py", "old": f"return {wrong}", "new": f"return {right}"},
        {"replace": test, "old": "    @unittest.expectedFailure\n", "new": ""},
        {"run": [sys.executable, "-m", "unittest", "-q", f"tests.test_{name}"]},
        {"commit": f"Fix {name}"},
    ]


def quarrel(name: str) -> list[Step]:
    """Both write the same line; whoever lands second is asked to rebase, and does."""
    mine = f"toolbox 1.1 with {name}\n"
    both = "toolbox 1.1 with clamp and words\n"
    return [
        {"write": "VERSION", "text": mine},
        {"commit": f"Announce {name}"},
        {"done": f"{name} works and is announced"},
        {"say": "Somebody was faster; rebasing", "attempt": 2},
        {"run": ["git", "rebase", "main"], "attempt": 2},
        {"write": "VERSION", "text": both, "attempt": 2},
        {"run": ["git", "add", "VERSION"], "attempt": 2},
        {"run": ["git", "-c", "core.editor=true", "rebase", "--continue"], "attempt": 2},
    ]


def play(project: Path) -> int:
    say("A toolbox of twelve functions; a test for each, and all twelve are known to fail:")
    show_tests(project)
    say("\nTwelve agents are given one function each (`paddock add --file convoy.json`):\n")
    add_tasks(project, QUICK)
    say("\nThe fleet runs (`paddock run --until-idle`). One agent crashes, one hangs, one claims to be done")
    say("and is not, two change the same line. Main moves only to what has passed the project's own tests.\n")
    started = time.monotonic()
    code = paddock(project, "run", "--until-idle")
    seconds = time.monotonic() - started
    say("\nHow it went (`paddock status --all`):\n")
    paddock(project, "status", "--all")
    tasks = read_tasks(project)
    say("\nWhat did not go well at first, and was dealt with:\n")
    tell_troubles(tasks)
    say("\nMain now, and its tests in a fresh clone:\n")
    subprocess.run(["git", "-C", str(project), "log", "--oneline", "--first-parent", "-4", "main"], check=False)
    green = main_is_green(project)
    landed = sum(task["phase"] == "landed" for task in tasks)
    colour = "green, with no known failures" if green else "RED"
    say(f"\n{landed} of 12 changes landed in {seconds:.0f} s; main is {colour}.\n")
    tell_what_next()
    return 0 if code == 0 and green and landed == 12 else 1


def add_tasks(project: Path, pace: Pace) -> None:
    plan = project.parent / "convoy.json"
    plan.write_text(json.dumps(convoy()))
    write_plays(plays_of(project), pace)
    paddock(project, "init", "--yes", quiet=True)
    paddock(project, "add", "--file", str(plan), quiet=pace is not QUICK)


def play_in_the_browser(project: Path) -> int:
    """The fleet and its page, until Ctrl-C, which every process here gets from the terminal."""
    say("A toolbox of twelve functions; a test for each, and all twelve are known to fail. Twelve agents fix one each:")
    say(
        "one crashes, one hangs, one claims to be done and is not, two change the same line, and those two wait for you"
    )
    say("to approve them. It takes about three minutes, then waits for more: add a task of your own on the page.")
    add_tasks(project, TO_WATCH)
    signal.signal(signal.SIGINT, lambda *_: None)
    with beside(project, "web", "--port", "0", stdout=subprocess.PIPE) as web:
        assert web.stdout is not None
        say(f"\n  {web.stdout.readline().strip()}\n\nCtrl-C ends the fleet and the page.\n")
        with beside(project, "run") as fleet:
            fleet.wait()
    return 0


@contextlib.contextmanager
def beside(project: Path, *words: str, stdout: int | None = None) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen([*PADDOCK, "-C", str(project), *words], stdout=stdout, text=True) as command:
        try:
            yield command
        finally:
            command.terminate()


def read_tasks(project: Path) -> list[dict[str, Any]]:
    status = subprocess.run([*PADDOCK, "-C", str(project), "status", "--json"], capture_output=True, check=True)
    tasks: list[dict[str, Any]] = json.loads(status.stdout)["tasks"]
    return tasks


def tell_troubles(tasks: list[dict[str, Any]]) -> None:
    for task in tasks:
        for attempt in task["attempts"][:-1]:
            sent_back = attempt["outcome"] == "delivered"
            why = "it did not merge with what had landed" if sent_back else attempt["reason"]
            say(f"  {attempt['id']:<5} {task['title']:<13} {attempt['outcome']}: {why}; tried again")


def tell_what_next() -> None:
    say("Your turn, in a repository of yours:\n")
    if shutil.which("paddock") is None:
        say(f'  export PATH="{Path(sys.executable).parent}:$PATH"')
    say('  paddock init && paddock add "what to do" && paddock run')


def show_tests(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "unittest", "-q"], cwd=project, capture_output=True, text=True, check=False
    )
    print("  " + done.stderr.strip().splitlines()[-1], flush=True)


def main_is_green(project: Path) -> bool:
    """Asked of git and the tests themselves, not of Paddock."""
    with tempfile.TemporaryDirectory() as scratch:
        git(project, "clone", "-q", "--branch", "main", str(project), f"{scratch}/check")
        done = subprocess.run(
            [sys.executable, "-m", "unittest"], cwd=f"{scratch}/check", capture_output=True, text=True, check=False
        )
    print("\n".join(line for line in done.stderr.strip().splitlines()[-3:] if line), flush=True)
    return done.returncode == 0 and "expected failures" not in done.stderr


PADDOCK = [sys.executable, "-m", "paddock"]


def paddock(project: Path, *words: str, quiet: bool = False) -> int:
    out = subprocess.DEVNULL if quiet else None
    return subprocess.run([*PADDOCK, "-C", str(project), *words], stdout=out, check=False).returncode


def git(project: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(project), *words], check=True, capture_output=True)


def say(words: str) -> None:
    print(words, flush=True)


if __name__ == "__main__":
    sys.exit(main())

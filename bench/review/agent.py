"""The worker and the reviewers of this benchmark, run as ordinary commands: `agent.py work|review HABITS PROMPT`.

A worker writes the file that its task asks for, with the flaw that the task plants; told of findings, it puts right
what is wrong and refutes the rest. A reviewer looks at the lines that a patch adds, sees a flaw of each kind with a
known chance, and at times one that is not there. Its dice are thrown by its name and what it looks at: it sees the
same in every fleet.

It may import nothing but light parts of the standard library: it is started hundreds of times.
"""

import json
import os
import random
import re
import sys
import time
import zlib

NEXT_ROUND = re.compile(r"\(review (\d+) of \d+\)")
SENT_BACK = re.compile(r"^(f\d+) `([^`:]+):(\d+)` \(", re.MULTILINE)
OPEN_FINDING = re.compile(r"^- (f\d+) \w+ (\S+):(\d+): (.*(?:\n  .*)*)", re.MULTILINE)
ORDER = re.compile(r"Write (\S+) \(flaw: (\w+)\)\.")
DISPUTED = re.compile(r"the worker disagrees: (.*)")

SOUND = {
    "bounds": "    for place in range(len(items)):",
    "error": "    except KeyError:",
    "handle": "    with open(path) as file:",
    "race": "    os.makedirs(folder, exist_ok=True)",
}
"""A line of each file for each kind of flaw, as it should be."""
FLAWED = {
    "bounds": "    for place in range(len(items) - 1):",
    "error": "    except Exception:",
    "handle": "    for file in [open(path)]:",
    "race": "    os.path.exists(folder) or os.mkdir(folder)",
}
CLAIMS = {
    "bounds": "the loop leaves out the last of the items",
    "error": "every exception is swallowed here, not only a missing key",
    "handle": "the file that is opened here is never closed",
    "race": "another process may make the folder between the look and the call",
}
KIND_OF = {line: kind for kind, line in FLAWED.items()}
FALSE_ALARM = "this might go wrong if the caller passes something else"
FILE = """\
import os


def total(items):
    result = 0
{bounds}
        result += items[place]
    return result


def look_up(table, key):
    try:
        return table[key]
{error}
        return None


def first_line(path):
{handle}
        return file.readline()


def prepare(folder):
{race}
    return folder
"""
Habits = dict[str, object]


def file_text(flaw: str) -> str:
    return FILE.format(**{**SOUND, **({flaw: FLAWED[flaw]} if flaw in FLAWED else {})})


def chance(*what: object) -> float:
    """The same number for the same words, anywhere."""
    return random.Random("/".join(map(str, what))).random()


def sees(habits: Habits, path: str, kind: str) -> bool:
    hits = habits["hits"]
    assert isinstance(hits, dict)
    return chance(habits["seed"], habits["name"], path, kind) < float(hits[kind])


def raises_alarm(habits: Habits, path: str, added: list[str]) -> str:
    """The line that it takes for wrong although nothing is; empty if there is none."""
    looks = zlib.crc32("\n".join(added).encode())
    throw = chance(habits["seed"], habits["name"], path, "alarm", looks)
    sound = [line for line in SOUND.values() if line in added]
    return sound[looks % len(sound)] if sound and throw < float(str(habits["alarm"])) else ""


def believes(habits: Habits, path: str, number: object, dispute: str) -> bool:
    """Whether it holds, or goes on to hold, an alarm that is false."""
    return chance(habits["seed"], habits["name"], path, number, dispute) >= float(str(habits["consent"]))


# -- the worker ---------------------------------------------------------------------------------------------------


def work(prompt: str) -> str:
    findings = SENT_BACK.findall(prompt)
    if not findings:
        ordered = ORDER.search(prompt)
        assert ordered is not None, prompt
        path, flaw = ordered.groups()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(file_text(flaw))
        commit(f"Add {path}")
        return "written"
    said, fixed = [], False
    for name, path, number in findings:
        if fix_line(path, int(number)):
            fixed = True
        else:
            rounds = NEXT_ROUND.search(prompt)
            said.append(f"PADDOCK-REFUTE: {name} it is as it should be, round {rounds[1] if rounds else 0}")
    if fixed:
        commit("Fix what the review found")
    return "\n".join(said) or "fixed"


def fix_line(path: str, number: int) -> bool:
    lines = read_lines(path)
    kind = KIND_OF.get(lines[number - 1])
    if kind is None:
        return False
    lines[number - 1] = SOUND[kind]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return True


def commit(message: str) -> None:
    run("git", "add", "-A")
    run("git", "commit", "-q", "-m", message)


# -- the reviewer -------------------------------------------------------------------------------------------------


def review(habits: Habits, prompt: str) -> str:
    change = prompt.partition("# The change\n")[2].partition("# Open findings")[0].partition("# How to finish")[0]
    path, added = read_patch(change)
    known = {(place, int(number)) for _, place, number, _ in OPEN_FINDING.findall(prompt)}
    lines = read_lines(path) if path else []
    found = [
        finding(path, lines.index(line) + 1, CLAIMS[kind])
        for line in added
        if (kind := KIND_OF.get(line)) is not None and sees(habits, path, kind)
    ]
    if alarm := raises_alarm(habits, path, added):
        found.append(finding(path, lines.index(alarm) + 1, FALSE_ALARM))
    answer = {
        "head": re.findall(r'"head": "([0-9a-f]{40})"', prompt)[-1],
        "findings": [one for one in found if (one["path"], one["line"]) not in known],
        "earlier": [rule(habits, *told) for told in OPEN_FINDING.findall(prompt)],
    }
    with open(os.environ["PADDOCK_ANSWER"], "w", encoding="utf-8") as file:
        json.dump(answer, file)
    return "reviewed"


def read_patch(text: str) -> tuple[str, list[str]]:
    """The file that a patch is about, and the lines that it adds."""
    lines = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    paths = [line[6:] for line in lines if line.startswith("+++ b/")]
    return (paths[0] if paths else ""), [line[1:] for line in lines if line[:1] == "+" and line[:4] != "+++ "]


def finding(path: str, line: int, claim: str) -> dict[str, object]:
    return {"path": path, "line": line, "severity": "error", "claim": claim, "evidence": "", "suggestion": ""}


def rule(habits: Habits, name: str, path: str, number: str, told: str) -> dict[str, str]:
    """Shown where to look, it sees what is really there; whether it believes a false alarm is its dice's choice."""
    if told.startswith(FALSE_ALARM):
        disputed = DISPUTED.search(told)
        believed = believes(habits, path, number, disputed[1] if disputed else "")
        return {"id": name, "now": "open" if believed else "refuted", "why": "looked at it"}
    there = read_lines(path)[int(number) - 1] in KIND_OF
    return {"id": name, "now": "open" if there else "fixed", "why": "looked at the line"}


# -- both ---------------------------------------------------------------------------------------------------------


def read_lines(path: str) -> list[str]:
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def run(*argv: str) -> None:
    child = os.posix_spawnp(argv[0], argv, os.environ)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        sys.exit(code)


def main() -> None:
    role, told, prompt = sys.argv[1:4]
    habits: Habits = json.loads(told)
    session = sys.argv[4] if len(sys.argv) > 4 else f"{os.getpid()}-{time.time_ns()}"
    time.sleep(float(str(habits["seconds"])))
    words = work(prompt) if role == "work" else review(habits, prompt)
    usage = {"input_tokens": habits["tokens"], "output_tokens": 0}
    message = {"id": "m1", "model": "scripted", "content": [{"type": "text", "text": words}], "usage": usage}
    print(json.dumps({"type": "assistant", "session_id": session, "message": message}))
    end = {"type": "result", "subtype": "success", "is_error": False, "result": words, "session_id": session}
    print(json.dumps({**end, "usage": usage, "total_cost_usd": habits["usd"]}), flush=True)


if __name__ == "__main__":
    main()

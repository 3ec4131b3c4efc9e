"""A reviewer for tests, run as an ordinary command: it reports every line of the tree that says BUG.

What it does otherwise is said in the task's brief, `MOODS=prose,sound`: a word for each of its turns, the last for
all that follow: `prose`, `wrong-head`, `nothing`, `crash`, `many`, `blind`, `agree` (what the worker refutes was
wrong). Told about earlier findings, it looks whether the line is still there.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path


def main() -> None:
    prompt = sys.argv[1]
    mood = choose(prompt)
    head = git("rev-parse", "HEAD").strip()
    place = Path(os.environ["PADDOCK_ANSWER"])
    if mood == "crash":
        sys.exit(3)
    if mood == "nothing":
        return
    if mood == "prose":
        place.write_text("It all looks good to me!")
        return
    found = [finding(line) for line in git("grep", "-n", "BUG", "HEAD", "--", check=False).splitlines()]
    if mood == "blind":
        found = []
    if mood == "many":
        found = [{**finding(f"HEAD:a.py:{number}:BUG {number}"), "claim": f"flaw {number}"} for number in range(500)]
    earlier = [rule(name, place_, found, mood, prompt) for name, place_ in listed(prompt)]
    open_now = {entry["place"] for entry in earlier}
    answer = {
        "head": "0" * 40 if mood == "wrong-head" else head,
        "summary": f"{len(found)} found",
        "findings": [one for one in found if f"{one['path']}:{one['line']}" not in open_now],
        "earlier": [{key: entry[key] for key in ("id", "now", "why")} for entry in earlier],
    }
    place.write_text(json.dumps(answer))


def choose(prompt: str) -> str:
    words = re.findall(r"MOODS=([a-z,-]+)", prompt)
    moods = words[0].split(",") if words else ["sound"]
    turn = int(os.environ["PADDOCK_ANSWER"].rsplit("-", 1)[-1])
    return moods[min(turn, len(moods)) - 1]


def finding(line: str) -> dict[str, object]:
    _, path, number, text = line.split(":", 3)
    return {
        "path": path,
        "line": int(number),
        "severity": "error",
        "claim": f"a bug: {text.strip()}",
        "evidence": text.strip(),
        "suggestion": "remove it",
    }


def listed(prompt: str) -> list[tuple[str, str]]:
    section = prompt.partition("# Open findings")[2].partition("# How to finish")[0]
    return re.findall(r"^- (f\d+) \w+ (\S+:\d+):", section, re.MULTILINE)


def rule(name: str, place: str, found: list[dict[str, object]], mood: str, prompt: str) -> dict[str, str]:
    there = any(f"{one['path']}:{one['line']}" == place for one in found)
    disputed = "the worker disagrees" in prompt.partition(f"- {name} ")[2].partition("\n- ")[0]
    now = "refuted" if mood == "agree" and disputed else "open" if there else "fixed"
    return {"id": name, "place": place, "now": now, "why": "looked at the line"}


def git(*words: str, check: bool = True) -> str:
    return subprocess.run(("git", *words), check=check, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()

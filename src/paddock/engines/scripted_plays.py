"""The play-list of a scripted turn: where it is found, what is played without one, and how its steps are read.

Imported by scripted.py, so it is as light.
"""

import json
import os

OPEN, CLOSE = "<<SCRIPT", "SCRIPT>>"
Step = dict[str, object]


def find_script(prompt: str) -> list[Step] | None:
    """The last play-list in the prompt. Raises ValueError when there is one that cannot be read."""
    end = prompt.rfind(CLOSE)
    start = prompt.rfind(OPEN, 0, max(end, 0))
    if start < 0:
        return None
    return as_script(prompt[start + len(OPEN) : end])


def own_words(prompt: str) -> str:
    """Without the brief of a change that is to be reviewed: what is played there is for its worker."""
    before, heading, rest = prompt.partition("# The task ")
    return before if heading and rest.partition("\n")[0].endswith(" that the change is for") else prompt


def as_script(text: str) -> list[Step]:
    script = json.loads(text)
    if not isinstance(script, list) or not all(isinstance(step, dict) for step in script):
        raise ValueError("a play-list is a list of objects")
    return script


def script_for(task: str, prompt: str, plays: str | None) -> list[Step]:
    """Without a play-list in the prompt: the one in the folder; where an answer is asked for, the shortest that can be
    used; or a note about the task, committed, so that there is something to land. Raises ValueError when there is one
    that cannot be read."""
    title = next((line.strip("# ") for line in task.splitlines() if line.strip()), "task")[:60]
    name = ("-".join("".join(c if c.isalnum() else " " for c in title.lower()).split()) or "task")[:40]
    if plays is not None:
        try:
            with open(os.path.join(plays, f"{name}.json"), encoding="utf-8") as file:
                return as_script(file.read())
        except FileNotFoundError:
            pass
    if "PADDOCK_ANSWER" in os.environ:
        return [{"answer": answer_for(task, title, name, prompt.rpartition("# How to finish")[2])}, {"say": "done"}]
    return [{"write": f"notes/{name}.md", "text": f"# {title}\n"}, {"commit": f"Note: {title}"}, {"say": "done"}]


def answer_for(task: str, title: str, name: str, asked: str) -> object:
    """Findings, a plan or a report, whichever is asked for."""
    if '"findings"' in asked:
        return {"head": "${HEAD}", "summary": "The scripted agent has not looked at anything.", "findings": []}
    if "your plan" in asked:
        return {"convoy": name, "title": title, "tasks": [{"key": "all", "title": title, "brief": task}]}
    return f"# {title}\n\nThe scripted agent has not looked at anything.\n"


def matches(wanted: object, now: int) -> bool:
    return wanted is None or now in as_list(wanted)


def earliest(wanted: object) -> int:
    return min((item for item in as_list(wanted) if isinstance(item, int)), default=0) if wanted else 0


def as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def number(value: object, default: float) -> float:
    """`{"hang": true}` means the default; `{"hang": 5}` means five."""
    return default if isinstance(value, bool) or not isinstance(value, int | float) else float(value)

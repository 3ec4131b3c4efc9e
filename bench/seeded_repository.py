"""A repository whose history has happened: branches of tasks, and the merges that landed some of them on main."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

IDENTITY = "Ana Ortiz <ana@example.invalid>"
CONFIG = """\
engine = "scripted"
[land]
ci = "true"
slots = 4
"""
FIRST = 1
_LINES = 40


@dataclass(frozen=True, slots=True)
class Sketch:
    """What a task changes: `insertions` and `deletions` lines in a file of its own. `at` is in epoch seconds."""

    title: str
    at: int
    insertions: int
    deletions: int
    delivers: bool = True

    def path(self, number: int) -> str:
        return f"harbor/{('api', 'core', 'jobs', 'web')[number % 4]}/part{number}.py"


@dataclass(frozen=True, slots=True)
class Commit:
    sha: str
    tree: str


@dataclass(frozen=True, slots=True)
class SeededHistory:
    """`heads` by task number; `mains[0]` is the first commit, `mains[n]` the one that train n made."""

    heads: dict[int, Commit]
    mains: list[Commit]


def make_repository(
    top: Path, tasks: Sequence[Sketch], trains: Sequence[tuple[int, tuple[int, ...]]], config: str = CONFIG
) -> SeededHistory:
    """Task numbers begin at 1. Each train is a time and the numbers it landed, in order; the rest stay on branches."""
    top.mkdir(parents=True, exist_ok=True)
    _git(top, "init", "-q", "-b", "main")
    marks = top / ".git" / "marks"
    stream = b"".join(_stream(tasks, trains, config))
    _git(top, "fast-import", "--quiet", f"--export-marks={marks}", stdin=stream)
    by_mark = dict(line.split() for line in marks.read_text().splitlines())
    trees = dict(line.split() for line in _git(top, "log", "--all", "--format=%H %T").splitlines())

    def commit(mark: int) -> Commit:
        sha = by_mark[f":{mark}"]
        return Commit(sha, trees[sha])

    heads = {number: commit(_head(number)) for number, task in enumerate(tasks, 1) if task.delivers}
    mains = [commit(FIRST), *(commit(_train(number)) for number in range(1, len(trains) + 1))]
    marks.unlink()
    _git(top, "reset", "-q", "--hard", "main")
    return SeededHistory(heads, mains)


def _head(number: int) -> int:
    return 2 * number


def _train(number: int) -> int:
    return 2 * number + 1


def _stream(tasks: Sequence[Sketch], trains: Sequence[tuple[int, tuple[int, ...]]], config: str) -> Iterator[bytes]:
    start = min(task.at for task in tasks) - 86_400
    yield _commit("main", FIRST, start, "Begin the harbour", ())
    yield _file("paddock.toml", config)
    yield _file("README.md", "# Harbour\n")
    for number, task in enumerate(tasks, 1):
        yield _file(task.path(number), _before(number))
    main = FIRST
    for place, (at, members) in enumerate(trains, 1):
        for number in members:
            yield from _branch(number, tasks[number - 1], main)
        title = tasks[members[0] - 1].title
        merged = f"Merge t{members[0]}: {title}" if len(members) == 1 else f"Merge {len(members)} changes"
        yield _commit("main", _train(place), at, merged, (main, *map(_head, members)))
        for number in members:
            yield _file(tasks[number - 1].path(number), _after(number, tasks[number - 1]))
        main = _train(place)
    landed = {number for _, members in trains for number in members}
    for number, task in enumerate(tasks, 1):
        if task.delivers and number not in landed:
            yield from _branch(number, task, main)


def _branch(number: int, task: Sketch, base: int) -> Iterator[bytes]:
    yield _commit(f"paddock/t{number}", _head(number), task.at, task.title, (base,))
    yield _file(task.path(number), _after(number, task))


def _commit(branch: str, mark: int, at: int, message: str, parents: tuple[int, ...]) -> bytes:
    text = message.encode()
    lines = [f"commit refs/heads/{branch}", f"mark :{mark}", f"committer {IDENTITY} {at} +0000", f"data {len(text)}"]
    joined = "".join(f"\n{'merge' if place else 'from'} :{parent}" for place, parent in enumerate(parents))
    return "\n".join(lines).encode() + b"\n" + text + joined.encode() + b"\n"


def _file(path: str, text: str) -> bytes:
    content = text.encode()
    return f"M 100644 inline {path}\ndata {len(content)}\n".encode() + content + b"\n"


def _before(number: int) -> str:
    return "".join(_function(number, line, "value") for line in range(_LINES // 4))


def _after(number: int, task: Sketch) -> str:
    """The first lines that return something are replaced, and the other new lines follow at the end."""
    lines = _before(number).splitlines(keepends=True)
    places = [place for place, line in enumerate(lines) if "return" in line][: task.deletions]
    for place in places:
        lines[place] = "    return checked(value)\n"
    added = [f"LIMIT_{line} = {line * 8}  # measured, not guessed\n" for line in range(task.insertions - len(places))]
    return "".join((*lines, *added))


def _function(number: int, line: int, name: str) -> str:
    return f'def step_{number}_{line}({name}):\n    """Step {line} of part {number}."""\n    return {name}\n\n'


def _git(top: Path, *words: str, stdin: bytes = b"") -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(top.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(("git", *words), cwd=top, env=env, input=stdin, check=True, capture_output=True, timeout=120)
    return done.stdout.decode()

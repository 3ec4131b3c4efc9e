"""A generated repository with a real test suite, and one branch for every change of a simulated world."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench.queue.world import World

# Every change adds one part. The suite is red when a part is bad or two parts meet that do not go together. Under
# the queue a run also takes its time, now and then twice as long, and now and then fails for no reason.
SUITE = """\
import json, os, pathlib, random, time, unittest

PARTS = {path.stem: json.loads(path.read_text()) for path in pathlib.Path("parts").glob("*.json")}
SECONDS, FLAKE, SLOW = map(float, os.environ.get("PARTS_CI", "0 0 0").split())


def setUpModule():
    if SECONDS:
        time.sleep(SECONDS * random.uniform(0.9, 1.1) * (2 if random.random() < SLOW else 1))


class Parts(unittest.TestCase):
    def test_each_part_is_good(self):
        self.assertEqual([], [name for name, part in PARTS.items() if not part["good"]])

    def test_parts_go_together(self):
        self.assertEqual([], [name for name, part in PARTS.items() if part["clashes"] in PARTS])

    def test_the_weather_is_fine(self):
        self.assertGreaterEqual(random.random(), FLAKE)


if __name__ == "__main__":
    unittest.main()
"""
SHARED = "".join(f"line {number}\n" for number in range(1, 400))


@dataclass(frozen=True, slots=True)
class Noise:
    """`seconds` is what a run sleeps, give or take a tenth; `flake` and `slow` are shares of runs."""

    seconds: float
    flake: float
    slow: float

    @property
    def text(self) -> str:
        return f"{self.seconds} {self.flake} {self.slow}"


def generate(top: Path, world: World, conflicts: int) -> list[str]:
    """Branches `c0` … of the world's changes, then `x0` …: each of those conflicts with one of the first, which is
    queued before it. Returns all names in the order they are to be queued."""
    subprocess.run(("git", "init", "--quiet", "-b", "main", str(top)), check=True, timeout=60)
    stream = _commit("main", "A project with tests", {"test_parts.py": SUITE, "shared.txt": SHARED}, None)
    pairs = _pairs(world, conflicts)
    names = [f"c{number}" for number in range(world.scenario.changes)]
    for number, name in enumerate(names):
        files = {f"parts/{name}.json": _part(world, number)}
        if number in pairs:
            files["shared.txt"] = _shared(pairs[number], name)
        stream += _commit(name, f"Add {name}", files, "main")
    for number, line in pairs.items():
        stream += _commit(f"x{line}", f"Contradict c{number}", {"shared.txt": _shared(line, f"x{line}")}, "main")
    argv = ("git", "-C", str(top), "fast-import", "--quiet")
    subprocess.run(argv, input=stream.encode(), check=True, capture_output=True, timeout=120)
    subprocess.run(("git", "-C", str(top), "reset", "--quiet", "--hard", "main"), check=True, timeout=60)
    return [*names, *(f"x{line}" for line in pairs.values())]


def _pairs(world: World, conflicts: int) -> dict[int, int]:
    """Changes that surely land, each with a line of the shared file to quarrel about."""
    clashing = {*world.partner, *world.partner.values()}
    sound = [n for n in range(world.scenario.changes) if n not in world.bad and n not in clashing]
    return {number: index for index, number in enumerate(sound[:conflicts])}


def _part(world: World, number: int) -> str:
    clashes = f"c{world.partner[number]}" if number in world.partner else ""
    return json.dumps({"good": number not in world.bad, "clashes": clashes}) + "\n"


def _shared(line: int, name: str) -> str:
    return SHARED.replace(f"line {line * 20 + 1}\n", f"line {line * 20 + 1}, as {name} has it\n")


def _commit(branch: str, message: str, files: dict[str, str], start: str | None) -> str:
    head = f"commit refs/heads/{branch}\ncommitter Bench <bench@example.invalid> 1700000000 +0000\n{_data(message)}"
    origin = f"from refs/heads/{start}\n" if start else ""
    return head + origin + "".join(f"M 100644 inline {path}\n{_data(text)}" for path, text in files.items())


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"

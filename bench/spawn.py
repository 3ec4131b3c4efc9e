"""From "ready" to the engine's exec: Paddock's worktrees against plain `git worktree add`, in the same run.

    python -m bench.spawn [--quick]

Prints a table and writes bench/out/spawn.json. As root each repository size gets a fresh ext4 image of its own,
because mass deletions slow down later file creation on some file systems; otherwise the temporary folder is used.
"""

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from paddock.git.disk import DiskFloor
from paddock.git.repo import discover
from paddock.git.worktrees.pool import fill
from paddock.git.worktrees.prepare import WorktreeOrder, prepare, release
from paddock.git.worktrees.slots import PortPlan, WorktreeRoot, default_root

OUT = Path(__file__).parent / "out"
GOALS = {
    **{(20_000, way): 0.2 for way in ("warm", "warm (used)")},
    **{(100_000, way): 0.1 for way in ("warm", "warm (used)")},
    **{(files, "cold"): 1.2 for files in (1_000, 20_000, 100_000)},
}


@dataclass(frozen=True, slots=True)
class Row:
    files: int
    way: str  # plain; cold; warm from a new, a used, an out-of-date pool entry
    median_ms: float
    fastest_ms: float
    slowest_ms: float
    ratio: float
    goal: float | None

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return ""
        return f"{'met' if self.ratio <= self.goal else 'MISSED'} (<= {self.goal}x)"


@dataclass(frozen=True, slots=True)
class Crowd:
    way: str
    wall_ms: float
    failed: int


@dataclass(frozen=True, slots=True)
class Ground:
    """A repository under test. `quick`: the disk need not be at rest before something is timed."""

    root: WorktreeRoot
    tip: str
    before: str
    folder: Path
    quick: bool


@contextlib.contextmanager
def fresh_disk(gigabytes: int) -> Iterator[tuple[Path, str]]:
    """An empty file system of its own where we may mount one, else a temporary folder; and which it was. No gigabytes:
    the folder."""
    with tempfile.TemporaryDirectory(prefix="paddock-spawn-") as name:
        image, mount = Path(name, "image"), Path(name, "mount")
        mount.mkdir()
        if not gigabytes or os.geteuid() != 0 or not _mount(image, mount, gigabytes):
            yield mount, "temporary folder"
            return
        try:
            yield mount, "fresh ext4 image"
        finally:
            subprocess.run(("umount", str(mount)), check=True)


def _mount(image: Path, mount: Path, gigabytes: int) -> bool:
    if not (shutil.which("mkfs.ext4") and shutil.which("mount")):
        return False
    with open(image, "wb") as file:
        file.truncate(gigabytes * 1024**3)
    for argv in (
        ("mkfs.ext4", "-q", "-i", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0", str(image)),
        ("mount", "-o", "loop", str(image), str(mount)),
    ):
        if subprocess.run(argv, check=False, capture_output=True).returncode != 0:
            return False
    return True


def make_ground(folder: Path, files: int, *, quick: bool) -> Ground:
    top = folder / "repo"
    subprocess.run(("git", "init", "-q", "-b", "main", str(top)), check=True)
    stream = ["commit refs/heads/main\ncommitter a <a@b> 1700000000 +0000\ndata 1\nx"]
    for number in range(files):
        text = f"line of file {number}\n" * (10 + number % 60)
        stream.append(f"M 644 inline d{number % 40}/s{number % 800}/f{number}.txt\ndata {len(text)}\n{text}")
    stream.append("commit refs/heads/main\ncommitter a <a@b> 1700000001 +0000\ndata 1\ny")
    stream.extend(f"M 644 inline d{n}/s{n}/f{n}.txt\ndata 2\ny\n" for n in range(20))
    data = "\n".join(stream) + "\n"
    subprocess.run(("git", "-C", str(top), "fast-import", "--quiet"), input=data.encode(), check=True)
    repo = discover(top)
    tip, before = repo.resolve("main"), repo.resolve("main~1")
    assert tip is not None
    assert before is not None
    root = WorktreeRoot(repo, default_root(repo), ports=PortPlan(per_slot=2), floor=DiskFloor(0, 0))
    return Ground(root, tip, before, folder, quick)


def start_engine(path: Path) -> None:
    """Stands for the engine: what is timed ends when a program has been started in the worktree."""
    subprocess.run(("true",), cwd=path, check=True)


def plain(ground: Ground, name: str) -> bool:
    path = ground.folder / "plain" / name
    argv = (
        "git",
        "-C",
        str(ground.root.repo.top),
        "worktree",
        "add",
        "-q",
        "-b",
        f"plain/{name}",
        str(path),
        ground.tip,
    )
    if subprocess.run(argv, check=False, capture_output=True).returncode != 0:
        return False
    start_engine(path)
    return True


def ours(ground: Ground, name: str) -> bool:
    prepared = prepare(ground.root, WorktreeOrder(f"{name}.1", f"paddock/{name}", ground.tip))
    start_engine(prepared.worktree.path)
    return prepared.ready


def timed(action: Callable[[Ground, str], bool], ground: Ground, name: str) -> float:
    if not ground.quick:
        os.sync()
    began = time.perf_counter()
    assert action(ground, name)
    return (time.perf_counter() - began) * 1000


def measure(ground: Ground, files: int, rounds: int) -> list[Row]:
    """One round takes every way once, so that a noisy minute hits all of them."""
    spent: dict[str, list[float]] = {"plain": [], "cold": [], "warm": [], "warm (used)": [], "warm (moved)": []}
    for number in range(rounds):
        spent["plain"].append(timed(plain, ground, f"p{number}"))
        spent["cold"].append(timed(ours, ground, f"cold{number}"))
        fill(ground.root, ground.tip, 1)
        spent["warm"].append(timed(ours, ground, f"warm{number}"))
        release(ground.root, f"warm{number}.1", "measured")
        spent["warm (used)"].append(timed(ours, ground, f"used{number}"))
        fill(ground.root, ground.before, 1)
        spent["warm (moved)"].append(timed(ours, ground, f"moved{number}"))
    usual = statistics.median(spent["plain"])
    return [
        Row(
            files,
            way,
            statistics.median(times),
            min(times),
            max(times),
            statistics.median(times) / usual,
            GOALS.get((files, way)),
        )
        for way, times in spent.items()
    ]


def crowd(ground: Ground, agents: int) -> list[Crowd]:
    """So many agents become ready in the same moment."""
    found = []
    for way, action in (("plain", plain), ("cold", ours), ("warm", ours)):
        if way == "warm":
            fill(ground.root, ground.tip, agents)
        if not ground.quick:
            os.sync()
        began = time.perf_counter()
        with ThreadPoolExecutor(agents) as pool:
            done = list(pool.map(lambda n, way=way, action=action: action(ground, f"many-{way}-{n}"), range(agents)))
        found.append(Crowd(way, (time.perf_counter() - began) * 1000, done.count(False)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="100 files, one round: shows that it runs")
    quick = parser.parse_args().quick
    plan = ((100, 1, 0),) if quick else ((1_000, 7, 8), (20_000, 5, 12), (100_000, 5, 24))
    rows: list[Row] = []
    for files, rounds, gigabytes in plan:
        with fresh_disk(gigabytes) as (folder, _):
            rows += measure(make_ground(folder, files, quick=quick), files, rounds)
    agents, files = (4, 100) if quick else (50, 1_000)
    with fresh_disk(0 if quick else 4) as (folder, where):
        crowds = crowd(make_ground(folder, files, quick=quick), agents)
    print(f"on a {where}, {os.cpu_count()} cores\n")
    print(f"{'files':>7}  {'way':<13}{'median':>9}{'fastest':>9}{'slowest':>9}  {'x plain':>7}  goal")
    for row in rows:
        numbers = f"{row.median_ms:>7.0f}ms{row.fastest_ms:>7.0f}ms{row.slowest_ms:>7.0f}ms  {row.ratio:>7.2f}"
        print(f"{row.files:>7}  {row.way:<13}{numbers}  {row.verdict}")
    print(f"\n{agents} at once, {files} files each:")
    for one in crowds:
        print(f"  {one.way:<6}{one.wall_ms:>7.0f}ms  {one.failed} failed")
    OUT.mkdir(exist_ok=True)
    report = {"where": where, "rows": [asdict(row) for row in rows], "at_once": [asdict(one) for one in crowds]}
    (OUT / f"spawn{'-quick' if quick else ''}.json").write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()

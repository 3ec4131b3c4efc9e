"""`paddock top` and `paddock watch` under load: a thousand tasks, two hundred running agents, twenty events a second.

    python -m bench.terminal [--quick]

Prints a table and writes bench/out/terminal.json. Each runs in a terminal of 80 by 24; the fleet is seeded
(`bench/seeded_fleet.py`), and another process appends events as a daemon would (`bench/web_writer.py`). What they need
is compared with an application of Textual that shows a table of as many rows and a clock, and does nothing else.
"""

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from bench.measure import Line, print_table, write_json
from bench.seeded_fleet import THOUSAND, Herd, seed_fleet
from bench.terminal_pane import Pane
from bench.web_writer import append_events
from paddock.core.ids import TaskId
from paddock.core.tasks.needs import needs_of
from paddock.store.sqlite import SqliteStore

PADDOCK = (sys.executable, "-m", "paddock")
NEEDS_IN_SIGHT = 3
CURSOR = "›"


@dataclass(frozen=True, slots=True)
class Sizes:
    herd: Herd
    seconds: float
    events_per_second: float
    keys: int
    settle_seconds: float


FULL = Sizes(THOUSAND, 20.0, 20.0, 40, 3.0)
QUICK = Sizes(Herd(landed=10), 1.0, 10.0, 3, 0.5)


@dataclass(frozen=True, slots=True)
class Load:
    idle_percent: float
    busy_percent: float
    median_ms: float
    p95_ms: float
    memory_mb: float


def main() -> int:
    parser = argparse.ArgumentParser("python -m bench.terminal", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="paddock-terminal-", ignore_cleanup_errors=True) as name:
        lines = measure(Path(name) / "harbor", QUICK if quick else FULL)
    print_table(f"the terminal{' (quick)' if quick else ''}", lines)
    print(f"\nwritten to bench/out/{write_json('terminal-quick' if quick else 'terminal', lines).name}")
    return 0 if quick or all(line.met is not False for line in lines) else 1


def measure(top: Path, sizes: Sizes) -> list[Line]:
    tasks = seed_fleet(top, sizes.herd)
    with opened((sys.executable, "-m", "bench.plain_app", str(tasks)), top, "ready ", sizes) as pane:
        plain_percent, plain_mb = idle_percent(pane, sizes), pane.memory_mb
        plain_key = key_ms(pane, "t", sizes)
    with opened((*PADDOCK, "top"), top, CURSOR, sizes) as pane:
        top_key = key_ms(pane, CURSOR, sizes)
        pane.press(b"g", CURSOR)
        fleet = under_load(pane, top, sizes)
    with opened((*PADDOCK, "watch"), top, "needs you", sizes) as pane:
        watch = under_load(pane, top, sizes)
    plain = "a plain table of Textual"
    return [
        Line(f"top with {tasks:,} tasks, nothing happening, of a core", fleet.idle_percent, "%", plain, plain_percent),
        Line(f"  at {sizes.events_per_second:.0f} events a second", fleet.busy_percent, "%", goal=20.0),
        Line("  event appended to written, median", fleet.median_ms, "ms"),
        Line("  event appended to written, p95", fleet.p95_ms, "ms", goal=250.0),
        Line("  key pressed to row written, median", top_key, "ms", plain, plain_key, 2.0),
        Line("  memory", fleet.memory_mb, "MB", plain, plain_mb, 2.0),
        Line(
            f"watch with {tasks:,} tasks, nothing happening, of a core", watch.idle_percent, "%", plain, plain_percent
        ),
        Line(f"  at {sizes.events_per_second:.0f} events a second", watch.busy_percent, "%", goal=20.0),
        Line("  event appended to written, median", watch.median_ms, "ms"),
        Line("  event appended to written, p95", watch.p95_ms, "ms", goal=250.0),
        Line("  memory", watch.memory_mb, "MB", plain, plain_mb, 1.0),
    ]


@contextmanager
def opened(argv: Sequence[str], top: Path, words: str, sizes: Sizes) -> Iterator[Pane]:
    """Once it has drawn itself, and has nothing more to do."""
    with Pane(argv, top) as pane:
        pane.wait_for(words)
        time.sleep(sizes.settle_seconds)
        yield pane


def idle_percent(pane: Pane, sizes: Sizes) -> float:
    before, began = pane.cpu_seconds, time.monotonic()
    time.sleep(sizes.seconds)
    return 100 * (pane.cpu_seconds - before) / (time.monotonic() - began)


def key_ms(pane: Pane, words: str, sizes: Sizes) -> float:
    """Down, from row to row."""
    return 1000 * median(pane.press(b"j", words) for _ in range(sizes.keys))


def under_load(pane: Pane, top: Path, sizes: Sizes) -> Load:
    idle = idle_percent(pane, sizes)
    before, began = pane.cpu_seconds, time.time()
    appended = append_events(top, sizes.seconds, sizes.events_per_second, in_sight(top))
    busy = 100 * (pane.cpu_seconds - before) / (time.time() - began)
    time.sleep(sizes.settle_seconds)
    delays = sorted(delays_of(pane, appended, began))
    if len(delays) < len(appended) / 2:
        raise RuntimeError(f"only {len(delays)} of {len(appended)} changes came to the screen")
    p95 = quantiles(delays, n=20)[-1] if len(delays) > 1 else delays[0]
    return Load(idle, busy, median(delays), p95, pane.memory_mb)


def in_sight(top: Path) -> list[TaskId]:
    """Those that stand first on both screens."""
    with closing(SqliteStore(top / ".git" / "paddock" / "log.db")) as store:
        return list(needs_of(store.board(), None))[:NEEDS_IN_SIGHT]


def delays_of(pane: Pane, appended: Mapping[int, float], began: float) -> Iterator[float]:
    """Milliseconds until each mark was written. One that another followed at once may never be."""
    written: dict[int, float] = {}
    for at, text in pane.written_after(began):
        for mark in re.findall(r"§(\d+)§", text):
            written.setdefault(int(mark), 1000 * at)
    return (written[mark] - at for mark, at in appended.items() if mark in written)


if __name__ == "__main__":
    sys.exit(main())

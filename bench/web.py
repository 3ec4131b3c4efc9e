"""The dashboard under load: a thousand tasks, two hundred running agents, twenty events a second, ten open pages.

    python -m bench.web [--quick]

Prints a table and writes bench/out/web.json. The fleet is seeded (`bench/seeded_fleet.py`); another process appends
events as a daemon would, and tells of the agents' steps once a second. One page is watched from inside: when a change
that it was told is on the screen, which tasks blocked it for long, what memory it takes. The first paint is measured
against that of an empty board, in turns.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

import psutil
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from bench.browser import Served, chromium, plain_environment, served
from bench.measure import Line, print_table, take_turns, write_json
from bench.seeded_fleet import THOUSAND, Herd, seed_fleet

PATIENCE_MILLISECONDS = 120_000


@dataclass(frozen=True, slots=True)
class Sizes:
    herd: Herd
    pages: int
    seconds: float
    events_per_second: float
    rounds: int


FULL = Sizes(THOUSAND, 10, 30.0, 20.0, 7)
QUICK = Sizes(Herd(landed=10), 2, 2.0, 10.0, 1)

# In the page: when each marked title was drawn, and every task that held the page up.
WATCH = """
window.drawn = {}; window.long = [];
new PerformanceObserver((list) => list.getEntries().forEach((entry) => long.push(entry.duration)))
  .observe({type: "longtask", buffered: true});
const note = (text) => {
  for (const [, mark] of (text ?? "").matchAll(/\\u00a7(\\d+)\\u00a7/g)) {
    if (!(mark in drawn)) {
      drawn[mark] = 0;
      requestAnimationFrame(() => { drawn[mark] = performance.timeOrigin + performance.now(); });
    }
  }
};
new MutationObserver((changes) => changes.forEach((change) => {
  note(change.type === "characterData" ? change.target.data : "");
  change.addedNodes.forEach((node) => note(node.textContent));
})).observe(document, {subtree: true, childList: true, characterData: true});
"""
# Milliseconds from the start of the navigation until the board has been drawn.
PAINTED = """() => new Promise((done) => {
  const isDrawn = () => document.querySelector("main .groups .r, main .blank");
  const finish = () => requestAnimationFrame(() => setTimeout(() => done(performance.now())));
  const look = () => isDrawn() ? finish() : setTimeout(look, 5);
  look();
})"""


def main() -> int:
    parser = argparse.ArgumentParser("python -m bench.web", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    sizes = QUICK if quick else FULL
    with tempfile.TemporaryDirectory(prefix="paddock-web-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        lines = measure(folder, sizes)
    print_table(f"the dashboard{' (quick)' if quick else ''}", lines)
    print(f"\nwritten to bench/out/{write_json('web-quick' if quick else 'web', lines).name}")
    return 0 if quick or all(line.met is not False for line in lines) else 1


def measure(folder: Path, sizes: Sizes) -> list[Line]:
    full, empty = folder / "full", folder / "empty"
    tasks = seed_fleet(full, sizes.herd)
    make_empty(empty)
    env = plain_environment(folder)
    with sync_playwright() as playwright, served(full, env) as busy, served(empty, env) as idle:
        with chromium(playwright) as browser:
            paints = take_turns(
                {"full": lambda: first_paint(browser, busy), "empty": lambda: first_paint(browser, idle)}, sizes.rounds
            )
        with chromium(playwright) as watched, chromium(playwright) as others:
            load = under_load(watched, others, busy, full, sizes)
    return [
        Line(f"first paint of {tasks:,} tasks", paints["full"], "ms", "an empty board", paints["empty"], 3.0),
        Line("event appended to visible, median", load.median_ms, "ms"),
        Line("event appended to visible, p95", load.p95_ms, "ms", goal=250.0),
        Line("longest task in the page while loading", load.longest_loading_ms, "ms", goal=100.0),
        Line("longest task in the page under load", load.longest_ms, "ms", goal=100.0),
        Line("memory of the page's process", load.page_mb, "MB", goal=200.0),
        Line(f"server with {sizes.pages} pages, of a core", load.server_percent, "%", goal=10.0),
        Line("memory of the server", load.server_mb, "MB"),
        Line("events appended a second", load.events_per_second, "/s"),
    ]


def make_empty(top: Path) -> None:
    top.mkdir()
    for words in (("init", "-q", "-b", "main"), ("commit", "-q", "--allow-empty", "-m", "First")):
        identity = ("-c", "user.name=Ana", "-c", "user.email=ana@example.invalid")
        subprocess.run(("git", *identity, *words), cwd=top, check=True)
    command = (sys.executable, "-m", "paddock", "-C", str(top), "init", "--yes")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def first_paint(browser: Browser, site: Served) -> float:
    with opened(browser, site) as page:
        page.goto(site.origin)
        found: float = page.evaluate(PAINTED)
    return found


@contextlib.contextmanager
def opened(browser: Browser, site: Served) -> Iterator[Page]:
    context = new_context(browser, site)
    try:
        yield context.new_page()
    finally:
        context.close()


def new_context(browser: Browser, site: Served) -> BrowserContext:
    """Logged in, with what is served cached by nobody."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    context.request.get(site.url)
    return context


@dataclass(frozen=True, slots=True)
class Load:
    median_ms: float
    p95_ms: float
    longest_loading_ms: float
    longest_ms: float
    page_mb: float
    server_percent: float
    server_mb: float
    events_per_second: float


def under_load(watched: Browser, others: Browser, site: Served, top: Path, sizes: Sizes) -> Load:
    """The page that is watched has a browser of its own, so that its process can be told from the others'."""
    context = new_context(watched, site)
    context.add_init_script(WATCH)
    page = context.new_page()
    page.goto(site.origin)
    page.evaluate(PAINTED)
    for _ in range(sizes.pages - 1):
        new_context(others, site).new_page().goto(site.origin)
    page.wait_for_timeout(2000)
    loading = page.evaluate("long.splice(0)")
    on_screen = page.evaluate("[...document.querySelectorAll('.groups .r .id')].map((id) => id.textContent.trim())")
    before, began = cpu_seconds(site.process), time.monotonic()
    appended = append_events(top, sizes, on_screen)
    took = time.monotonic() - began
    used = cpu_seconds(site.process) - before
    page.wait_for_timeout(2000)
    drawn = {int(mark): at for mark, at in page.evaluate("drawn").items()}
    delays = sorted(drawn[mark] - at for mark, at in appended.items() if drawn.get(mark))
    if len(delays) < len(appended) / 2:
        raise RuntimeError(f"only {len(delays)} of {len(appended)} changes came to the screen")
    return Load(
        median_ms=delays[len(delays) // 2],
        p95_ms=quantiles(delays, n=20)[-1] if len(delays) > 1 else delays[0],
        longest_loading_ms=max(loading, default=0.0),
        longest_ms=max(page.evaluate("long"), default=0.0),
        page_mb=page_memory(page),
        server_percent=100 * used / took,
        server_mb=site.process.memory_full_info().uss / 2**20,
        events_per_second=sizes.events_per_second * sizes.seconds / took,
    )


def append_events(top: Path, sizes: Sizes, on_screen: list[str]) -> dict[int, float]:
    """By another process. When each mark was appended, in milliseconds since the epoch."""
    told = {"top": str(top), "seconds": sizes.seconds, "rate": sizes.events_per_second, "tasks": on_screen}
    command = (sys.executable, "-m", "bench.web_writer")
    done = subprocess.run(command, input=json.dumps(told), check=True, stdout=subprocess.PIPE, text=True)
    return {int(mark): at for mark, at in json.loads(done.stdout).items()}


def cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def page_memory(page: Page) -> float:
    """Megabytes that only the renderer of this page holds: the largest of the browser's renderers."""
    browser = page.context.browser
    assert browser is not None
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    renderers = [psutil.Process(int(one["id"])) for one in processes if one["type"] == "renderer"]
    return max(renderer.memory_full_info().uss for renderer in renderers) / 2**20


if __name__ == "__main__":
    sys.exit(main())

"""The pages under load: a thousand tasks, two hundred running agents, twenty events a second, ten open pages.

    python -m bench.web [--quick]

Prints a table and writes bench/out/web.json. The fleet is seeded (`bench/seeded_fleet.py`); another process appends
events as a daemon would, and tells of the agents' steps once a second. One page is watched: when a change that it was
told is on the screen, which tasks kept it busy for long, what memory it takes. The others are drawn on machines of
their own: here they are streams that are read (`bench/web_readers.py`). Beside the watched page, in a browser of its
own, an empty one is told the same records and shows nothing else: what that needs is the machine's and the stream's
share.
The first paint is measured against that of an empty board, in turns.

Tasks count by the time their thread ran (`bench/mainthread.py`); the wall clock is told for comparison.
"""

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import quantiles

import psutil
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from bench.browser import Served, chromium, plain_environment, served
from bench.mainthread import MainThread, traced
from bench.measure import Line, print_table, take_turns, write_json
from bench.seeded_fleet import THOUSAND, Herd, seed_fleet
from bench.web_readers import readers
from bench.web_writer import append_events
from paddock.store.sqlite import SqliteStore

PATIENCE_MILLISECONDS = 120_000
LONGEST_TASK_MS = 100.0


@dataclass(frozen=True, slots=True)
class Sizes:
    herd: Herd
    pages: int
    seconds: float
    events_per_second: float
    rounds: int
    settle_ms: float = 3_000.0
    use_ms: float = 500.0


LARGE_CHANGE = 4_000
FULL = Sizes(replace(THOUSAND, largest=LARGE_CHANGE), 10, 30.0, 20.0, 7)
QUICK = Sizes(Herd(landed=10), 2, 2.0, 10.0, 1, settle_ms=300.0, use_ms=50.0)

# In the page: when each marked title was drawn.
WATCH = """
window.drawn = {};
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
# In an empty page: the text of each record, and nothing else.
LISTEN = """() => {
  const source = new EventSource("/api/v1/events");
  source.onmessage = (event) => { document.body.textContent = event.data; };
}"""
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
    print_table(f"the pages{' (quick)' if quick else ''}", lines)
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
            loading = {name: load_page(browser, busy, path, sizes) for name, path in pages_of(full).items()}
            in_use = use_board(browser, busy, sizes)
        with chromium(playwright) as watched, chromium(playwright) as empties:
            load = under_load(watched, empties, busy, full, sizes)
    return [
        Line(f"first paint of {tasks:,} tasks", paints["full"], "ms", "an empty board", paints["empty"], 3.0),
        Line("event appended to visible, median", load.board.median_ms, "ms"),
        Line("event appended to visible, p95", load.board.p95_ms, "ms", goal=250.0),
        Line("  in an empty page, p95", load.empty.p95_ms, "ms"),
        *(line for name, thread in loading.items() for line in task_lines(f"loading {name}", thread)),
        *task_lines("the board in use", in_use),
        *task_lines("the board under load", load.board.thread),
        *task_lines("an empty page under load", load.empty.thread, goal=None),
        Line("memory of the page's process", load.page_mb, "MB", goal=200.0),
        Line(f"server with {sizes.pages} pages, of a core", load.server_percent, "%", goal=10.0),
        Line("memory of the server", load.server_mb, "MB"),
        Line("events appended a second", load.events_per_second, "/s"),
    ]


def task_lines(what: str, thread: MainThread, goal: float | None = LONGEST_TASK_MS) -> list[Line]:
    return [
        Line(f"longest task, {what}", thread.longest_cpu_ms, "ms", goal=goal),
        Line("  by the wall clock", thread.longest_wall_ms, "ms"),
    ]


def pages_of(top: Path) -> dict[str, str]:
    """The heaviest of each: the task is the one with the largest change."""
    with contextlib.closing(SqliteStore(top / ".git" / "paddock" / "log.db")) as store:
        tasks = store.board().tasks.values()
    large = max(tasks, key=lambda task: task.last.insertions if task.last else 0)
    return {"the board": "/", f"the page of {large.id}": f"/tasks/{large.id}", "the queue": "/queue"}


def load_page(browser: Browser, site: Served, path: str, sizes: Sizes) -> MainThread:
    with opened(browser, site) as page, traced(page) as thread:
        page.goto(site.origin + path)
        page.wait_for_selector("main section")
        page.wait_for_timeout(sizes.settle_ms)
    return thread


def use_board(browser: Browser, site: Served, sizes: Sizes) -> MainThread:
    """What a person does all day: filter and clear, another layout and back, scroll, look for an action, select."""
    with opened(browser, site) as page:
        page.goto(site.origin)
        page.evaluate(PAINTED)
        page.wait_for_timeout(sizes.settle_ms)
        field = page.get_by_placeholder("Filter")
        acts: tuple[Callable[[], object], ...] = (
            lambda: field.fill("search"),
            lambda: field.fill(""),
            lambda: page.get_by_text("Cards").click(),
            lambda: page.get_by_text("Rows").click(),
            lambda: page.mouse.wheel(0, 3_000),
            lambda: page.keyboard.press("Control+k"),
            lambda: page.keyboard.type("approve"),
            lambda: page.keyboard.press("Escape"),
            lambda: page.keyboard.press("x"),
        )
        with traced(page) as thread:
            for act in acts:
                act()
                page.wait_for_timeout(sizes.use_ms)
    return thread


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
class Seen:
    """How long after an event was appended a page showed it, and what kept that page busy."""

    median_ms: float
    p95_ms: float
    thread: MainThread


@dataclass(frozen=True, slots=True)
class Load:
    board: Seen
    empty: Seen
    page_mb: float
    server_percent: float
    server_mb: float
    events_per_second: float


def under_load(watched: Browser, empties: Browser, site: Served, top: Path, sizes: Sizes) -> Load:
    """Each page has a browser of its own, so that its processes can be told from the other's."""
    page, empty = watched_page(watched, site, site.origin), watched_page(empties, site, f"{site.origin}/healthz")
    page.evaluate(PAINTED)
    empty.evaluate(LISTEN)
    page.wait_for_timeout(sizes.settle_ms)
    on_screen = page.evaluate("[...document.querySelectorAll('.groups .r .id')].map((id) => id.textContent.trim())")
    with readers(site, sizes.pages - 1), traced(page) as thread, traced(empty) as empty_thread:
        before, began = cpu_seconds(site.process), time.monotonic()
        appended = append_events(top, sizes.seconds, sizes.events_per_second, on_screen)
        took = time.monotonic() - began
        used = cpu_seconds(site.process) - before
        page.wait_for_timeout(sizes.settle_ms)
    return Load(
        board=seen_by(page, appended, thread),
        empty=seen_by(empty, appended, empty_thread),
        page_mb=page_memory(page),
        server_percent=100 * used / took,
        server_mb=site.process.memory_full_info().uss / 2**20,
        events_per_second=sizes.events_per_second * sizes.seconds / took,
    )


def watched_page(browser: Browser, site: Served, address: str) -> Page:
    context = new_context(browser, site)
    context.add_init_script(WATCH)
    page = context.new_page()
    page.goto(address)
    return page


def seen_by(page: Page, appended: Mapping[int, float], thread: MainThread) -> Seen:
    drawn = {int(mark): at for mark, at in page.evaluate("drawn").items()}
    delays = sorted(drawn[mark] - at for mark, at in appended.items() if drawn.get(mark))
    if len(delays) < len(appended) / 2:
        raise RuntimeError(f"only {len(delays)} of {len(appended)} changes came to the screen of {page.url}")
    p95 = quantiles(delays, n=20)[-1] if len(delays) > 1 else delays[0]
    return Seen(delays[len(delays) // 2], p95, thread)


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

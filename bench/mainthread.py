"""What kept a page's main thread busy, task by task, from Chromium's own trace.

A task's thread time is what it needed of a core. Its wall clock also has what other processes took meanwhile: on a
busy machine that says more about the machine than about the page.
"""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from playwright.sync_api import Page

CATEGORIES = ["disabled-by-default-devtools.timeline", "blink.user_timing"]
MARK = "this page"


@dataclass(slots=True)
class MainThread:
    """The longest task in milliseconds, and how much all tasks needed."""

    longest_cpu_ms: float = 0.0
    longest_wall_ms: float = 0.0
    cpu_ms: float = 0.0


@contextlib.contextmanager
def traced(page: Page) -> Iterator[MainThread]:
    """What is measured is there at the end. The page marks its own thread: a browser has pages of its own, too."""
    seen, browser = MainThread(), page.context.browser
    assert browser is not None
    browser.start_tracing(categories=CATEGORIES)
    yield seen
    page.evaluate("(mark) => { performance.mark(mark); }", MARK)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {(event["pid"], event["tid"]) for event in events if event["name"] == MARK}
    tasks = [event for event in events if event["name"] == "RunTask" and (event["pid"], event["tid"]) in threads]
    seen.longest_cpu_ms = max(task.get("tdur", 0) for task in tasks) / 1000
    seen.longest_wall_ms = max(task.get("dur", 0) for task in tasks) / 1000
    seen.cpu_ms = sum(task.get("tdur", 0) for task in tasks) / 1000

"""What kept a page's main thread busy, task by task, from Chromium's own trace.

A task's thread time is what it needed of a core. Its wall clock also has what other processes took meanwhile: on a
busy machine that says more about the machine than about the page.
"""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from playwright.sync_api import Browser

CATEGORY = "disabled-by-default-devtools.timeline"


@dataclass(slots=True)
class MainThread:
    """The longest task of all pages of a browser, in milliseconds, and how much all of them needed."""

    longest_cpu_ms: float = 0.0
    longest_wall_ms: float = 0.0
    cpu_ms: float = 0.0


@contextlib.contextmanager
def traced(browser: Browser) -> Iterator[MainThread]:
    """What is measured is there at the end."""
    seen = MainThread()
    browser.start_tracing(categories=[CATEGORY])
    yield seen
    events = json.loads(browser.stop_tracing())["traceEvents"]
    mains = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks = [event for event in events if event["name"] == "RunTask" and (event["pid"], event["tid"]) in mains]
    seen.longest_cpu_ms = max((task.get("tdur", 0) for task in tasks), default=0) / 1000
    seen.longest_wall_ms = max((task.get("dur", 0) for task in tasks), default=0) / 1000
    seen.cpu_ms = sum(task.get("tdur", 0) for task in tasks) / 1000

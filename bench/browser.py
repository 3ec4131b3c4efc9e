"""`paddock web` over a repository and Debian's Chromium, for whoever measures or pictures pages. Tests use it too."""

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE

import psutil
from playwright.sync_api import Browser, Playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# As root Chromium's own sandbox cannot start. The pages come from loopback.
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
PRINTED = re.compile(r"(http://\S+?)/\S*?token=([\w-]+)\S*")


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextlib.contextmanager
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """Raises RuntimeError where none is installed."""
    program = find_chromium()
    if program is None:
        raise RuntimeError("chromium is not installed: `apt-get install chromium`")
    browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
    try:
        yield browser
    finally:
        browser.close()


@dataclass(frozen=True, slots=True)
class Served:
    """`url` is the printed one, with the token; `origin` has neither path nor token."""

    url: str
    origin: str
    token: str
    process: psutil.Process


def plain_environment(home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**kept, "HOME": str(home), "LANG": "C.UTF-8", "TZ": "UTC", "USER": "ana"}


@contextlib.contextmanager
def served(top: Path, env: Mapping[str, str]) -> Iterator[Served]:
    command = [sys.executable, "-m", "paddock", "-C", str(top), "web", "--port", "0"]
    process = psutil.Popen(command, env=dict(env), stdout=PIPE, text=True)
    try:
        line = process.stdout.readline()
        found = PRINTED.search(line)
        if found is None:
            raise RuntimeError(f"`paddock web` printed no address: {line!r}")
        yield Served(found[0], found[1], found[2], process)
    finally:
        process.kill()
        process.wait()

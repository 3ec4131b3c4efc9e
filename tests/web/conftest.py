"""Repositories with a fleet, `paddock web` over them, and Debian's Chromium, once for each module with browser tests.

Playwright runs an event loop in the thread of the tests while its browser is up: modules that use `asyncio.run` ask
for no page.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from bench.browser import chromium, find_chromium
from bench.seeded_fleet import HERD, Herd, seed_fleet
from playwright.sync_api import Browser, sync_playwright

from tests.fleet.conftest import MakeYard, make_yard, yard, yard_template
from tests.fleet.landing.conftest import farm, make_farm
from tests.fleet.yard import Yard, clean_environment
from tests.web.lean import lean_chromium
from tests.web.site import Site, serve

__all__ = ["MakeYard", "farm", "make_farm", "make_yard", "yard", "yard_template"]

Serve = Callable[..., Site]


def require_chromium() -> None:
    """Skips where there is none; in CI that is a failure."""
    if find_chromium() is not None:
        return
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail("chromium is not installed: scripts/bootstrap dev installs it in CI")
    pytest.skip("chromium is not installed")


@pytest.fixture(scope="module")
def launch() -> Iterator[Callable[[], Browser]]:
    """Gives the browser of this module, which is started when it is first asked for."""
    require_chromium()
    with sync_playwright() as playwright, ExitStack() as running:

        def start() -> Browser:
            with lean_chromium():
                return running.enter_context(chromium(playwright))

        yield cache(start)


@pytest.fixture
def serve_yard(launch: Callable[[], Browser]) -> Iterator[Serve]:
    """serve_yard(yard, "--flag"): a Site over the repository; what its pages complain about fails the test."""
    sites: list[Site] = []

    def start(where: Yard, *flags: str, port: int = 0) -> Site:
        sites.append(serve(where, launch, *flags, port=port))
        return sites[-1]

    yield start
    for site in sites:
        site.close()
    assert [words for site in sites for words in site.complaints] == []


@pytest.fixture
def site(yard: Yard, serve_yard: Serve) -> Site:
    """Over an empty log: add to `site.yard` before a page is opened, or after."""
    return serve_yard(yard)


SeedYard = Callable[..., Yard]


@pytest.fixture
def seed_yard(tmp_path: Path) -> Iterator[SeedYard]:
    """seed_yard(herd, titles=[…]): a day's work in every phase, with commits behind it, and nobody running."""
    made: list[Yard] = []

    def make(herd: Herd = HERD, *, titles: Sequence[str] = (), name: str = "harbor") -> Yard:
        seed_fleet(tmp_path / name, herd, titles=titles)
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        made.append(Yard(tmp_path / name, tmp_path, clean_environment(home)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All browser tests of a module on one worker: no worker has two browsers, and none starts one for each test."""
    for item in items:
        if "launch" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group(f"browser-{item.path.stem}"))

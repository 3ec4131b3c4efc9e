"""`make screenshots`: writes docs/images/*.png from a fleet of scripted agents at work.

The day until now is seeded (`bench/seeded_fleet.py`), the rest is real: a daemon, agents with scripts in worktrees of
their own, CI runs, `paddock web`, and Debian's Chromium. Look at every picture before you commit it.
"""

import asyncio
import contextlib
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from bench.browser import Served, chromium, plain_environment, served
from bench.seeded_fleet import Herd, seed_fleet
from insight_fleet import make_project, work
from playwright.sync_api import Browser, Page, expect, sync_playwright

from paddock.core.board import Board
from paddock.core.tasks.task import NEEDS_HUMAN, Phase
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.store.sqlite import SqliteStore
from paddock.tui.app import PaddockTop

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
PATIENCE_SECONDS = 300.0
HERD = Herd(
    landed=64, running=0, reviewing=0, ready=24, queued=0, approval=13, blocked=2, failed=1, hours=6.0, ci_seconds=60,
    testing=False,
)  # fmt: skip
APPROVED = 10
CONFIG = """\
engine = "scripted"

[limits]
max_agents = 14
adapt_to_load = false
inline = false

[worktrees]
disk_floor_mb = 0

[land]
ci = "sleep 60"
slots = 4

[engines.scripted]
args = ["--plays", {plays}]
"""
DESK, TALL, PHONE, TERMINAL = (1440, 1000), (1440, 1750), (390, 844), (150, 42)
Step = dict[str, object]


@dataclass(frozen=True, slots=True)
class Picture:
    name: str
    path: str
    size: tuple[int, int] = DESK
    scheme: Literal["light", "dark"] = "light"
    pose: Callable[[Page], None] = lambda _: None


def main() -> int:
    """With `insight`, only the picture of that page."""
    take_insight()
    return 0 if sys.argv[1:] == ["insight"] else take_all_others()


def take_insight() -> None:
    with tempfile.TemporaryDirectory(prefix="paddock-screenshots-", ignore_cleanup_errors=True) as name:
        top = Path(name) / "harbor-api"
        env = plain_environment(Path(name)) | {"GIT_CONFIG_NOSYSTEM": "1", "PADDOCK_FENCE_WRITE": name} | identity()
        make_project(top, env)
        work(top, env)
        with (
            fleet_at_work(top, env),
            served(top, env) as site,
            sync_playwright() as playwright,
            chromium(playwright) as browser,
        ):
            take(browser, site, Picture("insight", "/insight", size=TALL, pose=is_told))


def is_told(page: Page) -> None:
    expect(page.get_by_role("heading", name="Did an agent change?")).to_be_visible(timeout=1000 * PATIENCE_SECONDS)
    expect(page.locator("main")).not_to_contain_text("Counting…", timeout=1000 * PATIENCE_SECONDS)


def take_all_others() -> int:
    with tempfile.TemporaryDirectory(prefix="paddock-screenshots-", ignore_cleanup_errors=True) as name:
        top = Path(name) / "harbor-api"
        env = plain_environment(Path(name)) | {"GIT_CONFIG_NOSYSTEM": "1"} | identity()
        plays = Path(name) / "plays"
        plays.mkdir()
        seed_fleet(top, HERD, brief=partial(write_play, plays), config=CONFIG.format(plays=json.dumps(str(plays))))
        approve(top, env)
        with fleet_at_work(top, env), served(top, env) as site:
            board = await_board(top, is_busy)
            screen = asyncio.run(draw_top(top))
            with sync_playwright() as playwright, chromium(playwright) as browser:
                for picture in pictures(board):
                    take(browser, site, picture)
                take_drawing(browser, "top", screen)
    return 0


def pictures(board: Board) -> list[Picture]:
    running = min((task for task in board.tasks.values() if task.phase is Phase.RUNNING), key=lambda task: task.since)
    return [
        Picture("board", "/"),
        Picture("board-dark", "/", scheme="dark"),
        Picture("board-phone", "/", size=PHONE),
        Picture("task", f"/tasks/{running.id}"),
        Picture("queue", "/queue"),
        Picture("fleet", "/fleet"),
        Picture("log", "/log"),
    ]


def take(browser: Browser, site: Served, picture: Picture) -> None:
    width, height = picture.size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=picture.scheme,
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
    )
    context.set_default_timeout(1000 * PATIENCE_SECONDS)
    page = context.new_page()
    page.goto(site.url)
    page.goto(site.origin + picture.path)
    expect(page.locator("main h1").first).to_be_visible()
    expect(page.locator(".pulse")).not_to_contain_text(re.compile("connecting|stale|cut|access"))
    picture.pose(page)
    # What is asked for after the first figures, such as a diff, comes within a moment.
    page.wait_for_timeout(2000)
    page.screenshot(path=IMAGES / f"{picture.name}.png")
    context.close()
    print(f"wrote docs/images/{picture.name}.png", flush=True)


async def draw_top(top: Path) -> str:
    """`paddock top` as an SVG; what it needs from elsewhere is taken out."""
    app = PaddockTop(Workspace(discover(top)))
    async with app.run_test(size=TERMINAL) as pilot:
        await pilot.pause(2.0)
        needy = sum(task.phase in NEEDS_HUMAN for task in read_board(top).tasks.values())
        await pilot.press(*"j" * needy)  # to the first agent at work
        await pilot.pause(3.0)
        return re.sub(r"@font-face \{.*?\}", "", app.export_screenshot(title="paddock top"), flags=re.DOTALL)


def take_drawing(browser: Browser, name: str, drawing: str) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 1000})
    page.set_content(f"<body>{drawing}</body>")
    page.add_style_tag(content="body { margin: 0 } svg { display: block; width: 1440px; height: auto }")
    page.locator("svg").first.screenshot(path=IMAGES / f"{name}.png")
    page.close()
    print(f"wrote docs/images/{name}.png", flush=True)


# -- the fleet -----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def fleet_at_work(top: Path, env: dict[str, str]) -> Iterator[None]:
    paddock = [sys.executable, "-m", "paddock", "-C", str(top)]
    subprocess.run([*paddock, "up"], env=env, check=True, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        subprocess.run([*paddock, "down", "--now"], env=env, check=False, stdout=subprocess.DEVNULL)


def approve(top: Path, env: dict[str, str]) -> None:
    """For real, so that the queue holds what it is to test."""
    ready = [task.id for task in read_board(top).tasks.values() if task.phase is Phase.APPROVAL]
    command = [sys.executable, "-m", "paddock", "-C", str(top), "land", *ready[:APPROVED]]
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)


def read_board(top: Path) -> Board:
    store = SqliteStore(top / ".git" / "paddock" / "log.db", read_only=True)
    try:
        return store.board()
    finally:
        store.close()


def await_board(top: Path, holds: Callable[[Board], bool]) -> Board:
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not holds(board := read_board(top)):
        if time.monotonic() > give_up_at:
            raise TimeoutError(f"the fleet was never busy enough: {dict(board.counts)}")
        time.sleep(0.5)
    return board


def is_busy(board: Board) -> bool:
    """Something landed since it began, and CI is well into the next runs."""
    landed = board.counts.get(Phase.LANDED, 0) > HERD.landed
    well_into = [run for run in board.queue.running.values() if time.time() - run.started_at > 20]
    return landed and len(well_into) > 1


def write_play(plays: Path, number: int) -> str:
    """The brief of a task, once what its agent does is where the agent finds it: named like the brief's first line."""
    (plays / f"refuse-a-missing-value-in-part-{number}.json").write_text(json.dumps(steps_of(number)))
    return f"Refuse a missing value in part {number}\n\n{WORDS}"


def steps_of(number: int) -> list[Step]:
    """Each agent takes its own time, so that a picture catches them at different steps."""
    path = f"harbor/{('api', 'core', 'jobs', 'web')[number % 4]}/part{number}.py"
    pause: Step = {"think": 30 + number * 13 % 61}
    old, new = f'"""Step 0 of part {number}."""', f'"""Step 0 of part {number}: raises ValueError for none."""'
    return [
        {"usage": {"cost": 0.2 + number % 7 / 10, "input_tokens": 31_000, "output_tokens": 2_400}},
        {"say": f"I'll read {path} and what calls it before I change anything."},
        {"run": ["grep", "-n", "def ", path]},
        pause,
        {"run": ["sed", "-n", "1,12p", path]},
        {"say": "Every step returns its value unchecked. A guard belongs at the top of the first one."},
        pause,
        {"replace": path, "old": old, "new": new},
        {"replace": path, "old": "    return value\n", "new": GUARD},
        pause,
        {"write": f"tests/test_part{number}.py", "text": TEST.format(number=number)},
        {"commit": "Refuse a missing value in the first step"},
        {"run": ["git", "diff", "--check", "HEAD~1"]},
        pause,
        {"say": "Committed, and no stray spaces. One more look at the whole change."},
        {"run": ["git", "diff", "--stat", "HEAD~1"]},
        pause,
        {"done": "The first step now refuses a missing value, with a test."},
    ]


WORDS = (
    "Today the first step passes None on, and the failure shows three modules later, in "
    "a traceback that names none of them.\n\nRaise ValueError in the first step, with a message that says what is "
    "missing. Keep the public behaviour for everything else: callers rely on the order of steps and on values that "
    "come back unchanged. Add a test that fails without the change, and say in the commit message why it matters. "
    "Do not touch other parts; if one of them turns out to depend on None, stop and say which, because then the brief "
    "is wrong and somebody has to decide what a missing value means there."
)
GUARD = """\
    if value is None:
        raise ValueError("a step needs a value")
    return value
"""
TEST = """\
import pytest

from harbor import step_{number}_0


def test_a_missing_value_is_refused():
    with pytest.raises(ValueError, match="needs a value"):
        step_{number}_0(None)
"""


def identity() -> dict[str, str]:
    named = {f"GIT_{role}_NAME": "Ana Ortiz" for role in ("AUTHOR", "COMMITTER")}
    return named | {f"GIT_{role}_EMAIL": "ana@example.invalid" for role in ("AUTHOR", "COMMITTER")}


if __name__ == "__main__":
    sys.exit(main())

"""`paddock top` over a real log and a real repository, driven by keys; nobody looks at it but the test."""

import asyncio
import subprocess
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from bench.seeded_fleet import Herd, seed_fleet
from textual.pilot import Pilot

from paddock.core.board import Board
from paddock.core.events import Draft, Record
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.store.protocol import Query
from paddock.tui.app import PaddockTop
from paddock.tui.lines import LinesView
from paddock.tui.task_list import TaskList
from paddock.tui.text_lines import TextLines
from tests.fleet.yard import clean_environment
from tests.warm import PATIENCE_SECONDS

FEW = Herd(landed=4, running=3, reviewing=0, approval=3, queued=2, ready=2, waiting=2, blocked=1, failed=1, hours=5.0)


@dataclass
class Top:
    """A screen at work: what it shows, and keys to press."""

    app: PaddockTop
    pilot: Pilot[None]
    told: list[str] = field(default_factory=list)

    @property
    def list(self) -> TaskList:
        return self.app.screen_stack[0].query_one(TaskList)

    @property
    def page(self) -> LinesView:
        return self.app.screen_stack[0].query_one("#page", LinesView)

    def bar(self, name: str) -> str:
        return self.app.screen_stack[0].query_one(f"#{name}", TextLines).plain

    @property
    def text(self) -> str:
        """What a person sees, line by line."""
        return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())

    def colours(self, *starts: str) -> set[str]:
        """Those of the lines that begin so."""
        drawn = [part for strip in self.app.screen._compositor.render_strips() for part in strip]
        return {
            part.style.color.name for part in drawn if part.text.startswith(starts) and part.style and part.style.color
        }

    @property
    def toasts(self) -> str:
        """All that was told since it was opened."""
        return "\n".join(self.told)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def until(self, is_so: Callable[[], object], what: str = "") -> None:
        """Waits for what a thread or a process brings about."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            assert time.monotonic() < until, f"{what}\n{self.text}\n{self.toasts}"
            await self.pilot.pause(0.02)

    async def go_to(self, task: str) -> None:
        self.list.current = task
        await self.pilot.pause()


def _overhear(told: list[str], notify: Callable[..., None], message: str, **how: Any) -> None:
    told.append(message)
    notify(message, **how)


@dataclass
class Fleet:
    """A repository, its log, and what is written to it beside the screen."""

    top: Path

    @property
    def workspace(self) -> Workspace:
        return Workspace(discover(self.top))

    @property
    def board(self) -> Board:
        return self.workspace.board()

    def task(self, name: str) -> Task:
        return self.board.task(TaskId(name))

    def tasks_in(self, phase: Phase) -> list[str]:
        board = self.board
        return [name for name in board.tasks if board.tasks[name].phase is phase]

    def records(self, task: str, kind: str) -> list[Record]:
        return list(self.workspace.records(Query(task=task, kind=kind)))

    def record(self, *drafts: Draft) -> None:
        self.workspace.record(lambda _board: list(drafts))

    def git(self, *words: str) -> str:
        return subprocess.run(("git", *words), cwd=self.top, check=True, capture_output=True, text=True).stdout.strip()

    def play(self, script: Callable[[Top], Awaitable[None]], size: tuple[int, int] = (80, 24)) -> None:
        """Opens the screen, waits until it shows the log, and leaves it when the script is over."""

        async def run() -> None:
            app = PaddockTop(self.workspace)
            async with app.run_test(size=size, notifications=True) as pilot:
                top = Top(app, pilot)
                app.notify = partial(_overhear, top.told, app.notify)  # type: ignore[method-assign]
                await top.until(lambda: top.list.order or "no tasks" in top.bar("top"), "the log is shown")
                await pilot.pause()
                await script(top)

        asyncio.run(run())


SeedFleet = Callable[..., Fleet]


@pytest.fixture
def seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SeedFleet:
    """seed(herd, titles=[…]): a day's work in every phase, with commits behind it, and nobody running."""
    for name, value in clean_environment(tmp_path).items():
        monkeypatch.setenv(name, value)

    def make(herd: Herd = FEW, titles: tuple[str, ...] = ()) -> Fleet:
        seed_fleet(tmp_path / "app", herd, titles=titles)
        return Fleet(tmp_path / "app")

    return make


@pytest.fixture
def fleet(seed: SeedFleet) -> Fleet:
    return seed()

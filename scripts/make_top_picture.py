"""Draws docs/images/top.svg: `paddock top` over a fleet in the middle of its day."""

import asyncio
import re
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.seeded_fleet import HERD, seed_fleet  # noqa: E402

from paddock.fleet.workspace import Workspace  # noqa: E402
from paddock.git.repo import discover  # noqa: E402
from paddock.tui.app import PaddockTop  # noqa: E402
from paddock.tui.lines import LinesView  # noqa: E402

PICTURE = ROOT / "docs" / "images" / "top.svg"
SIZE = (120, 34)
SECONDS = 60.0
FONTS = re.compile(r"@font-face\s*\{.*?\}", re.DOTALL)
COMMENTS = re.compile(r"<!--.*?-->", re.DOTALL)
FAMILY = "font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono'"


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="paddock-picture-") as folder:
        top = Path(folder) / "harbor"
        seed_fleet(top, HERD)
        save_screenshot(Workspace(discover(top)), PICTURE)
    return 0


def save_screenshot(workspace: Workspace, path: Path, size: tuple[int, int] = SIZE, keys: str = "2") -> None:
    """The screen as an SVG that asks for nothing from the network, after the keys were pressed."""
    svg = asyncio.run(_draw(workspace, size, keys))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(re.sub(r"font-family: Fira Code", FAMILY, FONTS.sub("", COMMENTS.sub("", svg))), encoding="utf-8")


async def _draw(workspace: Workspace, size: tuple[int, int], keys: str) -> str:
    app = PaddockTop(workspace)
    async with app.run_test(size=size) as pilot:
        page, until = app.query_one("#page", LinesView), time.monotonic() + SECONDS
        pressed = False
        while not (pressed and page.plain) and time.monotonic() < until:
            if app.fleet.row is not None and not pressed:
                await pilot.press(*keys)
                pressed = True
                await pilot.pause(1.0)
            await pilot.pause(0.1)
        return app.export_screenshot(title="paddock top")


if __name__ == "__main__":
    sys.exit(main())

"""Draws docs/images/run.svg: the live view of a real run of the demo's fleet, caught half way."""

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
from io import StringIO
from pathlib import Path

import demo
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

from paddock.cli.commands.run import lead
from paddock.cli.pages.live import lay_out
from paddock.cli.pages.scene import Scene, SceneMaker
from paddock.core.tasks.task import Phase
from paddock.fleet.daemon import Daemon, Orders
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "run.svg"
WIDTH, HEIGHT = 100, 24
LOOK_SECONDS = 0.05
SECONDS = 120.0
# Rich's own template asks for fonts from the network; this one takes what the reader has.
TEMPLATE = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def main() -> int:
    folder = Path(tempfile.mkdtemp(prefix="paddock-picture-"))
    project = folder / "toolbox"
    try:
        demo.make_project(project)
        plan = folder / "convoy.json"
        plan.write_text(json.dumps(demo.convoy()).replace(sys.executable, "python3"))
        for words in (["init", "--yes"], ["add", "--file", str(plan)]):
            subprocess.run([*demo.PADDOCK, "-C", str(project), *words], check=True, capture_output=True)
        svg = asyncio.run(catch(project))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(svg, encoding="utf-8")
    return 0


async def catch(project: Path) -> str:
    """The view with the most running agents after a third of the changes have landed."""
    workspace = Workspace(discover(project))
    store = workspace.write()
    ledger = await lead(store, workspace.site.seat, wait=False)
    daemon, maker = (
        Daemon(workspace.site, ledger, Orders(until_idle=True)),
        SceneMaker(workspace, store, is_daemon=True),
    )
    best, most = "", 0
    async with asyncio.timeout(SECONDS):
        running = asyncio.ensure_future(daemon.run())
        while not running.done():
            scene = maker.look(time.time())
            landed = dict(scene.counts).get(Phase.LANDED, 0)
            busy = sum(bool(agent.change) + bool(agent.step) for agent in scene.agents)
            if 3 <= landed <= 8 and busy > most:
                best, most = render(scene), busy
            await asyncio.wait({running}, timeout=LOOK_SECONDS)
        await running
    ledger.give_up()
    store.close()
    return best


def render(scene: Scene) -> str:
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True, color_system="truecolor")
    console.print("[bold]$ paddock run --until-idle[/bold]")
    for line in lay_out(scene, WIDTH, HEIGHT):
        console.print(Text.assemble(*((text, look.replace("bright_black", "grey50")) for text, look in line)))
    return console.export_svg(title="paddock", theme=DIMMED_MONOKAI, code_format=TEMPLATE, unique_id="paddock")


if __name__ == "__main__":
    sys.exit(main())

"""The live view of `paddock run` in a terminal."""

import asyncio
from collections import deque

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from paddock.cli.pages.narration import tell
from paddock.cli.terminal.text import BADGES, age, cut, plural
from paddock.core.events import Record
from paddock.core.ids import task_number
from paddock.core.tasks.task import SATISFIED, Phase
from paddock.fleet.daemon import Daemon

REFRESH_SECONDS = 0.5
LAST_LINES = 8


async def watch_live(daemon: Daemon) -> None:
    """Runs the daemon and draws what it does until it ends."""
    lines: deque[str] = deque(maxlen=LAST_LINES)

    def observe(record: Record) -> None:
        if line := tell(record, daemon.ledger.board):
            lines.append(line)

    daemon.news.observe = observe
    running = asyncio.ensure_future(daemon.run())
    with Live(console=Console(), refresh_per_second=4, auto_refresh=False, vertical_overflow="crop") as live:
        while not running.done():
            live.update(draw(daemon, list(lines)), refresh=True)
            await asyncio.wait({running}, timeout=REFRESH_SECONDS)
        live.update(draw(daemon, list(lines)), refresh=True)
    await running


def draw(daemon: Daemon, lines: list[str]) -> Group:
    history = Text("\n".join(cut(line, 200) for line in lines), style="dim", no_wrap=True, overflow="ellipsis")
    waiting = _waiting(daemon)
    halted = _halted(daemon)
    above, below = [halted] if halted else [], [waiting] if waiting else []
    return Group(_header(daemon), *above, _agents(daemon), *below, history)


def _halted(daemon: Daemon) -> Text:
    if (halted := daemon.ledger.board.halted) is None:
        return Text()
    words = f" merge queue halted: {cut(halted.reason, 200)}"
    return Text(words, style="red", no_wrap=True, overflow="ellipsis")


def _waiting(daemon: Daemon) -> Text:
    """Why the next task has not started; `paddock status` shows the reason for each."""
    ready = sorted((name for name in daemon.ledger.board.ready if name in daemon.gate.waiting), key=task_number)
    if not ready:
        return Text()
    words = f" {plural(len(ready), 'task')} waiting: {cut(daemon.gate.waiting[ready[0]], 160)}"
    return Text(words, style="yellow", no_wrap=True, overflow="ellipsis")


def _header(daemon: Daemon) -> Text:
    """How many tasks are in each phase, and how much of the work is done."""
    counts = daemon.ledger.board.counts
    header = Text()
    for phase in Phase:
        if count := counts.get(phase):
            symbol, colour = BADGES[phase]
            header.append(f"{symbol} {count} {phase.value}  ", style=colour.replace("bright_black", "grey50"))
    done = sum(counts.get(phase, 0) for phase in SATISFIED)
    total = sum(counts.values()) - counts.get(Phase.CANCELLED, 0)
    header.append(f"{done}/{total} done", style="bold")
    return header


def _agents(daemon: Daemon) -> Table:
    """What every agent did last, and what CI is testing."""
    board = daemon.ledger.board
    table = Table(box=None, padding=(0, 1), show_header=False, expand=True)
    for justify in ("left", "left", "right"):
        table.add_column(no_wrap=True, justify=justify)
    table.add_column(no_wrap=True, ratio=1, overflow="ellipsis")
    for name, run in sorted(daemon.attempts.by_task.items(), key=lambda item: task_number(item[0])):
        task = board.tasks[name]
        if (attempt := task.live_attempt) is None:
            continue
        step = run.turn.reader.summary.last_step if run.turn is not None else "preparing its worktree"
        # Text, because rich would interpret markup in a bare string.
        words = Text(cut(task.title, 30)), age(attempt.started), Text(cut(step or "starting", 200))
        table.add_row(attempt.id, *words)
    for driver in daemon.lander.runs.driven.values():
        members = ", ".join(member.id for member in driver.run.members) or "main itself"
        table.add_row(driver.run.id, f"CI {driver.run.purpose.value}", age(driver.run.started_at), Text(members))
    return table

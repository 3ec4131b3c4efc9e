"""`paddock watch`, which `paddock status --watch` is another name for: a fleet, wherever its daemon runs, live."""

import asyncio
import signal
import time
from contextlib import closing

import click
from msgspec.structs import replace

from paddock.cli.live_view import TerminalView
from paddock.cli.options import prints_json
from paddock.cli.pages.narration import tell
from paddock.cli.pages.overview import read_status
from paddock.cli.pages.scene import READ_BACK
from paddock.cli.terminal.screen import is_screen
from paddock.cli.terminal.text import print_json_line, say
from paddock.cli.workspace import open_workspace
from paddock.core.intent.selection import require_convoy
from paddock.fleet.service.presence import Presence, look_for_daemon
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Query, Store
from paddock.views.status import StatusView

FIRST_LINES = 8
SLOW_CLOCK_SECONDS = 5.0
FOOTER = "q leaves"


@click.command("watch")
@click.option("--convoy", help="Only the tasks of this convoy.")
@prints_json
@click.pass_context
def watch_command(ctx: click.Context, convoy: str | None, as_json: bool) -> None:
    """Watch the fleet live, wherever its daemon runs.

    Shows what needs you, what each agent does and has cost, and what lands next; q leaves. If the output is not a
    terminal, prints a line for everything that happens, as `paddock run` does. With --json, prints what
    `paddock status --json` prints, on one line, whenever it has changed.
    """
    ctx.exit(watch(open_workspace(ctx), convoy, as_json=as_json))


def watch(workspace: Workspace, convoy: str | None, *, as_json: bool) -> int:
    """Until somebody leaves; the exit code."""
    if convoy is not None:
        require_convoy(workspace.board(), convoy)
    if as_json:
        _follow_status(workspace, convoy)
    if not is_screen():
        _follow_plainly(workspace, convoy)
    return asyncio.run(_show(TerminalView(workspace, convoy=convoy, footer=FOOTER)))


async def _show(view: TerminalView) -> int:
    ended_by: list[int] = []

    def end(signum: int) -> None:
        ended_by.append(signum)
        view.leave()

    loop = asyncio.get_running_loop()
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(signum, end, signum)
    loop.add_signal_handler(signal.SIGWINCH, view.wake)
    loop.add_signal_handler(signal.SIGTSTP, view.suspend)
    await view.run()
    return 128 + ended_by[0] if ended_by else 0


def _follow_status(workspace: Workspace, convoy: str | None) -> None:
    """The numbers of records grow also when nothing else changes."""
    shown: StatusView | None = None
    with closing(workspace.read()) as store, store.listen() as listener:
        while True:
            status = read_status(workspace, store.board(), convoy)
            if shown is None or replace(status, seq=shown.seq) != shown:
                print_json_line(status)
                shown = status
            listener.wait(SLOW_CLOCK_SECONDS)


def _follow_plainly(workspace: Workspace, convoy: str | None) -> None:
    with closing(workspace.read()) as store, store.listen() as listener:
        head = store.board().seq
        for line in _lines(store, convoy, max(0, head - READ_BACK), head)[-FIRST_LINES:]:
            say(line)
        if look_for_daemon(store.known(), time.time()).presence is not Presence.RUNNING:
            click.echo("no daemon is running: `paddock up` starts one", err=True)
        while True:
            listener.wait(SLOW_CLOCK_SECONDS)
            # The head is read first: what is appended while we print belongs to the next round.
            before, head = head, store.board().seq
            for line in _lines(store, convoy, before, head):
                say(line)


def _lines(store: Store, convoy: str | None, after: int, until: int) -> list[str]:
    board = store.known()
    members = None if convoy is None else frozenset(board.members[convoy])
    records = store.records(Query(after=after, until=until)) if until > after else ()
    found = (tell(record, board) for record in records if members is None or record.task in members)
    return [line for line in found if line]

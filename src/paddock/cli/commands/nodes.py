"""`paddock nodes` and `paddock drain`: the machines that agents run on."""

import sys
import time
from collections.abc import Sequence

import click

from paddock.api.waiting import boards
from paddock.cli.options import DURATION, prints_json
from paddock.cli.pages.nodes import node_lines
from paddock.cli.terminal.text import cut, plural, print_document, print_json, say
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse, PaddockError
from paddock.core.intent.nodes import drain_nodes, reopen_nodes
from paddock.fleet.nodes.drains import at_work_on, require_progress, seen_nodes, until_empty
from paddock.fleet.nodes.register import read_register
from paddock.fleet.service.bulletin import fetch_bulletin
from paddock.fleet.service.presence import look_for_daemon
from paddock.fleet.workspace import Workspace
from paddock.sessions.host import is_here
from paddock.views.fleet.nodes import Census, view_cluster

NAMES_SHOWN = 12


@click.command("nodes")
@prints_json
@click.pass_context
def nodes_command(ctx: click.Context, as_json: bool) -> None:
    """Show the machines that agents run on: slots, load, what is at work there, and where their tools differ.

    What only the daemon sees, it notes beside the log; without a daemon this shows what the log tells.
    """
    workspace, now = open_workspace(ctx), time.time()
    board = workspace.board()
    daemon = look_for_daemon(board, now)
    fetch_bulletin(workspace, daemon)
    census = Census(board, read_register(workspace.state_dir), daemon, now)
    view = view_cluster(census, workspace.config)
    if as_json:
        print_json(view)
        return
    is_ours = daemon.lease is None or is_here(daemon.lease.holder)
    say("\n".join(node_lines(view, now, is_ours=is_ours)))


@click.command("drain")
@click.argument("nodes", nargs=-1, required=True, metavar="NODE…")
@click.option("--reason", default="", help="Why; shown wherever the node is, and kept in the log.")
@click.option("--undo", is_flag=True, help="Use the nodes again.")
@click.option("--wait", "waits", is_flag=True, help="Wait until nothing is at work there any more.")
@click.option("--timeout", type=DURATION, help="With --wait: give up after this long, e.g. 30m.")
@prints_json
@click.pass_context
def drain_command(
    ctx: click.Context,
    nodes: tuple[str, ...],
    reason: str,
    undo: bool,
    waits: bool,
    timeout: float | None,
    as_json: bool,
) -> None:
    """Let nothing new start on NODE; agents and CI that are at work there go on to their end.

    Say `paddock drain NODE --wait` before you switch a machine off, and `--undo` when it is back. The exit status is 1
    if a node is unknown, or if --timeout passed before the nodes were empty.
    """
    if undo and (reason or waits):
        raise Misuse(f"--undo does not go with {'--reason' if reason else '--wait'}", "omit one of the two")
    if timeout is not None and not waits:
        raise Misuse("--timeout is for --wait", "add --wait")
    workspace, names = open_workspace(ctx), tuple(dict.fromkeys(nodes))
    seen = seen_nodes(workspace)
    if undo:
        records = workspace.record(lambda board: reopen_nodes(board, names, seen))
    else:
        records = workspace.record(lambda board: drain_nodes(board, names, seen, reason))
    if waits:
        _wait(workspace, names, timeout)
    left = at_work_on(workspace.board(), names)
    if as_json:
        print_document(nodes=names, drained=not undo, at_work=left, seq=records[-1].seq if records else None)
        return
    click.echo("\n".join(_told(names, left, undo=undo, again=not records)))


def _wait(workspace: Workspace, names: Sequence[str], timeout: float | None) -> None:
    """Tells a terminal how it goes. Raises PaddockError where it cannot, or if the time runs out."""
    require_progress(workspace.board(), names, time.time())
    left: tuple[str, ...] = ()
    for left in until_empty(boards(workspace, timeout), names):
        if left and sys.stderr.isatty():
            click.echo(f"waiting for {_listed(left)} on {', '.join(names)}", err=True)
    if left:
        raise PaddockError(
            f"{_listed(left)} {'is' if len(left) == 1 else 'are'} still at work on {', '.join(names)}",
            f"nothing new starts there; to end what runs: `paddock stop {left[0].partition('.')[0]}`",
        )


def _told(names: Sequence[str], left: Sequence[str], *, undo: bool, again: bool) -> list[str]:
    nodes, one = cut(", ".join(names), 200), len(names) == 1
    if undo:
        return [f"{nodes} {'is' if one else 'are'} used again"]
    already = " already" if again else ""
    if not left:
        return [f"{nodes} {'is' if one else 'are'} drained{already}: nothing is at work there"]
    goes = "goes" if len(left) == 1 else "go"
    return [
        f"{nodes} {'is' if one else 'are'} drained{already}: {_listed(left)} {goes} on there to the end",
        f"`paddock drain {' '.join(names)} --wait` waits for that",
    ]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMES_SHOWN])
    rest = len(names) - NAMES_SHOWN
    return f"{shown} and {plural(rest, 'other')}" if rest > 0 else shown

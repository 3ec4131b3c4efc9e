"""`paddock up` and `paddock down`: the fleet in the background."""

import time

import click

from paddock.cli.options import prints_json
from paddock.cli.page_process import require_extra, start_page
from paddock.cli.terminal.text import print_document
from paddock.cli.workspace import open_workspace
from paddock.core.errors import PaddockError
from paddock.core.leases.lease import Lease
from paddock.core.tasks.vocabulary import EndedBy
from paddock.fleet.attempts.turn import stop_reason_file
from paddock.fleet.fences import require_fences
from paddock.fleet.service.background import (
    START_SECONDS,
    daemon_words,
    end_daemon,
    find_daemon,
    install_unit,
    spawn_daemon,
)
from paddock.fleet.service.pages import end_page, find_pages
from paddock.fleet.workspace import Workspace
from paddock.sessions.host import Host


@click.command("up")
@click.option("--max", "most", type=click.IntRange(0), metavar="N", help="Most agents at the same time.")
@click.option("--install", is_flag=True, help="Also start it after a reboot, with a systemd user unit.")
@click.option("--web", is_flag=True, help="Also serve the page of `paddock web`, until `paddock down`.")
@prints_json
@click.pass_context
def up_command(ctx: click.Context, most: int | None, install: bool, web: bool, as_json: bool) -> None:
    """Start the fleet in the background."""
    workspace = open_workspace(ctx)
    if web:
        require_extra()
    found = find_daemon(workspace.board())
    if found is None:
        workspace.site.require_root()  # the daemon would report these too, but only in its log
        require_fences(workspace.config)
    taken = install and _install(workspace)
    log = workspace.state_dir / "daemon.log"
    if found is None and not taken:
        spawn_daemon(workspace.top, log, [] if most is None else ["--max", str(most)])
    running = found or _await_daemon(workspace)
    if running is None:
        raise PaddockError("the daemon did not start", f"see the end of `{log}`")
    page = start_page(workspace) if web else None
    if found is not None and most is not None:
        click.echo("--max does not affect a running daemon: run `paddock down`, then `paddock up --max N`", err=True)
    if as_json:
        holder = running.holder
        print_document(pid=holder.pid, host=holder.host, log=str(log), was_up=found is not None, web=page)
    else:
        up = "is up" if found is None else "is already up"
        words = f"the fleet {up} ({daemon_words(running)})"
        click.echo(f"{words}; `paddock status` shows what it does, `paddock down` ends it")
        if page is not None:
            click.echo(page)


def _install(workspace: Workspace) -> bool:
    """Whether systemd starts it now and after a reboot."""
    path, taken = install_unit(workspace.repo, workspace.top)
    if taken:
        click.echo(f"installed {path.name}; it starts again after a reboot", err=True)
    else:
        click.echo(f"wrote {path}, but systemd's user manager did not accept it", err=True)
        click.echo(f"hint: where systemd runs, `systemctl --user enable --now {path.name}`", err=True)
    return taken


@click.command("down")
@click.option("--now", is_flag=True, help="Emergency stop: end every agent process too, so that spending stops.")
@prints_json
@click.pass_context
def down_command(ctx: click.Context, now: bool, as_json: bool) -> None:
    """End the daemon, and the page of `up --web`. Agents keep working until they are done; --now ends them too."""
    workspace = open_workspace(ctx)
    running = find_daemon(workspace.board())
    if running is not None:
        end_daemon(running, agents_too=now, timeout_seconds=60.0 if now else 20.0)
    ended = _end_leftovers(workspace) if now else 0
    pages = [page.address for page in find_pages(workspace.state_dir) if page.detached and end_page(page)]
    board = workspace.board()
    working = [attempt.id for name in board.live if (attempt := board.tasks[name].live_attempt) is not None]
    if as_json:
        print_document(was_up=running is not None, working=working, ended_processes=ended, pages=pages)
        return
    click.echo(f"ended the daemon ({daemon_words(running)})" if running else "no daemon was running")
    for address in pages:
        click.echo(f"ended the page {address}")
    if ended:
        click.echo(f"ended {'1 process' if ended == 1 else f'{ended} processes'} without a daemon")
    if working and not now:
        click.echo(f"still working: {', '.join(working)}; `paddock up` picks them up, `paddock down --now` ends them")


def _await_daemon(workspace: Workspace) -> Lease | None:
    give_up_at = time.monotonic() + START_SECONDS
    store = workspace.read()
    with store.listen() as listener:
        while time.monotonic() < give_up_at:
            if (running := find_daemon(store.board())) is not None:
                return running
            listener.wait(0.5)
    return None


def _end_leftovers(workspace: Workspace) -> int:
    """Ends agents whose daemon died before it could. The reason is left for the next daemon to read."""
    site, board = workspace.site, workspace.board()
    for name in board.live:
        attempt = board.tasks[name].live_attempt
        if attempt is None or not attempt.turn_open or not site.sessions.reaches(Host(attempt.host, attempt.host_id)):
            continue
        if site.attempt_folder(attempt.id).is_dir():
            stop_reason_file(site, attempt).write_text(EndedBy.DOWN, encoding="utf-8")
    return len(site.sessions.sweep({process.owner for process in site.sessions.find()}).ended)

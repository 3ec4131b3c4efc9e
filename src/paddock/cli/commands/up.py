"""`paddock up` and `paddock down`: the fleet in the background."""

import click

from paddock.cli.options import prints_json
from paddock.cli.page_process import require_extra, start_page
from paddock.cli.terminal.text import print_document
from paddock.cli.workspace import open_workspace
from paddock.fleet.service.background import daemon_words, find_daemon, install_unit
from paddock.fleet.service.control import await_daemon, end_fleet, log_of, require_startable, start_daemon
from paddock.fleet.service.pages import end_page, find_pages
from paddock.fleet.workspace import Workspace


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
        require_startable(workspace)
    taken = install and _install(workspace)
    if found is None and not taken:
        start_daemon(workspace, most)
    running = found or await_daemon(workspace)
    page = start_page(workspace) if web else None
    if found is not None and most is not None:
        click.echo("--max does not affect a running daemon: run `paddock down`, then `paddock up --max N`", err=True)
    if as_json:
        holder = running.holder
        print_document(pid=holder.pid, host=holder.host, log=str(log_of(workspace)), was_up=found is not None, web=page)
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
    done = end_fleet(workspace, agents_too=now)
    running, ended, working = done.daemon, done.processes, done.working
    pages = [page.address for page in find_pages(workspace.state_dir) if page.detached and end_page(page)]
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

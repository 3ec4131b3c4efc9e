"""`paddock up` and `paddock down`: the fleet in the background."""

from dataclasses import dataclass
from typing import Any

import click

from paddock.cli.options import prints_json
from paddock.cli.page_process import require_extra, start_page
from paddock.cli.several import do_in_each, takes_repositories
from paddock.core.errors import Misuse
from paddock.core.leases.lease import Lease
from paddock.fleet.service.background import daemon_words, find_daemon, install_unit
from paddock.fleet.service.control import EndedFleet, await_daemon, end_fleet, log_of, require_startable, start_daemon
from paddock.fleet.service.pages import end_page, find_pages
from paddock.fleet.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Started:
    """`page` is its address, None where none was asked for."""

    daemon: Lease
    log: str
    was_up: bool
    page: str | None


@click.command("up")
@click.option("--max", "most", type=click.IntRange(0), metavar="N", help="Most agents at the same time.")
@click.option("--install", is_flag=True, help="Also start it after a reboot, with a systemd user unit.")
@click.option("--web", is_flag=True, help="Also serve the page of `paddock web`, until `paddock down`.")
@takes_repositories
@prints_json
@click.pass_context
def up_command(
    ctx: click.Context, most: int | None, install: bool, web: bool, places: tuple[str, ...], as_json: bool
) -> None:
    """Start the fleet in the background."""
    if web and len(places) > 1:
        raise Misuse("--web serves the page of one repository", "for several: `paddock web --repo A --repo B`")

    def start(workspace: Workspace) -> Started:
        return _start(workspace, most, install=install, web=web)

    do_in_each(ctx, places, start, _say_started, _started_fields if as_json else None)


def _start(workspace: Workspace, most: int | None, *, install: bool, web: bool) -> Started:
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
    return Started(running, str(log_of(workspace)), found is not None, page)


def _started_fields(done: Started) -> dict[str, Any]:
    holder = done.daemon.holder
    return {"pid": holder.pid, "host": holder.host, "log": done.log, "was_up": done.was_up, "web": done.page}


def _say_started(done: Started) -> None:
    up = "is already up" if done.was_up else "is up"
    words = f"the fleet {up} ({daemon_words(done.daemon)})"
    click.echo(f"{words}; `paddock status` shows what it does, `paddock down` ends it")
    if done.page is not None:
        click.echo(done.page)


def _install(workspace: Workspace) -> bool:
    """Whether systemd starts it now and after a reboot."""
    path, taken = install_unit(workspace.repo, workspace.top)
    if taken:
        click.echo(f"installed {path.name}; it starts again after a reboot", err=True)
    else:
        click.echo(f"wrote {path}, but systemd's user manager did not accept it", err=True)
        click.echo(f"hint: where systemd runs, `systemctl --user enable --now {path.name}`", err=True)
    return taken


@dataclass(frozen=True, slots=True)
class Ended:
    """`pages` are the addresses of those that ended with it."""

    fleet: EndedFleet
    pages: list[str]
    agents_too: bool


@click.command("down")
@click.option("--now", is_flag=True, help="Emergency stop: end every agent process too, so that spending stops.")
@takes_repositories
@prints_json
@click.pass_context
def down_command(ctx: click.Context, now: bool, places: tuple[str, ...], as_json: bool) -> None:
    """End the daemon, and the page of `up --web`. Agents keep working until they are done; --now ends them too."""

    def end(workspace: Workspace) -> Ended:
        done = end_fleet(workspace, agents_too=now)
        pages = [page.address for page in find_pages(workspace.state_dir) if page.detached and end_page(page)]
        return Ended(done, pages, now)

    do_in_each(ctx, places, end, _say_ended, _ended_fields if as_json else None)


def _ended_fields(done: Ended) -> dict[str, Any]:
    fleet = done.fleet
    return {
        "was_up": fleet.daemon is not None,
        "working": fleet.working,
        "ended_processes": fleet.processes,
        "pages": done.pages,
    }


def _say_ended(done: Ended) -> None:
    running, ended, working = done.fleet.daemon, done.fleet.processes, done.fleet.working
    click.echo(f"ended the daemon ({daemon_words(running)})" if running else "no daemon was running")
    for address in done.pages:
        click.echo(f"ended the page {address}")
    if ended:
        click.echo(f"ended {'1 process' if ended == 1 else f'{ended} processes'} without a daemon")
    if working and not done.agents_too:
        click.echo(f"still working: {', '.join(working)}; `paddock up` picks them up, `paddock down --now` ends them")

"""`paddock web`: the fleet in a browser."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from paddock.cli.options import prints_json
from paddock.cli.page_process import require_extra
from paddock.cli.terminal.text import print_json_line
from paddock.cli.workspace import NamedPlace, find_named, open_workspace
from paddock.core.errors import Misuse, PaddockError
from paddock.core.intent.workers import NotForWorkers
from paddock.fleet.service.pages import PageNote
from paddock.views.document import document

if TYPE_CHECKING:
    from paddock.web.app import Shown

LOOK_SECONDS = 1.0
"""For each of several logs to be read, before the page is there: the page goes on trying."""


@click.command("web")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="Default: 6174; 0 is any that is free.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--open", "opens", is_flag=True, help="Open it in a browser.")
@click.option("--no-token", is_flag=True, help="Let everyone in who can reach the port from this machine.")
@click.option("--new-token", is_flag=True, help="Make another token; pages that are open have to be opened again.")
@click.option(
    "--repo",
    "places",
    multiple=True,
    metavar="PATH",
    help="A repository to show, by any path in it; several share one server. Default: the current one.",
)
@click.option("--detached", is_flag=True, hidden=True, help="It ends with `paddock down`.")
@click.option("--until-eof", is_flag=True, hidden=True, help="It ends with standard input.")
@prints_json
@click.pass_context
def web_command(
    ctx: click.Context,
    port: int | None,
    host: str,
    opens: bool,
    no_token: bool,
    new_token: bool,
    places: tuple[str, ...],
    detached: bool,
    until_eof: bool,
    as_json: bool,
) -> None:
    """Show the fleet in a browser, at the address printed first. Ctrl-C ends it.

    The address carries a token: whoever has it may do everything that you can do with `paddock` here. With --repo,
    given several times, one server shows several repositories: all of them on the first page, each with its own pages.
    """
    require_extra()
    named = find_named(ctx, places)
    shown, words = _show_one(ctx, named) if len(named) < 2 else _show_several(ctx, named)
    from paddock.web.access import is_loopback
    from paddock.web.serve import DEFAULT_PORT, ServerWish, address_of, running_page, serve

    if not is_loopback(host):
        _warn_about(host, no_token=no_token)
    wish = ServerWish(host, port, token=not no_token, new_token=new_token, detached=detached)
    found = None if new_token else running_page(shown.state_dir, wish, shown.repositories)
    told = Telling(shown.state_dir, words, as_json, opens)
    if found is not None:
        told.tell(found, address_of(shown.state_dir, found))
        click.echo(f"it is running already (pid {found.process.pid})", err=True)
        return

    def say(note: PageNote, token: str) -> None:
        hidden = detached or not token  # what a detached one says goes to a file
        told.tell(note, note.address if hidden else f"{note.address}?token={token}")
        if port is None and note.port != DEFAULT_PORT:
            click.echo(f"port {DEFAULT_PORT} is taken: this is {note.port}", err=True)

    serve(shown, wish, say, until=sys.stdin.fileno() if until_eof else None)


def _show_one(ctx: click.Context, named: Sequence[NamedPlace]) -> tuple["Shown", str]:
    """With what it shows, in words."""
    workspace = open_workspace(ctx, place=named[0].path if named else None)
    workspace.board()  # there is a log, and it can be read
    from paddock.web.app import show_fleet
    from paddock.web.served_fleet import ServedFleet

    return show_fleet(ServedFleet(workspace)), f"`{workspace.top}`"


def _show_several(ctx: click.Context, named: Sequence[NamedPlace]) -> tuple["Shown", str]:
    """One that cannot be shown now is named, and shown as soon as it can be."""
    from paddock.web.repositories import ServedRepositories
    from paddock.web.several import show_repositories

    good = 0
    for one in named:
        try:
            open_workspace(ctx, place=one.path).read(LOOK_SECONDS).close()
            good += 1
        except NotForWorkers:
            raise
        except PaddockError as error:
            hint = f" ({error.hint})" if error.hint else ""
            click.echo(f"warning: `{one.said}` cannot be shown: {error.message}{hint}", err=True)
    if not good:
        raise PaddockError(
            "none of these repositories can be shown", "name at least one that `paddock init` has set up"
        )
    repositories = ServedRepositories.at([one.path for one in named], ctx.find_root().obj.settings)
    return show_repositories(repositories), f"{len(named)} repositories"


def _warn_about(host: str, *, no_token: bool) -> None:
    if no_token:
        raise Misuse(
            f"--no-token would let everyone steer the fleet who can reach `{host}`",
            "omit it, or stay on 127.0.0.1 and use `ssh -L 6174:127.0.0.1:6174 THIS-MACHINE`",
        )
    click.echo(
        f"warning: on `{host}` other machines can reach this page. It is not encrypted: whoever can listen on the "
        "network sees the token, and may then steer your agents, which run commands here as you. Safer: omit --host, "
        "and run `ssh -L 6174:127.0.0.1:6174 THIS-MACHINE` on the other one.",
        err=True,
    )


@dataclass(frozen=True, slots=True)
class Telling:
    """How the address is told: of a server whose token is in `state_dir`, and which shows what `words` say."""

    state_dir: Path
    words: str
    as_json: bool
    opens: bool

    def tell(self, note: PageNote, address: str) -> None:
        if self.as_json:
            print_json_line(document(url=address, host=note.host, port=note.port, pid=note.process.pid))
        else:
            click.echo(address)
            if sys.stdout.isatty():
                click.echo(f"Paddock shows {self.words} there. Ctrl-C ends this page, not the fleet.", err=True)
        sys.stdout.flush()
        if self.opens:
            import webbrowser

            from paddock.web.serve import ticket_for

            with suppress(webbrowser.Error):
                webbrowser.open(ticket_for(self.state_dir, note))

"""`paddock web`: the fleet in a browser."""

import sys
from contextlib import suppress

import click

from paddock.cli.options import prints_json
from paddock.cli.page_process import require_extra
from paddock.cli.terminal.text import print_json_line
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse
from paddock.fleet.service.pages import PageNote
from paddock.fleet.workspace import Workspace
from paddock.views.document import document


@click.command("web")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="Default: 6174; 0 is any that is free.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--open", "opens", is_flag=True, help="Open it in a browser.")
@click.option("--no-token", is_flag=True, help="Let everyone in who can reach the port from this machine.")
@click.option("--new-token", is_flag=True, help="Make another token; pages that are open have to be opened again.")
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
    detached: bool,
    until_eof: bool,
    as_json: bool,
) -> None:
    """Show the fleet in a browser, at the address printed first. Ctrl-C ends it.

    The address carries a token: whoever has it may do everything that you can do with `paddock` here.
    """
    workspace = open_workspace(ctx)
    workspace.board()  # there is a log, and it can be read
    require_extra()
    from paddock.web.access import is_loopback
    from paddock.web.serve import ServerWish, address_of, running_page, serve

    if not is_loopback(host):
        _warn_about(host, no_token=no_token)
    wish = ServerWish(host, port, token=not no_token, new_token=new_token, detached=detached)
    found = None if new_token else running_page(workspace, wish)
    if found is not None:
        _tell(workspace, found, address_of(workspace, found), as_json=as_json, opens=opens)
        click.echo(f"it is running already (pid {found.process.pid})", err=True)
        return

    def say(note: PageNote, token: str) -> None:
        hidden = detached or not token  # what a detached one says goes to a file
        address = note.address if hidden else f"{note.address}?token={token}"
        _tell(workspace, note, address, as_json=as_json, opens=opens)
        if port is None and note.port != DEFAULT_PORT:
            click.echo(f"port {DEFAULT_PORT} is taken: this is {note.port}", err=True)

    from paddock.web.serve import DEFAULT_PORT

    serve(workspace, wish, say, until=sys.stdin.fileno() if until_eof else None)


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


def _tell(workspace: Workspace, note: PageNote, address: str, *, as_json: bool, opens: bool) -> None:
    if as_json:
        print_json_line(document(url=address, host=note.host, port=note.port, pid=note.process.pid))
    else:
        click.echo(address)
        if sys.stdout.isatty():
            click.echo(f"Paddock shows `{workspace.top}` there. Ctrl-C ends this page, not the fleet.", err=True)
    sys.stdout.flush()
    if opens:
        import webbrowser

        from paddock.web.serve import ticket_for

        with suppress(webbrowser.Error):
            webbrowser.open(ticket_for(workspace, note))

"""`paddock mcp`: the fleet for clients of the Model Context Protocol, and for agents at work."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from paddock.cli.desk import AtDesk, find_desk
from paddock.cli.workspace import open_workspace, workspace_at
from paddock.core.errors import Misuse, PaddockError, read_complaint
from paddock.fleet.desk.wire import MOST_STDIN_BYTES

if TYPE_CHECKING:
    from paddock.mcp.server import Call


@click.group("mcp", invoke_without_command=True, subcommand_metavar="")
@click.option("--http", "address", metavar="HOST:PORT", help="Serve streamable HTTP on a loopback address instead.")
@click.pass_context
def mcp_command(ctx: click.Context, address: str | None) -> None:
    """Serve the Model Context Protocol on standard input and output.

    A client that is started by an agent at work has that agent's rights, any other a person's. Over HTTP the token of
    `paddock web` is a person's, and $PADDOCK_TOKEN an agent's own.
    """
    if ctx.invoked_subcommand is not None:
        return
    _require_extra()
    desk = find_desk(["mcp"])
    if desk is not None and address is None:
        from paddock.mcp.server import serve_stdio

        asyncio.run(serve_stdio(_at_desk(desk)))
        return
    workspace = open_workspace(ctx, "mcp" if address is None else "mcp --http")
    workspace.board()  # there is a log, and it can be read
    from paddock.api.access import Access

    access = Access(workspace.repo, workspace.settings, "mcp")
    if address is None:
        from paddock.mcp.server import serve_stdio
        from paddock.mcp.tools import call_tool

        asyncio.run(serve_stdio(lambda name, arguments: call_tool(access, name, arguments)))
        return
    from paddock.mcp.http import serve_http

    host, port = _address(address)
    serve_http(access, workspace.state_dir, host, port, _announce)


@mcp_command.command("call", hidden=True)
@click.argument("tool")
@click.argument("arguments", required=False, default="-")
@click.pass_context
def call_command(ctx: click.Context, tool: str, arguments: str) -> None:
    """Call TOOL with ARGUMENTS, a JSON object, or `-` for standard input; prints the result."""
    workspace = workspace_at(ctx.find_root().obj.directory)
    from paddock.api.access import Access
    from paddock.mcp.tools import call_tool

    given = sys.stdin.buffer.read(MOST_STDIN_BYTES + 1) if arguments == "-" else arguments.encode()
    if len(given) > MOST_STDIN_BYTES:
        raise Misuse(f"the arguments are larger than {MOST_STDIN_BYTES:,} bytes", "send less")
    answer = call_tool(Access(workspace.repo, via="mcp"), tool, given)
    sys.stdout.buffer.write(answer + b"\n")
    sys.stdout.buffer.flush()


def _at_desk(place: Path) -> "Call":
    desk = AtDesk(place)

    def call(name: str, arguments: bytes) -> bytes:
        code, said, complaint = desk.ask("mcp", "call", name, "-", stdin=arguments)
        if code:
            raise read_complaint(complaint)
        return said.strip().encode()

    return call


def _require_extra() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise PaddockError("the MCP server is not installed", "install it with `pip install 'paddock[mcp]'`")


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65_535:
        raise Misuse(f"--http: `{text}` is not HOST:PORT", "e.g. `--http 127.0.0.1:6175`; port 0 is any that is free")
    return host.strip("[]") or "127.0.0.1", int(port)


def _announce(url: str) -> None:
    click.echo(url)
    if sys.stdout.isatty():
        click.echo("send `Authorization: Bearer TOKEN`; the token is in the address `paddock web` prints", err=True)
    sys.stdout.flush()

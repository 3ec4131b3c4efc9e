"""`paddock top`: the fleet on one screen, with keys that act on it."""

import os
import sys

import click

from paddock.cli.workspace import open_workspace
from paddock.core.errors import PaddockError


@click.command("top")
@click.pass_context
def top_command(ctx: click.Context) -> None:
    """Show the fleet on one screen, by who needs you, and act on it by keys: `?` lists them, `q` leaves.

    It needs the extra `paddock[tui]`.
    """
    workspace = open_workspace(ctx)
    try:
        from paddock.tui.app import PaddockTop
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("rich", "textual"):
            raise
        raise PaddockError(
            "`paddock top` needs Textual, which is not installed", "run `pip install 'paddock[tui]'`"
        ) from None
    if not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)):
        raise PaddockError(
            "`paddock top` needs a terminal for its input, output and errors",
            "`paddock status` prints the fleet once, `paddock watch` as it changes",
        )
    if os.environ.get("TERM") == "dumb":
        raise PaddockError(
            "`paddock top` needs a terminal with a cursor that it can move, and TERM is `dumb`",
            "`paddock status` prints the fleet once, `paddock watch` a line for everything that happens",
        )
    workspace.board()  # what is wrong with the log is said before the screen is taken
    top = PaddockTop(workspace)
    top.run()
    ctx.exit(top.return_code or 0)

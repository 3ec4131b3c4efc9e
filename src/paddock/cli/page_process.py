"""`paddock web` beside another command: as its child for as long as it runs, or detached until `paddock down`."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click
import msgspec

from paddock.core.errors import PaddockError
from paddock.fleet.service.background import command_line, spawn
from paddock.fleet.service.pages import find_pages
from paddock.fleet.workspace import Workspace

START_SECONDS = 20.0
END_SECONDS = 10.0


def require_extra() -> None:
    """Raises PaddockError where the extra `web` is not installed."""
    from importlib.util import find_spec

    if any(find_spec(name) is None for name in ("starlette", "uvicorn")):
        raise PaddockError("the web server is not installed", "install it with `pip install 'paddock[web]'`")


@contextmanager
def page_beside(workspace: Workspace) -> Iterator[None]:
    """Says its address first. It ends with us, however we end: it reads from us."""
    require_extra()
    argv = command_line(workspace.top, ["web", "--until-eof", "--json"])
    with subprocess.Popen(argv, cwd=workspace.top, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as page:
        assert page.stdin is not None
        assert page.stdout is not None
        told = page.stdout.readline()
        if not told:
            raise PaddockError("the page did not start", "run `paddock web` to see why")
        click.echo(msgspec.json.decode(told)["url"])
        try:
            yield
        finally:
            page.stdin.close()
            _await(page)
            click.echo("the page has ended, too; `paddock web` shows it again", err=True)


def _await(page: subprocess.Popen[bytes]) -> None:
    try:
        page.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        page.kill()


def start_page(workspace: Workspace) -> str:
    """Detached, unless one is there; returns its address. Raises PaddockError if it does not start."""
    log = workspace.state_dir / "web.log"
    address = address_of_page(workspace)
    if not address:
        spawn(workspace.top, log, ["web", "--detached"])
    give_up_at = time.monotonic() + START_SECONDS
    while not address and time.monotonic() < give_up_at:
        time.sleep(0.05)
        address = address_of_page(workspace)
    if not address:
        raise PaddockError("the page did not start", f"see the end of `{log}`")
    return address


def address_of_page(workspace: Workspace) -> str:
    """Of one that is served on this machine now, to be opened as it is; empty if there is none."""
    from paddock.web.token import token_of

    found = next((note for note in find_pages(workspace.state_dir) if note.host == "127.0.0.1"), None)
    if found is None:
        return ""
    return f"{found.address}?token={token_of(workspace.state_dir)}" if found.token else found.address

"""`--accept` and `--accept-file`: what must pass before a change is accepted, taken down now."""

from collections.abc import Callable
from pathlib import Path
from posixpath import normpath
from typing import Any, TypeVar

import click

from paddock.core.errors import Misuse
from paddock.core.events import Acceptance
from paddock.core.ids import printable
from paddock.core.intent.acceptance import FILES_LIMIT, make_acceptance
from paddock.fleet.workspace import Workspace

Command = TypeVar("Command", bound=Callable[..., Any])

_ACCEPT = "A command that must pass before the change is accepted, run without a shell. Can be repeated."
_FILE = "A file that is laid over the change first, as it is now: a path, or PATH=FILE. Can be repeated."


def takes_acceptance(instead: str = "") -> Callable[[Command], Command]:
    """Gives a command the options `accept` and `accept_file`; `instead` says what they do to an earlier acceptance."""

    def decorate(command: Command) -> Command:
        file = click.option("--accept-file", multiple=True, metavar="PATH[=FILE]", help=f"{_FILE}{instead}")
        return click.option("--accept", multiple=True, metavar="COMMAND", help=f"{_ACCEPT}{instead}")(file(command))

    return decorate


def read_accept_options(
    ctx: click.Context, workspace: Workspace, commands: tuple[str, ...], files: tuple[str, ...]
) -> Acceptance | None:
    """None for none. A path is that of a file in the checkout you are in; FILE may be anywhere. Raises Misuse."""
    base = Path(ctx.find_root().obj.directory or ".")
    texts: dict[str, str] = {}
    for entry in files:
        path, separator, source = entry.partition("=")
        path = normpath(path) if path else ""
        if path in texts:
            raise Misuse(f"--accept-file names `{printable(path, 80)}` twice", "give each path once")
        if separator:
            texts[path] = _read(Path(source), entry)
        elif path:
            texts[_inside(base / path, workspace.repo.top)] = _read(base / path, entry)
    return make_acceptance(commands, texts)


def _inside(file: Path, top: Path | None) -> str:
    """Its path as the repository has it."""
    if top is None:
        raise Misuse("there is no checkout here that --accept-file could take it from", "use `--accept-file PATH=FILE`")
    try:
        return (file.parent.resolve() / file.name).relative_to(top.resolve()).as_posix()
    except ValueError:
        raise Misuse(
            f"--accept-file: `{printable(str(file), 80)}` is not in this repository",
            "say where it belongs: `--accept-file tests/test_x.py=FILE`",
        ) from None


def _read(file: Path, entry: str) -> str:
    try:
        with file.open("rb") as opened:
            data = opened.read(FILES_LIMIT + 1)
    except OSError as error:
        raise Misuse(
            f"--accept-file: `{printable(str(file), 120)}` cannot be read: {error.strerror}",
            f"name a file of the repository, or `{printable(entry.partition('=')[0], 60)}=FILE`",
        ) from None
    if len(data) > FILES_LIMIT:
        raise Misuse(f"--accept-file: `{printable(str(file), 120)}` is larger than {FILES_LIMIT:,} bytes", "shorten it")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Misuse(
            f"--accept-file: `{printable(str(file), 120)}`: byte {error.start + 1} is not UTF-8",
            "files of an acceptance are text",
        ) from None

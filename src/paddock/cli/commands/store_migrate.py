"""`paddock store migrate`: the log in another place, record for record."""

import sys

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import plural, print_document, say
from paddock.cli.workspace import open_workspace
from paddock.config.addresses import holds_password, without_password
from paddock.config.load import FILE_NAME
from paddock.config.store_section import with_store, write_store
from paddock.core.errors import Misuse
from paddock.core.ids import printable
from paddock.fleet.service.log_move import move_log, pages_to_restart, places_of
from paddock.fleet.workspace import Workspace
from paddock.store.place import LogPlace
from paddock.store.settings import DEFAULT_SCHEMA


@click.command("migrate")
@click.option("--to", metavar="URL", help="`postgresql://USER@HOST/DATABASE` or `file`. Default: as paddock.toml says.")
@click.option("--schema", metavar="NAME", help="The schema to create there. Default: [store] schema.")
@click.option("--edit", is_flag=True, help="Also put the new place into paddock.toml, for you to commit.")
@prints_json
@click.pass_context
def migrate_command(ctx: click.Context, to: str | None, schema: str | None, edit: bool, as_json: bool) -> None:
    """Move the log into a database, or back into a file.

    It moves record for record, verified by its hash chain. End the daemon first. Until the copy is complete the log
    stays where it is; then it is open in the new place only, and whoever still looks at the old one is told so. If this
    is interrupted, run it again.

    `${NAME}` in a URL stands for a variable of the environment, so that no password is seen in the list of processes.
    """
    workspace = open_workspace(ctx)
    if edit and to is not None and holds_password(to):
        raise Misuse(
            "--edit would write the password in --to into paddock.toml",
            "write `${NAME}` in its place, or keep it in PGPASSWORD or ~/.pgpass",
        )
    source, target = places_of(workspace, to, schema)
    done = move_log(source, target, _progress if sys.stderr.isatty() and not as_json else lambda _have, _of: None)
    lines = _lines_for(target)
    edited = edit and _edit(workspace, target)
    if as_json:
        print_document(
            log=str(target),
            was=str(source),
            records=done.records,
            copied=done.copied,
            kept=str(done.kept) if done.kept is not None else None,
            config="\n".join(lines),
            edited=edited,
        )
        return
    if done.before:
        say(f"the log has left its old place and is at {printable(str(target), 300)}: {plural(done.records, 'record')}")
    else:
        say(f"moved {plural(done.records, 'record')} to {printable(str(target), 300)}; all hashes match")
    if done.kept is not None and done.kept.exists():
        say(f"what was in the file is kept in {printable(str(done.kept), 300)}")
    _tell_config(workspace, target, lines, edited=edited)
    if to is not None and holds_password(to):
        say("the password is not in these lines: keep it in ~/.pgpass, where the list of processes does not show it")
    for address in pages_to_restart(target.state_dir):
        say(f"the page at {address} still has the old place open: end it and run `paddock web` again")


def _tell_config(workspace: Workspace, target: LogPlace, lines: list[str], *, edited: bool) -> None:
    if edited:
        say(f"{FILE_NAME} says so now: commit it, and pull it wherever else this log is used")
    elif not _is_configured(workspace, target):
        if not target.is_shared:
            say(
                f"\nnow take `url` out of [store] in {FILE_NAME} (until then every command says that the log was moved)"
            )
            return
        say(f"\nnow put this into {FILE_NAME}, here and wherever else this log is used (until then every command says")
        say("that the log was moved):\n")
        for line in lines:
            say(f"    {line}")


def _lines_for(target: LogPlace) -> list[str]:
    return [line for line in with_store("", *_keys_of(target)).splitlines() if line]


def _keys_of(target: LogPlace) -> tuple[str, str]:
    return without_password(target.url), "" if target.schema == DEFAULT_SCHEMA else target.schema


def _is_configured(workspace: Workspace, target: LogPlace) -> bool:
    return Workspace(workspace.repo).log == target


def _edit(workspace: Workspace, target: LogPlace) -> bool:
    write_store(workspace.top / FILE_NAME, *_keys_of(target))
    return True


def _progress(have: int, of: int) -> None:
    sys.stderr.write(f"\r\033[K{have:,} of {of:,} records" if have < of else "\r\033[K")
    sys.stderr.flush()

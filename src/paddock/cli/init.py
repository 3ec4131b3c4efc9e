"""`paddock init`: a commented paddock.toml and an empty log."""

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import click

from paddock.cli.text import SCHEMA, print_json
from paddock.cli.workspace import Workspace, open_workspace
from paddock.config.load import FILE_NAME
from paddock.config.template import guess_ci, render_config
from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.store.sqlite import SqliteStore


@click.command("init")
@click.option("--yes", is_flag=True, help="Do not ask; take what was found.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def init_command(ctx: click.Context, yes: bool, as_json: bool) -> None:
    """Set Paddock up in this repository: writes paddock.toml and creates the log.

    Running it again changes nothing. The working tree gets one new file, paddock.toml; the log is
    kept in git's own directory.
    """
    workspace = open_workspace(ctx)
    if not workspace.repo.has_commits():
        raise PaddockError(
            f"`{workspace.top}` has no commits yet, and agents need one to start from",
            "make a first one: `git commit --allow-empty -m 'First commit'`",
        )
    path = workspace.top / FILE_NAME
    made_file, made_log = not path.exists(), not workspace.log_path.exists()
    text = _config_text(workspace, ask=not yes and not as_json and sys.stdin.isatty()) if made_file else ""
    SqliteStore(workspace.log_path, create=True).close()
    if made_file:
        _write(path, text)
    config = workspace.config
    if as_json:
        print_json({"schema": SCHEMA, "config": made_file, "log": made_log, "main": config.main, "ci": config.land.ci})
        return
    if not made_file and not made_log:
        click.echo(f"already set up in {printable(str(workspace.top))}: nothing changed")
        return
    if made_file:
        place = FILE_NAME if workspace.repo.top == workspace.top else printable(str(path))
        click.echo(f"wrote {place} (main: {config.main}, CI: {config.land.ci or 'none found; set [land] ci'})")
    if made_log:
        click.echo(f"created the log in {printable(str(workspace.log_path))}")
    click.echo('\nnext: paddock add "what to do", then paddock run')


def _config_text(workspace: Workspace, *, ask: bool) -> str:
    main = workspace.repo.default_branch()
    if main is None:
        raise PaddockError(
            "HEAD is detached and there is no branch `main` or `master`: Paddock cannot tell where work lands",
            "check out the branch work shall land on: `git switch BRANCH`",
        )
    ci = guess_ci(workspace.top)
    if ask:
        main = click.prompt("branch that work lands on", default=main)
        ci = click.prompt("command that must pass before anything lands (empty: none)", default=ci, show_default=True)
    return render_config(main, ci, found_engines())


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    draft = path.with_name(f".{FILE_NAME}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, path)
    except OSError as error:
        hint = f"check the folder: `ls -ld {path.parent}`, and its disk: `df {path.parent}`"
        raise PaddockError(f"`{printable(str(path))}` cannot be written: {error.strerror}", hint) from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def found_engines() -> list[str]:
    """Built-in engines whose program is on PATH. The demo's scripted one does not count."""
    from paddock.engines.registry import BUILT_IN

    return [name for name in BUILT_IN if name != "scripted" and shutil.which(name)]

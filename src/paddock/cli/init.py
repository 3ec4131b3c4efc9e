"""`paddock init`: a commented paddock.toml and an empty log."""

import os
import shutil
import sys

import click

from paddock.cli.text import SCHEMA, print_json
from paddock.cli.workspace import Workspace, open_workspace
from paddock.config.load import FILE_NAME, load_config
from paddock.config.template import guess_ci, render_config
from paddock.core.errors import PaddockError
from paddock.store.sqlite import SqliteStore
from paddock.store.trouble import explained


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
    made_file = _write_config(workspace, ask=not yes and not as_json and sys.stdin.isatty())
    made_log = not workspace.log_path.exists()
    SqliteStore(workspace.log_path, create=True).close()
    config = load_config(workspace.top).config
    if as_json:
        print_json({"schema": SCHEMA, "config": made_file, "log": made_log, "main": config.main, "ci": config.land.ci})
        return
    if not made_file and not made_log:
        click.echo(f"already set up in {workspace.top}: nothing changed")
        return
    if made_file:
        click.echo(f"wrote {FILE_NAME} (main: {config.main}, CI: {config.land.ci or 'none found; set [land] ci'})")
    if made_log:
        click.echo(f"created the log in {workspace.log_path}")
    click.echo('\nnext: paddock add "what to do", then paddock status')


def _write_config(workspace: Workspace, *, ask: bool) -> bool:
    path = workspace.top / FILE_NAME
    if path.exists():
        return False
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
    text = render_config(main, ci, found_engines())
    with explained(path):
        draft = path.with_name(f".{FILE_NAME}.{os.getpid()}")
        try:
            draft.write_text(text, encoding="utf-8")
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    return True


def found_engines() -> list[str]:
    """Built-in engines whose program is on PATH. The demo's scripted one does not count."""
    from paddock.engines.registry import BUILT_IN

    return [name for name in BUILT_IN if name != "scripted" and shutil.which(name)]

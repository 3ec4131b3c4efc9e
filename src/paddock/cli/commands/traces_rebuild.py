"""`paddock traces rebuild`: the dataset made again from the log, the output of attempts, and what was imported."""

import sys
import time

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import cut, plural, print_document, width
from paddock.cli.workspace import open_workspace
from paddock.insight.rebuild import Rebuilt, rebuild

HEARD_SECONDS = 0.2


@click.command("rebuild", short_help="Make all traces again.")
@click.option("--fleet-only", is_flag=True, help="Leave imported runs as they are.")
@prints_json
@click.pass_context
def rebuild_command(ctx: click.Context, fleet_only: bool, as_json: bool) -> None:
    """Make all traces again from the log, from what attempts have written, and from what was imported.

    Worth it after an upgrade that reads transcripts in another way: `paddock traces list --labels` tells. Attempts
    whose output was swept up keep the trace they have. A daemon may run meanwhile.
    """
    progress = _Progress()
    try:
        made = rebuild(open_workspace(ctx), progress.hear, imports=not fleet_only)
    finally:
        progress.clear()
    if as_json:
        print_document(
            attempts=made.attempts,
            unchanged=made.unchanged,
            imports=[
                {
                    "path": one.source.told.path,
                    "runs": one.tally.runs,
                    "steps": one.tally.steps,
                    "problem": one.problem or None,
                }
                for one in made.imports
            ],
            damaged=None if made.aside is None else str(made.aside),
        )
        return
    _tell(made)


def _tell(made: Rebuilt) -> None:
    if made.aside is not None:
        click.echo(f"the dataset could not be read: it lies at `{made.aside}`, and was made again", err=True)
    click.echo(f"made {plural(made.attempts, 'attempt')} of the fleet again")
    if made.unchanged:
        keep = "keeps the trace it had: its" if made.unchanged == 1 else "keep the trace they had: their"
        click.echo(f"{plural(made.unchanged, 'attempt')} {keep} output was swept up")
    for one in made.imports:
        place = cut(one.source.told.path, 100)
        if one.problem and one.source.runs is None:
            click.echo(f"could not import {place} again: {cut(one.problem, 200)}", err=True)
        elif one.problem:
            click.echo(
                f"kept {plural(one.source.runs or 0, 'imported run')} as they were: {cut(one.problem, 200)}", err=True
            )
        else:
            click.echo(f"imported {plural(one.tally.runs, 'run')} again from {place}")


class _Progress:
    """One line on a terminal; nothing where nobody looks."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._told_at = 0.0

    def hear(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if not self._is_shown or now - self._told_at < HEARD_SECONDS:
            return
        self._told_at = now
        share = f" {done / total:.0%}" if total else ""
        click.echo(f"\r\x1b[K{cut(f'{what}{share} …', width() - 1)}", err=True, nl=False)

    def clear(self) -> None:
        if self._told_at:
            click.echo("\r\x1b[K", err=True, nl=False)

"""`paddock failures`: why runs failed, as clusters with their causes."""

import time
from typing import ClassVar

import click

from paddock.cli.options import prints_json
from paddock.cli.run_selection import selects_runs
from paddock.cli.subcommands import SubcommandGroup
from paddock.cli.terminal.text import print_json
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse
from paddock.insight.selection import Selection

SHOWN = 10


class FailuresGroup(SubcommandGroup):
    subcommands: ClassVar = {
        "clear": "failures_clear",
        "settle": "failures_settle",
        "probe": "failures_probe",
    }


@click.group("failures", cls=FailuresGroup, invoke_without_command=True)
@selects_runs
@click.option("--limit", type=click.IntRange(1), default=SHOWN, help=f"How many symptoms to show.  [default: {SHOWN}]")
@click.option("--probe", metavar="ID", help="As `paddock failures probe ID`.")
@prints_json
@click.pass_context
def failures_command(
    ctx: click.Context,
    chosen: Selection,
    limit: int,
    probe: str | None,
    as_json: bool,
) -> None:
    """Show why runs failed: those that failed alike together, with the cause, what says so, and what was done.

    All runs that are known are looked at, the fleet's own and imported ones: those that did well say how often
    something could have failed. With --json, all clusters are printed.
    """
    if ctx.invoked_subcommand is not None:
        return
    if probe is not None:
        _probe(ctx, probe, as_json)
        return
    from paddock.cli.pages.failures import failure_lines
    from paddock.cli.pages.traces import warn_lacks
    from paddock.insight.dataset.current import open_current
    from paddock.insight.dataset.names import require_label
    from paddock.insight.failures.batch import diagnose_batch
    from paddock.views.insight.failures import Situation, view_failures

    workspace = open_workspace(ctx)
    with open_current(workspace) as dataset:
        warn_lacks(dataset)
        require_label(dataset, chosen.label)
        batch = diagnose_batch(dataset, chosen)
    view = view_failures(batch, Situation(workspace.board().causes, time.time()))
    if as_json:
        print_json(view)
        return
    if not batch.runs:
        click.echo("no runs to look at" if chosen.since is None else "no runs since then")
        return
    click.echo("\n".join(failure_lines(view, limit)))


def _probe(ctx: click.Context, name: str, as_json: bool) -> None:
    command = ctx.command
    assert isinstance(command, FailuresGroup)
    probe = command.get_command(ctx, "probe")
    if probe is None:
        raise Misuse("no probe can be made here", "`paddock failures` shows what is known")
    words = [name, "--json"] if as_json else [name]
    with probe.make_context("probe", words, parent=ctx) as inner:
        probe.invoke(inner)

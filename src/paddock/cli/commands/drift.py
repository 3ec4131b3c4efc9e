"""`paddock drift`: does a batch of runs behave differently from those before?"""

import time
from dataclasses import replace

import click

from paddock.cli.options import prints_json
from paddock.cli.pages.drift import drift_lines
from paddock.cli.run_selection import selects_runs_by
from paddock.cli.terminal.text import print_json
from paddock.cli.workspace import open_workspace
from paddock.core.durations import parse_moment
from paddock.insight.drift.reading import read_drift
from paddock.insight.drift.sides import Question
from paddock.insight.selection import Selection
from paddock.views.insight.drift import view_drift


@click.command("drift")
@click.option("--batch", metavar="LABEL", help="The runs to judge, as they were imported.  [default: the fleet's]")
@click.option("--baseline", metavar="LABEL", help="The runs to compare them with.  [default: those before]")
@selects_runs_by("kind", "agent", "engine", "model")
@click.option(
    "--since", metavar="TIME", help="The batch begins then: a time such as 2026-11-15T10:00, or an age such as 7d."
)
@click.option("--all", "show_all", is_flag=True, help="List every case and every run to look at.")
@prints_json
@click.pass_context
def drift_command(
    ctx: click.Context,
    batch: str | None,
    baseline: str | None,
    since: str | None,
    show_all: bool,
    chosen: Selection,
    as_json: bool,
) -> None:
    """Say whether a batch of runs behaves differently from a baseline, and in what.

    Runs are compared with runs at the same task, else with runs at tasks of the same kind: their paths, outcomes, what
    they omit and how much they take, corrected for being many tests. Without labels, the fleet's latest 20 attempts, or
    those since --since, are compared with the attempts before. Runs that never ran are not compared. --kind, --agent,
    --engine and --model choose runs on both sides.
    """
    now = time.time()
    where = chosen if since is None else replace(chosen, since=parse_moment(since, now))
    view = view_drift(read_drift(open_workspace(ctx), Question(where, batch, baseline), now))
    print_json(view) if as_json else click.echo("\n".join(drift_lines(view, show_all=show_all)))

"""`paddock traces show t3.1`: what one run did, step by step."""

import click

from paddock.cli.options import prints_json
from paddock.cli.pages.traces import trace_lines, warn_lacks
from paddock.cli.terminal.text import print_json
from paddock.cli.workspace import open_workspace
from paddock.insight.costs.runs import with_cost
from paddock.insight.dataset.current import open_current
from paddock.insight.dataset.names import find_run
from paddock.views.insight.traces import view_trace

SHOWN = 200


@click.command("show", short_help="Show one run, step by step.")
@click.argument("run", metavar="RUN")
@click.option("--label", metavar="NAME", help="The batch it belongs to; LABEL/RUN says the same.")
@click.option("--all", "show_all", is_flag=True, help=f"All steps; without it the first {SHOWN}.")
@prints_json
@click.pass_context
def show_command(ctx: click.Context, run: str, label: str | None, show_all: bool, as_json: bool) -> None:
    """Show one run: how it ended, what it used, its path and its steps.

    RUN is an attempt such as t3.1, or an imported run: its name, or LABEL/NAME.
    """
    workspace = open_workspace(ctx)
    with open_current(workspace) as dataset:
        warn_lacks(dataset)
        kept = with_cost(find_run(dataset, run, label), workspace.site.prices)
        most = None if show_all or as_json else SHOWN
        steps, calls = dataset.steps(kept.key), dataset.calls(kept.key)
        trace = view_trace(kept, dataset.symbols, steps, calls, most_steps=most, behind=dataset.behind)
    print_json(trace) if as_json else click.echo("\n".join(trace_lines(trace)))

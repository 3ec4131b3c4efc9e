"""`paddock traces list`: the runs that are in the dataset, or the batches that they belong to."""

import click

from paddock.cli.options import prints_json
from paddock.cli.pages.traces import label_lines, row_lines, warn_lacks
from paddock.cli.run_selection import selects_runs
from paddock.cli.terminal.text import print_json
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse
from paddock.insight.costs.runs import with_cost
from paddock.insight.dataset.current import open_current
from paddock.insight.dataset.names import require_label
from paddock.insight.selection import EVERYTHING, Selection
from paddock.views.insight.traces import view_labels, view_traces

SHOWN = 50


@click.command("list", short_help="List runs.")
@selects_runs
@click.option("--failed", is_flag=True, help="Only runs that failed.")
@click.option("--labels", is_flag=True, help="List the batches instead, with how many runs each has.")
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help=f"At most so many runs, the latest.  [default: {SHOWN}]"
)
@prints_json
@click.pass_context
def list_command(
    ctx: click.Context, chosen: Selection, failed: bool, labels: bool, limit: int | None, as_json: bool
) -> None:
    """List runs, the latest last: the fleet's own attempts, and those that were imported."""
    if labels and (failed or limit is not None or chosen != EVERYTHING):
        raise Misuse("--labels lists all batches: it takes no other option than --json", "give it alone")
    workspace = open_workspace(ctx)
    with open_current(workspace) as dataset:
        warn_lacks(dataset)
        if labels:
            batches = view_labels(dataset.labels(), dataset.behind)
            print_json(batches) if as_json else click.echo("\n".join(label_lines(batches)))
        else:
            require_label(dataset, chosen.label)
            runs = dataset.runs(chosen, failed=True if failed else None, limit=limit or SHOWN)
            found = view_traces([with_cost(kept, workspace.site.prices) for kept in runs], dataset.behind)
            print_json(found) if as_json else click.echo("\n".join(row_lines(found)))

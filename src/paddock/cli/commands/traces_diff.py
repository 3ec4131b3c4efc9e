"""`paddock traces diff t3.1 t3.2`: the paths of two runs, side by side."""

import click

from paddock.cli.options import prints_json
from paddock.cli.pages.trace_difference import difference_lines
from paddock.cli.pages.traces import warn_lacks
from paddock.cli.terminal.text import print_json
from paddock.cli.workspace import open_workspace
from paddock.insight.costs.runs import with_cost
from paddock.insight.dataset.current import open_current
from paddock.insight.dataset.names import find_run
from paddock.views.insight.trace_difference import view_difference


@click.command("diff", short_help="Show two runs side by side.")
@click.argument("left", metavar="RUN")
@click.argument("right", metavar="RUN")
@click.option("--all", "show_all", is_flag=True, help="Also long stretches that are the same.")
@prints_json
@click.pass_context
def diff_command(ctx: click.Context, left: str, right: str, show_all: bool, as_json: bool) -> None:
    """Show two runs side by side: their figures, and their paths aligned step by step.

    A RUN is an attempt such as t3.1, or an imported run: its name, or LABEL/NAME. In the middle `<` and `>` mark what
    only one of them did, and `~` the same sort of step with another result or another sort of file.
    """
    workspace = open_workspace(ctx)
    with open_current(workspace) as dataset:
        warn_lacks(dataset)
        ours, theirs = (with_cost(find_run(dataset, name), workspace.site.prices) for name in (left, right))
        found = view_difference(ours, dataset.steps(ours.key), theirs, dataset.steps(theirs.key), dataset.behind)
    print_json(found) if as_json else click.echo("\n".join(difference_lines(found, show_all=show_all)))

"""`paddock traces crosscheck t3`: each attempt's tests against each other attempt's work."""

import sys

import click

from paddock.cli.options import DURATION, prints_json
from paddock.cli.pages.crosscheck import crosscheck_lines, splits_lines
from paddock.cli.terminal.text import print_json
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse
from paddock.core.ids import printable
from paddock.fleet.workspace import Workspace
from paddock.insight.crosscheck.contestants import find_contestants, name_attempts
from paddock.insight.crosscheck.run import Progress, run_crosscheck
from paddock.views.insight.crosscheck import CrosscheckView, SplitsView, view_crosscheck, view_splits


@click.command("crosscheck")
@click.argument("names", nargs=-1, metavar="TASK|ATTEMPTS")
@click.option("--label", help="Compare imported runs of this batch by the results of their hidden tests instead.")
@click.option("--timeout", type=DURATION, help="How long one run of CI may take. [default: [land] timeout]")
@prints_json
@click.pass_context
def crosscheck_command(
    ctx: click.Context, names: tuple[str, ...], label: str | None, timeout: float | None, as_json: bool
) -> None:
    """Run each attempt's tests against each other attempt's work.

    Names are a task, for all its attempts, or attempts such as t3.1 t7.2. CI is run in a sandbox on trees that nobody
    made: the work of one attempt with the test files of another. Work that passes its own tests and fails those of
    another may be broken, and nobody has noticed. Nothing is recorded. Exit 1 if something is found.
    """
    workspace = open_workspace(ctx)
    if label is not None:
        splits = _read_splits(workspace, label, names)
        print_json(splits) if as_json else click.echo("\n".join(splits_lines(splits)))
        sys.exit(1 if any(task.quiet for task in splits.tasks) else 0)
    checked = _run(workspace, names, timeout)
    print_json(checked) if as_json else click.echo("\n".join(crosscheck_lines(checked)))
    sys.exit(1 if checked.broken else 0)


def _run(workspace: Workspace, names: tuple[str, ...], timeout: float | None) -> CrosscheckView:
    from paddock.git.sandboxes.ci import define_ci

    if not names:
        raise Misuse("which task?", "`paddock traces crosscheck t3` compares its attempts")
    land = workspace.config.land
    if define_ci(land) is None:
        raise Misuse("no CI command is configured, so there is nothing to run", 'set `[land] ci = "make test"`')
    contestants, left = find_contestants(workspace.repo, name_attempts(workspace.board(), names))
    if not any(one.tests for one in contestants):
        raise Misuse(
            "none of these attempts has changed a test", "`paddock diff t3 --name-only` lists what one changed"
        )
    live = sys.stderr.isatty()
    told: set[int] = set()

    def tell(progress: Progress) -> None:
        words = f"run {progress.number} of {progress.total}: tests of {progress.tests} on {progress.work}"
        if live:
            click.echo(f"\r\x1b[K{words} … {progress.seconds:.0f} s", err=True, nl=False)
        elif progress.number not in told:
            told.add(progress.number)
            click.echo(words, err=True)

    try:
        cells = run_crosscheck(workspace.site, contestants, land.timeout if timeout is None else timeout, tell)
    finally:
        if live:
            click.echo("\r\x1b[K", err=True, nl=False)
    return view_crosscheck(contestants, cells, left)


def _read_splits(workspace: Workspace, label: str, names: tuple[str, ...]) -> SplitsView:
    from paddock.cli.pages.traces import warn_lacks
    from paddock.core.errors import NotFound
    from paddock.insight.crosscheck.hidden_tests import find_splits
    from paddock.insight.dataset.current import open_current
    from paddock.insight.dataset.names import require_label
    from paddock.insight.selection import Selection

    with open_current(workspace) as dataset:
        warn_lacks(dataset)
        require_label(dataset, label)
        traces = [kept.trace for kept in dataset.runs(Selection(label=label))]
    tasks = {trace.task for trace in traces}
    if unknown := [name for name in names if name not in tasks]:
        raise NotFound(
            f"batch `{printable(label, 60)}` has no run of task `{printable(unknown[0], 80)}`",
            f"`paddock traces list --label {printable(label, 60)}` shows them",
        )
    if names:
        traces = [trace for trace in traces if trace.task in names]
    return view_splits(label, find_splits(traces))

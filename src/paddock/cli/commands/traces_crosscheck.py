"""`paddock traces crosscheck t3`: each attempt's tests against each other attempt's work."""

import sys

import click

from paddock.cli.options import DURATION, prints_json
from paddock.cli.terminal.text import cut, paint, plural, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse
from paddock.core.ids import some_names
from paddock.fleet.workspace import Workspace
from paddock.insight.crosscheck.contestants import find_contestants, name_attempts
from paddock.insight.crosscheck.run import Progress, run_crosscheck
from paddock.views.insight.crosscheck import CellView, CrosscheckView, SplitsView, view_crosscheck, view_splits

SHOWN_LINES = 6
SHOWN_TASKS = 20


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
        print_json(splits) if as_json else click.echo("\n".join(_tell_splits(splits)))
        sys.exit(1 if any(task.quiet for task in splits.tasks) else 0)
    checked = _run(workspace, names, timeout)
    print_json(checked) if as_json else click.echo("\n".join(_tell(checked)))
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


def _tell(checked: CrosscheckView) -> list[str]:
    names = [one.attempt for one in checked.attempts]
    seen = {(cell.tests, cell.work): cell for cell in checked.cells}
    wide = max(len("tests of"), *map(len, names)) + 2
    lines = [f"{'tests of':<{wide}}" + "".join(f"{f'on {name}':<{wide + 3}}" for name in names).rstrip()]
    for tests in names:
        cells = [_badge(seen.get((tests, work)), wide + 3) for work in names]
        lines.append(f"{tests:<{wide}}" + "".join(cells).rstrip())
    lines.append("")
    for one in checked.left_out:
        lines.append(paint(f"{one.attempt} is not compared: it {one.why}", dim=True))
    for broken in checked.broken:
        others = some_names(tuple(broken.fails))
        lines.append(
            f"{paint(broken.work, bold=True)} may be broken: it passes its own tests and fails those of {others}"
        )
        for tests in broken.fails:
            lines += _evidence(seen[tests, broken.work])
    lines += [
        f"{one.work}: the tests of {one.tests} cannot tell: {one.words}"
        for one in checked.cells
        if one.verdict == "none"
    ]
    if not checked.broken:
        lines.append("no attempt fails tests of another that the other passes")
    return lines


def _badge(cell: CellView | None, wide: int) -> str:
    """Without a cell it has no tests of its own."""
    word = cell.verdict if cell is not None and cell.verdict != "none" else "?" if cell is not None else "-"
    return paint(f"{word:<{wide}}", {"pass": "green", "fail": "red"}.get(word))


def _evidence(cell: CellView) -> list[str]:
    shown = cell.output[-SHOWN_LINES:]
    return [f"  tests of {cell.tests}: {cut(cell.words, 160)}", *(f"    {cut(line, 160)}" for line in shown)]


def _read_splits(workspace: Workspace, label: str, names: tuple[str, ...]) -> SplitsView:
    from paddock.core.errors import NotFound
    from paddock.insight.crosscheck.hidden_tests import find_splits
    from paddock.insight.dataset.current import open_current
    from paddock.insight.selection import Selection

    with open_current(workspace) as dataset:
        runs = dataset.runs(Selection(label=label))
        known = [one.label for one in dataset.labels()]
    if not runs:
        raise NotFound(f"there is no batch `{label}`", f"there are: {some_names(tuple(known))}" if known else None)
    traces = [kept.trace for kept in runs if not names or kept.trace.task in names]
    return view_splits(label, find_splits(traces))


def _tell_splits(splits: SplitsView) -> list[str]:
    if not splits.tasks:
        return [f"no two runs of one task in {splits.label} differ in the results of their tests"]
    lines = [f"{plural(len(splits.tasks), 'task')} of {splits.label} with runs that their tests tell apart", ""]
    for task in splits.tasks[:SHOWN_TASKS]:
        lines.append(
            f"{paint(cut(task.task, 60), bold=True)}  {plural(task.runs, 'run')}, {plural(task.tests, 'test')}"
        )
        if task.quiet:
            lines.append(f"  booked as a success, and fails what another passes: {some_names(tuple(task.quiet))}")
        for split in task.splits[:3]:
            lines.append(f"  {cut(split.test, 60)}: {len(split.passed)} pass, {len(split.failed)} fail")
    if len(splits.tasks) > SHOWN_TASKS:
        lines.append(f"… and {len(splits.tasks) - SHOWN_TASKS} more: use --json")
    return lines

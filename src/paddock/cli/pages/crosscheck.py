"""Attempts against each other in a terminal: who fails whose tests, and runs that hidden tests tell apart."""

from paddock.cli.terminal.text import cut, paint, plural
from paddock.core.ids import some_names
from paddock.views.insight.crosscheck import CellView, CrosscheckView, SplitsView

SHOWN_LINES = 6
SHOWN_TASKS = 20


def crosscheck_lines(checked: CrosscheckView) -> list[str]:
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


def splits_lines(splits: SplitsView) -> list[str]:
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


def _badge(cell: CellView | None, wide: int) -> str:
    """Without a cell it has no tests of its own."""
    word = cell.verdict if cell is not None and cell.verdict != "none" else "?" if cell is not None else "-"
    return paint(f"{word:<{wide}}", {"pass": "green", "fail": "red"}.get(word))


def _evidence(cell: CellView) -> list[str]:
    shown = cell.output[-SHOWN_LINES:]
    return [f"  tests of {cell.tests}: {cut(cell.words, 160)}", *(f"    {cut(line, 160)}" for line in shown)]

"""Which tasks a command applies to (ids, ranges, a convoy, a filter, or all that qualify), and what became of each."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.complaint import complain
from paddock.cli.terminal.text import cut, plural, print_document
from paddock.core.board import Board
from paddock.core.errors import Misuse
from paddock.core.ids import TaskId, parse_task_range
from paddock.core.intent.selection import RefusedTask, Selection, pick_tasks
from paddock.core.wording import split_list

if TYPE_CHECKING:
    from paddock.core.filter.tasks import TaskFilter

SHOWN = 20
_Command = TypeVar("_Command", bound=Callable[..., Any])


class WhereFilter(click.ParamType["TaskFilter"]):
    """`phase=blocked and agent=fixer`; the command gets the filter as of now. docs/reference/filter.md has the rest."""

    name = "filter"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "TaskFilter":
        from paddock.cli.workspace import workspace_at
        from paddock.core.filter.tasks import TaskFilter
        from paddock.fleet.task_filter import read_filter

        if isinstance(value, TaskFilter):
            return value
        started = ctx.find_root().obj if ctx is not None else None
        return read_filter(workspace_at(started.directory if started is not None else None), value, time.time())


FIELDS = (
    "id, title, phase, outcome, need, agent, engine, model, kind, convoy, label, role, after, held, age, since, cost, "
    "attempts, priority, reason, stuck"
)
"""As `core/filter/fields.py` has them, which is imported only where a filter is given."""
takes_where = click.option(
    "--where",
    type=WhereFilter(),
    metavar="FILTER",
    help=f'Tasks that match, such as "phase=blocked and age>2h", "agent=rev*" or t3-t9. Fields: {FIELDS}.',
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was typed."""

    tasks: Selection
    yes: bool = False
    dry_run: bool = False
    as_json: bool = False


def parse_tasks(words: tuple[str, ...]) -> list[TaskId]:
    """Several words, each an id, a range of ids, or a comma-separated list of these."""
    return [name for word in words for part in split_list(word) for name in parse_task_range(part)]


def takes_tasks(command: _Command) -> _Command:
    """The argument and options of every command that can apply to many tasks."""
    for add in (
        prints_json,
        click.option("--dry-run", is_flag=True, help="Show what it would apply to, and change nothing."),
        click.option("--yes", is_flag=True, help="Do not ask for confirmation."),
        takes_where,
        click.option("--convoy", help="Apply to every task of this convoy that qualifies."),
        click.option("--all", "everything", is_flag=True, help="Apply to every task that qualifies."),
        click.argument("tasks", nargs=-1),
    ):
        command = add(command)
    return command


def wanted_tasks(tasks: tuple[str, ...], chosen: dict[str, Any], *, others: bool = False) -> Wanted:
    """Raises Misuse for no tasks (unless there are `others`), and for tasks named beside --all, --convoy or --where."""
    named = tuple(parse_tasks(tasks))
    selection = Selection(named, chosen["everything"], chosen["convoy"], where=chosen["where"])
    wanted = Wanted(selection, chosen["yes"], chosen["dry_run"], chosen["as_json"])
    if named and wanted.tasks.in_bulk:
        raise Misuse("task names cannot be combined with --all, --convoy or --where", "use one or the other")
    if not named and not wanted.tasks.in_bulk and not others:
        raise Misuse(
            "no task was named", "name some (`t3`, `t3-t7`), or use --all, --convoy or --where; see `paddock status`"
        )
    return wanted


def go_ahead(
    board: Board,
    wanted: Wanted,
    names: Sequence[TaskId],
    verb: str,
    *,
    ask: bool = False,
    branches: Sequence[str] = (),
) -> bool:
    """Whether to go ahead. Not on a dry run, nor with nothing to apply to: both say so. Raises Misuse if nobody can be
    asked."""
    if wanted.dry_run or not (names or branches):
        if wanted.as_json:
            others = {"branches": list(branches)} if branches else {}
            print_document(ids=list(names), **others, refused=[], dry_run=wanted.dry_run)
        elif names or branches:
            click.echo("\n".join(_would(board, names, branches, verb)))
        else:
            click.echo(f"no task to {verb}{_unfit(board, wanted.tasks)}")
        return False
    if ask and wanted.tasks.in_bulk and not wanted.yes:
        if wanted.as_json or not sys.stdin.isatty():
            raise Misuse(
                f"this would {verb} {plural(len(names), 'task')}", "add --yes to confirm, or preview it with --dry-run"
            )
        click.echo("\n".join(_listed(board, names)), err=True)
        click.confirm(f"{verb} {plural(len(names), 'task')}?", abort=True, err=True)
    return True


def _unfit(board: Board, wanted: Selection) -> str:
    """A filter may find tasks that a request does not apply to."""
    found = pick_tasks(board, wanted) if wanted.where is not None else []
    if len(found) == 1:
        return f": {found[0]} matches, but does not qualify"
    return f": {plural(len(found), 'task')} match, but none of them qualifies" if found else ""


def _would(board: Board, names: Sequence[TaskId], branches: Sequence[str], verb: str) -> list[str]:
    tasks = [f"would {verb} {plural(len(names), 'task')}:", *_listed(board, names)] if names else []
    return [*tasks, *(f"would {verb} branch {cut(branch, 100)}" for branch in branches)]


def _listed(board: Board, names: Sequence[TaskId]) -> list[str]:
    rows = [
        f"  {name:<5} {board.task(name).phase.value:<9} {cut(board.task(name).title, 60)}" for name in names[:SHOWN]
    ]
    return [*rows, *([f"  … and {len(names) - SHOWN:,} more"] if len(names) > SHOWN else [])]


def report(
    ctx: click.Context, wanted: Wanted, said: str, fields: dict[str, object], refused: Sequence[RefusedTask]
) -> None:
    """What was done, then each refusal; ends the command with 1 if there was one."""
    if wanted.as_json:
        rows = [{"id": one.task, "error": one.error.message, "hint": one.error.hint} for one in refused]
        print_document(**fields, refused=rows)
    elif said:
        click.echo(said)
    for one in refused if not wanted.as_json else ():
        complain(one.error.message, one.error.hint)
    if refused:
        ctx.exit(1)

"""`paddock edit`, `retry` and `cancel`: a person changes what is to be done."""

import click
from msgspec import UNSET

from paddock.cli.add import known_names
from paddock.cli.text import SCHEMA, print_json
from paddock.cli.workspace import open_workspace
from paddock.config.taskfile import split_list
from paddock.core.errors import Misuse
from paddock.core.events import TaskEdited
from paddock.core.ids import TaskId, parse_task
from paddock.core.intent import cancel_tasks, edit_task, retry_tasks


def parse_tasks(words: tuple[str, ...]) -> list[TaskId]:
    """Several words, each one id or several with commas between."""
    return [parse_task(part) for word in words for part in split_list(word)]


@click.command("edit")
@click.argument("task")
@click.option("--title")
@click.option("--brief", help="The whole new brief.")
@click.option("--agent", help="Empty: none in particular.")
@click.option("--engine", help="Empty: the agent's or the default one.")
@click.option("--kind", help="Its agent becomes the one that takes this kind; empty: none in particular.")
@click.option("--after", metavar="t3,t4", help="All tasks it waits for; empty: none.")
@click.option("--priority", type=int)
@click.option("--paths", metavar="GLOB,GLOB", help="All paths it may change; empty: any.")
@click.option("--attempts", type=int)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def edit_command(
    ctx: click.Context,
    task: str,
    title: str | None,
    brief: str | None,
    agent: str | None,
    engine: str | None,
    kind: str | None,
    after: str | None,
    priority: int | None,
    paths: str | None,
    attempts: int | None,
    as_json: bool,
) -> None:
    """Change TASK. Only the options you give change anything."""
    workspace = open_workspace(ctx)
    edit = TaskEdited(
        title=UNSET if title is None else title,
        brief=UNSET if brief is None else brief,
        agent=UNSET if agent is None else agent or None,
        engine=UNSET if engine is None else engine or None,
        after=UNSET if after is None else tuple(parse_task(part) for part in split_list(after)),
        priority=UNSET if priority is None else priority,
        paths=UNSET if paths is None else split_list(paths),
        attempts=UNSET if attempts is None else attempts,
        work=UNSET if kind is None else kind or None,
    )
    name, known = parse_task(task), known_names(workspace.config)
    records = workspace.record(lambda board: edit_task(board, name, edit, known))
    _report("edited", [name], as_json=as_json, seq=records[-1].seq)


@click.command("retry")
@click.argument("tasks", nargs=-1, required=True)
@click.option("--attempts", type=int, default=1, show_default=True, help="How many more tries each gets.")
@click.option("-m", "--message", default="", help="Why; kept in the log.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def retry_command(ctx: click.Context, tasks: tuple[str, ...], attempts: int, message: str, as_json: bool) -> None:
    """Try TASKS again that failed, are blocked, were cancelled, or whose result you do not want."""
    names = _some(parse_tasks(tasks))
    records = open_workspace(ctx).record(lambda board: retry_tasks(board, names, attempts, message))
    _report("will retry", names, as_json=as_json, seq=records[-1].seq)


@click.command("cancel")
@click.argument("tasks", nargs=-1, required=True)
@click.option("-m", "--message", default="", help="Why; kept in the log.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_context
def cancel_command(ctx: click.Context, tasks: tuple[str, ...], message: str, as_json: bool) -> None:
    """Give TASKS up. A running agent is stopped; its commits stay on its branch."""
    names = _some(parse_tasks(tasks))
    workspace = open_workspace(ctx)
    records = workspace.record(lambda board: cancel_tasks(board, names, message))
    _report("cancelled", names, as_json=as_json, seq=records[-1].seq)
    if not as_json:
        board = workspace.board()
        waiting = [task.id for task in board.open_tasks() if task.blocked_on in names]
        if waiting:
            click.echo(f"now blocked by that: {', '.join(waiting)}")


def _some(names: list[TaskId]) -> list[TaskId]:
    if not names:
        raise Misuse("no task was named", "`paddock status` lists them")
    return names


def _report(verb: str, names: list[TaskId], *, as_json: bool, seq: int) -> None:
    if as_json:
        print_json({"schema": SCHEMA, "ids": names, "seq": seq})
    else:
        click.echo(f"{verb} {', '.join(dict.fromkeys(names))}")

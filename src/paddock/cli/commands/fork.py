"""`paddock fork`: a new task from another's branch and conversation."""

import click

from paddock.cli.options import prints_json
from paddock.cli.selection import parse_tasks
from paddock.cli.terminal.text import cut, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.events import TaskAdded
from paddock.core.ids import TaskId, parse_task, printable
from paddock.core.intent.forks import ForkSpec, fork_task
from paddock.core.tasks.task import Phase, Task
from paddock.core.tasks.vocabulary import Role
from paddock.core.wording import split_lists
from paddock.fleet.site import Site


@click.command("fork")
@click.argument("task")
@click.argument("brief")
@click.option("--title", help="A one-line title. Default: the first line of the brief.")
@click.option("--agent", help="Another agent than that of TASK.")
@click.option("--engine", help="Another engine: it begins a conversation of its own, and is told what was done.")
@click.option("--kind", help="Another kind of work.")
@click.option("--label", multiple=True, metavar="LABEL", help="Labels instead of those of TASK. Can be repeated.")
@click.option("--convoy", help="Another convoy; created if it does not exist.")
@click.option("--after", default="", metavar="t3,t5-t7", help="Tasks that must land first.")
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    help="What is asked for. Default: as in TASK.",
)
@click.option("--priority", type=int, help="Higher starts first. Default: as in TASK.")
@click.option("--paths", multiple=True, metavar="GLOB", help="Paths it may change instead of those of TASK.")
@click.option("--attempts", type=int, help="Attempts before the task fails.")
@prints_json
@click.pass_context
def fork_command(
    ctx: click.Context,
    task: str,
    brief: str,
    title: str | None,
    agent: str | None,
    engine: str | None,
    kind: str | None,
    label: tuple[str, ...],
    convoy: str | None,
    after: str,
    role: str | None,
    priority: int | None,
    paths: tuple[str, ...],
    attempts: int | None,
    as_json: bool,
) -> None:
    """Start a new task with BRIEF from the branch and the conversation of TASK, which keeps its own.

    It begins at what TASK has committed, or at main where that has landed, in a folder and on a branch of its own.
    """
    workspace = open_workspace(ctx)
    name = parse_task(task)
    spec = ForkSpec(
        brief=brief,
        title=title,
        agent=agent,
        engine=engine,
        kind=kind,
        labels=split_lists(label) or None,
        paths=split_lists(paths) or None,
        convoy=convoy,
        role=Role(role) if role else None,
        priority=priority,
        after=tuple(parse_tasks((after,))),
        attempts=attempts if attempts is not None else workspace.config.limits.attempts,
    )
    known = workspace.known
    records = workspace.record(lambda board: fork_task(board, name, spec, known))
    [added] = [record for record in records if isinstance(record.event, TaskAdded)]
    assert isinstance(added.event, TaskAdded)
    if as_json:
        print_document(ids=[added.task], forks=added.event.forks, seq=added.seq)
        return
    agent_words = f"  for {printable(added.event.agent, 40)}" if added.event.agent else ""
    click.echo(f"added {added.task}  {cut(added.event.title, 80)}{agent_words}")
    board = workspace.board()
    origin, new = board.task(name), board.task(added.task or TaskId(""))
    click.echo(
        f"forks {added.event.forks}: it begins {_where(origin)}with {_conversation(workspace.site, origin, new)}"
    )


def _where(task: Task) -> str:
    if task.role.only_reads:
        return ""
    return "at main, where that work is, " if task.phase is Phase.LANDED else "at what that has committed, "


def _conversation(site: Site, origin: Task, new: Task) -> str:
    worker, engine = origin.worker, site.engine_name(new)
    goes_on = worker is not None and worker.engine == engine and site.capabilities_of(engine).forks
    return "a copy of its conversation" if goes_on else f"a new conversation: {engine} is told what was done"

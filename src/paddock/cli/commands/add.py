"""`paddock add`: one task, or a convoy from a file, in one transaction."""

import click
from click.core import ParameterSource

from paddock.cli.acceptance import read_accept_options, takes_acceptance
from paddock.cli.selection import parse_tasks
from paddock.cli.terminal.source import read_source
from paddock.cli.terminal.text import plural, print_document
from paddock.cli.workspace import open_workspace
from paddock.config.taskfile import SIZE_LIMIT, parse_task_file
from paddock.core.errors import Misuse
from paddock.core.events import Record, TaskAdded
from paddock.core.ids import printable
from paddock.core.intent.tasks import Batch, TaskSpec, add_tasks
from paddock.core.tasks.vocabulary import Role
from paddock.core.wording import split_lists


@click.command("add")
@click.argument("brief", required=False)
@click.option("--title", help="A one-line title. Default: the first line of the brief.")
@click.option("--agent", help="The agent that does it; `paddock agents` lists them.")
@click.option("--engine", help="The engine that runs it: claude, codex, …")
@click.option("--kind", help="The kind of work. Without --agent, paths, kind and labels choose one.")
@click.option("--label", multiple=True, metavar="LABEL", help="What it is about. Can be repeated.")
@click.option(
    "--needs", multiple=True, metavar="LABEL", help="What its machine must have: gpu, os=linux. Can be repeated."
)
@click.option("--convoy", help="The convoy it belongs to; created if it does not exist.")
@click.option("--after", default="", metavar="t3,t5-t7", help="Tasks that must land first.")
@click.option(
    "--inputs", default="", metavar="t3,t5-t7", help="Tasks that must be finished first, and whose results it is told."
)
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.WORK.value,
    help="What is asked for: commits (work), or only an answer (report, review, plan).",
)
@click.option("--priority", type=int, default=0, show_default=True, help="Higher starts first.")
@click.option("--paths", multiple=True, metavar="GLOB", help="Paths it may change. Can be repeated.")
@click.option("--attempts", type=int, help="Attempts before the task fails.")
@takes_acceptance()
@click.option(
    "--file", "file", metavar="FILE", help="Add a convoy from a .yaml, .json or .md file; `-` reads standard input."
)
@click.option("--json", "as_json", is_flag=True, help="Print the ids as JSON.")
@click.pass_context
def add_command(
    ctx: click.Context,
    brief: str | None,
    title: str | None,
    agent: str | None,
    engine: str | None,
    kind: str | None,
    label: tuple[str, ...],
    needs: tuple[str, ...],
    convoy: str | None,
    after: str,
    inputs: str,
    role: str,
    priority: int,
    paths: tuple[str, ...],
    attempts: int | None,
    accept: tuple[str, ...],
    accept_file: tuple[str, ...],
    file: str | None,
    as_json: bool,
) -> None:
    """Add one task with BRIEF, or a whole convoy with its dependencies from a file.

    Use `-` to read the brief from standard input.
    """
    workspace = open_workspace(ctx)
    allowed = attempts if attempts is not None else workspace.config.limits.attempts
    if file is not None:
        if brief is not None:
            raise Misuse("a brief and --file cannot be used together", "use one or the other")
        _refuse_ignored(ctx)
        batch = parse_task_file(_read(file), "standard input" if file == "-" else file, attempts=allowed)
        batch = Batch(batch.tasks, convoy or batch.convoy, batch.title)
    else:
        if brief is None:
            raise Misuse("no brief was given", 'say what to do: `paddock add "fix the parser"`, or use --file')
        spec = TaskSpec(
            brief=_read("-") if brief == "-" else brief,
            title=title,
            agent=agent,
            engine=engine,
            after=tuple(parse_tasks((after,))),
            inputs=tuple(parse_tasks((inputs,))),
            role=Role(role),
            priority=priority,
            paths=split_lists(paths),
            attempts=allowed,
            kind=kind,
            accept=read_accept_options(ctx, workspace, accept, accept_file),
            labels=split_lists(label),
            needs=split_lists(needs),
        )
        batch = Batch((spec,), convoy)
    known = workspace.known
    records = workspace.record(lambda board: add_tasks(board, batch, known))
    _report(records, as_json=as_json, convoy=batch.convoy)


def _refuse_ignored(ctx: click.Context) -> None:
    """A task file sets these itself, so the option would silently do nothing."""
    fields = (
        *("title", "agent", "engine", "kind", "label", "after", "inputs", "role", "priority", "paths", "needs"),
        *("accept", "accept_file"),
    )
    given = [name for name in fields if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if given:
        hint = "set it in the file, for one task or under `defaults` for all"
        raise Misuse(f"--{given[0].replace('_', '-')} has no effect with --file", hint)


def _read(file: str) -> str:
    try:
        data = read_source(file, SIZE_LIMIT)
    except OSError as error:
        raise Misuse(
            f"`{printable(file)}` cannot be read: {error.strerror}", "name a file, or use `-` for standard input"
        ) from None
    if len(data) > SIZE_LIMIT:
        raise Misuse(f"`{printable(file)}` is larger than {SIZE_LIMIT:,} bytes", "split it into several files")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise Misuse(f"{file}:{line}: byte {error.start + 1} is not UTF-8", "save it as UTF-8") from None


def _report(records: list[Record], *, as_json: bool, convoy: str | None) -> None:
    added = [record for record in records if isinstance(record.event, TaskAdded)]
    if as_json:
        ids = [record.task for record in added]
        print_document(ids=ids, convoy=convoy, seq=records[-1].seq)
        return
    if len(added) > 12:
        click.echo(f"added {plural(len(added), 'task')}: {added[0].task} to {added[-1].task}")
        return
    for record in added:
        assert isinstance(record.event, TaskAdded)
        agent = f"  for {printable(record.event.agent, 40)}" if record.event.agent else ""
        after = f"  after {', '.join(record.event.after)}" if record.event.after else ""
        click.echo(f"added {record.task}  {printable(record.event.title, 80)}{agent}{after}")

"""`paddock workflow list|show|check|run`."""

from collections.abc import Iterator
from pathlib import Path

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import cut, paint, plural, print_document
from paddock.cli.workspace import open_workspace
from paddock.config.workflows import (
    FOLDER,
    WorkflowFile,
    find_workflow,
    list_workflows,
    parse_workflow,
    read_workflow_file,
)
from paddock.core.errors import Misuse
from paddock.core.events import ConvoyAdded, Record, TaskAdded
from paddock.core.ids import harmless, printable
from paddock.core.intent.tasks import add_tasks
from paddock.core.wording import derive_title
from paddock.core.workflow import Variable, Workflow, WorkflowStep
from paddock.fleet.workflows import RunOrder, find_problem, name_convoy, prepare_run, run_workflow
from paddock.fleet.workspace import Workspace
from paddock.views.workflows import look_at, view_planned, view_workflow


@click.group("workflow")
def workflow_command() -> None:
    """Run workflows: steps that are written once and become a convoy each time."""


@workflow_command.command("list")
@prints_json
@click.pass_context
def list_command(ctx: click.Context, as_json: bool) -> None:
    """List the workflows of this repository and those that Paddock ships."""
    views = [look_at(file) for file in list_workflows(open_workspace(ctx).top)]
    if as_json:
        print_document(workflows=views)
        return
    longest = max((len(view.name) for view in views), default=0)
    for view in views:
        source = f"{view.source}{', instead of the one Paddock ships' if view.hides else ''}"
        click.echo(f"{paint(f'{view.name:<{longest}}', bold=True)}  {cut(view.description, 90)}")
        click.echo(
            f"{'':<{longest}}  {paint(cut(view.problem, 160), 'red') if view.problem else paint(source, dim=True)}"
        )
    click.echo(f"\n`paddock workflow show NAME` shows its steps; your own go into {FOLDER}", err=True)


@workflow_command.command("show")
@click.argument("name")
@prints_json
@click.pass_context
def show_workflow_command(ctx: click.Context, name: str, as_json: bool) -> None:
    """Show the variables and the steps of workflow NAME, or of a file."""
    file = _find(open_workspace(ctx), name)
    workflow = parse_workflow(file)
    if as_json:
        print_document(workflow=view_workflow(file, workflow))
        return
    for line in _lines(workflow, hides=file.hides):
        click.echo(line)


@workflow_command.command("check")
@click.argument("name", required=False)
@prints_json
@click.pass_context
def check_command(ctx: click.Context, name: str | None, as_json: bool) -> int:
    """Check workflow NAME, a file, or all workflows. Names of agents and engines are checked too."""
    workspace = open_workspace(ctx)
    files = [_find(workspace, name)] if name is not None else list_workflows(workspace.top)
    problems = {file.shown: problem for file in files if (problem := find_problem(workspace, file))}
    if as_json:
        print_document(checked=[file.shown for file in files], problems=problems)
        return 1 if problems else 0
    for problem in problems.values():
        click.echo(f"{paint('error', 'red')}: {harmless(problem)}", err=True)
    good = len(files) - len(problems)
    told = [f"{plural(good, 'workflow')} ok"] if good or not problems else []
    told += [f"{plural(len(problems), 'workflow')} not ok"] if problems else []
    click.echo(", ".join(told))
    return 1 if problems else 0


@workflow_command.command("run")
@click.argument("name")
@click.option("-v", "--var", "variables", multiple=True, metavar="NAME=VALUE", help="A variable. Can be repeated.")
@click.option("--convoy", help="The convoy of its tasks. Default: the workflow's name and a number.")
@click.option("--engine", help="The engine for steps that name none.")
@click.option("--dry-run", is_flag=True, help="Show the tasks, and add none.")
@click.option("--json", "as_json", is_flag=True, help="Print the ids as JSON; with --dry-run, the tasks.")
@click.pass_context
def run_command(
    ctx: click.Context,
    name: str,
    variables: tuple[str, ...],
    convoy: str | None,
    engine: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Add the tasks of workflow NAME, or of a file, as a convoy."""
    workspace = open_workspace(ctx)
    workflow = parse_workflow(_find(workspace, name))
    order = RunOrder(workflow, dict(map(_variable, variables)), convoy, engine)
    if dry_run:
        _preview(workspace, order, as_json=as_json)
        return
    _report(run_workflow(workspace, order), as_json=as_json)


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise Misuse(f"`-v {printable(text, 80)}` has no value", "write `-v name=value`")
    return name.strip(), value


def _find(workspace: Workspace, name: str) -> WorkflowFile:
    """A name, or the path of a file."""
    if "/" in name or name.endswith((".yaml", ".yml")):
        return read_workflow_file(Path(name))
    return find_workflow(workspace.top, name)


def _lines(workflow: Workflow, *, hides: bool) -> Iterator[str]:
    yield f"{paint(workflow.name, bold=True)}  {cut(workflow.description, 120)}"
    yield f"  {paint(workflow.source + (', instead of the one Paddock ships' if hides else ''), dim=True)}"
    if workflow.variables:
        yield from ("", paint("variables", bold=True))
        longest = max(len(one.name) for one in workflow.variables)
        for one in workflow.variables:
            yield f"  {one.name:<{longest}}  {cut(_told(one), 140)}"
    yield from ("", paint("steps", bold=True))
    for step in workflow.steps:
        yield from _step_lines(step)
    wanted = "".join(f" -v {one.name}=…" for one in workflow.variables if one.default is None)
    yield from ("", f"run it with `paddock workflow run {workflow.name}{wanted}`")


def _told(one: Variable) -> str:
    default = "required" if one.default is None else f"default: {one.default}" if one.default else "optional"
    return f"{one.description} ({default})" if one.description else default


def _step_lines(step: WorkflowStep) -> Iterator[str]:
    listed = step.for_each if isinstance(step.for_each, str) else ", ".join(step.for_each or ())
    about = [
        step.role.value if step.role.only_reads else "",
        f"after {', '.join(step.needs)}" if step.needs else "",
        f"for each of {listed}" if listed else "",
        f"agent {step.agent}" if step.agent else "",
        f"engine {step.engine}" if step.engine else "",
        f"in {', '.join(step.paths)}" if step.paths else "",
    ]
    yield f"  {paint(step.name, bold=True)}  {cut(' · '.join(filter(None, about)), 140)}".rstrip()
    for line in step.brief.rstrip().splitlines():
        yield f"    {cut(line, 400)}".rstrip()


def _preview(workspace: Workspace, order: RunOrder, *, as_json: bool) -> None:
    """What would be refused is refused here too."""
    board = workspace.board()
    batch = name_convoy(board, order, prepare_run(workspace, order))
    add_tasks(board, batch, workspace.known)
    if as_json:
        print_document(convoy=batch.convoy, title=batch.title, tasks=[view_planned(one) for one in batch.tasks])
        return
    click.echo(f"would add {plural(len(batch.tasks), 'task')} to convoy {batch.convoy}")
    longest = max(len(one.key or "") for one in batch.tasks)
    for one in batch.tasks:
        after = f"  after {', '.join(one.inputs)}" if one.inputs else ""
        role = f"  ({one.role.value})" if one.role.only_reads else ""
        click.echo(cut(f"  {one.key:<{longest}}  {one.title or derive_title(one.brief)}{role}{after}", 160))


def _report(records: list[Record], *, as_json: bool) -> None:
    added = [(record.task, record.event) for record in records if isinstance(record.event, TaskAdded)]
    convoy = added[0][1].convoy
    if as_json:
        print_document(ids=[name for name, _ in added], convoy=convoy, seq=records[-1].seq)
        return
    is_new = any(isinstance(record.event, ConvoyAdded) for record in records)
    click.echo(f"added {plural(len(added), 'task')} to {'' if is_new else 'the existing '}convoy {convoy}")
    longest = max(len(str(name)) for name, _ in added)
    for name, event in added:
        role = f"  ({event.role.value})" if event.role.only_reads else ""
        after = f"  after {', '.join(event.after)}" if event.after else ""
        agent = f"  for {event.agent}" if event.agent else ""
        click.echo(cut(f"  {name:<{longest}}  {event.title}{role}{after}{agent}", 160))

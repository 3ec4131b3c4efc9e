"""`paddock plan`: a goal becomes a convoy that a person has seen first."""

import sys

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import print_json
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse
from paddock.core.ids import TaskId, parse_task
from paddock.core.intent.plan import PlanRequest, request_plan, require_open_plan
from paddock.core.plan.plan import DEFAULT_MAX_TASKS, MOST_TASKS, plan_schema
from paddock.core.wording import check_name, split_lists
from paddock.fleet.workspace import Workspace


@click.command("plan")
@click.argument("goal", required=False)
@click.option("--paths", multiple=True, metavar="GLOB", help="Paths the plan may touch. Can be repeated.")
@click.option("--engine", help="The engine that plans: claude, codex, …")
@click.option("--agent", help="The agent that plans. Default: the first whose role is planner.")
@click.option(
    "--max-tasks",
    type=click.IntRange(1, MOST_TASKS),
    metavar="N",
    help=f"Most tasks the plan may have. Default: {DEFAULT_MAX_TASKS}.",
)
@click.option("--convoy", help="The convoy's name. Default: what the planner calls it.")
@click.option("--yes", is_flag=True, help="Accept the plan without being asked.")
@click.option("--chat", is_flag=True, help="Talk with the planner until the plan is right.")
@click.option("--show", "shown", metavar="TASK", help="Show the plan that TASK has made.")
@click.option("--accept", "accepted", metavar="TASK", help="Add the tasks of the plan that TASK has made.")
@click.option("--edit", "edited", metavar="TASK", help="Edit that plan in $EDITOR, then decide.")
@click.option("--drop", "dropped", metavar="TASK", help="Drop that plan.")
@click.option("--schema", is_flag=True, help="Print the JSON schema of a plan.")
@prints_json
@click.pass_context
def plan_command(
    ctx: click.Context,
    goal: str | None,
    paths: tuple[str, ...],
    engine: str | None,
    agent: str | None,
    max_tasks: int | None,
    convoy: str | None,
    yes: bool,
    chat: bool,
    shown: str | None,
    accepted: str | None,
    edited: str | None,
    dropped: str | None,
    schema: bool,
    as_json: bool,
) -> None:
    """Let a planner turn GOAL into a convoy of tasks, look at it, then accept, edit or drop it.

    The planner reads the repository and changes nothing. Its plan is shown as a tree, with what it may take and cost,
    before anything is added. Use `-` to read the goal from standard input.

    Without a terminal nothing is asked: the plan stays in the log, and `paddock plan --accept TASK` adds its tasks.
    With --json, prints the plan; nothing is added without --yes. `--show TASK --chat` goes on talking about a plan.
    """
    if schema:
        print_json(plan_schema())
        return
    named = [one for one in (shown, accepted, edited, dropped) if one is not None]
    _require_one(goal, named)
    if as_json and chat:
        raise Misuse("--json and --chat cannot be used together", "use one or the other")
    workspace = open_workspace(ctx)
    if convoy is not None:
        check_name("convoy", convoy)
    if not named:
        text = sys.stdin.read() if goal == "-" else goal or ""
        words = split_lists(paths)
        request = PlanRequest(text, words, agent, engine, max_tasks or 0)
        name = _begin(workspace, request, quiet=as_json)
        _decide(workspace, name, convoy, yes=yes, chat=chat, as_json=as_json)
        return
    name = parse_task(named[0])
    if dropped is not None:
        from paddock.cli.plan_decision import drop

        drop(workspace, name)
    elif accepted is not None:
        _decide(workspace, name, convoy, yes=True, chat=False, as_json=as_json)
    elif edited is not None:
        _edit(workspace, name, convoy)
    else:
        _show(workspace, name, convoy, chat=chat, as_json=as_json)


def _require_one(goal: str | None, named: list[str]) -> None:
    if goal is None and not named:
        raise Misuse("no goal was given", 'say what to achieve: `paddock plan "make the parser strict"`')
    if len(named) > 1 or (named and goal is not None):
        raise Misuse("a goal, --show, --accept, --edit and --drop cannot be used together", "use one of them")


def _begin(workspace: Workspace, request: PlanRequest, *, quiet: bool) -> TaskId:
    """Adds the task that plans, and waits for its plan."""
    known = workspace.known
    records = workspace.record(lambda board: request_plan(board, request, known))
    name = records[0].task
    assert name is not None
    if not quiet:
        click.echo(f"{name} is planning; Ctrl-C ends it", err=True)
    _await(workspace, name)
    return name


def _await(workspace: Workspace, name: TaskId) -> None:
    from paddock.cli.planner import await_planner

    await_planner(workspace, name)


def _decide(workspace: Workspace, name: TaskId, convoy: str | None, *, yes: bool, chat: bool, as_json: bool) -> None:
    from paddock.cli import plan_decision
    from paddock.fleet.plan_preview import open_plan

    opened = open_plan(workspace, name, convoy)
    if yes:
        require_open_plan(workspace.board(), name, opened.proposed.seq)
        if not as_json:
            plan_decision.show_plan(opened)
        ids = plan_decision.accept(workspace, opened, quiet=as_json)
        if as_json:
            plan_decision.show_plan(opened, ids, as_json=True)
        return
    plan_decision.show_plan(opened, as_json=as_json)
    if as_json:
        return
    if not sys.stdin.isatty():
        plan_decision.tell_later(name)
        return
    plan_decision.decide(workspace, opened, chat=chat, plan_again=lambda task: _await(workspace, task))


def _edit(workspace: Workspace, name: TaskId, convoy: str | None) -> None:
    from paddock.cli import plan_decision
    from paddock.fleet.plan_preview import open_plan

    require_open_plan(workspace.board(), name)
    opened = plan_decision.edit(workspace, open_plan(workspace, name, convoy))
    plan_decision.show_plan(opened)
    plan_decision.decide(workspace, opened, chat=False, plan_again=lambda task: _await(workspace, task))


def _show(workspace: Workspace, name: TaskId, convoy: str | None, *, chat: bool, as_json: bool) -> None:
    from paddock.cli import plan_decision
    from paddock.fleet.plan_preview import open_plan

    opened = open_plan(workspace, name, convoy)
    plan_decision.show_plan(opened, as_json=as_json)
    if chat:
        plan_decision.decide(workspace, opened, chat=True, plan_again=lambda task: _await(workspace, task))
    elif not as_json and not opened.proposed.decided:
        plan_decision.tell_later(name)

"""`paddock route`: which agent would get a task, and why."""

import click
import msgspec

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import cut, paint, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.board import Board
from paddock.core.intent.tasks import choose_agent_for
from paddock.core.routing import PLANNER, REVIEWER, WORKER, Work
from paddock.core.wording import check_brief, split_lists
from paddock.views.fleet.agents import view_route


@click.command("route")
@click.argument("brief", required=False, default="")
@click.option("--paths", multiple=True, metavar="GLOB", help="Paths it may change. Can be repeated.")
@click.option("--kind", help="The kind of work.")
@click.option("--label", "labels", multiple=True, metavar="LABEL", help="What it is about. Can be repeated.")
@click.option("--agent", help="An agent that is named gets it.")
@click.option("--role", type=click.Choice((WORKER, REVIEWER, PLANNER)), default=WORKER, show_default=True)
@prints_json
@click.pass_context
def route_command(
    ctx: click.Context,
    brief: str,
    paths: tuple[str, ...],
    kind: str | None,
    labels: tuple[str, ...],
    agent: str | None,
    role: str,
    as_json: bool,
) -> None:
    """Say which agent `paddock add BRIEF` would give the task to, and why. Adds nothing.

    Paths, kind and labels decide, then how like work went; the words of BRIEF do not.
    """
    workspace = open_workspace(ctx)
    if brief:
        check_brief(brief, "the brief")
    work = Work(
        paths=split_lists(paths),
        kind=kind,
        labels=split_lists(labels),
        agent=agent,
        role=role,
    )
    board = workspace.board() if workspace.has_log else Board()
    decided = view_route(choose_agent_for(board, work, workspace.known), workspace.config.agents)
    if as_json:
        print_document(**msgspec.structs.asdict(decided))
        return
    click.echo(paint(decided.agent or "no agent", bold=True))
    for reason in decided.why:
        click.echo(f"  {cut(reason, 300)}")
    if decided.needs:
        click.echo(f"  its tasks run on machines with {', '.join(decided.needs)}")
    others = [one for one in decided.candidates if one.name != decided.agent]
    if others:
        click.echo("\nthe others:" if decided.agent else "\nthe agents:")
    for one in others:
        click.echo(f"  {one.name}: {cut('; '.join(one.reasons), 300)}")

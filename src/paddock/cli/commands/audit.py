"""`paddock audit`: reviewers look at the code that is there, and what they find becomes tasks."""

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import print_document
from paddock.cli.workspace import open_workspace
from paddock.core.board import DAEMON_LEASE
from paddock.core.events import ConvoyAdded, TaskAdded
from paddock.core.intent.audits import KINDS, AuditRequest, request_audit
from paddock.core.review.events import Severity
from paddock.core.wording import split_lists
from paddock.fleet.review.audited import find_audited


@click.command("audit")
@click.option("--paths", multiple=True, metavar="GLOB", help="Look at these only. Can be repeated.")
@click.option(
    "--kinds", multiple=True, metavar="KIND", help=f"What to look for, each by itself: {', '.join(KINDS)}, or any word."
)
@click.option("--agent", "agents", multiple=True, help="The reviewer; can be repeated. Default: who fits best.")
@click.option("--engine", help="The engine that runs it.")
@click.option("--branch", help="Look at what this branch changes, instead of at main.")
@click.option(
    "--file",
    "files",
    type=click.Choice([*(one.value for one in Severity), "none"]),
    default=Severity.WARNING.value,
    show_default=True,
    help="The least severity with which a finding becomes a task.",
)
@prints_json
@click.pass_context
def audit_command(
    ctx: click.Context,
    paths: tuple[str, ...],
    kinds: tuple[str, ...],
    agents: tuple[str, ...],
    engine: str | None,
    branch: str | None,
    files: str,
    as_json: bool,
) -> None:
    """Let reviewers look at the code that is there. What they find becomes tasks for the agents that own it."""
    workspace = open_workspace(ctx)
    request = AuditRequest(
        audited=find_audited(workspace.site, branch),
        paths=split_lists(paths),
        kinds=split_lists(kinds),
        agents=split_lists(agents),
        engine=engine,
        files="" if files == "none" else files,
    )
    known = workspace.known
    records = workspace.record(lambda board: request_audit(board, request, known))
    tasks = {str(record.task): record.event for record in records if isinstance(record.event, TaskAdded)}
    convoy = next(record.event.name for record in records if isinstance(record.event, ConvoyAdded))
    if as_json:
        print_document(ids=list(tasks), convoy=convoy)
        return
    for name, event in tasks.items():
        click.echo(f"added {name}  {event.title}{f'  for {event.agent}' if event.agent and not agents else ''}")
    click.echo(f"\n`paddock findings {' '.join(tasks)}` shows what is found", err=True)
    if DAEMON_LEASE not in workspace.board().leases.held:
        click.echo("no daemon is running: `paddock up` or `paddock run` starts them", err=True)

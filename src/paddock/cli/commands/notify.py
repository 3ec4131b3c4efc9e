"""`paddock notify`: who is told when the fleet needs a person."""

import time

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import age, cut, paint, plural, print_document, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.durations import format_duration
from paddock.core.errors import PaddockError
from paddock.fleet.notify.recipients import find_recipients, pause_of
from paddock.fleet.notify.trial import RecipientState, know_states, send_test
from paddock.views.notify import NotifyView, view_recipient, view_trial

SET_UP = "set `urls` in [notify] of paddock.toml, or PADDOCK_NOTIFY_URLS"


@click.group("notify")
def notify_command() -> None:
    """Tell people who are elsewhere what the fleet needs them for.

    Whom, and about what, is set in [notify] of paddock.toml.
    """


@notify_command.command("status")
@prints_json
@click.pass_context
def status_command(ctx: click.Context, as_json: bool) -> None:
    """Show who is told about what, when they were last told, and what waits."""
    workspace = open_workspace(ctx)
    settings = workspace.config.notify
    why_none, every = find_recipients(settings).why_none, pause_of(settings)
    states = know_states(workspace)
    if as_json:
        views = [view_recipient(state) for state in states]
        print_json(NotifyView(recipients=views, why_none=why_none, about=settings.about, every_seconds=every))
        return
    if not states:
        click.echo(f"nobody is told, because {why_none}")
        click.echo(paint(f"  to be told, {SET_UP}", dim=True))
        return
    click.echo(
        f"about {', '.join(settings.about) or 'nothing'}; at most one notification every {format_duration(every)}"
    )
    for state in states:
        click.echo(f"  {view_recipient(state).address}  {paint(_words(state), dim=True)}")
        if problem := state.recipient.problem or state.outbox.problem:
            click.echo(f"    {paint('problem', 'red')}: {cut(problem, 300)}")


def _words(state: RecipientState) -> str:
    outbox = state.outbox
    parts = [f"last told {age(outbox.arrived_at)} ago" if outbox.arrived_at else "not told anything yet"]
    if outbox.flights:
        parts.append("one is under way")
    if outbox.waiting:
        left = max(0.0, (state.due_at or 0.0) - time.time())
        parts.append(f"{len(outbox.waiting):,} waiting" + (f", due in {age(0.0, left)}" if left else ""))
    if outbox.failures:
        parts.append(f"{plural(outbox.failures, 'failure')} in a row")
    return " · ".join(parts)


@notify_command.command("test")
@prints_json
@click.pass_context
def test_command(ctx: click.Context, as_json: bool) -> None:
    """Send a test to everybody who is configured. Exits 1 if one of them cannot be told."""
    workspace = open_workspace(ctx)
    found = find_recipients(workspace.config.notify)
    if not found.all:
        raise PaddockError(f"there is nobody to tell, because {found.why_none}", SET_UP)
    results = [view_trial(result) for result in send_test(workspace, found.all)]
    failed = any(result.problem for result in results)
    if as_json:
        print_document(ok=not failed, results=results)
        ctx.exit(1 if failed else 0)
    for result in results:
        word = paint("failed", "red") if result.problem else paint("sent", "green")
        click.echo(f"{word:<6} {result.address}  {paint(f'{result.seconds:.1f}s', dim=True)}")
        if result.problem:
            click.echo(f"       {cut(result.problem, 300)}")
    ctx.exit(1 if failed else 0)

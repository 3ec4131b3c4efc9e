"""`paddock lease`: things that only one may use at a time."""

import os
import time

import click
from msgspec import structs

from paddock.cli.options import DURATION, prints_json
from paddock.cli.terminal.text import age, cut, print_document, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.durations import format_duration
from paddock.core.intent.leases import LeaseClaim, LeaseRequest, release_lease, renew_lease
from paddock.core.leases import lease
from paddock.fleet.leases import holder_of, take_lease


@click.group("lease")
def lease_command() -> None:
    """Leases on named things: `file:GLOB`, `port:N`, `service:NAME`, anything.

    Only one holder at a time; a lease ends when it is released, when its time runs out, or with its attempt.
    """


@lease_command.command("acquire")
@click.argument("name")
@click.option("--ttl", type=DURATION, help="How long it lasts unless renewed. Default: [leases] ttl.")
@click.option(
    "--wait",
    type=DURATION,
    default=0.0,
    help="Wait in line this long instead of giving up at once.",
)
@click.option(
    "--for", "attempt", metavar="t3.1", help="The attempt that holds it. Default: the caller's own, if it is an agent."
)
@click.option("--command", type=int, default=0, hidden=True)
@prints_json
@click.pass_context
def acquire_command(
    ctx: click.Context, name: str, ttl: float | None, wait: float, attempt: str | None, command: int, as_json: bool
) -> None:
    """Acquire the lease on NAME and print its generation."""
    workspace = open_workspace(ctx)
    seconds = workspace.config.leases.ttl if ttl is None else ttl
    holder = holder_of(workspace, attempt)
    process = command or (0 if holder.attempt else os.getppid())
    held = take_lease(workspace, LeaseRequest(name, structs.replace(holder, pid=process), seconds), wait)
    if as_json:
        print_document(name=held.name, generation=held.generation, ttl=seconds)
    else:
        click.echo(f"{held.name} is yours, generation {held.generation}")


@lease_command.command("renew")
@click.argument("name")
@click.option("--ttl", type=DURATION, help="Time from now. Default: [leases] ttl, or what is left if that is more.")
@click.option("--generation", type=int, help="The generation that `acquire` printed. Default: the current one.")
@click.option("--for", "attempt", metavar="t3.1")
@click.pass_context
def renew_command(
    ctx: click.Context, name: str, ttl: float | None, generation: int | None, attempt: str | None
) -> None:
    """Renew the lease on NAME."""
    workspace = open_workspace(ctx)
    claim = LeaseClaim(name, holder_of(workspace, attempt).name, generation)
    seconds = workspace.config.leases.ttl if ttl is None else ttl
    [renewed] = workspace.record(
        lambda board: renew_lease(board, claim, seconds, time.time(), may_shorten=ttl is not None)
    )
    assert isinstance(renewed.event, lease.LeaseRenewed)
    click.echo(f"{name} is yours for another {format_duration(renewed.event.ttl_seconds)}")


@lease_command.command("release")
@click.argument("name")
@click.option("--generation", type=int, help="The generation that `acquire` printed. Default: the current one.")
@click.option("--for", "attempt", metavar="t3.1")
@click.pass_context
def release_command(ctx: click.Context, name: str, generation: int | None, attempt: str | None) -> None:
    """Release the lease on NAME."""
    workspace = open_workspace(ctx)
    claim = LeaseClaim(name, holder_of(workspace, attempt).name, generation)
    workspace.record(lambda board: release_lease(board, claim))
    click.echo(f"released {name}")


@lease_command.command("list")
@prints_json
@click.pass_context
def list_command(ctx: click.Context, as_json: bool) -> None:
    """Show who holds which lease, and who is waiting."""
    leases = open_workspace(ctx).board().leases
    now = lease.log_time(leases, time.time())
    if as_json:
        from paddock.views.fleet.leases import view_leases

        print_json(view_leases(leases, time.time()))
        return
    for one in leases.held.values():
        left = one.expires_at - now
        words = f"expires in {format_duration(left)}" if left > 0 else "expired"
        click.echo(f"{cut(one.name, 40):<24} {cut(one.holder.name, 40):<20} for {age(one.since)}, {words}")
    for waiter in leases.waiting:
        click.echo(f"{cut(waiter.name, 40):<24} {cut(waiter.holder.name, 40):<20} waiting for {age(waiter.since)}")
    if not leases.held and not leases.waiting:
        click.echo("nobody holds a lease")

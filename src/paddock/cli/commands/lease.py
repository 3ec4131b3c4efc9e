"""`paddock lease` and `paddock with-lease`: things that only one may use at a time."""

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from dataclasses import replace

import click
import psutil

from paddock.cli.terminal.text import age, cut, print_document, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.board import Board
from paddock.core.durations import format_duration, parse_duration
from paddock.core.errors import Misuse, PaddockError
from paddock.core.events import Draft
from paddock.core.intent.leases import (
    Answer,
    LeaseClaim,
    LeaseRequest,
    NotYours,
    leasable_name,
    refusal_of,
    release_lease,
    renew_lease,
    request_lease,
    withdraw_request,
)
from paddock.core.leases import lease
from paddock.fleet.workspace import Workspace, author

PATIENCE_SECONDS = 30.0
"""How long a place in the queue lasts after its owner was last heard from."""
PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
END_SECONDS = 5.0
"""Between asking a command that lost its lease to end and killing it."""


@click.group("lease")
def lease_command() -> None:
    """Leases on named things: `file:GLOB`, `port:N`, `service:NAME`, anything.

    Only one holder at a time; a lease ends when it is released, when its time runs out, or with its attempt.
    """


@lease_command.command("acquire")
@click.argument("name")
@click.option("--ttl", metavar="DURATION", help="How long it lasts unless renewed. Default: [leases] ttl.")
@click.option("--wait", metavar="DURATION", help="Wait in line this long instead of giving up at once.")
@click.option(
    "--for", "attempt", metavar="t3.1", help="The attempt that holds it. Default: the caller's own, if it is an agent."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def acquire_command(
    ctx: click.Context, name: str, ttl: str | None, wait: str | None, attempt: str | None, as_json: bool
) -> None:
    """Acquire the lease on NAME and print its generation."""
    workspace = open_workspace(ctx)
    request = LeaseRequest(name, holder_of(attempt), _ttl(workspace, ttl))
    held = acquire(workspace, request, _seconds(wait) if wait else 0.0)
    if as_json:
        print_document(name=held.name, generation=held.generation)
    else:
        click.echo(f"{held.name} is yours, generation {held.generation}")


@lease_command.command("renew")
@click.argument("name")
@click.option(
    "--ttl", metavar="DURATION", help="Time from now. Default: [leases] ttl, or what is left if that is more."
)
@click.option("--generation", type=int, help="The generation that `acquire` printed. Default: the current one.")
@click.option("--for", "attempt", metavar="t3.1")
@click.pass_context
def renew_command(ctx: click.Context, name: str, ttl: str | None, generation: int | None, attempt: str | None) -> None:
    """Renew the lease on NAME."""
    workspace = open_workspace(ctx)
    claim, seconds = LeaseClaim(name, holder_of(attempt).name, generation), _ttl(workspace, ttl)
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
    claim = LeaseClaim(name, holder_of(attempt).name, generation)
    open_workspace(ctx).record(lambda board: release_lease(board, claim))
    click.echo(f"released {name}")


@lease_command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def list_command(ctx: click.Context, as_json: bool) -> None:
    """Show who holds which lease, and who is waiting."""
    leases = open_workspace(ctx).board().leases
    now = lease.log_time(leases, time.time())
    if as_json:
        from paddock.views.leases import view_leases

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


@click.command("with-lease")
@click.argument("name")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--ttl", metavar="DURATION", help="How long the lease lasts; renewed while the command runs.")
@click.option("--wait", default="10m", show_default=True, metavar="DURATION", help="How long to wait in line.")
@click.pass_context
def with_lease_command(ctx: click.Context, name: str, command: tuple[str, ...], ttl: str | None, wait: str) -> None:
    """Run COMMAND while holding the lease on NAME: `paddock with-lease port:5432 -- make itest`.

    Exits with the command's own status.
    """
    workspace = open_workspace(ctx)
    seconds = _ttl(workspace, ttl)
    held = acquire(workspace, LeaseRequest(name, this_command(), seconds), _seconds(wait))
    claim = LeaseClaim(held.name, "", held.generation)
    lost = threading.Event()
    ended = threading.Event()
    keeper = threading.Thread(target=_keep, args=(workspace, claim, seconds, ended, lost), daemon=True)
    keeper.start()
    try:
        code = _run(command, held, lost)
    finally:
        ended.set()
        keeper.join()
        if not lost.is_set():
            workspace.record(lambda board: release_lease(board, claim))
    if lost.is_set():
        raise PaddockError(f"the lease on `{held.name}` was lost while the command ran, so the command was stopped")
    ctx.exit(code)


def _run(words: tuple[str, ...], held: lease.Granted, lost: threading.Event) -> int:
    env = {**os.environ, "PADDOCK_LEASE": held.name, "PADDOCK_LEASE_GENERATION": str(held.generation)}
    started: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        if not started:
            early.append(number)
        elif number != signal.SIGINT or not _is_in_foreground():
            started[0].send_signal(number)

    # Before the command starts: a signal that came first would end us and leave the command without its lease.
    heard = [number for number in PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN]
    previous = [signal.signal(number, pass_on) for number in heard]
    try:
        started.append(subprocess.Popen(words, env=env))
        for number in early:
            started[0].send_signal(number)
        return _wait_for(started[0], lost)
    except OSError as error:
        raise PaddockError(f"`{words[0]}` cannot be run: {error.strerror}") from None
    finally:
        for number, handler in zip(heard, previous, strict=True):
            signal.signal(number, handler)


def _wait_for(process: "subprocess.Popen[bytes]", lost: threading.Event) -> int:
    while True:
        try:
            code = process.wait(timeout=0.2)
            return code if code >= 0 else 128 - code
        except subprocess.TimeoutExpired:
            if lost.is_set():
                _end_tree(process.pid)


def _is_in_foreground() -> bool:
    """If so, the terminal has already sent Ctrl-C to the command; many treat a second one as a hard stop."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def _end_tree(pid: int) -> None:
    """Ends the command and everything it started, politely first: someone else may now use the thing."""
    try:
        command = psutil.Process(pid)
        family = [command, *command.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for stop in (psutil.Process.terminate, psutil.Process.kill):
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                stop(member)
        _, family = psutil.wait_procs(family, timeout=END_SECONDS)


def _keep(
    workspace: Workspace, claim: LeaseClaim, seconds: float, ended: threading.Event, lost: threading.Event
) -> None:
    """Renews in good time, and reports when the lease is, or may be, someone else's."""
    good_until = time.monotonic() + seconds
    while not ended.wait(max(0.05, seconds / 3)):
        began = time.monotonic()
        try:
            workspace.record(lambda board: renew_lease(board, claim, seconds, time.time()))
            good_until = began + seconds
        except NotYours:
            lost.set()
            return
        except PaddockError:
            # A log that is busy or full may be written again before the time is up.
            if time.monotonic() >= good_until:
                lost.set()
                return


def acquire(workspace: Workspace, request: LeaseRequest, wait_seconds: float) -> lease.Granted:
    """Raises PaddockError naming the holder in the way; the place in the queue is then given up too."""
    give_up_at = time.monotonic() + wait_seconds
    name = leasable_name(request.name)
    answer: Answer

    def decide(board: Board) -> list[Draft]:
        nonlocal answer
        answer, drafts = request_lease(board, replace(request, wait_seconds=min(left, PATIENCE_SECONDS)), time.time())
        return drafts

    store = workspace.write()
    try:
        with store.listen() as listener:
            while True:
                left = max(0.0, give_up_at - time.monotonic())
                store.append(decide, author())
                if isinstance(answer, lease.Granted):
                    return answer
                if isinstance(answer, lease.LeaseRefused):
                    raise refusal_of(name, answer, time.time())
                free_in = min(blocker.expires_in_seconds for blocker in answer.blockers)
                listener.wait(min(left, max(0.05, free_in), 2.0))
    except BaseException:
        store.append(lambda board: withdraw_request(board, request), author())
        raise
    finally:
        store.close()


def this_command() -> lease.Holder:
    """Two commands are two holders, even in one shell or attempt."""
    attempt = os.environ.get("PADDOCK_ATTEMPT", "")
    return lease.Holder(attempt or author().name, socket.gethostname(), os.getpid(), attempt=attempt)


def holder_of(attempt: str | None) -> lease.Holder:
    """The caller: an agent is known by its attempt, a person by name, host and calling process."""
    own = attempt or os.environ.get("PADDOCK_ATTEMPT", "")
    if own:
        return lease.Holder(name=own, host=socket.gethostname(), attempt=own)
    return lease.Holder(name=author().name, host=socket.gethostname(), pid=os.getppid())


def _ttl(workspace: Workspace, text: str | None) -> float:
    return _seconds(text) if text else workspace.config.leases.ttl


def _seconds(text: str) -> float:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise Misuse(str(error)) from None

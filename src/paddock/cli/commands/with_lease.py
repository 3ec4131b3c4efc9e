"""`paddock with-lease`: a command that runs only as long as its lease is held."""

import contextlib
import os
import signal
import subprocess
import threading
import time

import click
import psutil

from paddock.cli.desk import AtDesk, find_desk
from paddock.cli.lease_office import DeskLeases, HeldLease, LeaseOffice, LogLeases
from paddock.cli.options import DURATION
from paddock.cli.workspace import open_workspace
from paddock.core.errors import PaddockError
from paddock.core.intent.leases import NotYours

PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
END_SECONDS = 5.0
"""Between asking a command that lost its lease to end and killing it."""


@click.command("with-lease")
@click.argument("name")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--ttl", type=DURATION, help="How long the lease lasts; renewed while the command runs.")
@click.option("--wait", type=DURATION, default="10m", show_default=True, help="How long to wait in line.")
@click.pass_context
def with_lease_command(ctx: click.Context, name: str, command: tuple[str, ...], ttl: float | None, wait: float) -> None:
    """Run COMMAND while holding the lease on NAME: `paddock with-lease port:5432 -- make itest`.

    Exits with the command's own status.
    """
    desk = find_desk(["with-lease"])
    office: LeaseOffice = LogLeases(open_workspace(ctx)) if desk is None else DeskLeases(AtDesk(desk))
    held = office.acquire(name, ttl, wait)
    lost = threading.Event()
    ended = threading.Event()
    keeper = threading.Thread(target=_keep, args=(office, held, ended, lost), daemon=True)
    keeper.start()
    try:
        code = _run(command, held, lost)
    finally:
        ended.set()
        keeper.join()
        if not lost.is_set():
            office.release(held)
    if lost.is_set():
        raise PaddockError(f"the lease on `{held.name}` was lost while the command ran, so the command was stopped")
    ctx.exit(code)


def _run(words: tuple[str, ...], held: HeldLease, lost: threading.Event) -> int:
    env = {**os.environ, "PADDOCK_LEASE": held.name, "PADDOCK_LEASE_GENERATION": str(held.generation)}
    started: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        if not started:
            early.append(number)
        elif number != signal.SIGINT or not _is_in_foreground():
            started[0].send_signal(number)

    # Before the command starts: an earlier signal would end us and leave the command without its lease.
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


def _keep(office: LeaseOffice, held: HeldLease, ended: threading.Event, lost: threading.Event) -> None:
    """Renews in good time, and reports when the lease is, or may be, someone else's."""
    good_until = time.monotonic() + held.ttl
    while not ended.wait(max(0.05, held.ttl / 3)):
        began = time.monotonic()
        try:
            office.renew(held)
            good_until = began + held.ttl
        except NotYours:
            lost.set()
            return
        except PaddockError:
            # A log that is busy or full may be written again before the time is up.
            if time.monotonic() >= good_until:
                lost.set()
                return

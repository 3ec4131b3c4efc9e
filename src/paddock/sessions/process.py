"""Watching processes for their end, and signalling the one that is meant and nobody else.

Signals go through a pidfd that is opened first and checked afterwards, so the process that was checked is the one
that gets the signal. Where the system has no pidfd (macOS) the check comes right before the kill, which leaves a
gap of microseconds.
"""

import asyncio
import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from functools import cache

import psutil

from paddock.core.lead import BY_HAND, Lead
from paddock.sessions.identity import ProcessIdentity, same_process

POLL_SECONDS = 0.5
"""How often an exit is looked for where the system cannot announce it."""


def has_child_since(identity: ProcessIdentity, since: float) -> bool:
    """Whether a descendant of the process that began after `since` (epoch seconds) is still at work."""
    try:
        children = psutil.Process(identity.pid).children(recursive=True)
    except psutil.Error:
        return False
    return any(_began_after(child, since) for child in children)


def _began_after(process: psutil.Process, since: float) -> bool:
    try:
        return process.create_time() > since and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


@cache
def has_pidfd() -> bool:
    """Asked of the kernel itself: some containers forbid the call."""
    if sys.platform != "linux":
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


def signal_process(identity: ProcessIdentity, signum: int, lead: Lead = BY_HAND) -> bool:
    """Send `signum` to that very process; `False` when it is gone or may not be signalled.

    Raises Succeeded, and sends nothing, if `lead` does not hold.
    """
    with open_pidfd(identity) as descriptor:
        lead.require()
        try:
            if descriptor is not None:
                signal.pidfd_send_signal(descriptor, signum)
            elif has_pidfd() or not same_process(identity):
                return False
            else:
                os.kill(identity.pid, signum)
        except (ProcessLookupError, PermissionError):
            return False
    return True


@contextlib.contextmanager
def open_pidfd(identity: ProcessIdentity) -> Iterator[int | None]:
    """A pidfd of that very process, closed at the end; `None` when it is gone or there are no pidfds."""
    descriptor = hold_process(identity)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def hold_process(identity: ProcessIdentity) -> int | None:
    """As `open_pidfd`, but the caller closes it. Readable once the process has ended."""
    if not has_pidfd():
        return None
    try:
        descriptor = os.pidfd_open(identity.pid)
    except (ProcessLookupError, PermissionError):
        return None
    # Checked after opening: from here on the descriptor cannot come to mean another process.
    if same_process(identity):
        return descriptor
    os.close(descriptor)
    return None


async def wait_for_exit(identity: ProcessIdentity, timeout_seconds: float) -> bool:
    """Whether the process, ours or not, ended within the time."""
    try:
        async with asyncio.timeout(timeout_seconds):
            with open_pidfd(identity) as descriptor:
                if descriptor is not None:
                    await _readable(descriptor)
            while same_process(identity):
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        return not same_process(identity)
    return True


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)


def block_until_exit(identity: ProcessIdentity, timeout_seconds: float) -> bool:
    """`wait_for_exit` for code that runs in a thread."""
    with open_pidfd(identity) as descriptor:
        if descriptor is not None:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            return bool(poll.poll(timeout_seconds * 1000))
    give_up_at = time.monotonic() + timeout_seconds
    while same_process(identity):
        left = give_up_at - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(POLL_SECONDS, left))
    return True

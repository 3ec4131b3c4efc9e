"""Which process is meant, whether it still runs, and how to signal it and nobody else.

A pid alone names nobody: the kernel hands it out again. A process is its pid, its start time and the boot it
belongs to. Signals go through a pidfd that is opened first and checked afterwards, so the process that was
checked is the one that gets the signal. Where the system has no pidfd (macOS) the check comes right before
the kill, which leaves a gap of microseconds.
"""

import asyncio
import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

HAS_PROCFS = sys.platform == "linux"
PF_KTHREAD = 0x00200000
_PROC_BYTES = 1 << 16
POLL_SECONDS = 0.5
"""How often an exit is looked for where the system cannot announce it."""


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """One process for all time. `started` is in the kernel's own unit and only good for comparing."""

    pid: int
    started: int
    boot: str

    def as_text(self) -> str:
        return f"{self.pid} {self.started} {self.boot}"

    @classmethod
    def from_text(cls, text: str) -> "ProcessIdentity | None":
        """`None` when `text` does not begin with what `as_text` writes."""
        match text.split()[:3]:
            case [pid, started, boot] if pid.isdecimal() and started.isdecimal():
                return cls(int(pid), int(started), boot)
            case _:
                return None


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


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """What the kernel says of a process that has not ended (a zombie has). `kernel`: it is a kernel thread."""

    identity: ProcessIdentity
    parent: int
    group: int
    session: int
    kernel: bool = False


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


@cache
def current_boot() -> str:
    """The id of this boot; a constant where start times are absolute and tell boots apart by themselves."""
    if HAS_PROCFS:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    return "-"


def read_proc(path: str) -> bytes:
    """A file of procfs, by as few calls as can be: a sweep reads two of every process. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = b""
        while part := os.read(descriptor, _PROC_BYTES):
            text += part
        return text
    finally:
        os.close(descriptor)


def read_stat(pid: int) -> ProcessStat | None:
    """`None` when no such process runs, or what is left of it is a zombie."""
    return _read_procfs_stat(pid) if HAS_PROCFS else _read_psutil_stat(pid)


def _read_procfs_stat(pid: int) -> ProcessStat | None:
    try:
        text = read_proc(f"/proc/{pid}/stat")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None  # forbidden is another user's, on a host mounted with hidepid, and so none of ours
    # The command's name may hold blanks and brackets; the last bracket ends it (proc(5)).
    fields = text[text.rfind(b")") + 2 :].split()
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    identity = ProcessIdentity(pid, int(fields[19]), current_boot())
    kernel = bool(int(fields[6]) & PF_KTHREAD)
    return ProcessStat(identity, int(fields[1]), group=int(fields[2]), session=int(fields[3]), kernel=kernel)


def _read_psutil_stat(pid: int) -> ProcessStat | None:
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            identity = ProcessIdentity(pid, round(process.create_time() * 1_000_000), current_boot())
            return ProcessStat(identity, process.ppid(), os.getpgid(pid), os.getsid(pid))
    except (psutil.Error, ProcessLookupError, PermissionError):
        return None


def identify(pid: int) -> ProcessIdentity | None:
    """The identity of the process that has this pid now; `None` when none runs."""
    stat = read_stat(pid)
    return stat.identity if stat else None


def same_process(identity: ProcessIdentity) -> bool:
    """Whether the very process `identity` names is still running (a zombie is not)."""
    return identity.boot == current_boot() and identify(identity.pid) == identity


def signal_process(identity: ProcessIdentity, signum: int) -> bool:
    """Send `signum` to that very process; `False` when it is gone or may not be signalled."""
    with open_pidfd(identity) as descriptor:
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

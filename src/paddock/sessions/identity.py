"""Which process is meant, and whether it still runs. `paddock status` asks too: not even dataclasses are loaded.

A pid alone names nobody: the kernel hands it out again, and a container counts its own. A process is its pid, the
pid namespace that counts so (`space`), its start time and the boot it belongs to.
"""

import os
import sys
from functools import cache
from pathlib import Path

import msgspec

HAS_PROCFS = sys.platform == "linux"
PF_KTHREAD = 0x00200000
_PROC_BYTES = 1 << 16
_SPACE = "space:"


class ProcessIdentity(msgspec.Struct, frozen=True):
    """One process for all time. `started` is in the kernel's own unit and only good for comparing.

    `space` is empty where nobody noted it.
    """

    pid: int
    started: int
    boot: str
    space: str = ""

    def as_text(self) -> str:
        return " ".join(
            (str(self.pid), str(self.started), self.boot, *((f"{_SPACE}{self.space}",) if self.space else ()))
        )

    @classmethod
    def from_text(cls, text: str) -> "ProcessIdentity | None":
        """`None` when `text` does not begin with what `as_text` writes."""
        match text.split()[:4]:
            case [pid, started, boot, *more] if pid.isdecimal() and started.isdecimal():
                space = more[0].removeprefix(_SPACE) if more and more[0].startswith(_SPACE) else ""
                return cls(int(pid), int(started), boot, space)
            case _:
                return None


class ProcessStat(msgspec.Struct, frozen=True):
    """What the kernel says of a process that has not ended (a zombie has). `kernel`: it is a kernel thread."""

    identity: ProcessIdentity
    parent: int
    group: int
    session: int
    kernel: bool = False


@cache
def current_boot() -> str:
    """The id of this boot; a constant where start times are absolute and tell boots apart by themselves."""
    if HAS_PROCFS:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    return "-"


@cache
def current_space() -> str:
    """Which pid namespace we count processes by; a constant where there is only one, empty where nobody says."""
    if not HAS_PROCFS:
        return "-"
    try:
        return os.readlink("/proc/self/ns/pid").removeprefix("pid:[").removesuffix("]")
    except OSError:
        return ""


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
    identity = ProcessIdentity(pid, int(fields[19]), current_boot(), current_space())
    kernel = bool(int(fields[6]) & PF_KTHREAD)
    return ProcessStat(identity, int(fields[1]), group=int(fields[2]), session=int(fields[3]), kernel=kernel)


def _read_psutil_stat(pid: int) -> ProcessStat | None:
    import psutil

    try:
        process = psutil.Process(pid)
        with process.oneshot():
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            identity = ProcessIdentity(pid, round(process.create_time() * 1_000_000), current_boot(), current_space())
            return ProcessStat(identity, process.ppid(), os.getpgid(pid), os.getsid(pid))
    except (psutil.Error, ProcessLookupError, PermissionError):
        return None


def identify(pid: int) -> ProcessIdentity | None:
    """The identity of the process that has this pid now; `None` when none runs."""
    stat = read_stat(pid)
    return stat.identity if stat else None


def same_process(identity: ProcessIdentity) -> bool:
    """Whether the very process `identity` names is still running (a zombie is not) and can be seen from here."""
    if identity.boot != current_boot() or identity.space not in ("", current_space()):
        return False
    found = identify(identity.pid)
    return found is not None and found.started == identity.started


def has_ended(text: str) -> bool:
    """Whether the process that `as_text` wrote of has ended for certain: one that another pid namespace counts, or
    that nobody noted, may still run."""
    identity = ProcessIdentity.from_text(text)
    if identity is None:
        return False
    if identity.boot != current_boot():
        return True
    return identity.space in ("", current_space()) and not same_process(identity)

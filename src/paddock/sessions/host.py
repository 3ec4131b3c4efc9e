"""Which machine this is, and processes of it that hold leases. `paddock status` asks: little is loaded.

A laptop changes its name with the network, so a machine is known by an id that stays. A container shares the id of
its image and the boot of its host but sees other processes: there only the name tells places apart, and of a process
in another pid namespace nobody is certain that it is gone.
"""

import os
import signal
import sys
from contextlib import suppress
from typing import NamedTuple
from zlib import crc32

from paddock.core.board import NODE_LEASES
from paddock.core.leases.lease import Holder
from paddock.sessions.identity import (
    HAS_PROCFS,
    ProcessIdentity,
    current_boot,
    current_space,
    identify,
    read_proc,
    same_process,
)

HOST_VARIABLE = "PADDOCK_HOST"
"""Names this place where nothing else about it stays, or where it takes over from a host that is gone. `node:NAME` is
the place of a node's deputy."""
FIRST_PID_SPACE = "4026531836"  # PROC_PID_INIT_INO of Linux; a container has another


class Host(NamedTuple):
    """`name` is for people; `id` stays when the name changes, and is the name where nothing better is known."""

    name: str
    id: str = ""


def host_of(node: str) -> Host:
    """A node of a cluster, as what runs there names its place."""
    return Host(node, f"{NODE_LEASES}{node}")


def this_host() -> Host:
    if named := os.environ.get(HOST_VARIABLE, ""):
        return Host(named.removeprefix(NODE_LEASES), named)
    name = os.uname().nodename
    return Host(name, _machine_id() or name)


def _machine_id() -> str:
    """Not the id itself, which is nobody else's business."""
    text = b""
    with suppress(OSError, AttributeError):
        if sys.platform == "darwin":
            text = _darwin_uuid()
        elif HAS_PROCFS and current_space() == FIRST_PID_SPACE:
            text = read_proc("/etc/machine-id").strip()
    return f"{crc32(text):08x}{crc32(text[::-1]):08x}" if len(text) >= 16 else ""


def _darwin_uuid() -> bytes:
    import ctypes

    uuid, wait = (ctypes.c_ubyte * 16)(), (ctypes.c_long * 2)(1, 0)
    failed = ctypes.CDLL(None).gethostuuid(uuid, ctypes.byref(wait))
    return b"" if failed else bytes(uuid)


def is_this_host(host: Host) -> bool:
    """Also by another name than it has now. What was recorded without a host counts as ours."""
    here = this_host()
    if host.id == here.id or not host.name:
        return True
    if NODE_LEASES in (host.id[: len(NODE_LEASES)], here.id[: len(NODE_LEASES)]):
        return False  # a node's work is its deputy's, also on the machine of the daemon
    known_by_name = not host.id or HOST_VARIABLE in os.environ
    return known_by_name and host.name == here.name


def this_process(name: str) -> Holder:
    identity, host = identify(os.getpid()), this_host()
    assert identity is not None
    return Holder(
        name, host.name, identity.pid, identity.started, identity.boot, host_id=host.id, pid_space=identity.space
    )


def is_here(holder: Holder) -> bool:
    return is_this_host(Host(holder.host, holder.host_id))


def is_in_sight(holder: Holder) -> bool:
    """Whether our pid namespace counts its process, too. One that did not note its own may be in another."""
    return bool(holder.pid_space) and holder.pid_space == current_space() and is_here(holder)


def is_certainly_gone(holder: Holder) -> bool:
    """Only of a process of this host and pid namespace can one be certain, and not where a place is only called by its
    name: a container of that name may run on another machine, which has another boot."""
    if not holder.pid or HOST_VARIABLE in os.environ or not is_in_sight(holder):
        return False
    if holder.boot_id != current_boot():
        return holder.host == this_host().name and bool(_machine_id())
    return not same_process(_identity(holder))


def has_left(holder: Holder) -> bool:
    """Whether its process has certainly ended, whatever this place is called: it was one of this boot and this pid
    namespace. Of another boot nobody can tell whether it was of this machine."""
    seen_from_here = holder.boot_id == current_boot() and holder.pid_space == current_space()
    return bool(holder.pid) and seen_from_here and not same_process(_identity(holder))


def is_at_work(sign: str) -> bool:
    """Whether the process that has left this sign of life here still runs."""
    identity = ProcessIdentity.from_text(sign)
    return identity is not None and same_process(identity)


def sign_of_life() -> str:
    """What another process needs to know of this one to wake it."""
    identity = identify(os.getpid())
    return identity.as_text() if identity is not None else ""


def wake(sign: str) -> None:
    """Lets that very process of ours go on if somebody has stopped it."""
    from paddock.sessions.process import signal_process

    identity = ProcessIdentity.from_text(sign)
    if identity is not None and identity.space and identity.pid != os.getpid() and HOST_VARIABLE not in os.environ:
        signal_process(identity, signal.SIGCONT)


def is_gone(pid: int) -> bool:
    """Whether no process of this machine has the pid."""
    return identify(pid) is None


def signal_holder(holder: Holder, signum: int, timeout_seconds: float) -> bool:
    """Signals that very process of this host; whether it has ended within the time."""
    from paddock.sessions.process import block_until_exit, signal_process

    signal_process(_identity(holder), signum)
    return block_until_exit(_identity(holder), timeout_seconds)


def _identity(holder: Holder) -> ProcessIdentity:
    return ProcessIdentity(holder.pid, int(holder.started), holder.boot_id, holder.pid_space)

"""The machine we are on, and processes of it that hold leases. `paddock status` asks: little is loaded."""

import os

from paddock.core.leases.lease import Holder
from paddock.sessions.identity import ProcessIdentity, current_boot, identify, same_process


def host_name() -> str:
    return os.uname().nodename


def this_process(name: str) -> Holder:
    identity = identify(os.getpid())
    assert identity is not None
    return Holder(name, host_name(), identity.pid, identity.started, identity.boot)


def is_here(holder: Holder) -> bool:
    return holder.host == host_name()


def is_certainly_gone(holder: Holder) -> bool:
    """Only of a process of this host can one be certain."""
    if not is_here(holder) or not holder.pid:
        return False
    return holder.boot_id != current_boot() or not same_process(_identity(holder))


def is_gone(pid: int) -> bool:
    """Whether no process of this machine has the pid."""
    return identify(pid) is None


def signal_holder(holder: Holder, signum: int, timeout_seconds: float) -> bool:
    """Signals that very process of this host; whether it has ended within the time."""
    from paddock.sessions.process import block_until_exit, signal_process

    signal_process(_identity(holder), signum)
    return block_until_exit(_identity(holder), timeout_seconds)


def _identity(holder: Holder) -> ProcessIdentity:
    return ProcessIdentity(holder.pid, int(holder.started), holder.boot_id)

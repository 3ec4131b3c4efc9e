"""The process in a person's terminal that keeps an attempt for them: which it is, and whether it is still there."""

import os
import signal

from paddock.core.intent.holds import Seat
from paddock.core.leases.lease import Holder
from paddock.core.tasks.task import Hold
from paddock.sessions.host import is_in_sight, sign_of_life, this_host
from paddock.sessions.identity import ProcessIdentity
from paddock.sessions.process import signal_process

ASKED_TO_LEAVE = signal.SIGUSR1
"""Whoever hands an attempt back from elsewhere sends this to its seat, which ends its terminal and records nothing."""


def this_seat() -> Seat:
    """This very process."""
    host = this_host()
    return Seat(host.name, host.id, sign_of_life())


def seat_pid(hold: Hold) -> int | None:
    """The pid of a seat that we can see; None for one of another host or pid namespace."""
    holder = _holder(hold)
    return holder.pid if holder is not None and is_in_sight(holder) else None


def ask_to_leave(hold: Hold) -> bool:
    """Whether it could be asked: it is one of ours, on this host, and not this process."""
    identity = ProcessIdentity.from_text(hold.process)
    if identity is None or seat_pid(hold) in (None, os.getpid()):
        return False
    return signal_process(identity, ASKED_TO_LEAVE)


def _holder(hold: Hold) -> Holder | None:
    identity = ProcessIdentity.from_text(hold.process)
    if identity is None:
        return None
    return Holder(
        hold.by,
        hold.host,
        identity.pid,
        identity.started,
        identity.boot,
        host_id=hold.host_id,
        pid_space=identity.space,
    )

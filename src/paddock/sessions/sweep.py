"""Ending what attempts left behind, wherever it hides, and saying what it was.

A process is ended only if it carries the attempt's mark, descends from one that does, or was seen doing so
earlier in the same stop and is still the same process. Nothing else is touched, whatever its pid, group or name.
"""

import signal
import time
from collections.abc import Collection

from paddock.core.lead import BY_HAND, Lead
from paddock.sessions.identity import ProcessIdentity, same_process
from paddock.sessions.marks import Mark, MarkedProcess, describe, find_attempts
from paddock.sessions.process import block_until_exit, signal_process
from paddock.sessions.protocol import SweepReport

PASS_SECONDS = 1.0
"""How long one pass waits for what it killed. A killed process is gone in milliseconds unless the kernel holds it."""


def sweep(
    marks: Collection[Mark],
    lead: Lead = BY_HAND,
    suspects: Collection[MarkedProcess] = (),
    timeout_seconds: float = 10.0,
) -> SweepReport:
    """Kill every process of these attempts, again and again until a pass finds none or the time is up.

    One pass over the process table serves all attempts. Blocks: call it in a thread. `suspects` are processes
    seen to belong to the attempts that may since have lost all trace of it. `lead` is asked before every kill: the
    attempts may be another daemon's by then.
    """
    if not marks:
        return SweepReport()
    give_up_at = time.monotonic() + timeout_seconds
    seen: dict[ProcessIdentity, MarkedProcess] = {process.identity: process for process in suspects}
    killed: set[ProcessIdentity] = set()
    while True:
        found = {process.identity: process for process in find_attempts(marks)}
        seen.update(found)
        alive = [identity for identity in seen if same_process(identity)]
        # Those found may have ended since, and left children that nobody has seen.
        if (not found and not alive) or time.monotonic() >= give_up_at:
            break
        killed.update(identity for identity in alive if signal_process(identity, signal.SIGKILL, lead))
        _wait_for_all(alive, min(PASS_SECONDS, give_up_at - time.monotonic()))
    return SweepReport(
        ended=tuple(describe(seen[identity]) for identity in seen if identity in killed and identity not in alive),
        survivors=tuple(describe(seen[identity]) for identity in alive),
    )


def _wait_for_all(identities: Collection[ProcessIdentity], timeout_seconds: float) -> None:
    until = time.monotonic() + timeout_seconds
    for identity in identities:
        block_until_exit(identity, max(0.0, until - time.monotonic()))

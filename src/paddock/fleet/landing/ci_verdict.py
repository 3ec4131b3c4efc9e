"""What the end of CI's processes says: a pass, a failure of the change, or trouble of the machine."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace

from paddock.core.merge.cannot_run import why_cannot_run
from paddock.core.merge.guards import BLAMING
from paddock.core.merge.model import Result
from paddock.git.sandboxes.ci import CiCheck
from paddock.sessions.protocol import Exited, TurnState, Vanished

INFRASTRUCTURE_EXIT = 75
SHELL_SIGNAL_BASE = 128
# Sent from outside: the kernel out of memory, an administrator, a shutdown. Other signals are the program's own.
OUTSIDE_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


@dataclass(frozen=True, slots=True)
class RunResult:
    result: Result
    exit: int | None = None
    note: str = ""
    cannot_run: str = ""
    ran: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    flaked: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tried:
    """A check that was run `times` times, in so many `turns`; `failed` is what the last time came to, None for a
    pass."""

    check: CiCheck
    times: int
    failed: RunResult | None
    turns: int = 1


def sum_up(result: RunResult, tried: Sequence[Tried]) -> RunResult:
    ended = [one for one in tried if one.failed is None or one.failed.result in BLAMING]
    failed = [one.check for one in ended if one.failed is not None]
    flaked = [one.check.name for one in ended if one.failed is None and one.times > 1]
    ignored = [check.name for check in failed if check.quarantine]
    words = [result.note] if result.note else []
    words += [f"`{name}` failed, then passed on retry" for name in flaked]
    words += [f"`{name}` failed, which does not count: it is in quarantine" for name in ignored]
    return replace(
        result,
        note="; ".join(words),
        ran=tuple(one.check.name for one in ended),
        failed=tuple(check.name for check in failed if not check.quarantine),
        flaked=tuple(flaked),
        quarantined=tuple(ignored),
    )


def judge_exit(state: Exited, name: str, words: str) -> RunResult | None:
    """None when it passed. `words` is the end of what it printed."""
    if state.code == 0:
        return None
    # A shell that waits for its last command says 128 + n for signal n.
    number = state.signal if state.signal is not None else (state.code or 0) - SHELL_SIGNAL_BASE
    if number in OUTSIDE_SIGNALS:
        return RunResult(Result.INFRA, state.code, f"`{name}` was ended by {signal.Signals(number).name}")
    if state.code == INFRASTRUCTURE_EXIT:
        return RunResult(Result.INFRA, state.code, f"`{name}` asked to be retried with exit {state.code}")
    if state.code is None:
        return RunResult(Result.FAIL, None, f"`{name}` crashed with signal {state.signal}")
    missing = why_cannot_run(state.code, words)
    note = f"`{name}` failed with exit {state.code}{f': {missing}' if missing else ''}"
    return RunResult(Result.FAIL, state.code, note, note if missing else "")


def judge_loss(state: TurnState, name: str) -> RunResult:
    rebooted = isinstance(state, Vanished) and state.rebooted
    why = "the machine restarted" if rebooted else "something killed all its processes"
    return RunResult(Result.INFRA, None, f"`{name}` vanished without an exit status: {why}")

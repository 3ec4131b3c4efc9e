"""Named points at which a test may kill this process, to see that the next one picks everything up.

`PADDOCK_TEST_CRASH_AT=name` dies by SIGKILL when the point is first reached, `name#3` when it is reached for the
third time; `PADDOCK_TEST_STOP_AT` likewise stops there until somebody sends SIGCONT. `PADDOCK_TEST_TRACE=file`
writes down every point that is passed, and by which process, so that a sweep knows which there are. With
`PADDOCK_TEST_TOKEN=file` only one process dies or stops: the one that removes that file. None is set outside of tests.
"""

import os
import signal
from collections import Counter

_SIGNALS = {"PADDOCK_TEST_CRASH_AT": signal.SIGKILL, "PADDOCK_TEST_STOP_AT": signal.SIGSTOP}
_passed: Counter[tuple[str, str]] = Counter()
_ARMED = any(name in os.environ for name in ("PADDOCK_TEST_TRACE", *_SIGNALS))
"""Asked once: the points are many, and every fleet passes them."""


def checkpoint(name: str) -> None:
    if not _ARMED:
        return
    if trace := os.environ.get("PADDOCK_TEST_TRACE"):
        with open(trace, "a", encoding="utf-8") as file:
            file.write(f"{name} {os.getpid()}\n")
    for variable, signum in _SIGNALS.items():
        if wanted := os.environ.get(variable):
            _passed[variable, name] += 1
            if f"{name}#{_passed[variable, name]}" in (wanted, f"{wanted}#1") and _takes_token():
                os.kill(os.getpid(), signum)


def _takes_token() -> bool:
    if (token := os.environ.get("PADDOCK_TEST_TOKEN")) is None:
        return True
    try:
        os.unlink(token)
    except FileNotFoundError:
        return False
    return True

"""Named points at which a test may kill this process, to see that the next one picks everything up.

`PADDOCK_TEST_CRASH_AT=name` dies by SIGKILL when the point is first reached, `name#3` when it is reached for the
third time; `PADDOCK_TEST_TRACE=file` writes down every point that is passed, so that a sweep knows which there
are. Neither is set outside of tests.
"""

import os
import signal
from collections import Counter

_passed: Counter[str] = Counter()


def checkpoint(name: str) -> None:
    if trace := os.environ.get("PADDOCK_TEST_TRACE"):
        with open(trace, "a", encoding="utf-8") as file:
            file.write(f"{name}\n")
    if wanted := os.environ.get("PADDOCK_TEST_CRASH_AT"):
        _passed[name] += 1
        if wanted in (f"{name}#{_passed[name]}", name):
            os.kill(os.getpid(), signal.SIGKILL)

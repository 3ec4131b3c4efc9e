"""Named points at which a test may kill this process, to see that the next one picks everything up.

`PADDOCK_TEST_CRASH_AT=name` dies by SIGKILL when the point is first reached; `PADDOCK_TEST_TRACE=file` writes
down every point that is passed, so that a sweep knows which there are. Neither is set outside of tests.
"""

import os
import signal


def checkpoint(name: str) -> None:
    if trace := os.environ.get("PADDOCK_TEST_TRACE"):
        with open(trace, "a", encoding="utf-8") as file:
            file.write(f"{name}\n")
    if os.environ.get("PADDOCK_TEST_CRASH_AT") == name:
        os.kill(os.getpid(), signal.SIGKILL)

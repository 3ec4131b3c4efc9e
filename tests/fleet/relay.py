"""Daemons one after the other: when one is killed at its named point, the next one takes over."""

import signal
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.fleet.yard import Yard
from tests.warm import PATIENCE_SECONDS, RunningCommand

SECOND_TIME = 2


class Relay:
    """The first daemon is killed at the first of `kills`, its successor at the second, and so on.

    With a `trace`, the daemons after `n` kills write the points they pass to `trace.n`.
    """

    def __init__(self, yard: Yard, kills: Sequence[str] = (), trace: Path | None = None) -> None:
        self.yard = yard
        self.kills = tuple(kills)
        self.killed = 0
        self._trace = trace
        self._daemon = self._start()

    def _start(self) -> RunningCommand:
        env = {"PADDOCK_TEST_CRASH_AT": self.kills[self.killed]} if self.killed < len(self.kills) else {}
        if self._trace is not None:
            env["PADDOCK_TEST_TRACE"] = f"{self._trace}.{self.killed}"
        return self.yard.start("run", "--until-idle", env=env)

    def tend(self) -> bool:
        """Starts the next daemon if one was killed. False once a daemon has ended by itself."""
        code = self._daemon.exit_code
        if code is None:
            return True
        if code != -signal.SIGKILL:
            return False
        assert self.killed < len(self.kills), "nobody asked for this one to be killed"
        self.killed += 1
        self._daemon = self._start()
        return True

    def until(self, path: Path) -> None:
        """Until an agent has made this file."""
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while not path.exists():
            assert self.tend(), f"the fleet ended before {path.name} came:\n{self._daemon.words}"
            assert time.monotonic() < give_up_at, f"{path.name} never came:\n{self._daemon.words}"
            time.sleep(0.02)

    def start_again(self) -> None:
        """A daemon that was asked to end, or died of it, is followed by another."""
        if self._daemon.wait() == -signal.SIGKILL:
            self.killed += 1
        self._daemon = self._start()

    def finish(self) -> None:
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while self.tend():
            assert time.monotonic() < give_up_at, f"it never came to rest:\n{self._daemon.words}"
            time.sleep(0.02)
        assert self._daemon.wait() in (0, 1), self._daemon.words
        assert "error:" not in self._daemon.words, self._daemon.words


def read_trace(trace: Path, after_kills: int = 0) -> list[str]:
    """The points that daemons passed, each as often as one of them did, up to the second time."""
    lines = Path(f"{trace}.{after_kills}").read_text().splitlines()
    most: Counter[str] = Counter()
    for (name, _), count in Counter(tuple(line.split()) for line in lines).items():
        most[name] = max(most[name], count)
    return [f"{name}#{time}" for name, count in most.items() for time in range(1, min(count, SECOND_TIME) + 1)]

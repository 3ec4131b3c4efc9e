"""Wakes the followers of a turn when it ends or prints something, for hundreds of turns at once, without busy polling.

Ends wake at once, through pidfds. Growth is looked for by one pass of `stat` over all output files per tick:
for 200 turns that is about a millisecond a second, cheaper and simpler than an inotify watch per folder, and it
works on every system. A wake-up only says where to look; the woken follower reads the files.
"""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass

from paddock.sessions.identity import ProcessIdentity, same_process
from paddock.sessions.local import TurnFiles, reap_children
from paddock.sessions.moments import MomentsWriter
from paddock.sessions.process import has_pidfd, hold_process

TICK_SECONDS = 1.0
SOON_SECONDS = 0.01


@dataclass(slots=True)
class _Followed:
    identity: ProcessIdentity
    pidfd: int | None
    wake: Callable[[], None]
    paths: tuple[str, str]
    moments: MomentsWriter
    sizes: tuple[int, ...] = (0, 0)


class TurnWatch:
    """Follows turns on the running event loop; `close` it at the end. It also notes how their output grows."""

    def __init__(self, tick_seconds: float = TICK_SECONDS) -> None:
        self._tick_seconds = tick_seconds
        self._pause_seconds = tick_seconds
        self._next_tick: asyncio.TimerHandle | None = None
        self._followed: dict[TurnFiles, _Followed] = {}

    def follow(self, files: TurnFiles, identity: ProcessIdentity, wake: Callable[[], None]) -> None:
        """Wakes for the turn's output, also for what is there already, and once for its end, also if it is past."""
        self.forget(files)
        try:
            pidfd = hold_process(identity)
        except OSError:
            pidfd = None  # Out of descriptors: its end is found by the tick.
        paths = (str(files.out), str(files.err))
        self._followed[files] = _Followed(identity, pidfd, wake, paths, MomentsWriter(files.out))
        loop = asyncio.get_running_loop()
        if pidfd is not None:
            loop.add_reader(pidfd, self._end, files)
        elif has_pidfd() and not same_process(identity):
            loop.call_soon(self._end, files)
        if self._next_tick is None:
            self._next_tick = loop.call_later(0, self._tick)

    def look_soon(self) -> None:
        """A turn was told something: what it says to that is looked for at once, and then less and less often."""
        if self._next_tick is None:
            return
        loop = asyncio.get_running_loop()
        self._pause_seconds = min(SOON_SECONDS, self._tick_seconds)
        if self._next_tick.when() > loop.time() + self._pause_seconds:
            self._next_tick.cancel()
            self._next_tick = loop.call_later(self._pause_seconds, self._tick)

    def forget(self, files: TurnFiles) -> None:
        """No waking for this turn any more; harmless for one that is not followed."""
        followed = self._followed.pop(files, None)
        if followed is None:
            return
        followed.moments.note(is_last=True)
        if followed.pidfd is not None:
            asyncio.get_running_loop().remove_reader(followed.pidfd)
            os.close(followed.pidfd)

    def close(self) -> None:
        for files in tuple(self._followed):
            self.forget(files)
        if self._next_tick is not None:
            self._next_tick.cancel()
            self._next_tick = None

    def _tick(self) -> None:
        self._next_tick = None
        for files, followed in tuple(self._followed.items()):
            # Asked for before its output: once it has ended, its last output is there.
            if followed.pidfd is None and not same_process(followed.identity):
                self._end(files)
                continue
            sizes = tuple(_size(path) for path in followed.paths)
            if sizes != followed.sizes:
                followed.sizes = sizes
                followed.moments.note()
                followed.wake()
        if self._followed:
            self._pause_seconds = min(2 * self._pause_seconds, self._tick_seconds)
            self._next_tick = asyncio.get_running_loop().call_later(self._pause_seconds, self._tick)

    def _end(self, files: TurnFiles) -> None:
        followed = self._followed.get(files)
        if followed is not None:
            self.forget(files)
            followed.wake()
            reap_children()


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0

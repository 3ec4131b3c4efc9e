"""Waking when a turn ends or says something, for hundreds of turns at once, without busy polling.

Ends wake at once, through pidfds. Growth is looked for by one pass of `stat` over all output files per tick:
for 200 turns that is about a millisecond a second, cheaper and simpler than an inotify watch per folder, and it
works on every system. News only says where to look; the caller reads the files for the truth.
"""

import asyncio
import os
from dataclasses import dataclass

from paddock.sessions.local import TurnFiles, reap_children
from paddock.sessions.process import ProcessIdentity, has_pidfd, hold_process, same_process

TICK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class TurnNews:
    """Turns whose process has ended, and turns whose output has grown since they were last named here."""

    ended: frozenset[TurnFiles] = frozenset()
    grown: frozenset[TurnFiles] = frozenset()


@dataclass(slots=True)
class _Followed:
    identity: ProcessIdentity
    pidfd: int | None
    paths: tuple[str, str]
    sizes: tuple[int, ...] = (0, 0)


class TurnWatch:
    """Follows turns on the running event loop. One task waits on it; `close` it at the end."""

    def __init__(self, tick_seconds: float = TICK_SECONDS) -> None:
        self._tick_seconds = tick_seconds
        self._next_tick_at = 0.0
        self._followed: dict[TurnFiles, _Followed] = {}
        self._ended: set[TurnFiles] = set()
        self._woken = asyncio.Event()

    def follow(self, files: TurnFiles, identity: ProcessIdentity) -> None:
        """Report this turn's output, also what is there already, and its end, also if it is past."""
        self.forget(files)
        try:
            pidfd = hold_process(identity)
        except OSError:
            pidfd = None  # Out of descriptors: its end is found by the tick.
        self._followed[files] = _Followed(identity, pidfd, (str(files.out), str(files.err)))
        if pidfd is not None:
            asyncio.get_running_loop().add_reader(pidfd, self._note_end, files)
        elif has_pidfd() and not same_process(identity):
            self._note_end(files)

    def forget(self, files: TurnFiles) -> None:
        """No news of this turn any more; harmless for one that is not followed."""
        self._ended.discard(files)
        followed = self._followed.pop(files, None)
        if followed is not None:
            self._let_go(followed)

    def close(self) -> None:
        for files in tuple(self._followed):
            self.forget(files)

    async def news(self, timeout_seconds: float) -> TurnNews:
        """What has happened since the last call, as soon as anything has; empty when the time is up.

        A turn that has ended is named once and then forgotten.
        """
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + timeout_seconds
        while True:
            ended = frozenset(self._ended)
            if ended or loop.time() >= self._next_tick_at:
                grown = self._look_at_output()
                self._next_tick_at = loop.time() + self._tick_seconds
                ended = frozenset(self._ended)
                if ended or grown:
                    for files in ended:
                        self.forget(files)
                    return TurnNews(ended, grown)
            if loop.time() >= give_up_at:
                return TurnNews()
            await self._sleep_until(min(give_up_at, self._next_tick_at))

    async def _sleep_until(self, moment: float) -> None:
        self._woken.clear()
        try:
            async with asyncio.timeout_at(moment):
                await self._woken.wait()
        except TimeoutError:
            pass

    def _look_at_output(self) -> frozenset[TurnFiles]:
        grown = set()
        for files, followed in self._followed.items():
            # Asked for before its output: the last words of one that has ended are there by now.
            if followed.pidfd is None and not same_process(followed.identity):
                self._ended.add(files)
            sizes = tuple(_size(path) for path in followed.paths)
            if sizes != followed.sizes:
                followed.sizes = sizes
                grown.add(files)
        return frozenset(grown)

    def _note_end(self, files: TurnFiles) -> None:
        self._let_go(self._followed[files])
        self._ended.add(files)
        self._woken.set()
        reap_children()

    def _let_go(self, followed: _Followed) -> None:
        if followed.pidfd is not None:
            asyncio.get_running_loop().remove_reader(followed.pidfd)
            os.close(followed.pidfd)
            followed.pidfd = None


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0

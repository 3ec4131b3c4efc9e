"""Showing a fleet live in a terminal: drawn again after every commit to the log, and when time alone changes it."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

from paddock.cli.pages.live import lay_out
from paddock.cli.pages.scene import Scene, SceneMaker
from paddock.cli.terminal.screen import Screen, style_line
from paddock.cli.terminal.text import colourful, say
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import LogUnavailable

BUSY_SECONDS = 1.0
IDLE_SECONDS = 5.0
"""How long a picture stands at most while something is running, and while nothing is."""
SHORTEST_SECONDS = 0.1
KEY_BYTES = 1024
_LEAVING = (b"q", b"Q", b"\x04")


class TerminalView:
    """`run` may be called in any thread, and the other methods in any other. Keys leave it unless it is shown by the
    daemon itself."""

    def __init__(
        self, workspace: Workspace, *, convoy: str | None = None, footer: str = "", is_daemon: bool = False
    ) -> None:
        self.screen = Screen(colourful=colourful())
        self.scene: Scene | None = None
        self._workspace = workspace
        self._convoy = convoy
        self._footer = footer
        self._is_daemon = is_daemon
        self._left = False
        self._tell_loop: Callable[[], object] = lambda: None

    async def run(self) -> None:
        """Until somebody leaves. Raises what reading the log raises, and OSError when the terminal is gone."""
        loop, woken = asyncio.get_running_loop(), asyncio.Event()
        self._tell_loop = lambda: loop.call_soon_threadsafe(woken.set)
        with self.screen, closing(self._workspace.read()) as store, store.listen() as listener:
            listener.tell(woken.set)
            maker = SceneMaker(self._workspace, store, self._convoy, is_daemon=self._is_daemon)
            self._read_keys(loop)
            while True:
                woken.clear()
                self.scene, footer = self._look(maker)
                self.screen.draw(lay_out(self.scene, *self.screen.size(), footer))
                if self._has_left():
                    return
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(BUSY_SECONDS if _is_busy(self.scene) else IDLE_SECONDS):
                        await woken.wait()
                await asyncio.sleep(0 if self._left else SHORTEST_SECONDS)

    def _look(self, maker: SceneMaker) -> tuple[Scene, str]:
        """While the log's server is away, how things stood last; the next look is a second later."""
        try:
            return maker.look(time.time()), self._footer
        except LogUnavailable as away:
            if self.scene is None:
                raise
            return self.scene, f"not now: {away.message}"

    def _read_keys(self, loop: asyncio.AbstractEventLoop) -> None:
        """Read also where none means anything: what is typed meanwhile is not for the shell."""
        if not sys.stdin.isatty():
            return
        source = sys.stdin.fileno()

        def read() -> None:
            try:
                keys = os.read(source, KEY_BYTES)
            except OSError:
                keys = b""
            if not keys:
                loop.remove_reader(source)
            if not keys or (not self._is_daemon and any(key in keys for key in _LEAVING)):
                self.leave()

        loop.add_reader(source, read)

    def _has_left(self) -> bool:
        return self._left

    def wake(self) -> None:
        """Something may look different now, such as the size of the terminal."""
        with contextlib.suppress(RuntimeError):  # its loop has just ended
            self._tell_loop()

    def leave(self) -> None:
        self._left = True
        self.wake()

    def suspend(self) -> None:
        """Ctrl-Z: the shell has the terminal until the process goes on."""
        self.screen.suspend(lambda: os.kill(os.getpid(), signal.SIGSTOP))
        self.wake()

    def print_last(self) -> None:
        """How things stood last, for good, once the terminal is given back."""
        if self.scene is not None:
            # A page beside the daemon ends with it.
            page = "" if self._is_daemon else self.scene.page
            for line in lay_out(replace(self.scene, agents=(), page=page), *self.screen.size()):
                say(style_line(line, colourful=colourful()).rstrip())


def _is_busy(scene: Scene) -> bool:
    return bool(scene.agents or scene.queue or scene.limit)


class ViewThread:
    """A view beside something else, such as a daemon, that must not wait for it. Its failure ends nothing else."""

    def __init__(self, view: TerminalView) -> None:
        self.error: Exception | None = None
        self._view = view
        self._thread = threading.Thread(target=self._run, name="live view", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        try:
            asyncio.run(self._view.run())
        except Exception as error:
            self.error = error

    async def end(self) -> None:
        """Draws once more, and gives the terminal back."""
        self._view.leave()
        await asyncio.to_thread(self._thread.join)

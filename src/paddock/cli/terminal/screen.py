"""A whole terminal for as long as something live is shown on it, given back as it was.

The view has the alternate screen, so that it leaves nothing behind, and keys are not echoed into it. Ctrl-C and the
like stay signals. Lines that are as they were are not written again.
"""

import contextlib
import os
import sys
import termios
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

Span = tuple[str, str]
"""Text, which must be safe for a terminal, and words for how it looks: `bold`, `dim`, a colour."""
StyledLine = tuple[Span, ...]

_Modes = list[Any]
"""As `termios` has them."""

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
    "bright_black": "90",
}
_ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
_LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
_HOLD, _SHOW = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals that know these show what is written in between at once."""


def is_screen() -> bool:
    """Whether standard output is a terminal on which something live can be shown."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def style_line(line: StyledLine, *, colourful: bool) -> str:
    if not colourful:
        return "".join(text for text, _ in line)
    return "".join(_style(text, look) for text, look in line)


def _style(text: str, look: str) -> str:
    codes = ";".join(_CODES[word] for word in look.split())
    return f"\x1b[{codes}m{text}\x1b[0m" if codes else text


class Screen:
    """Standard output. May be used by one thread at a time; `suspend` by any."""

    def __init__(self, *, colourful: bool) -> None:
        self._out = sys.stdout.fileno()
        self._encoding = sys.stdout.encoding
        self._colourful = colourful
        self._lock = threading.Lock()
        self._shown: list[str] = []
        self._size: os.terminal_size | None = None
        self._before: _Modes | None = None
        self._is_ours = False

    def __enter__(self) -> Self:
        with self._lock:
            self._take()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._give_back()

    def _take(self) -> None:
        sys.stdout.flush()
        with contextlib.suppress(termios.error):
            self._before = termios.tcgetattr(self._out)
            quiet = termios.tcgetattr(self._out)
            quiet[3] &= ~(termios.ICANON | termios.ECHO)
            termios.tcsetattr(self._out, termios.TCSADRAIN, quiet)
        self._is_ours = True
        self._shown = []
        self._write(_ENTER)

    def _give_back(self) -> None:
        if not self._is_ours:
            return
        self._is_ours = False
        with contextlib.suppress(OSError):  # the terminal may be gone
            self._write(_LEAVE)
        if self._before is not None:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._out, termios.TCSADRAIN, self._before)

    def suspend(self, stop: Callable[[], None]) -> None:
        """Gives the terminal back while `stop`, which is called, lets the shell have it."""
        with self._lock:
            self._give_back()
            stop()
            self._take()

    def size(self) -> os.terminal_size:
        try:
            return os.get_terminal_size(self._out)
        except OSError:
            return os.terminal_size((80, 24))

    def draw(self, lines: list[StyledLine]) -> None:
        """Raises OSError when the terminal is gone."""
        with self._lock:
            if not self._is_ours:
                return
            size = self.size()
            written = [style_line(line, colourful=self._colourful) for line in lines]
            parts = []
            if size != self._size:
                self._size, self._shown = size, []
                parts.append("\x1b[2J")
            for row in range(max(len(written), len(self._shown))):
                new = written[row] if row < len(written) else ""
                if row >= len(self._shown) or self._shown[row] != new:
                    parts.append(f"\x1b[{row + 1};1H\x1b[2K{new}")
            self._shown = written
            if parts:
                self._write(_HOLD + "".join(parts) + _SHOW)

    def _write(self, text: str) -> None:
        data = memoryview(text.encode(self._encoding, "replace"))
        while data:
            data = data[os.write(self._out, data) :]

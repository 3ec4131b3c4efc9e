"""Small pieces of terminal text: colours that can be off, ages, columns, safe words."""

import os
import sys
import time
from typing import Any

from paddock.core.columns import shorten
from paddock.core.durations import rough_duration
from paddock.core.ids import printable
from paddock.core.tasks.task import Phase
from paddock.views.badges import BADGES as BADGES
from paddock.views.document import document, to_json, to_json_line


def colourful() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str | None = None, *, bold: bool = False, dim: bool = False) -> str:
    if not colourful():
        return text
    import click

    return click.style(text, fg=colour, bold=bold or None, dim=dim or None)


def say(text: str) -> None:
    """A line, or several, of standard output. Click, which takes long to load, knows what to do without UTF-8."""
    if sys.stdout.encoding.lower().replace("-", "") == "utf8":
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    else:
        import click

        click.echo(text)


def badge(phase: Phase) -> str:
    symbol, colour = BADGES[phase]
    return paint(f"{symbol} {phase.value:<9}", colour)


def width() -> int:
    """The terminal's width. Without a terminal, lines may be longer."""
    if not sys.stdout.isatty():
        return 160
    import shutil

    return max(40, shutil.get_terminal_size((100, 24)).columns)


def cut(text: str, limit: int) -> str:
    """Safe for a terminal and at most `limit` columns."""
    return shorten(printable(text, len(text) + 1), max(limit, 2))


def age(since: float, now: float | None = None) -> str:
    return rough_duration((time.time() if now is None else now) - since)


def clock(at: float) -> str:
    """Local time for people."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def print_json(value: Any) -> None:
    _say_data(to_json(value))


def print_document(**fields: object) -> None:
    """The answer of a command that has no view of its own."""
    print_json(document(**fields))


def print_json_line(value: Any) -> None:
    _say_data(to_json_line(value))


def _say_data(data: bytes) -> None:
    """JSON is always UTF-8."""
    if sys.stdout.encoding.lower() == "utf-8":
        say(data.decode())
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data + b"\n")
    sys.stdout.buffer.flush()


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"

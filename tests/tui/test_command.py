"""`paddock top` as a command: where it runs, where it does not, and what it leaves alone."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Self

import pytest

from paddock.cli.main import run
from tests.tui.conftest import Fleet
from tests.warm import PATIENCE_SECONDS

LEFT = "\x1b[?1049l"
"""The alternate screen is given back."""
PROGRAM = "import sys; from paddock.cli.main import main; main()"


def test_without_a_terminal_it_names_what_works_without(
    fleet: Fleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fleet.top)
    assert run(["top"]) == 1
    said = capsys.readouterr().err
    assert "needs a terminal" in said
    assert "`paddock status`" in said
    assert "`paddock watch`" in said


def test_in_a_terminal_without_a_cursor_it_names_what_works_there(
    fleet: Fleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fleet.top)
    monkeypatch.setenv("TERM", "dumb")
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(getattr(sys, name), "isatty", lambda: True)
    assert run(["top"]) == 1
    said = capsys.readouterr().err
    assert "TERM is `dumb`" in said
    assert "`paddock watch`" in said


def test_without_the_extra_it_says_how_to_install_it(
    fleet: Fleet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fleet.top)
    for name in [name for name in sys.modules if name.startswith("paddock.tui")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "textual"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "textual", None)
    assert run(["top"]) == 1
    assert "pip install 'paddock[tui]'" in capsys.readouterr().err


def test_no_other_command_imports_textual(fleet: Fleet) -> None:
    """Nor does a status of agents at work wait for what only a daemon needs."""
    program = (
        "import sys, paddock.cli.registry, paddock.cli.commands.top\n"
        "from paddock.cli.main import run\n"
        "run(['status'])\n"
        "assert not {'textual', 'rich', 'asyncio', 'paddock.fleet.site'}.intersection(sys.modules)"
    )
    command = (sys.executable, "-c", program)
    subprocess.run(command, cwd=fleet.top, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE_SECONDS)


def test_in_a_terminal_without_colour_it_draws_none_and_leaves_it_as_it_was(fleet: Fleet) -> None:
    with _Terminal(fleet.top, {"NO_COLOR": "1", "TERM": "xterm-256color"}) as terminal:
        terminal.read_until("approval")
        terminal.press(b"q")
        terminal.read_until(LEFT)
        assert terminal.process.wait(PATIENCE_SECONDS) == 0
    said = terminal.said
    codes = [part for found in re.findall(r"\x1b\[([0-9;]*)m", said) for part in found.split(";")]
    coloured = {f"{tens}{ones}" for tens in ("3", "4", "9") for ones in range(8)} | {"38", "48"}
    assert not coloured.intersection(codes)


def test_whoever_stops_or_ends_it_has_the_terminal_as_it_was(fleet: Fleet) -> None:
    with _Terminal(fleet.top, {"TERM": "xterm-256color"}) as terminal:
        before = termios.tcgetattr(terminal.master)
        terminal.read_until(" help")
        assert termios.tcgetattr(terminal.master)[3] != before[3]
        terminal.press(b"\x1a")
        terminal.read_until(LEFT)
        os.waitpid(terminal.process.pid, os.WUNTRACED)
        assert termios.tcgetattr(terminal.master)[3] == before[3]
        terminal.process.send_signal(signal.SIGCONT)
        for words in ("need you", " help"):
            terminal.read_until(words)
        terminal.process.send_signal(signal.SIGTERM)
        terminal.read_until(LEFT)
        assert terminal.process.wait(PATIENCE_SECONDS) == 128 + signal.SIGTERM
        assert termios.tcgetattr(terminal.master)[3] == before[3]


def test_it_ends_with_its_terminal_also_where_that_sends_no_signal(fleet: Fleet) -> None:
    with _Terminal(fleet.top, {"TERM": "xterm-256color"}) as terminal:
        terminal.read_until(" help")
        terminal.hang_up()
        assert terminal.process.wait(PATIENCE_SECONDS) == 128 + signal.SIGHUP


class _Terminal:
    """A terminal with `paddock top` in it; `said` is all that it wrote."""

    def __init__(self, top: Path, environment: dict[str, str]) -> None:
        self.master, slave = pty.openpty()
        self._ends = [self.master, slave]
        self.said, self._seen = "", 0
        self.process = subprocess.Popen(
            (sys.executable, "-c", PROGRAM, "top"),
            cwd=top,
            env={**os.environ, **environment},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_SECONDS)
        self.hang_up()

    def hang_up(self) -> None:
        while self._ends:
            os.close(self._ends.pop())

    def press(self, key: bytes) -> None:
        os.write(self.master, key)

    def read_until(self, words: str) -> None:
        """They come after those of the last time."""
        until, data = time.monotonic() + PATIENCE_SECONDS, b""
        while (at := self.said.find(words, self._seen)) < 0:
            assert time.monotonic() < until, f"{words!r} is not in {self.said[self._seen :][-400:]!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                data += os.read(self.master, 65536)
                self.said = self.said[: self._seen] + data.decode("utf-8", "replace")
        self._seen = at + len(words)

"""`paddock watch` and the live view of `paddock run` in a real terminal: keys, sizes, signals, what is left behind."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec
import pytest

from tests.fleet.yard import Yard, commit, write
from tests.warm import PATIENCE_SECONDS

_CONTROL = re.compile(r"\x1b\[(\?)?([\d;]*)([A-Za-z])|[\r\n]|[^\x1b\r\n]+|\x1b")


@dataclass
class Terminal:
    """A command in a terminal, as one would see it: the alternate screen, and what is written when that is left."""

    process: subprocess.Popen[bytes]
    master: int
    slave: int
    rows: int = 24
    columns: int = 80
    said: str = ""
    is_alternate: bool = False
    cells: dict[int, str] = field(default_factory=dict)
    plain: str = ""
    _row: int = 1
    _rest: bytes = b""

    def resize(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def modes(self) -> list[object]:
        return termios.tcgetattr(self.slave)[:4]

    @property
    def screen(self) -> list[str]:
        return [self.cells.get(row, "") for row in range(1, max(self.cells, default=0) + 1)]

    def await_screen(self, pattern: str) -> list[str]:
        """Reads until a line of the screen matches."""
        self._await(lambda: any(re.search(pattern, line) for line in self.screen), pattern)
        return self.screen

    def await_fit(self) -> None:
        """Reads until nothing on the screen is wider or longer than it."""
        self._await(lambda: self.screen and len(self.screen) <= self.rows and self._widest <= self.columns, "to fit")

    @property
    def _widest(self) -> int:
        return max(map(len, self.screen))

    def _await(self, holds: Callable[[], object], what: str) -> None:
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while not holds():
            assert time.monotonic() < give_up_at, (what, self.screen, self.plain)
            assert self.process.poll() is None or self._read(0.1), (what, self.plain)
            self._read(0.5)

    def await_plain(self) -> None:
        """Reads until the alternate screen is left."""
        self._await(lambda: not self.is_alternate, "to leave the screen")

    def finish(self) -> int:
        """Reads to the end; the exit code."""
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < give_up_at, self.screen
            self._read(0.1)
        while self._read(0.0):
            pass
        return self.process.wait()

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        chunk = os.read(self.master, 65536)
        text = (self._rest + chunk).decode(errors="ignore")
        self.said += text
        self._rest = b""
        for match in _CONTROL.finditer(text):
            self._take(match)
        return bool(chunk)

    def _take(self, match: re.Match[str]) -> None:
        word, private, numbers, letter = match[0], match[1], match[2], match[3]
        if letter is None:
            if self.is_alternate:
                self.cells[self._row] = self.cells.get(self._row, "") + word
            else:
                self.plain += word
        elif private and numbers == "1049":
            self.is_alternate = letter == "h"
            self.cells = {}
        elif letter == "H":
            self._row = int(numbers.split(";")[0])
        elif letter == "K":
            self.cells[self._row] = ""
        elif letter == "J":
            self.cells = {}


@contextlib.contextmanager
def terminal(yard: Yard, *words: str, columns: int = 80, rows: int = 24) -> Iterator[Terminal]:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        yard.argv(*words),
        cwd=yard.top,
        env={**yard.env, "TERM": "xterm"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 (this process has no other threads)
    )
    made = Terminal(process, master, slave, rows, columns)
    try:
        yield made
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(master)
        os.close(slave)


def test_keys_are_not_echoed_a_new_size_is_used_and_q_gives_the_terminal_back(yard: Yard) -> None:
    yard.add_all([{"title": f"Task {number}", "brief": "x"} for number in range(1, 60)])
    with terminal(yard, "watch") as shown:
        before = shown.modes()
        lines = shown.await_screen("no daemon is running")
        assert lines[0].endswith("0/59 done")
        assert shown.modes() != before
        shown.type("xyz\r\x1b[A")
        yard.add(title="One more")
        lines = shown.await_screen(r"0/60 done")
        assert sum("done" in line for line in lines) == 1, "the header is there once"
        assert "xyz" not in shown.said
        shown.resize(40, 6)
        shown.await_fit()
        shown.resize(120, 40)
        shown.await_screen(r"q leaves")
        shown.type("q")
        assert shown.finish() == 0
        assert not shown.is_alternate
        assert shown.modes() == before
        assert shown.said.count("\x1b[?25h") == 1
        assert shown.plain.strip() == ""


@pytest.mark.parametrize(("how", "code"), [("ctrl-c", 130), ("term", 143), ("ctrl-d", 0)])
def test_however_one_leaves_the_terminal_is_as_it_was(yard: Yard, how: str, code: int) -> None:
    with terminal(yard, "status", "--watch") as shown:
        before = shown.modes()
        shown.await_screen("no tasks yet")
        if how == "term":
            shown.process.terminate()
        else:
            shown.type({"ctrl-c": "\x03", "ctrl-d": "\x04"}[how])
        assert shown.finish() == code
        assert (shown.is_alternate, shown.modes()) == (False, before)


def test_ctrl_z_lends_the_terminal_to_the_shell(yard: Yard) -> None:
    with terminal(yard, "watch") as shown:
        before = shown.modes()
        shown.await_screen("no tasks yet")
        shown.process.send_signal(signal.SIGTSTP)
        os.waitid(os.P_PID, shown.process.pid, os.WSTOPPED | os.WNOWAIT)
        shown.await_plain()
        assert shown.modes() == before
        shown.process.send_signal(signal.SIGCONT)
        shown.await_screen("no tasks yet")
        shown.type("q")
        assert shown.finish() == 0
        assert shown.modes() == before


def test_watch_follows_a_fleet_in_the_background_and_says_who_needs_a_person(yard: Yard) -> None:
    words = {"say": "\x1b]0;gotcha\x07 counting"}
    yard.add(write("a.py", "x\n" * 12), words, {"wait_for": "go"}, commit(), title="Teach it to count")
    yard.add({"refuse": "which database?"}, title="Choose a database")
    daemon = yard.start("run")
    with terminal(yard, "watch", columns=140, rows=30) as shown:
        lines = shown.await_screen(r"^  t1\.1  Teach it to count .*\+12 −0  �\]0;gotcha� counting")
        assert any(re.search(r"1/\d+ agents", line) for line in lines)
        assert not any("~$" in line for line in lines), "an engine that is free costs nothing"
        lines = shown.await_screen(r"answer +t2 +Choose a database .*paddock ")
        assert shown.screen[0].startswith(yard.top.name)
        daemon.kill()
        shown.await_screen("the daemon .* is gone")
        assert "\x1b]0" not in shown.said, "what an agent says steers nothing"
        shown.type("q")
        assert shown.finish() == 0


def test_keys_during_a_run_leave_its_view_as_it_is_and_its_end_stays_on_the_screen(yard: Yard) -> None:
    yard.add(write("a"), commit(), {"think": 1.0}, title="Fix [/api] and [red]tape[/red]")
    with terminal(yard, "run", "--until-idle") as shown:
        before = shown.modes()
        shown.await_screen(r"t1\.1 .*Fix \[/api\] and \[red\]")
        shown.type("hello\r\r")
        assert shown.finish() == 0
        assert "hello" not in shown.said
        assert shown.modes() == before
        assert shown.plain.count("1 approval") == 1
        assert "paddock diff t1, then paddock land t1" in shown.plain


def test_without_a_terminal_watch_prints_what_happens(yard: Yard) -> None:
    yard.add(write("a"), commit(), title="Write it")
    watching = yard.start("watch")
    watching.await_words("added: Write it")
    watching.await_words("no daemon is running")
    yard.run()
    watching.await_words("delivered: 1 commit")
    watching.kill()
    assert "\x1b" not in watching.words


def test_watched_json_is_one_status_on_a_line_for_every_change(yard: Yard) -> None:
    watching = yard.start("status", "--watch", "--json")
    watching.await_words('"ready":0')
    yard.add(title="Write it")
    watching.await_words('"ready":1')
    watching.kill()
    first, second = (msgspec.json.decode(line) for line in watching.words.splitlines())
    assert (first["counts"]["ready"], second["counts"]["ready"]) == (0, 1)
    assert second == msgspec.json.decode(yard.paddock("status", "--json"))

"""What a person sees in a terminal: text that agents made shows, and steers nothing."""

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

from tests.fleet.yard import Yard, commit, play, write
from tests.warm import PATIENCE_SECONDS


def in_terminal(yard: Yard, *words: str) -> tuple[int, str]:
    """How the command ended in a terminal of 100 × 30, and all that it wrote there."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = subprocess.Popen(
        yard.argv(*words), cwd=yard.top, env={**yard.env, "TERM": "xterm"}, stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    said = bytearray()
    with contextlib.suppress(OSError):  # how Linux tells that nobody has the other end any more
        while chunk := os.read(master, 65536):
            said += chunk
    os.close(master)
    return process.wait(PATIENCE_SECONDS), said.decode()


def test_a_title_that_looks_like_markup_is_drawn_as_it_is(yard: Yard) -> None:
    yard.add(write("a"), commit(), {"think": 0.6}, title="Fix [/api] and [red]tape[/red]")
    code, shown = in_terminal(yard, "run", "--until-idle")
    assert code == 0, shown
    assert "Fix [/api] and [red]tape[/r" in shown


def test_a_diff_in_a_terminal_can_hide_nothing_from_who_reviews_it(yard: Yard) -> None:
    yard.add(write("a.py", "good()\n\x1b[8mevil()\x1b[0m\r\u202egood\n"), commit())
    yard.run()
    yard.env["GIT_PAGER"] = "cat"
    code, shown = in_terminal(yard, "diff", "t1")
    assert code == 0
    assert "\x1b[32m+�[8mevil()�[0m��good\x1b[m" in shown
    assert "\x1b[32m+good()\x1b[m" in shown
    assert "\x1b" not in yard.paddock("diff", "t1")
    assert "\x1b[8mevil" in yard.paddock("diff", "t1", "--unsafe"), "the patch as it is"


def test_a_prompt_in_a_terminal_has_no_control_characters(yard: Yard) -> None:
    yard.paddock("add", "--title", "Odd", f"\x1b]0;gotcha\x07 {play(write('a'))}")
    code, shown = in_terminal(yard, "show", "t1", "--prompt")
    assert code == 0
    assert "�]0;gotcha�" in shown


def test_ctrl_c_reaches_a_command_under_a_lease_once(yard: Yard) -> None:
    """A second one makes many programs give up at once. How long to wait for what must not come is a guess."""
    script = (
        "import signal, time; got = []; signal.signal(signal.SIGINT, lambda *_: got.append(1))\n"
        "print('ready', flush=True)\n"
        "while not got: time.sleep(0.01)\n"
        "time.sleep(0.5); print('interrupted', len(got), 'times')"
    )
    master, slave = pty.openpty()
    process = subprocess.Popen(
        yard.argv("with-lease", "port:1", "--", sys.executable, "-c", script),
        cwd=yard.top,
        env=yard.env,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 (this process has no other threads)
    )
    os.close(slave)
    said = bytearray()
    with contextlib.suppress(OSError):
        while chunk := os.read(master, 65536):
            if b"ready" in chunk:
                os.write(master, b"\x03")
            said += chunk
    os.close(master)
    assert process.wait(PATIENCE_SECONDS) == 0
    assert b"interrupted 1 times" in said

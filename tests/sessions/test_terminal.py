"""A command in a terminal of its own, shown in another: bytes pass both ways, and nothing else does."""

import asyncio
import fcntl
import os
import pty
import struct
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from paddock.core.errors import PaddockError
from paddock.sessions.protocol import Turn, TurnOrder
from paddock.sessions.terminal import Terminal, size_of


@contextmanager
def terminal(columns: int = 90, rows: int = 20) -> Iterator[tuple[int, int, list[bytes]]]:
    """The person's end, the terminal itself, and what is drawn there."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    drawn: list[bytes] = []

    def read() -> None:
        with suppress(OSError):
            while chunk := os.read(master, 65536):
                drawn.append(chunk)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield master, slave, drawn
    finally:
        os.close(slave)
        reader.join(10)
        os.close(master)


def order(folder: Path, *argv: str) -> TurnOrder:
    return TurnOrder(Turn("t1.1", 1), argv, {"PATH": os.environ["PATH"]}, folder)


def run(order: TurnOrder, slave: int, leaving: asyncio.Event | None = None, grace: float = 5.0) -> int:
    async def follow() -> int:
        return await Terminal(order, slave, None).run(leaving or asyncio.Event(), grace)

    return asyncio.run(follow())


def test_it_draws_hears_and_tells_how_it_ended(tmp_path: Path) -> None:
    with terminal() as (master, slave, drawn):
        before = termios.tcgetattr(slave)
        os.write(master, "grüße\n".encode())
        script = 'tty; stty size; read -r word; echo "heard <$word>"; exit 7'
        assert run(order(tmp_path, "sh", "-c", script), slave) == 7
        assert termios.tcgetattr(slave) == before, "the terminal is as it was"
    words = b"".join(drawn).decode()
    assert "20 90" in words
    assert "heard <grüße>" in words


@pytest.mark.parametrize(
    ("script", "goes_back"),
    [(r"printf '\033[?1049h'", True), (r"printf '\033[?1049h\033[?1049l'", False), ("echo plain", False)],
)
def test_only_a_command_that_died_on_the_other_screen_is_followed_back(
    tmp_path: Path, script: str, goes_back: bool
) -> None:
    """On the main screen that would move the cursor to where somebody else once left it."""
    with terminal() as (_master, slave, drawn):
        assert run(order(tmp_path, "sh", "-c", f"{script}; exit 3"), slave) == 3
    after = b"".join(drawn).rpartition(b"\x1b[?2004l")[0]
    assert after.count(b"\x1b[?1049l") == script.count("1049l") + goes_back


def test_all_of_a_long_output_arrives(tmp_path: Path) -> None:
    with terminal() as (_master, slave, drawn):
        script = "import sys; sys.stdout.write('x' * 3_000_000 + 'end')"
        assert run(order(tmp_path, sys.executable, "-c", script), slave) == 0
    assert b"".join(drawn).count(b"x") == 3_000_000
    assert b"".join(drawn).endswith(b"end")


def test_a_command_cannot_type_into_the_terminal_it_is_shown_in(tmp_path: Path) -> None:
    """What it puts into the input of a terminal, a shell would run after it."""
    script = (
        "import fcntl, os, termios\n"
        "for name in ('/dev/tty', os.ttyname(0)):\n"
        "    try:\n"
        "        with open(name) as own:\n"
        "            for letter in b'evil': fcntl.ioctl(own, termios.TIOCSTI, bytes([letter]))\n"
        "    except OSError: pass\n"
    )
    with terminal() as (_master, slave, _drawn):
        own = os.ttyname(slave)
        assert run(order(tmp_path, sys.executable, "-c", f"import os; assert os.ttyname(0) != {own!r}"), slave) == 0
        assert run(order(tmp_path, sys.executable, "-c", script), slave) == 0
        waiting = struct.unpack("i", fcntl.ioctl(slave, termios.FIONREAD, b"\0" * 4))[0]
        assert waiting == 0


def test_keys_are_the_commands_own(tmp_path: Path) -> None:
    """Ctrl-C reaches the command in its terminal, and not us."""
    script = (
        "import signal, sys; got = []\n"
        "signal.signal(signal.SIGINT, lambda *_: (print('interrupted', flush=True), sys.exit(3)))\n"
        "print('ready', flush=True); signal.pause()"
    )
    with terminal() as (master, slave, drawn):

        def press() -> None:
            while b"ready" not in b"".join(drawn):
                threading.Event().wait(0.01)
            os.write(master, b"\x03")

        threading.Thread(target=press, daemon=True).start()
        assert run(order(tmp_path, sys.executable, "-c", script), slave) == 3
    assert b"interrupted" in b"".join(drawn)


@pytest.mark.parametrize("polite", [True, False])
def test_whoever_leaves_ends_the_command(tmp_path: Path, polite: bool) -> None:
    script = "trap 'echo saved; exit 0' HUP" if polite else "trap '' HUP"
    with terminal() as (_master, slave, drawn):

        async def follow() -> int:
            leaving = asyncio.Event()

            async def leave() -> None:
                while b"ready" not in b"".join(drawn):
                    await asyncio.sleep(0.01)
                leaving.set()

            command = order(tmp_path, "sh", "-c", f"{script}; echo ready; while :; do sleep 0.1; done")
            going = asyncio.ensure_future(leave())
            status = await Terminal(command, slave, None).run(leaving, 5.0 if polite else 0.2)
            await going
            return status

        status = asyncio.run(follow())
    assert status == (0 if polite else -9)
    assert (b"saved" in b"".join(drawn)) == polite


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    with terminal() as (_master, slave, _drawn), pytest.raises(PaddockError, match="`gone-program` was not found"):
        run(order(tmp_path, "gone-program"), slave)


def test_what_is_no_terminal_has_no_size(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file:
        assert size_of(file.fileno()) == (0, 0)

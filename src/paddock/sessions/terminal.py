"""A command in a terminal of its own, which is shown in a person's terminal: what they type goes in, what it draws
comes out.

The command never gets the person's terminal itself. Whoever has one as its own can put words into its input
(`TIOCSTI`), and a shell would run them once the command is gone: no fence would hold. So it has a pseudo-terminal, a
session of its own and nothing else. That also makes the keys plain bytes: Ctrl-C and Ctrl-Z are the command's affair.
"""

import asyncio
import contextlib
import fcntl
import os
import signal
import struct
import subprocess
import termios
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from paddock.core.errors import PaddockError
from paddock.sessions.ancestry import MARK_VARIABLE
from paddock.sessions.bubblewrap import this_system
from paddock.sessions.fence import fence_argv
from paddock.sessions.local import find_command, find_program, is_shim
from paddock.sessions.marks import Mark, find_attempts
from paddock.sessions.process import signal_process
from paddock.sessions.protocol import TurnOrder

# A session leader without a terminal gets the first one that it opens.
_TAKE_TERMINAL = ("/bin/sh", "-c", 'exec <>"$1" >&0 2>&0; shift; exec "$@"', "paddock-terminal")
_CHUNK_BYTES = 65_536
_MOST_UNREAD_BYTES = 1 << 20
"""What waits for a terminal that does not take it; the command waits beyond that."""
_DRAIN_SECONDS = 10.0
"""For the last words of a command that has ended, where a terminal takes them slowly."""
_MAIN_SCREEN = b"\x1b[?1049l"
_OTHER_SCREEN = b"\x1b[?1049h"
_AS_IT_WAS = b"\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?25h\x1b[0m\r\n"
"""No mouse, no marked pastes, a cursor: for a command that was killed before it could say so."""


@dataclass
class _Way:
    """Bytes on their way from one descriptor to another, neither of which may block. `lost` is told if the person's
    terminal, which is one of the two, is gone."""

    source: int
    target: int
    lost: Callable[[], None]
    waiting: bytearray = field(default_factory=bytearray)
    ended: bool = False
    on_other_screen: bool = False
    tail: bytes = b""
    empty: asyncio.Event = field(default_factory=asyncio.Event)

    def open(self) -> None:
        asyncio.get_running_loop().add_reader(self.source, self.read)

    def close(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self.source)
        loop.remove_writer(self.target)
        self.ended = True
        self.empty.set()

    def read(self) -> bool:
        """Whether there was something."""
        try:
            chunk = os.read(self.source, _CHUNK_BYTES)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            chunk = b""
        if not chunk:
            self.close()
            self.lost()
            return False
        self.waiting += chunk
        self._note_screen(chunk)
        self.write()
        return True

    def _note_screen(self, chunk: bytes) -> None:
        seen = self.tail + chunk
        went, came = seen.rfind(_OTHER_SCREEN), seen.rfind(_MAIN_SCREEN)
        if went != came:
            self.on_other_screen = went > came
        self.tail = seen[1 - len(_OTHER_SCREEN) :]

    def write(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self.waiting:
                del self.waiting[: os.write(self.target, self.waiting[:_CHUNK_BYTES])]
        except (BlockingIOError, InterruptedError):
            self.empty.clear()
            loop.add_writer(self.target, self.write)
            if len(self.waiting) > _MOST_UNREAD_BYTES:
                loop.remove_reader(self.source)
            return
        except OSError:
            self.close()
            self.lost()
            return
        self.empty.set()
        loop.remove_writer(self.target)
        if not self.ended:
            loop.add_reader(self.source, self.read)

    async def drain(self, seconds: float) -> None:
        """All that is there, as far as it is taken in time."""
        while self.read():
            pass
        if self.waiting:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.empty.wait()


class Terminal:
    """Runs the command of an order in the terminal `shown`, a descriptor. `mark` is what its processes carry; without
    one they are nobody's but the person's."""

    def __init__(self, order: TurnOrder, shown: int, mark: Mark | None) -> None:
        self._order = order
        self._shown = shown
        self._mark = mark
        self._over = asyncio.Event()
        self._hung_up = False

    @classmethod
    def of_attempt(cls, order: TurnOrder, shown: int, marker: str) -> "Terminal":
        return cls(order, shown, Mark(marker, order.turn.owner))

    @property
    def hung_up(self) -> bool:
        """Whether the person's terminal was closed."""
        return self._hung_up

    def require_command(self) -> None:
        """Raises PaddockError for a command that is not there, before anything is done."""
        find_command(self._order)

    async def run(self, leaving: asyncio.Event, grace_seconds: float) -> int:
        """Until the command ends, the person's terminal is closed, or `leaving` is set; then the command has
        `grace_seconds` to end. Its status; negative for a signal. What it left running is not looked for.

        Raises PaddockError if it cannot be started.
        """
        with contextlib.ExitStack() as stack:
            master, inner = os.openpty()
            stack.callback(os.close, master)
            shown = _open_apart(self._shown)
            stack.callback(os.close, shown)
            copy_size(shown, master)
            try:
                child = self._start(os.ttyname(inner))
                stack.enter_context(_raw(shown))
                return await self._relay(child, master, shown, leaving, grace_seconds)
            finally:
                os.close(inner)

    def _start(self, terminal: str) -> "subprocess.Popen[bytes]":
        order = self._order
        command = command_line(order)
        marked = self._mark.variables(os.environ.get(MARK_VARIABLE, "")) if self._mark is not None else {}
        try:
            return subprocess.Popen(
                (*_TAKE_TERMINAL, terminal, *command),
                cwd=order.cwd,
                env={**order.env, "PWD": str(order.cwd), **marked},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise PaddockError(f"`{order.argv[0]}` cannot be run: {error.strerror}") from error

    async def _relay(
        self, child: "subprocess.Popen[bytes]", master: int, shown: int, leaving: asyncio.Event, grace_seconds: float
    ) -> int:
        loop = asyncio.get_running_loop()
        os.set_blocking(master, False)
        typed, drawn = _Way(shown, master, self._hang_up), _Way(master, shown, self._hang_up)
        loop.add_signal_handler(signal.SIGCHLD, lambda: self._look_at(child))
        loop.add_signal_handler(signal.SIGWINCH, copy_size, shown, master)
        typed.open()
        drawn.open()
        try:
            self._look_at(child)
            copy_size(shown, master)
            if await self._ended_or(leaving):
                await self._end(child, grace_seconds)
            await drawn.drain(_DRAIN_SECONDS)
            if child.returncode != 0 and not self._hung_up:
                # On the main screen the first would move the cursor to where some other command once left it.
                with contextlib.suppress(OSError):
                    os.write(shown, (_MAIN_SCREEN if drawn.on_other_screen else b"") + _AS_IT_WAS)
            return child.returncode
        finally:
            typed.close()
            drawn.close()
            loop.remove_signal_handler(signal.SIGCHLD)
            loop.remove_signal_handler(signal.SIGWINCH)

    def _look_at(self, child: "subprocess.Popen[bytes]") -> None:
        if child.poll() is not None:
            self._over.set()

    def _hang_up(self) -> None:
        self._hung_up = True
        self._over.set()

    async def _ended_or(self, leaving: asyncio.Event) -> bool:
        """Whether the command still has to be ended."""
        waits = [asyncio.ensure_future(event.wait()) for event in (self._over, leaving)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        return self._hung_up or not self._over.is_set()

    async def _end(self, child: "subprocess.Popen[bytes]", grace_seconds: float) -> None:
        """As a terminal that is closed ends what runs in it, then by force."""
        if child.poll() is None:
            self._over.clear()
            await asyncio.to_thread(self._hang_up_on, child)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace_seconds):
                    while child.poll() is None:
                        await self._over.wait()
                        self._over.clear()
        if child.poll() is None:
            child.kill()
            await asyncio.to_thread(child.wait)

    def _hang_up_on(self, child: "subprocess.Popen[bytes]") -> None:
        """The fence itself is spared: it would take what is in it along, before that could save anything."""
        found = find_attempts({self._mark}) if self._mark is not None else ()
        commands = [process for process in found if not is_shim(process)]
        reached = [signal_process(process.identity, signal.SIGHUP) for process in commands]
        if not any(reached):
            child.send_signal(signal.SIGHUP)


def is_command_there(order: TurnOrder) -> bool:
    return find_program(order, order.argv[0]) is not None


def command_line(order: TurnOrder) -> tuple[str, ...]:
    """The order's command in its fence, where it has one; the status is then the fence's own. Raises PaddockError."""
    command = (find_command(order), *order.argv[1:])
    fence = order.fence()
    return command if fence is None else fence_argv(fence, this_system(), order.cwd, command, inner=())


def size_of(terminal: int) -> tuple[int, int]:
    """Columns and rows; zeros where it does not say."""
    try:
        rows, columns, _, _ = struct.unpack("HHHH", fcntl.ioctl(terminal, termios.TIOCGWINSZ, b"\0" * 8))
    except OSError:
        return 0, 0
    return columns, rows


def copy_size(source: int, target: int) -> None:
    with contextlib.suppress(OSError):
        fcntl.ioctl(target, termios.TIOCSWINSZ, fcntl.ioctl(source, termios.TIOCGWINSZ, b"\0" * 8))


def _open_apart(terminal: int) -> int:
    """The same terminal, opened once more: what is set for this one is not set for the shell that shares the other.

    Where it cannot be opened (another user's, after `su`) it is used as it is, and may block.
    """
    try:
        return os.open(os.ttyname(terminal), os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return os.dup(terminal)


@contextlib.contextmanager
def _raw(terminal: int) -> Iterator[None]:
    before = termios.tcgetattr(terminal)
    tty.setraw(terminal, termios.TCSADRAIN)
    try:
        yield
    finally:
        with contextlib.suppress(OSError, termios.error):
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)

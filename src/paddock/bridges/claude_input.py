"""The process of a turn of claude that can be spoken to while it works: letters reach it through its standard input.

What claude prints is passed on as it is, line by line, and after each line that shows that claude has a message comes a
receipt. Every message is written under an id of its own, and claude repeats it under that id when it has taken it: with
the next tool result, or when it has answered what it was asked before. A letter that says `now` interrupts claude, and
is written once claude has said that it was interrupted.

When claude has finished an answer, one of two things happens, and never both. Letters have been written that it has not
repeated, or are there to be written: then it goes on. Otherwise its input is closed, which ends it, and what arrives
from then on is left for the next turn. After an answer that failed no more letters are written.

Run by path with `python -I -S`, one for each agent at work: it may import nothing but light parts of the standard
library.

    claude_input.py ORDER    a JSON file: the `argv` of claude, the `prompt`, the `messages` told in it, the `mailbox`
"""

import contextlib
import json
import os
import resource
import select
import signal
import sys

if __name__ == "__main__":
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from paddock.engines.letters import LetterBox, ReceivedLetter, receipt

READ_BYTES = 1 << 18
# A longer line is passed on in pieces and not looked at.
LONGEST_LINE = 1 << 24
# How long claude may take to begin with what it has been sent, or to say that it was interrupted.
PATIENCE_SECONDS = 10.0
WORTH_A_LOOK = (b'"result"', b'"isReplay"', b'"control_response"')
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
INTERRUPT = "paddock-interrupt"


class Input:
    """Claude's standard input: what is written waits here until the pipe has room."""

    def __init__(self, pipe: int) -> None:
        os.set_blocking(pipe, False)
        self.pipe = pipe
        self.is_open = True
        self._unwritten = bytearray()
        self._ends = False

    def write(self, line: dict[str, object]) -> None:
        self._unwritten += json.dumps(line).encode() + b"\n"

    @property
    def wants_room(self) -> bool:
        return self.is_open and bool(self._unwritten)

    @property
    def takes_more(self) -> bool:
        return self.is_open and not self._ends

    def push(self) -> None:
        try:
            while self.wants_room:
                del self._unwritten[: os.write(self.pipe, self._unwritten)]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._ends = True
        if self._ends and self.is_open:
            os.close(self.pipe)
            self.is_open = False

    def end(self) -> None:
        """After what is still unwritten."""
        self._ends = True
        self.push()


class Bridge:
    def __init__(self, order: dict[str, object], claude_input: Input, mail: LetterBox | None) -> None:
        self.input = claude_input
        self.mail = mail
        self.unrepeated: dict[str, list[int]] = {}
        self.held: list[ReceivedLetter] = []
        self.interrupting = False
        self.idle = False
        self._line = bytearray()
        self._torn = False
        self.prompt = self.tell(str(order["prompt"]), [n for n in as_list(order.get("messages")) if isinstance(n, int)])

    # -- to claude ------------------------------------------------------------------------------------------

    def tell(self, text: str, numbers: list[int]) -> str:
        """Returns the id under which claude repeats it."""
        # A slash at its beginning would make it a command of claude's own: `/clear` forgets the conversation.
        content = [{"type": "text", "text": f" {text}" if text.startswith("/") else text}]
        own_id = new_id()
        self.unrepeated[own_id] = numbers
        self.input.write({"type": "user", "message": {"role": "user", "content": content}, "uuid": own_id})
        return own_id

    def read_letters(self) -> None:
        if self.mail is None or not self.input.takes_more:
            return
        for letter in self.mail.waiting():
            self.mail.take(letter)
            if letter.now and not self.interrupting and not self.idle:
                self.interrupting = True
                request = {"subtype": "interrupt"}
                self.input.write({"type": "control_request", "request_id": INTERRUPT, "request": request})
            # In the order they were sent, also behind one that waits for the interruption.
            self.held.append(letter)
        self.send_held()

    def send_held(self) -> None:
        if self.interrupting:
            return
        for letter in self.held:
            self.tell(letter.text, [letter.number])
        self.idle = self.idle and not self.held
        self.held.clear()

    # -- from claude ----------------------------------------------------------------------------------------

    def pass_on(self, data: bytes) -> None:
        head, newline, tail = data.rpartition(b"\n")
        if not newline:
            self._line += data
            if len(self._line) > LONGEST_LINE:
                write_all(self._line)
                self._line.clear()
                self._torn = True
            return
        whole = bytes(self._line) + head + newline
        self._line = bytearray(tail)
        write_all(self.with_receipts(whole) if any(word in whole for word in WORTH_A_LOOK) else whole)
        self._torn = False

    def with_receipts(self, lines: bytes) -> bytes:
        """Each right behind the line that it is for: what claude prints next may be its last word."""
        told = bytearray()
        for number, line in enumerate(lines.splitlines(keepends=True)):
            told += line
            if any(word in line for word in WORTH_A_LOOK) and not (self._torn and number == 0):
                told += self.look_at(line)
        return bytes(told)

    def pass_on_rest(self) -> None:
        write_all(self._line)

    def look_at(self, line: bytes) -> bytes:
        """Returns the receipt for what claude repeats in it."""
        try:
            event = json.loads(line)
        except ValueError:
            return b""
        match event.get("type") if isinstance(event, dict) else None:
            case "user" if event.get("isReplay") is True:
                return self.repeated(str(event.get("uuid")))
            case "control_response":
                self.interrupting = False
                self.send_held()
            case "result":
                self.answered(event)
        return b""

    def repeated(self, own_id: str) -> bytes:
        numbers = self.unrepeated.pop(own_id, [])
        self.idle = False
        return receipt(numbers, f"claude repeated it as {own_id}") if numbers else b""

    def answered(self, event: dict[str, object]) -> None:
        interrupted = str(event.get("terminal_reason")).startswith("aborted")
        if event.get("is_error") is True and not interrupted:
            self.input.end()
            return
        self.idle = True
        self.unrepeated.pop(self.prompt, None)
        self.read_letters()
        if not self.unrepeated and not self.held:
            self.input.end()

    def lose_patience(self) -> None:
        """Claude says nothing more though something was sent to it."""
        if self.interrupting:
            self.interrupting = False
            self.send_held()
        elif self.idle:
            self.input.end()

    @property
    def patience_ms(self) -> float | None:
        return PATIENCE_SECONDS * 1000 if self.interrupting or (self.idle and self.input.takes_more) else None


def converse(bridge: Bridge, output: int, woken: int, claude: int) -> int:
    """Until claude has ended. Returns its wait status."""
    letters = bridge.mail
    # What came before anybody waited has woken nobody.
    bridge.read_letters()
    while True:
        bridge.input.push()
        poll = select.poll()
        poll.register(output, select.POLLIN)
        poll.register(woken, select.POLLIN)
        if letters is not None and bridge.input.takes_more:
            poll.register(letters, select.POLLIN)
        if bridge.input.wants_room:
            poll.register(bridge.input.pipe, select.POLLOUT)
        ready = dict(poll.poll(bridge.patience_ms))
        if not ready:
            bridge.lose_patience()
        if letters is not None and letters.fileno() in ready:
            bridge.read_letters()
        if output in ready and not read_output(bridge, output):
            return os.waitpid(claude, 0)[1]
        if woken in ready:
            os.read(woken, 4096)
            ended, status = os.waitpid(claude, os.WNOHANG)
            if ended:
                # What it has started may hold its output open.
                os.set_blocking(output, False)
                while read_output(bridge, output):
                    pass
                return status


def read_output(bridge: Bridge, output: int) -> bool:
    """False when there is no more."""
    try:
        data = os.read(output, READ_BYTES)
    except BlockingIOError:
        return False
    if data:
        bridge.pass_on(data)
    return bool(data)


def start(argv: list[str]) -> tuple[int, int, int]:
    """Claude's process, its standard input and its standard output. Raises OSError when it cannot be started."""
    from_us, to_claude = os.pipe()
    from_claude, to_us = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, from_us, 0), (os.POSIX_SPAWN_DUP2, to_us, 1)]
    defaults = [signal.SIGPIPE, signal.SIGXFSZ]
    claude = os.posix_spawnp(argv[0], argv, os.environ, file_actions=actions, setsigdef=defaults)
    os.close(from_us)
    os.close(to_us)
    return claude, to_claude, from_claude


def await_signals(claude: int) -> int:
    """Passes signals on to claude. Returns a pipe that can be read when there was one."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in FORWARDED:
        signal.signal(number, lambda received, _: send_signal(claude, received))
    return woken


def send_signal(claude: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(claude, number)


def end_like(status: int) -> int:
    """The exit code of claude; where a signal has ended it, that one ends us too."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def open_mailbox(folder: object) -> LetterBox | None:
    try:
        return LetterBox(folder) if isinstance(folder, str) and folder else None
    except OSError:
        return None


def new_id() -> str:
    text = os.urandom(16).hex()
    return "-".join((text[:8], text[8:12], f"4{text[13:16]}", f"8{text[17:20]}", text[20:]))


def as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def write_all(data: bytes | bytearray) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(1, left) :]


def main(place: str) -> int:
    with open(place, encoding="utf-8") as file:
        order = json.load(file)
    argv = [str(word) for word in as_list(order["argv"])]
    try:
        claude, to_claude, from_claude = start(argv)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror or error}\n".encode())
        return 127
    try:
        woken = await_signals(claude)
        bridge = Bridge(order, Input(to_claude), open_mailbox(order.get("mailbox")))
        status = converse(bridge, from_claude, woken, claude)
        bridge.pass_on_rest()
    except BaseException:
        send_signal(claude, signal.SIGTERM)
        raise
    return end_like(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

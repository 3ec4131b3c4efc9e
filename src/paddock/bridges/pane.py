"""A tmux server of the turn's own with one pane in it, addressed by the pane's id."""

import contextlib
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.engines.tmux_order import socket_argv

_OLDEST = (3, 2)
_VERSION = re.compile(r"(\d+)\.(\d+)")
_ANSWER_SECONDS = 20.0
_END_SECONDS = 4.0
# tmux sees that a terminal is closed before it hears how the program in it has ended.
_STATUS_SECONDS = 2.0
_OPTIONS = (
    ("-g", "remain-on-exit", "on"),
    ("-g", "status", "off"),
    ("-g", "default-terminal", "screen-256color"),
    ("-g", "history-limit", "5000"),
    ("-s", "escape-time", "0"),
    ("-s", "set-clipboard", "off"),
    ("-g", "mouse", "off"),
)


_STATE = ("pane_pid", "pane_dead", "pane_dead_status", "pane_dead_signal", "pane_in_mode")


class ServerGone(PaddockError):
    """The tmux server does not answer any more."""


@dataclass(frozen=True, slots=True)
class PaneState:
    """`status` is that of the program, negative for a signal; None while it runs. It `is_known` once tmux tells it."""

    pid: int
    status: int | None
    in_mode: bool
    is_known: bool


class TurnPane:
    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._pane = ""

    def start(self, argv: tuple[str, ...], cwd: str, columns: int, rows: int) -> None:
        self._socket.parent.mkdir(parents=True, exist_ok=True)
        self._require_version()
        with contextlib.suppress(FileNotFoundError):
            self._socket.unlink()
        words = ["start-server", ";"]
        for option in _OPTIONS:
            words += ["set-option", *option, ";"]
        # Inside, `tmux` is to be the agent's own affair: without these it would be this server.
        inside = ("env", "-u", "TMUX", "-u", "TMUX_PANE", *argv)
        words += ["new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", cwd, "-P", "-F", "#{pane_id}"]
        self._pane = self._call(*words, "--", *map(_literal, inside)).split()[-1]
        # Whoever watches must not change its size. Some versions crash where it is set before there is a window.
        self._call("set-option", "-g", "window-size", "manual")

    def _require_version(self) -> None:
        said = self._call("-V").strip()
        version = _VERSION.search(said)
        if version is not None and (int(version[1]), int(version[2])) < _OLDEST:
            oldest = ".".join(map(str, _OLDEST))
            raise PaddockError(f"{printable(said, 40)} is too old for an agent of mode `tmux`: {oldest} is needed")

    def state(self) -> PaneState:
        return self._ask_state()[0]

    def look(self) -> tuple[PaneState, str]:
        """Its state and what its screen shows, by one call: this is asked several times a second."""
        return self._ask_state(";", "capture-pane", "-p", "-t", self._pane)

    def _ask_state(self, *more: str) -> tuple[PaneState, str]:
        """With what `more` commands print."""
        asked = ("display-message", "-p", "-t", self._pane, ",".join(f"#{{{name}}}" for name in _STATE))
        deadline = time.monotonic() + _STATUS_SECONDS
        while True:
            said, _, printed = self._call(*asked, *more).partition("\n")
            state = _read_state(said)
            if state.status is None or state.is_known or time.monotonic() > deadline:
                return state, printed
            # It may have missed the signal: at the end of any child it looks at all of them.
            self._call("run-shell", "true")

    def leave_mode(self) -> None:
        """Keys go to the program only outside tmux's own modes, into which somebody who watches may have gone."""
        if self.state().in_mode:
            self._call("copy-mode", "-q", "-t", self._pane)

    def paste(self, text: str) -> None:
        self._call("load-buffer", "-b", "paddock", "-", given=text.encode("utf-8", "replace"))
        self._call("paste-buffer", "-p", "-r", "-d", "-b", "paddock", "-t", self._pane)

    def press(self, *keys: str) -> None:
        self._call("send-keys", "-t", self._pane, *keys)

    def end(self) -> None:
        """Ends the program as a closed terminal does not: with time to put its things away. Leaves no server."""
        with contextlib.suppress(PaddockError):
            state = self.state()
            if state.status is None:
                _signal(state.pid, signal.SIGTERM)
                self._await_end()
        with contextlib.suppress(PaddockError):
            self._call("kill-server")
        with contextlib.suppress(OSError):
            self._socket.unlink()

    def _await_end(self) -> None:
        deadline = time.monotonic() + _END_SECONDS
        while self.state().status is None and time.monotonic() < deadline:
            time.sleep(0.05)

    def _call(self, *words: str, given: bytes | None = None) -> str:
        try:
            done = subprocess.run(
                (*socket_argv(self._socket), *words),
                cwd=self._socket.parent,
                input=given,
                stdin=subprocess.DEVNULL if given is None else None,
                capture_output=True,
                timeout=_ANSWER_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ServerGone(f"the tmux server of this turn has not answered for {_ANSWER_SECONDS:.0f}s") from None
        except OSError as error:
            raise PaddockError(f"tmux cannot be run: {error}") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise ServerGone(f"the tmux server of this turn is gone ({said or f'tmux returned {done.returncode}'})")
        return done.stdout.decode("utf-8", "replace")


def _read_state(said: str) -> PaneState:
    """Raises ServerGone for an answer that is none: a server that is ending may still say that all is well."""
    fields = said.strip().split(",")
    if len(fields) != len(_STATE) or not fields[0].isdecimal():
        raise ServerGone(f"the tmux server of this turn is gone (it answered `{printable(said, 60)}`)")
    pid, dead, code, killed, mode = fields
    status = None if dead != "1" else -int(killed) if killed.isdecimal() else int(code or 1)
    return PaneState(int(pid), status, mode not in ("", "0"), is_known=bool(code or killed))


def _literal(word: str) -> str:
    """tmux takes a word that ends in a semicolon for the end of its command."""
    return f"{word[:-1]}\\;" if word.endswith(";") else word


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)

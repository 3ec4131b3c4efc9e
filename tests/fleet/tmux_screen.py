"""A person at a terminal: a pane of a tmux server of its own, in which keys are typed and the screen is read."""

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.fleet.yard import Yard
from tests.warm import PATIENCE_SECONDS

HAS_TMUX = shutil.which("tmux") is not None


def require_tmux() -> None:
    if not HAS_TMUX:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail("tmux is not installed")
        pytest.skip("tmux is not installed")


@dataclass
class Person:
    """One terminal. Its own server is the terminal emulator, so to speak; the tmux that commands in it use is another,
    below `inner`."""

    yard: Yard
    folder: Path
    number: int
    env: dict[str, str] = field(default_factory=dict)
    terminals: int = 0
    """A server that is killed is still there for a moment: each has a socket of its own."""

    @property
    def inner(self) -> Path:
        return self.folder / "inner"

    def start(self, *words: str, size: tuple[int, int] = (120, 40), keep: bool = False) -> None:
        """A `paddock` command. With `keep` the screen stays when it has ended."""
        columns, rows = size
        self.terminals += 1
        ended = self.folder / f"ended-{self.number}"
        ended.unlink(missing_ok=True)
        env = {**self.yard.env, "TERM": "screen-256color", "TMUX_TMPDIR": str(self.inner), **self.env}
        given = " ".join(f"{name}={shlex.quote(value)}" for name, value in env.items())
        # A Ctrl-C that comes when the command has ended is for nobody.
        script = f"trap : INT; env -i {given} {shlex.join(self.yard.argv(*words))}; echo ended:$? >{ended}"
        script += "; trap '' INT; exec sleep 1000" if keep else ""
        self.tmux(
            *("new-session", "-d", "-s", "p", "-x", str(columns), "-y", str(rows), "-c", str(self.yard.top)),
            *("/bin/sh", "-c", script),
        )

    def tmux(self, *words: str, check: bool = True) -> str:
        socket = self.folder / f"outer-{self.number}-{self.terminals}"
        env = {name: value for name, value in os.environ.items() if not name.startswith("TMUX")}
        done = subprocess.run(
            ("tmux", "-S", str(socket), "-f", os.devnull, *words),
            env=env,
            capture_output=True,
            text=True,
            check=check,
            timeout=60,
        )
        return done.stdout

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p", "-J", "-t", "p", check=False)

    def type(self, *keys: str) -> None:
        """Names of keys, or text; tmux tells them apart."""
        self.tmux("send-keys", "-t", "p", *keys)

    def say(self, text: str) -> None:
        self.tmux("send-keys", "-t", "p", "-l", text)
        self.tmux("send-keys", "-t", "p", "Enter")

    def await_screen(self, *words: str) -> str:
        """The first screen that shows all of them."""
        return self.await_that(lambda: shown if all(word in (shown := self.screen()) for word in words) else "", words)

    def await_that(self, look: Callable[[], str], what: object) -> str:
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while not (found := look()):
            assert time.monotonic() < give_up_at, f"{what} never came\n{self.screen()}"
            time.sleep(0.05)
        return found

    def has_ended(self) -> bool:
        return (self.folder / f"ended-{self.number}").exists()

    def await_end(self) -> int:
        """The command's exit status."""
        ended = self.folder / f"ended-{self.number}"
        told = self.await_that(lambda: ended.read_text() if ended.exists() else "", "its end")
        return int(told.partition(":")[2])

    def close_terminal(self) -> None:
        self.tmux("kill-server", check=False)


@contextmanager
def people(yard: Yard, count: int = 1, env: Mapping[str, str] | None = None) -> Iterator[list[Person]]:
    """Terminals beside each other that share one tmux of their own."""
    require_tmux()
    folder = Path(tempfile.mkdtemp(prefix="pk-", dir="/tmp"))  # a socket's path may not be long
    (folder / "inner").mkdir()
    found = [Person(yard, folder, number, dict(env or {})) for number in range(count)]
    try:
        yield found
    finally:
        for person in found:
            person.close_terminal()
        subprocess.run(
            ("tmux", "kill-server"),
            env={**os.environ, "TMUX": "", "TMUX_TMPDIR": str(folder / "inner")},
            capture_output=True,
            check=False,
        )
        shutil.rmtree(folder, ignore_errors=True)

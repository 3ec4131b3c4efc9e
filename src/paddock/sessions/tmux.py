"""tmux, where people have it: a window or a session to sit in, found again by the process that runs there.

Everything goes through the program, by ids: names are people's own, and may be anything. Which server is asked is
tmux's affair: `TMUX` of whoever sits in one, else the default socket (`TMUX_TMPDIR` moves it).
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paddock.core.errors import PaddockError

PROGRAM = "tmux"
OLDEST = (2, 6)
_RECENT = (3, 2)
_VERSION = re.compile(r"(\d+)\.(\d+)")
_SECONDS = 20.0
_READ_MS = 4000
"""By itself tmux takes words away after three quarters of a second. Nothing else moves in that terminal until then, or
until a key is pressed: no longer than it takes to read two sentences."""
_FORMAT = "#{pane_id} #{pane_pid} #{session_id} #{window_id}"


@dataclass(frozen=True, slots=True)
class Pane:
    id: str
    pid: int
    session: str
    window: str


@dataclass(frozen=True, slots=True)
class Tmux:
    """`inside` is whether we sit in one; `is_recent`, whether it knows what 3.2 brought."""

    program: str
    inside: bool
    is_recent: bool = False

    def open_session(self, name: str, title: str, folder: Path, size: tuple[int, int], argv: Sequence[str]) -> Pane:
        """A session of its own with nobody attached; `title` names its window. Raises PaddockError."""
        columns, rows = size
        sized = ("-x", str(columns), "-y", str(rows)) if columns and rows else ()
        return self._opened("new-session", "-d", "-s", name, "-n", title, *sized, "-c", str(folder), argv=argv)

    def open_window(self, name: str, folder: Path, argv: Sequence[str]) -> Pane:
        """A window of the session that we sit in, shown at once. Raises PaddockError."""
        return self._opened("new-window", "-n", name, "-c", str(folder), argv=argv)

    def describe(self, pane: Pane, words: str) -> None:
        """In the status line of a session that is ours."""
        self._run("set-option", "-t", pane.session, "status-left-length", "40")
        self._run("set-option", "-t", pane.session, "status-right", words.replace("#", "##"))
        self._run("set-option", "-t", pane.session, "status-right-length", str(max(40, len(words))))

    def prefix(self) -> str:
        """The key that begins tmux's own commands, as tmux names it."""
        return self._run("show-options", "-gv", "prefix").strip() or "C-b"

    def find_pane(self, pid: int) -> Pane | None:
        """Where the process is the one that the pane was opened for."""
        return next((pane for pane in self.panes() if pane.pid == pid), None)

    def find_session(self, name: str) -> Pane | None:
        """The first pane of the session of that very name."""
        return next(iter(self._list("-s", "-t", f"={name}:")), None)

    def panes(self) -> list[Pane]:
        """Empty where no server runs."""
        return self._list("-a")

    def _list(self, *which: str) -> list[Pane]:
        try:
            lines = self._run("list-panes", *which, "-F", _FORMAT).splitlines()
        except PaddockError:
            return []
        rows = [line.split() for line in lines]
        return [Pane(row[0], int(row[1]), row[2], row[3]) for row in rows if len(row) == 4 and row[1].isdecimal()]

    def session_here(self) -> str:
        """The one that we sit in; empty outside."""
        pane = os.environ.get("TMUX_PANE", "")
        return self._run("display-message", "-p", "-t", pane, "#{session_id}").strip() if self.inside and pane else ""

    def show(self, pane: Pane, *, read_only: bool = False) -> int:
        """Attaches this terminal until it is detached or the session ends; from inside, changes to the pane at once.
        tmux's own exit status."""
        if self.inside and not read_only:
            self._run("switch-client", "-t", pane.id)
            return 0
        self._run("select-window", "-t", pane.window)
        flags = ("-r",) if read_only else ()
        env = {name: value for name, value in os.environ.items() if name != "TMUX"}
        return subprocess.call((self.program, "attach-session", *flags, "-t", pane.session), env=env)

    def say(self, words: str) -> None:
        """In the status line of whoever sits in this tmux, long enough to be read where tmux can be told so."""
        delay = ("-d", str(_READ_MS)) if self.is_recent else ()
        self._run("display-message", *delay, words.replace("#", "##"))

    def _opened(self, command: str, *options: str, argv: Sequence[str]) -> Pane:
        row = self._run(command, *options, "-P", "-F", _FORMAT, "--", *argv).split()
        if len(row) != 4:
            raise PaddockError("tmux did not say what it opened", "`--here` needs no tmux")
        return Pane(row[0], int(row[1]), row[2], row[3])

    def _run(self, *words: str) -> str:
        try:
            done = subprocess.run(
                (self.program, *words),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PaddockError(f"tmux does not answer: {error}", "`--here` needs no tmux") from error
        if done.returncode:
            said = done.stderr.strip().splitlines()
            why = said[-1] if said else f"it ended with {done.returncode}"
            raise PaddockError(f"tmux refused `{words[0]}`: {why}", "`--here` needs no tmux")
        return done.stdout


def find_tmux(environment: Mapping[str, str] = os.environ) -> Tmux | None:
    """None where it is not installed. Raises PaddockError for one that is too old."""
    program = shutil.which(PROGRAM, path=environment.get("PATH"))
    if program is None:
        return None
    try:
        said = subprocess.run((program, "-V"), capture_output=True, text=True, timeout=_SECONDS, check=False).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PaddockError(f"`{program}` cannot be run: {error}", "`--here` needs no tmux") from error
    version = _VERSION.search(said)
    if version is not None and (int(version[1]), int(version[2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise PaddockError(f"{said.strip()} is too old: {oldest} is needed", "upgrade it; `--here` needs no tmux")
    is_recent = version is not None and (int(version[1]), int(version[2])) >= _RECENT
    return Tmux(program, bool(environment.get("TMUX")), is_recent)

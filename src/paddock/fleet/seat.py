"""Where it can be seen which daemon leads, besides in the log: a file, for shells and for a quick look, and a ref.

Both only repeat what the log says. Whoever finds them wrong asks the log and puts them right. The file also tells
which process leads: one that somebody has stopped may hold locks, and is woken by its successor to let go of them.
"""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from paddock.git.disk import FileIdentity, identity_of, remove_tree
from paddock.git.leader import name_leader
from paddock.git.repo import Repo
from paddock.sessions.host import sign_of_life, wake
from paddock.sessions.regular import open_regular

POST = "leader"
_LONGEST_SIGN = 400


class LeaderSeat(Protocol):
    @property
    def post(self) -> str:
        """The file to read it in; empty where there is none."""

    def sign(self, generation: int) -> str:
        """What is there to read while that generation leads."""

    def read(self) -> str:
        """What is there to read now; empty if nothing."""

    def show(self, generation: int, require: Callable[[], None]) -> str:
        """Has everything tell that this generation leads; returns the object that the leader's ref names then.

        `require` raises if it does not lead any more, by the log.
        """


@dataclass(frozen=True, slots=True)
class RepositorySeat:
    """`log` is one word for the log, not shared by another that may be in its place later."""

    repo: Repo
    state_dir: Path
    log: str

    @property
    def post(self) -> str:
        return f"{self.state_dir}/{POST}"

    def sign(self, generation: int) -> str:
        return f"{generation} {self.log}"

    def read(self) -> str:
        return self._lines()[0]

    def _lines(self) -> tuple[str, str]:
        return _read_lines(self.post, identity_of(self.post))

    def show(self, generation: int, require: Callable[[], None]) -> str:
        require()
        former = self._write(self.sign(generation))
        # Who fell asleep before it wrote has overwritten its successor's sign, which that one puts right, and learns of
        # it here, before anything else.
        leader = name_leader(self.repo, generation, self.log, require)
        if former:
            wake(former)
        return leader

    def _write(self, sign: str) -> str:
        """The sign of the process that led before, if that was another."""
        shown, former = self._lines()
        if shown == sign:
            return ""
        draft = f"{self.post}.{os.getpid()}.new"
        try:
            with open(draft, "w", encoding="ascii") as file:
                file.write(f"{sign}\n{sign_of_life()}\n")
            if os.path.isdir(self.post) and not os.path.islink(self.post):
                remove_tree(Path(self.post))  # it is the place of our file alone
            os.replace(draft, self.post)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(draft)
        return former


@lru_cache(maxsize=4)
def _read_lines(post: str, identity: FileIdentity | None) -> tuple[str, str]:
    """The sign of the one that leads, and that of its process. Read once for each file: every effect asks, and who
    takes over puts another file there."""
    if identity is None:
        return "", ""
    try:
        with open(post, encoding="ascii", errors="replace", opener=open_regular) as file:
            sign, _, life = file.read(_LONGEST_SIGN).partition("\n")
    except OSError:
        return "", ""
    return sign, life

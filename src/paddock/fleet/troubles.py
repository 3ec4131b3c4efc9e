"""The daemon's one book of troubles: each is logged once, and `paddock status` reads the open ones from a file."""

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from paddock.core.errors import PaddockError, words_of
from paddock.core.events import DaemonTroubled
from paddock.core.ids import recordable
from paddock.core.lead import Succeeded
from paddock.core.troubles import PATIENT, Patience, Trouble, TroubleBook
from paddock.fleet.ledger import Ledger
from paddock.sessions.hints import read_hint, write_hint

FILE = "troubles.json"
LONGEST_PROBLEM = 2000


@dataclass
class Troubles:
    """Shared by whatever the daemon does over and over. `now` is its clock, `patience` that of whoever has no other."""

    ledger: Ledger
    state_dir: Path
    now: Callable[[], float]
    patience: Patience = PATIENT
    book: TroubleBook = field(default_factory=TroubleBook)

    def __post_init__(self) -> None:
        self._write()

    async def attempt(
        self, what: str, do: Callable[[], Awaitable[float | None]], patience: Patience | None = None
    ) -> float | None:
        """Does it, unless it failed a moment ago. Returns when to come back, if at all."""
        before = self.book.find(what)
        if before is not None and not before.is_due(self.now()):
            return before.retry_at
        try:
            again = await do()
        except Succeeded:
            raise
        except (PaddockError, OSError) as error:
            return (await self.note(what, words_of(error), patience=patience)).retry_at
        self.heal(what)
        return again

    async def note(self, what: str, problem: str, whose: str = "", patience: Patience | None = None) -> Trouble:
        """It failed: the log is told, if that is news."""
        words = recordable(problem)[:LONGEST_PROBLEM]
        noted = self.book.note(what, whose, words, self.now(), patience or self.patience)
        trouble = noted.trouble
        if noted.to_tell:
            await self.ledger.note(DaemonTroubled(trouble.title, trouble.problem))
        self._write()
        return trouble

    def remark(self, what: str, problem: str) -> None:
        """`note` for what the log cannot be told now; an empty `problem` means that it is over."""
        if problem:
            self.book.note(what, "", problem, self.now(), self.patience)
            self._write()
        else:
            self.heal(what)

    async def observe(self, what: str, problem: str, whose: str = "") -> None:
        """The state of something that is checked all the time; an empty `problem` means that all is well."""
        before = self.book.find(what, whose)
        if not problem:
            self.heal(what, whose)
        elif before is None or before.problem != problem or before.is_due(self.now()):
            await self.note(what, problem, whose)

    def heal(self, what: str, whose: str = "") -> None:
        if self.book.heal(what, whose):
            self._write()

    def _write(self) -> None:
        """Best effort: a disk that is full is a trouble already, and a former daemon's troubles are none any more."""
        path = self.state_dir / FILE
        with contextlib.suppress(OSError, Succeeded):
            self.ledger.lead.require()
            if not self.book.open:
                path.unlink(missing_ok=True)
                return
            write_hint(path, self.book.open)


def read_troubles(state_dir: Path) -> list[Trouble]:
    """What the daemon last failed at and has not managed since."""
    return read_hint(state_dir / FILE, list[Trouble]) or []

"""A commit whose answer never came: it may be in the log or not, and only another look can tell.

Until then nobody is told anything, and what turns out to be there is not written again, however often it is asked.
"""

from collections.abc import Callable, Sequence

from paddock.core.errors import PaddockError
from paddock.core.events import Record
from paddock.store.codec import Row
from paddock.store.fold import Decisions, Results
from paddock.store.protocol import Author, Decide

_Result = list[Record] | PaddockError


class UnsettledCommits:
    """At most one is open. Decisions are told apart as objects: two that do the same are two."""

    __slots__ = ("_last", "_sent", "_written")

    def __init__(self) -> None:
        self._sent: list[tuple[Decide, Author, _Result]] = []
        self._written: list[tuple[Decide, Author, _Result]] = []
        self._last: Row | None = None

    @property
    def is_open(self) -> bool:
        return self._last is not None

    def have_sent(self, decisions: Decisions, results: Results, rows: Sequence[Row]) -> None:
        self._sent = [(decide, by, result) for (decide, by), result in zip(decisions, results, strict=True)]
        self._last = rows[-1]

    def have_heard(self) -> None:
        self._sent, self._last = [], None

    def look(self, hash_at: Callable[[int], object]) -> None:
        """With the head locked, so that whoever was to write it has done so or never will."""
        if self._last is not None and hash_at(self._last[0]) == self._last[-1]:
            self._written += self._sent
        self.have_heard()

    def split(self, decisions: Decisions) -> tuple[dict[int, _Result], Decisions]:
        """What came of those that are written, by their place among `decisions`; and the others."""
        if not self._written:
            return {}, decisions
        known: dict[int, _Result] = {}
        new, written = [], list(self._written)
        for place, (decide, author) in enumerate(decisions):
            found = next((one for one in written if one[0] is decide and one[1] == author), None)
            if found is None:
                new.append((decide, author))
            else:
                written.remove(found)
                known[place] = found[2]
        return known, new

    def have_told(self) -> None:
        self._written = []

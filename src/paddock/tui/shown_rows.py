"""Which rows the screen shows, in their order: those of the newest view that match the filter."""

from collections.abc import Callable, Mapping, Sequence

from paddock.core.filter.errors import FilterError
from paddock.core.filter.evaluate import compile_filter
from paddock.core.filter.parser import parse_filter
from paddock.core.filter.tree import EVERYTHING, Filter
from paddock.tui.order import Ranking
from paddock.views.board.row_filter import row_readers
from paddock.views.board.rows import TaskRow


class ShownRows:
    """`words` are the filter as typed, in the language of every filter over tasks. While they make no sense, which
    `mistake` tells, the last that did still decides."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.tasks: Mapping[str, TaskRow] = {}
        self.words = ""
        self.mistake: FilterError | None = None
        self._clock = clock
        self._filter: Filter = EVERYTHING
        self._ranking = Ranking()
        self._leaving: dict[str, int | None] = {}

    def take(self, tasks: Mapping[str, TaskRow]) -> None:
        self.tasks = tasks
        self._ranking.take(tasks)

    def filter(self, words: str) -> None:
        self.words, self.mistake = words, None
        try:
            self._filter = parse_filter(words)
        except FilterError as error:
            self.mistake = error

    @property
    def order(self) -> Sequence[str]:
        if self._filter == EVERYTHING:
            return self._ranking.order
        matches = compile_filter(self._filter, row_readers(self._clock()))
        return [name for name in self._ranking.order if matches(self.tasks[name])]

    def leave(self, names: Sequence[str]) -> None:
        """A request is made for them: when they move, the cursor stays for whichever comes next."""
        self._leaving |= {name: self._ranking.group_of(name) for name in names}

    def has_left(self, name: str | None) -> bool:
        """Whether it is one of those, and has moved to another group since. Each is told once."""
        moved = {one for one, group in self._leaving.items() if self._ranking.group_of(one) != group}
        self._leaving = {one: group for one, group in self._leaving.items() if one not in moved}
        return name in moved

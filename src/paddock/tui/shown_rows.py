"""Which rows the screen shows, in their order: those of the newest view that match the filter."""

from collections.abc import Mapping, Sequence

from paddock.tui.order import Ranking
from paddock.views.board.rows import TaskRow
from paddock.views.board.search import match_of


class ShownRows:
    """`words` are those of the filter: as in every other search over tasks."""

    def __init__(self) -> None:
        self.tasks: Mapping[str, TaskRow] = {}
        self.words = ""
        self._ranking = Ranking()
        self._leaving: dict[str, int | None] = {}

    def take(self, tasks: Mapping[str, TaskRow]) -> None:
        self.tasks = tasks
        self._ranking.take(tasks)

    @property
    def order(self) -> Sequence[str]:
        if not self.words.strip():
            return self._ranking.order
        matches = match_of(self.words)
        return [name for name in self._ranking.order if matches(self.tasks[name])]

    def leave(self, names: Sequence[str]) -> None:
        """A request is made for them: when they move, the cursor stays for whichever comes next."""
        self._leaving |= {name: self._ranking.group_of(name) for name in names}

    def has_left(self, name: str | None) -> bool:
        """Whether it is one of those, and has moved to another group since. Each is told once."""
        moved = {one for one, group in self._leaving.items() if self._ranking.group_of(one) != group}
        self._leaving = {one: group for one, group in self._leaving.items() if one not in moved}
        return name in moved

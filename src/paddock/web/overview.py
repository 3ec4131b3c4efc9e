"""What the first page of several repositories is told: made once for all who watch it, followed from each repository's
own broadcast.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from paddock.core.errors import PaddockError
from paddock.views.board.page import BoardView
from paddock.views.overview import OverviewView, RepositoryRow, view_overview, view_repository
from paddock.web.channels import Channel
from paddock.web.repositories import ServedRepositories, ServedRepository
from paddock.web.served_fleet import ServedFleet
from paddock.web.versions import Versions

VIEW = "repositories"
BOARD = "board"
AGAIN_SECONDS = 2.0
"""How soon to ask again for a log that cannot be read."""
LOOK_SECONDS = 5.0
"""Some of what is shown depends on the time."""
FIRST_SECONDS = 4.0
"""So long the first page waits for repositories that have told nothing yet."""


class Overview:
    """Follows the repositories while anybody watches. Lives in the event loop's thread."""

    def __init__(self, repositories: ServedRepositories) -> None:
        self._repositories = repositories
        self._rows: dict[str, RepositoryRow] = {}
        self._versions = Versions(VIEW)
        self._following: list[asyncio.Task[None]] = []
        self._changed = asyncio.Event()
        self._heard: set[str] = set()
        self.watchers = 0
        self.closed = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        self.watchers += 1
        if not self._following:
            self._following = [asyncio.ensure_future(self._follow(one)) for one in self._repositories]
        try:
            yield
        finally:
            self.watchers -= 1
            if not self.watchers:
                self._rest()

    async def first(self) -> None:
        """Until every repository has been heard of, or some seconds; who watches hears of the others later."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_SECONDS):
                while len(self._heard) < len(self._repositories.by_name):
                    await self.changed.wait()
        self._versions.take(self.document())

    @property
    def changed(self) -> asyncio.Event:
        """Set at the next change; ask for it before looking for what is there."""
        return self._changed

    def document(self) -> OverviewView:
        for one in self._repositories:
            if one.name not in self._rows:
                self._rows[one.name] = view_repository(one.face(), None, one.trouble, one.hint)
        return view_overview(self._rows, tuple(self._repositories.by_name))

    @property
    def mark(self) -> str:
        return self._versions.mark

    def since(self, mark: str | None) -> list[bytes]:
        return self._versions.since(mark)

    def close(self) -> None:
        self.closed = True
        self._rest()
        self._tell()

    def _rest(self) -> None:
        for task in self._following:
            task.cancel()
        self._following = []
        self._heard.clear()

    async def _follow(self, one: ServedRepository) -> None:
        """For as long as somebody watches. A log that cannot be read is asked for in a thread, where nobody waits."""
        while True:
            fleet = one.fleet
            if fleet is None:
                self._note(one, None, one.trouble, one.hint)
            else:
                try:
                    await fleet.threads.read(lambda store: store.head())
                except (PaddockError, OSError) as error:
                    words = error.message if isinstance(error, PaddockError) else str(error)
                    self._note(one, None, words, getattr(error, "hint", None) or "")
                else:
                    await self._follow_board(one, fleet)
            await asyncio.sleep(AGAIN_SECONDS)

    async def _follow_board(self, one: ServedRepository, fleet: ServedFleet) -> None:
        """Until its log can no longer be read."""
        broadcast = fleet.broadcast
        prepared = await broadcast.prepare((BOARD,), fleet.threads.read)
        with broadcast.watched((BOARD,), prepared) as [channel]:
            while not broadcast.closed:
                changed = broadcast.changed
                self._note(one, _board_of(channel), broadcast.trouble, broadcast.trouble_hint)
                if broadcast.trouble:
                    return
                try:
                    async with asyncio.timeout(LOOK_SECONDS):
                        await changed.wait()
                except TimeoutError:
                    continue

    def _note(self, one: ServedRepository, board: BoardView | None, trouble: str, hint: str) -> None:
        self._rows = {**self._rows, one.name: view_repository(one.face(), board, trouble, hint)}
        is_first = one.name not in self._heard
        self._heard.add(one.name)
        if self._versions.take(self.document()) or is_first:
            self._tell()

    def _tell(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def _board_of(channel: Channel) -> BoardView | None:
    return channel.document if isinstance(channel.document, BoardView) else None

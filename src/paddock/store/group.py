"""Group commit: the writers of one event loop share a transaction and its sync to disk.

Everything submitted in one turn of the loop is written together. The commit runs on the loop itself:
handing it to a thread costs more than the commit, and with one thread there is one board that the
daemon reads and writes. Each writer gets its own records or its own refusal, once they are durable.
"""

import asyncio

from paddock.core.events import Record
from paddock.store.protocol import Author, Decide, Store

LARGEST_GROUP = 256

_Job = tuple[Decide, Author, "asyncio.Future[list[Record]]"]


class GroupWriter:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[_Job] = []

    async def append(self, decide: Decide, author: Author) -> list[Record]:
        """Raises what `decide` raises, or what kept the whole group from being written."""
        loop = asyncio.get_running_loop()
        result: asyncio.Future[list[Record]] = loop.create_future()
        self._waiting.append((decide, author, result))
        if len(self._waiting) == 1:
            loop.call_soon(self._write)
        return await result

    def _write(self) -> None:
        group, self._waiting = self._waiting[:LARGEST_GROUP], self._waiting[LARGEST_GROUP:]
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._write)
        results: list[list[Record] | Exception]
        try:
            results = list(self._store.append_all([(decide, author) for decide, author, _ in group]))
        except Exception as error:
            results = [error] * len(group)
        for (_, _, future), result in zip(group, results, strict=True):
            if future.cancelled():
                continue
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)

"""Group commit: many writers of one process share a transaction and its sync to disk.

Each caller gets its own records or its own refusal, and only after they are durable.
"""

import queue
import threading
from concurrent.futures import Future

from paddock.core.errors import PaddockError
from paddock.core.events import Record
from paddock.store.protocol import Author, Decide, Store

_LARGEST_GROUP = 256
_QUEUE_LIMIT = 4096

_Job = tuple[Decide, Author, "Future[list[Record]]"]


class GroupWriter:
    """Owns its store: nobody else may use it until `close` returns."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._room = threading.BoundedSemaphore(_QUEUE_LIMIT)
        self._thread = threading.Thread(target=self._run, name="paddock-log", daemon=True)
        self._thread.start()

    def submit(self, decide: Decide, author: Author) -> "Future[list[Record]]":
        """Blocks only when thousands of writes are already under way."""
        future: Future[list[Record]] = Future()
        self._room.acquire()
        self._jobs.put((decide, author, future))
        return future

    def append(self, decide: Decide, author: Author) -> list[Record]:
        return self.submit(decide, author).result()

    def close(self) -> None:
        """Finishes what was submitted, then closes the store."""
        self._jobs.put(None)
        self._thread.join()
        self._store.close()

    def _run(self) -> None:
        while (first := self._jobs.get()) is not None:
            group, last = self._gather(first)
            self._commit(group)
            if last:
                return

    def _gather(self, first: _Job) -> tuple[list[_Job], bool]:
        group = [first]
        while len(group) < _LARGEST_GROUP:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return group, False
            if job is None:
                return group, True
            group.append(job)
        return group, False

    def _commit(self, group: list[_Job]) -> None:
        try:
            results = self._store.append_all([(decide, author) for decide, author, _ in group])
        except BaseException as error:
            for _, _, future in group:
                future.set_exception(error)
        else:
            for (_, _, future), result in zip(group, results, strict=True):
                if isinstance(result, PaddockError):
                    future.set_exception(result)
                else:
                    future.set_result(result)
        for _ in group:
            self._room.release()

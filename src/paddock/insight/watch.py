"""One look after the other at a running fleet: the dataset is brought up to date, and those who watch are asked."""

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from paddock.core.errors import PaddockError, words_of
from paddock.core.lead import Succeeded
from paddock.fleet.site import Site
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.fleet import FleetFollower, Looked
from paddock.insight.dataset.headers import FLEET
from paddock.insight.dataset.location import dataset_path
from paddock.insight.dataset.renewal import lay_aside, mark_of
from paddock.insight.dataset.trouble import DatasetDamaged
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.look import Decide, Look, Observe
from paddock.insight.selection import Selection
from paddock.store.location import log_of, open_store
from paddock.store.protocol import Store

WAIT_SECONDS = 1.0
MOST_SECONDS = 0.5
"""Of one look; what is left is taken in by the next."""
RECENT_SECONDS = 6 * 3600.0
"""What has moved on in this time is named in the first look: an earlier daemon may not have come to it."""
REST = 199.0
LONGEST_REST = 60.0
"""How much longer than those who watch took they are left alone: half a percent of a core, unless they take long."""


@dataclass(frozen=True, slots=True)
class Watched:
    """`decided` and `problems` are told by the name of who watches; an empty problem means that there is none.
    `seconds` is what the look took of a processor."""

    more: bool
    seconds: float
    decided: Sequence[tuple[str, Sequence[Decide]]] = ()
    problems: Mapping[str, str] = field(default_factory=dict)


class Watch:
    """For the thread that it was made in, apart from `stop`."""

    def __init__(self, site: Site, observers: Sequence[Observe]) -> None:
        self._site = site
        self._observers = observers
        self._path = dataset_path(site.state_dir)
        self._stopped = threading.Event()
        self._store: Store | None = None
        self._writer: DatasetWriter | None = None
        self._follower: FleetFollower | None = None
        self._changed: dict[str, None] = {}
        self._ended: dict[str, None] = {}
        self._rests_until = 0.0
        self._is_first = True

    def stop(self) -> None:
        """What goes on is left at the next part."""
        self._stopped.set()

    def look(self, *, at_once: bool = False) -> Watched:
        """Those who watch are not left alone if they are to look `at_once`, because something has failed.

        Raises PaddockError where the dataset or the log is out of reach: everything is opened again next time.
        """
        begun = time.thread_time()
        try:
            more = self._take_in(begun)
            rests = time.monotonic() < self._rests_until and not at_once
            if more or self._stopped.is_set() or rests:
                return Watched(more, time.thread_time() - begun)
            return self._ask(time.thread_time() - begun)
        except DatasetDamaged:
            self._close()
            lay_aside(self._path, WAIT_SECONDS)
            return Watched(True, time.thread_time() - begun)
        except BaseException:
            self._close()
            raise

    def _take_in(self, begun: float) -> bool:
        """Whether there is more."""
        store = self._open_store()
        follower = self._open_follower()
        mark = mark_of(store)
        while not self._stopped.is_set():
            self._site.lead.require()
            looked = follower.look(store.records, mark, self._site.clock.now())
            self._note(looked)
            if not looked.more or time.thread_time() - begun > MOST_SECONDS:
                return looked.more
        return False

    def _note(self, looked: Looked) -> None:
        self._changed.update(dict.fromkeys(looked.changed))
        self._ended.update(dict.fromkeys(looked.ended))

    def _ask(self, spent: float) -> Watched:
        """All who watch, one after the other."""
        begun = time.thread_time()
        decided: list[tuple[str, Sequence[Decide]]] = []
        problems: dict[str, str] = {}
        board = self._open_store().board()
        changed, ended, now = tuple(self._changed), tuple(self._ended), self._site.clock.now()
        with Dataset.open(self._path) as dataset:
            if self._is_first:
                recent = [kept.trace for kept in dataset.runs(Selection(label=FLEET, since=now - RECENT_SECONDS))]
                changed = tuple(dict.fromkeys((*(trace.run for trace in recent), *changed)))
                over = (trace.run for trace in recent if trace.ended is not None)
                ended = tuple(dict.fromkeys((*over, *ended)))
            for observe in self._observers:
                whose = getattr(observe, "__name__", type(observe).__name__).removeprefix("observe_")
                try:
                    found = observe(Look(self._site, dataset, board, changed, ended, now))
                except (DatasetDamaged, Succeeded):
                    raise
                except (PaddockError, OSError) as error:
                    problems[whose] = words_of(error)
                except Exception as error:  # one who watches must not keep the others from it
                    problems[whose] = f"{type(error).__name__}: {error}"
                else:
                    problems[whose] = ""
                    decided.append((whose, found))
        self._is_first = False
        self._changed.clear()
        self._ended.clear()
        took = time.thread_time() - begun
        self._rests_until = time.monotonic() + min(took * REST, LONGEST_REST)
        return Watched(False, spent + took, decided, problems)

    def _open_store(self) -> Store:
        if self._store is None:
            self._store = open_store(log_of(self._site.repo), read_only=True)
        return self._store

    def _open_follower(self) -> FleetFollower:
        if self._writer is not None and not self._writer.is_in_place():
            self._close()
        if self._follower is None:
            self._writer = DatasetWriter.open(self._path, wait_seconds=WAIT_SECONDS)
            self._follower = FleetFollower(self._site, self._writer, stays=True)
        return self._follower

    def _close(self) -> None:
        store, writer = self._store, self._writer
        self._store = self._writer = self._follower = None
        with suppress(PaddockError, OSError):
            if store is not None:
                store.close()
        with suppress(PaddockError, OSError):
            if writer is not None:
                writer.close()

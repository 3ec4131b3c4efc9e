"""One look after the other at a running fleet: the dataset is brought up to date, and those who watch are asked."""

import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

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
from paddock.store.location import log_at, open_store
from paddock.store.protocol import Store

WAIT_SECONDS = 1.0
MOST_SECONDS = 0.5
"""Of one look; what is left is taken in by the next."""
RECENT_SECONDS = 6 * 3600.0
"""What has moved on in this time is named in the first look: an earlier daemon may not have come to it."""
REST = 199.0
LONGEST_REST = 60.0
"""How much longer than those who watch took they are left alone: half a percent of a core, unless they take long."""
REST_AT_ONCE = 3.0
"""The same while attempts fail all the time: a quarter of a core."""
MOST_ENDED = 20_000
"""Of those that are over, so many names are kept for one who watches and fails; the oldest go."""


@dataclass(frozen=True, slots=True)
class Watched:
    """`decided` and `problems` are told by the name of who watches; an empty problem means that there is none.
    `seconds` is what the look took of a processor; those who watch are left alone for `rests` seconds more."""

    more: bool
    seconds: float
    decided: Sequence[tuple[str, Sequence[Decide]]] = ()
    problems: Mapping[str, str] = field(default_factory=dict)
    rests: float = 0.0


class Watch:
    """For the thread that it was made in, apart from `stop`."""

    def __init__(self, site: Site, observers: Sequence[Observe]) -> None:
        self._site = site
        self._observers = {_name_of(observe): observe for observe in observers}
        self._path = dataset_path(site.state_dir)
        self._stopped = threading.Event()
        self._store: Store | None = None
        self._writer: DatasetWriter | None = None
        self._follower: FleetFollower | None = None
        self._changed: dict[str, None] = {}
        self._ended: dict[str, dict[str, None]] = {whose: {} for whose in self._observers}
        self._told: frozenset[str] = frozenset()
        self._rests_until = 0.0
        self._rests_until_at_once = 0.0
        self._is_first = True

    def stop(self) -> None:
        """What goes on is left at the next part."""
        self._stopped.set()

    def look(self, *, at_once: bool = False, unrecorded: Collection[str] = ()) -> Watched:
        """Those who watch are left alone for a short time only if they are to look `at_once`, because something has
        failed. What the `unrecorded` of them decided in the look before is not in the log: what had ended then, they
        are told again.

        Raises PaddockError where the dataset or the log is out of reach: everything is opened again next time.
        """
        begun = time.thread_time()
        for whose in self._told.difference(unrecorded):
            self._ended[whose].clear()
        self._told = frozenset()
        try:
            more = self._take_in(begun)
            if more or self._stopped.is_set():
                return Watched(more, time.thread_time() - begun)
            rests = (self._rests_until_at_once if at_once else self._rests_until) - time.monotonic()
            if rests > 0.0:
                return Watched(False, time.thread_time() - begun, rests=rests)
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
        self._note_ended(looked.ended)

    def _note_ended(self, names: Iterable[str]) -> None:
        """For each of those who watch, until it has succeeded and what it decided is in the log."""
        for kept in self._ended.values():
            kept.update(dict.fromkeys(names))
            for name in [*islice(kept, max(0, len(kept) - MOST_ENDED))]:
                del kept[name]

    def _ask(self, spent: float) -> Watched:
        """All who watch, one after the other."""
        begun = time.thread_time()
        decided: list[tuple[str, Sequence[Decide]]] = []
        problems: dict[str, str] = {}
        board, now = self._open_store().board(), self._site.clock.now()
        with Dataset.open(self._path) as dataset:
            if self._is_first:
                recent = [kept.trace for kept in dataset.runs(Selection(label=FLEET, since=now - RECENT_SECONDS))]
                self._changed.update(dict.fromkeys(trace.run for trace in recent))
                self._note_ended([trace.run for trace in recent if trace.ended is not None])
            for whose, observe in self._observers.items():
                ended = tuple(self._ended[whose])
                changed = tuple(dict.fromkeys((*self._changed, *ended)))
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
        self._told = frozenset(whose for whose, _ in decided)
        took = time.thread_time() - begun
        self._rests_until = time.monotonic() + min(took * REST, LONGEST_REST)
        self._rests_until_at_once = time.monotonic() + min(took * REST_AT_ONCE, LONGEST_REST)
        return Watched(False, spent + took, decided, problems)

    def _open_store(self) -> Store:
        if self._store is None:
            store = self._site.config.store
            self._store = open_store(log_at(self._site.repo, store.url, store.schema), read_only=True)
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


def _name_of(observe: Observe) -> str:
    return str(getattr(observe, "__name__", type(observe).__name__)).removeprefix("observe_")

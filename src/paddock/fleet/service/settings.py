"""The configuration a daemon works by, on record; and edits of `paddock.toml` while it runs.

[land] and [limits] count at once, the rest with the next daemon.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec import structs

from paddock.config.differences import describe_changes, digest_of, remembered
from paddock.config.schema import Config
from paddock.core.errors import PaddockError, words_of
from paddock.core.events import SettingsAdopted, SettingsInForce
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.fence_note import write_note
from paddock.fleet.fences import describe_fences
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
from paddock.sessions.hints import read_hint, write_hint

SETTLE_SECONDS = 0.3
MEMORY_FILE = "settings.json"
UNKNOWN = "it differs from the one before, which is no longer known"
READING = "reading paddock.toml; the previous settings stay in effect"
LIVE_SECTIONS = ("land", "limits")
LANDING_PLACE = frozenset({"land.branch", "land.remote"})
"""Where main is: a queue that tests on one main cannot land on another, so these wait for the next daemon."""

Stamp = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Adopted:
    """`config` is what counts now; `keys` have a new value in it, `later` will have one with the next daemon."""

    config: Config
    keys: tuple[str, ...] = ()
    later: tuple[str, ...] = ()


@dataclass
class SettingsFile:
    """`load` reads the whole configuration, with the environment and the command line this daemon was started with.

    `problem` says why the file as it is now is no configuration, so that the one before stays in force; "" if it is.
    """

    path: Path
    load: Callable[[], Config]
    seen: Stamp = field(init=False)
    pending: Stamp = None
    settled_at: float | None = None
    problem: str = ""

    def __post_init__(self) -> None:
        self.seen = self._stamp()

    def read_edit(self, current: Config, now: float) -> Adopted | None:
        """What an edit since the last look means; None when there was none, it changes nothing, or it cannot be read.

        Editors empty a file before they write it, so it is read when it has stayed as it is for a moment; until
        then `settled_at` says when to look again.
        """
        stamp = self._stamp()
        if stamp == self.seen:
            self.settled_at = None
            return None
        if self.settled_at is None or stamp != self.pending:
            self.pending, self.settled_at = stamp, now + SETTLE_SECONDS
        if now < self.settled_at:
            return None
        self.seen, self.settled_at = stamp, None
        try:
            wanted = self.load()
        except PaddockError as error:
            self.problem = words_of(error)
            return None
        self.problem = ""
        keys = tuple(_differences(current, wanted))
        live = tuple(key for key in keys if key.partition(".")[0] in LIVE_SECTIONS and key not in LANDING_PLACE)
        later = tuple(key for key in keys if key not in live)
        return Adopted(_with(current, wanted, live), live, later) if keys else None

    def _stamp(self) -> Stamp:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


async def record_settings(site: Site, ledger: Ledger) -> None:
    """What is in force from now on, and how it differs from what was, for whoever wonders later which rules held.

    What it was is remembered beside the log. The log has the digest: a memory that does not match it is not believed.
    """
    digest, values = digest_of(site.config), remembered(site.config)
    before = ledger.board.settings[-1].digest if ledger.board.settings else ""
    changes: tuple[str, ...] = ()
    if before and before != digest:
        known = _recall(site.state_dir)
        is_known = known is not None and known.digest == before
        changes = describe_changes(known.values, values) if known is not None and is_known else (UNKNOWN,)
    await ledger.note(SettingsInForce(digest, changes))
    checkpoint("settings.recorded")
    _remember(site.state_dir, _Memory(digest, values))


class _Memory(msgspec.Struct, frozen=True):
    digest: str
    values: dict[str, str]


def _recall(state_dir: Path) -> _Memory | None:
    return read_hint(state_dir / MEMORY_FILE, _Memory)


def _remember(state_dir: Path, memory: _Memory) -> None:
    """Best effort: without it, the next change is recorded without details."""
    with contextlib.suppress(OSError):
        write_hint(state_dir / MEMORY_FILE, memory)


async def notice_edit(settings: SettingsFile | None, site: Site, ledger: Ledger, troubles: Troubles) -> float | None:
    """Takes over what was edited; returns when to look again at an edit that may go on."""
    if settings is None:
        return None
    adopted = settings.read_edit(site.config, site.clock.now())
    await troubles.observe(READING, settings.problem)
    if adopted is not None:
        site.config = adopted.config
        with contextlib.suppress(PaddockError):  # the next run says it
            write_note(site.state_dir, describe_fences(adopted.config))
        await ledger.note(SettingsAdopted(adopted.keys, adopted.later))
        await record_settings(site, ledger)
    return settings.settled_at


def _differences(old: Config, new: Config) -> Iterator[str]:
    for section in structs.fields(Config):
        before, after = getattr(old, section.name), getattr(new, section.name)
        if before == after:
            continue
        if section.name not in LIVE_SECTIONS:
            yield section.name
            continue
        for entry in structs.fields(type(after)):
            if getattr(before, entry.name) != getattr(after, entry.name):
                yield f"{section.name}.{entry.name}"


def _with(config: Config, new: Config, keys: tuple[str, ...]) -> Config:
    """With these keys as they are in `new`."""
    for section, name in (key.split(".") for key in keys):
        value = getattr(getattr(new, section), name)
        config = structs.replace(config, **{section: structs.replace(getattr(config, section), **{name: value})})
    return config

"""Where the repositories of a group tell each other how they stand: the port.

What is kept is small: an entry for each repository, a note for each account. Whoever changes something decides on
what is there in that very transaction, and changes of several come one after the other.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.group.entry import Entry
from paddock.core.group.notes import AccountNote


class GroupUnreachable(PaddockError):
    """What the group shares is locked, full, damaged or out of reach: nothing is known of the others."""


class GroupState(msgspec.Struct, frozen=True):
    """Entries by member, notes by account."""

    entries: dict[str, Entry] = {}
    notes: dict[str, AccountNote] = {}


class GroupChange(msgspec.Struct, frozen=True):
    """What to write, and which members to drop."""

    entries: dict[str, Entry] = {}
    notes: dict[str, AccountNote] = {}
    dropped: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        return not (self.entries or self.notes or self.dropped)


class GroupBook(Protocol):
    """Each call stands alone, may come from any thread, and raises GroupUnreachable within some seconds.

    A change that was returned from lasts, also if the power fails.
    """

    @property
    def place(self) -> str:
        """For people: where it is kept."""

    def look(self) -> GroupState: ...

    def change(self, decide: Callable[[GroupState], GroupChange]) -> GroupState:
        """`decide` sees what is there now; returns what is there then. What `decide` raises changes nothing."""


def apply(state: GroupState, change: GroupChange) -> GroupState:
    entries = {**state.entries, **change.entries}
    kept = {member: entry for member, entry in entries.items() if member not in change.dropped}
    return GroupState(kept, {**state.notes, **change.notes})


def written(change: GroupChange) -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """By table: the names and bodies of its rows."""
    yield "entries", [(name, msgspec.json.encode(entry)) for name, entry in change.entries.items()]
    yield "notes", [(name, msgspec.json.encode(note)) for name, note in change.notes.items()]


def decode(kind: type[msgspec.Struct], rows: Mapping[str, bytes], place: str) -> dict[str, object]:
    """Raises GroupUnreachable for what was not written by us."""
    try:
        return {name: msgspec.json.decode(body, type=kind) for name, body in rows.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise GroupUnreachable(f"`{place}` has an entry that cannot be read: {error}", "upgrade Paddock") from None

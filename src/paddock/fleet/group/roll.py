"""The group as a reader sees it: all its repositories, by what they have told last."""

from dataclasses import dataclass
from pathlib import Path

from paddock.config.group import groups_folder
from paddock.core.errors import NotFound, PaddockError
from paddock.core.group.entry import Entry, counted
from paddock.core.group.limits import GroupLimits
from paddock.core.group.notes import AccountNote
from paddock.core.group.sight import GroupSight
from paddock.core.ids import printable
from paddock.core.money.spending import day_of
from paddock.fleet.group.place import GroupPlace
from paddock.fleet.group.protocol import GroupChange, GroupState
from paddock.fleet.service.background import find_daemon
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.sessions.host import Host as Machine
from paddock.sessions.host import is_this_host, this_host

FRESH_SECONDS = 120.0
"""Of a repository that cannot be looked at from here: who told something so recently may have a daemon."""


NONE = GroupLimits()


@dataclass(frozen=True, slots=True)
class GroupRoll:
    """`entries` as far as they count at the time `now`, by name. `told_in` is where they meet, `host_id` the machine
    that looks. `trouble` is why nothing is known of them."""

    place: GroupPlace
    now: float
    host_id: str
    limits: GroupLimits = NONE
    told_in: str = ""
    entries: tuple[Entry, ...] = ()
    notes: tuple[tuple[str, AccountNote], ...] = ()
    trouble: str = ""
    hint: str = ""

    def sight_of(self, member: str) -> GroupSight:
        """As this repository sees it; a stranger of this machine, if it has told nothing yet."""
        own = next((entry for entry in self.entries if entry.member == member), None)
        own = own or Entry(member, "", host_id=self.host_id)
        others = tuple(entry for entry in self.entries if entry is not own)
        return GroupSight(self.place.name, own, self.limits, others, dict(self.notes), self.trouble)


def read_roll(place: GroupPlace, now: float) -> GroupRoll:
    """Raises nothing for a group that cannot be reached, or whose file is wrong: the roll says so."""
    host_id = this_host().id
    try:
        settings = place.read()
        book = place.book(settings)
        state = book.look()
    except PaddockError as error:
        return GroupRoll(place, now, host_id, trouble=error.message, hint=error.hint or "")
    entries = sorted(state.entries.values(), key=lambda entry: (entry.name, entry.place))
    seen = tuple(counted(entry, day_of(now), now) for entry in entries)
    return GroupRoll(place, now, host_id, settings.limits, book.place, seen, tuple(sorted(state.notes.items())))


def forget_member(place: GroupPlace, named: str, now: float) -> Entry:
    """What it had told no longer counts. `named` is a repository's name or its path. Raises NotFound, and PaddockError
    for one that is not known by that name alone, or whose daemon is there: it would tell the same again."""
    book = place.book(place.read())
    found = _member_named(book.look(), place, named)
    _require_gone(found, now)

    def drop(state: GroupState) -> GroupChange:
        return GroupChange(dropped=(found.member,) if found.member in state.entries else ())

    book.change(drop)
    return found


def _member_named(state: GroupState, place: GroupPlace, named: str) -> Entry:
    wanted = named.rstrip("/")
    found = [entry for entry in state.entries.values() if wanted in (entry.name, entry.place)]
    if not found and wanted:
        found = [entry for entry in state.entries.values() if entry.place == str(Path(wanted).absolute())]
    if len(found) == 1:
        return found[0]
    shown = printable(named, 80)
    if found:
        places = ", ".join(f"`{entry.place}` on {entry.host}" for entry in found)
        raise PaddockError(f"`{shown}` is the name of {len(found)} repositories: {places}", "name it by its path")
    known = ", ".join(f"`{entry.name}`" for entry in state.entries.values()) or "none"
    raise NotFound(f"group `{place.name}` has no repository `{shown}`", f"it has: {known}")


def _require_gone(entry: Entry, now: float) -> None:
    if not is_this_host(Machine(entry.host, entry.host_id)):
        if now - entry.at < FRESH_SECONDS:
            raise PaddockError(
                f"`{entry.name}` told something {now - entry.at:.0f} s ago: its daemon is running on {entry.host}",
                f"end it there: `paddock -C {entry.place} down`",
            )
        return
    if _has_daemon(entry):
        raise PaddockError(
            f"the daemon of `{entry.name}` is running: it would tell the group the same again",
            f"end it with `paddock -C {entry.place} down`",
        )


def _has_daemon(entry: Entry) -> bool:
    """False where the repository is gone, or has left the group."""
    try:
        workspace = Workspace(discover(Path(entry.place)))
        return workspace.marker == entry.member and find_daemon(workspace.board()) is not None
    except (PaddockError, OSError):
        return False


def known_groups() -> list[str]:
    """Those that have a file of limits on this machine."""
    return sorted(path.stem for path in groups_folder().glob("*.toml"))

"""The daemon's hand in its group: sees what the others do, sets starts aside before they are recorded, and tells.

Starting goes in three steps. First the group: in one transaction the others' entries are read, what would be started
is checked once more, and the own entry becomes the upper bound of what may run. Then the own log. Then the entry
becomes what the board says. Whoever dies in between has said too much, never too little, until the next daemon of the
repository tells its own board.

A group that cannot be reached keeps agents from starting and does nothing else: those at work go on.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from paddock.config.group import GroupFile
from paddock.core.admission.admit import Admission, LimitedBy
from paddock.core.admission.controls import Account, Controls, reset_account
from paddock.core.board import Board
from paddock.core.errors import PaddockError, words_of
from paddock.core.group import notes
from paddock.core.group.entry import Entry, counted, is_over
from paddock.core.group.limits import GroupLimits
from paddock.core.group.notes import AccountNote
from paddock.core.group.sight import GroupSight, Lack, Settled, Unfit, Wanted, settle_starts
from paddock.core.lead import Succeeded
from paddock.core.money.spending import day_of
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.group.place import GroupPlace, group_of
from paddock.fleet.group.protocol import GroupChange, GroupState
from paddock.fleet.group.use import DaySpent, blank_entry, fill_entry, longest_seconds
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site

HELD_UP = frozenset({LimitedBy.GROUP, LimitedBy.QUOTA, LimitedBy.TURN})
"""What ends when another repository's agent ends: tasks that wait for it are told to the others."""
ASK_SECONDS = 1.0
"""How soon to ask again then: nothing in the own log tells of it."""
FRESH_SECONDS, RENEWED_SECONDS = 5.0, 30.0
"""How old an entry may get that says tasks wait, and any other."""
COURTESY_SECONDS = 15.0
"""How long a free place is left to whose turn it is. Who does not take it by then cannot, whatever keeps them."""

DecideInGroup = Callable[[GroupFile, GroupState], GroupChange]


@dataclass
class Membership:
    """One daemon's. `trouble` is why the group could not be reached when it was last told something. Resets up to
    `known_at` have been heard of before."""

    site: Site
    ledger: Ledger
    place: GroupPlace
    trouble: str = ""
    known_at: float = 0.0
    latest: GroupSight | None = None
    """As the group stood when it was last told something."""
    _wants: Counter[str] = field(default_factory=Counter)
    _heard: list[tuple[str, bool]] = field(default_factory=list)
    _resets: dict[str, float] = field(default_factory=dict)
    _told: Entry | None = None
    _courteous_since: float | None = None

    def __post_init__(self) -> None:
        self._blank = blank_entry(self.site, self.ledger.generation)
        self._spent = DaySpent(self.site)

    # -- what is seen -----------------------------------------------------------------------------------------

    async def look(self, board: Board, controls: Controls) -> GroupSight:
        """How the group stands now. Never raises for a group that cannot be reached: the sight says so."""
        own = self._entry(board, controls)
        try:
            settings, state = await asyncio.to_thread(self._read)
        except PaddockError as error:
            return GroupSight(self.place.name, own, trouble=words_of(error))
        return self._sight(own, settings.limits, state)

    def heed(self, controls: Controls, sight: GroupSight) -> Controls:
        """What others have told of accounts holds here, too."""
        now = self.site.clock.now()
        for name, note in sight.notes.items():
            if self._is_news(name, note):
                self._resets[name] = note.reset_at
                controls = reset_account(controls, name)
            account = controls.accounts.get(name) or Account()
            heeded = notes.heed(account, note, now)
            if heeded != account:
                controls = replace(controls, accounts={**controls.accounts, name: heeded})
        return controls

    def note_refusals(self, admission: Admission) -> None:
        """What waits for the others, and whether a place is being left to them."""
        self._wants = Counter(refusal.on for refusal in admission.refusals if refusal.by in HELD_UP)
        waits = any(refusal.by is LimitedBy.TURN for refusal in admission.refusals)
        if admission.starts or not waits:
            self._courteous_since = None
        elif self._courteous_since is None:
            self._courteous_since = self.site.clock.now()

    def rest(self) -> None:
        """Nothing wants to start."""
        self._wants.clear()
        self._courteous_since = None

    def hear(self, account: str, *, is_reset: bool = False) -> None:
        """Something was heard of the account, or a person has reset it: the others are told with the next entry."""
        if (account, is_reset) in self._heard:
            self._heard.remove((account, is_reset))
        self._heard.append((account, is_reset))

    # -- what is told -----------------------------------------------------------------------------------------

    async def set_aside(self, board: Board, controls: Controls, wanted: Sequence[Wanted]) -> dict[str, Unfit]:
        """Those that may not start after all, with the reason; for all others there is room until `tell`."""
        own, dropped = self._entry(board, controls), dict[str, Unfit]()

        def decide(settings: GroupFile, state: GroupState) -> GroupChange:
            settled = self._settle(own, settings, state, wanted)
            dropped.clear()
            dropped.update(settled.dropped)
            return self._change(state, settled.own, {})

        try:
            await asyncio.to_thread(self._write, decide)
        except PaddockError as error:
            reason = f"group `{self.place.name}` cannot be reached: {words_of(error)}"
            return {one.attempt: Unfit(Lack.REACH, reason) for one in wanted}
        self._told = None
        checkpoint("group.set_aside")
        return dropped

    async def tell(self, board: Board, controls: Controls) -> None:
        """The entry as of this board, if it is another one than was told or that is some time ago."""
        own, heard = self._entry(board, controls), tuple(self._heard)
        if not heard and self._is_told(own):
            return
        limits = GroupLimits()

        def decide(settings: GroupFile, state: GroupState) -> GroupChange:
            nonlocal limits
            limits = settings.limits
            return self._change(state, own, self._notes(state, controls, heard))

        try:
            state = await asyncio.to_thread(self._write, decide)
        except PaddockError as error:
            self.trouble = words_of(error)
            return
        self.trouble, self._told, self.latest = "", own, self._sight(own, limits, state)
        self._heard = [one for one in self._heard if one not in heard]
        checkpoint("group.told")

    def _entry(self, board: Board, controls: Controls) -> Entry:
        now = self.site.clock.now()
        spent = self._spent.look(board, self.ledger.store, now)
        entry = fill_entry(self.site, self._blank, board, spent, controls, now)
        accounts = dict(entry.accounts)
        for name, count in self._wants.items():
            accounts[name] = replace(entry.use_of(name), wants=count)
        return replace(entry, accounts=accounts)

    def _is_told(self, own: Entry) -> bool:
        told = self._told
        if told is None or _without_times(told) != _without_times(own):
            return False
        return own.at - told.at < (FRESH_SECONDS if own.wants else RENEWED_SECONDS)

    def _settle(self, own: Entry, settings: GroupFile, state: GroupState, wanted: Sequence[Wanted]) -> Settled:
        now = self.site.clock.now()
        return settle_starts(self._sight(own, settings.limits, state), wanted, now, now + longest_seconds(self.site))

    def _sight(self, own: Entry, limits: GroupLimits, state: GroupState) -> GroupSight:
        now, since = self.site.clock.now(), self._courteous_since
        others = [entry for member, entry in sorted(state.entries.items()) if member != own.member]
        seen = tuple(counted(entry, day_of(now), now) for entry in others)
        yields = since is None or now - since < COURTESY_SECONDS
        return GroupSight(self.place.name, own, limits, seen, state.notes, yields=yields)

    def _change(self, state: GroupState, own: Entry, heard: dict[str, AccountNote]) -> GroupChange:
        """Raises Succeeded: a daemon that was suspended does not overwrite what its successor has told."""
        known = state.entries.get(own.member)
        if known is not None and known.generation > own.generation:
            raise Succeeded(f"another daemon (generation {known.generation}) speaks for this repository in its group")
        now = self.site.clock.now()
        over = tuple(name for name, entry in state.entries.items() if is_over(entry, day_of(now), now))
        return GroupChange({own.member: own}, heard, tuple(name for name in over if name != own.member))

    def _notes(
        self, state: GroupState, controls: Controls, heard: Sequence[tuple[str, bool]]
    ) -> dict[str, AccountNote]:
        changed: dict[str, AccountNote] = {}
        now, by = self.site.clock.now(), self._blank.name
        for name, is_reset in heard:
            note = changed.get(name) or state.notes.get(name) or AccountNote()
            if is_reset:
                changed[name] = notes.reset(note, by, now)
                self._resets[name] = now
            else:
                known = reset_account(controls, name) if self._is_news(name, note) else controls
                changed[name] = notes.told(note, known.accounts.get(name) or Account(), by, now)
        return changed

    def _is_news(self, account: str, note: AccountNote) -> bool:
        """Whether a person has reset the account elsewhere: what was known of it here is not told again then."""
        return note.reset_at > self._resets.get(account, self.known_at)

    # -- in a thread ------------------------------------------------------------------------------------------

    def _read(self) -> tuple[GroupFile, GroupState]:
        settings = self.place.read()
        return settings, self.place.book(settings).look()

    def _write(self, decide: DecideInGroup) -> GroupState:
        settings = self.place.read()
        return self.place.book(settings).change(lambda state: decide(settings, state))


def join_group(site: Site, ledger: Ledger) -> Membership | None:
    """None where the repository shares nothing."""
    place = group_of(site.config)
    return Membership(site, ledger, place) if place is not None else None


def _without_times(entry: Entry) -> Entry:
    accounts = {name: replace(use, bears_at=0.0) for name, use in entry.accounts.items()}
    return replace(entry, at=0.0, until=0.0, accounts=accounts)

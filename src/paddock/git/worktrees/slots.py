"""Slots: the numbered places worktrees live in, and the record each keeps on disk.

    ROOT/w3/                the worktree; its path never changes, so kept caches (.venv) stay valid
    ROOT/.slots/w3/         lock, record.json, setup.log, tmp/ATTEMPT/
    ROOT/.slots/w3/repo/    the git directory of the attempt that works there
    ROOT/.slots/w3/control/ ours; no attempt has business there
    ROOT/.slots/repository  whose worktrees these are

Who holds a slot's lock may change the slot, unless it is a daemon and a later one has held it before. A record that
says MAKING, CLAIMED or RETURNING while nobody holds the lock was left by a process that died; every step can be done
again.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.lead import BY_HAND, Lead, takes_over
from paddock.core.tasks.conversations import NOWHERE, Homes
from paddock.core.upkeep.survey import SlotState
from paddock.git.disk import DiskFloor
from paddock.git.enclosure.enclosure import LARGEST_FILE_MB, Enclosure
from paddock.git.lock import Lock, hold, try_lock
from paddock.git.repo import REPOSITORY_FILE, SLOTS_FOLDER, Repo
from paddock.git.worktrees.setup import SetupCommand, plain_setup

if TYPE_CHECKING:
    from paddock.git.worktrees.furnish import Worktree

_FIRST_PORT = 20_000
_PORT_AFTER_LAST = 32_768  # Linux hands out ephemeral ports from here on


class SlotRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    state: SlotState
    attempt: str = ""
    branch: str = ""
    start: str = ""
    at: str = ""
    setup_at: str = ""  # the commit the setup command last succeeded on, "" if never since the last clean-up
    setup_by: tuple[str, ...] = ()
    used: bool = False  # an attempt has worked here: a process it left behind may still write
    unswept: bool = False  # returned as it was, for nothing lay about; empty folders may, and the index is the agent's
    included: tuple[str, ...] = ()  # what .worktreeinclude brought in, hence ours to refresh
    reason: str = ""
    tree: int = 0  # which folders we made for it, by their inodes; 0 for one that is not there
    control: int = 0
    own: int = 0
    given: str = ""  # the digest of the user's refs the attempt was shown
    taken: str = ""  # the commit of the attempt's that was imported last
    rescued: str = ""  # the rescue commit made for it
    placed: tuple[str, ...] = ()  # where the user's branch may be without anybody else having moved it
    generation: int = 0  # that of the last daemon which had its lock


_RECORDS = msgspec.json.Decoder(SlotRecord)


@dataclass(frozen=True, slots=True)
class PortPlan:
    """A block of `per_slot` ports for each slot; blocks never overlap.

    The first slot gets the block number `shift` after `first`; behind the last block comes the first.
    """

    first: int = _FIRST_PORT
    per_slot: int = 10
    after_last: int = _PORT_AFTER_LAST
    shift: int = 0

    def block(self, slot: int) -> range:
        blocks = (self.after_last - self.first) // self.per_slot
        if slot > blocks:
            raise PaddockError(
                f"no ports left for worktree {slot}: {self.per_slot} each from {self.first} reach {self.after_last}",
                "lower the ports per worktree or the first port in paddock.toml",
            )
        start = self.first + (slot - 1 + self.shift) % blocks * self.per_slot
        return range(start, start + self.per_slot)


def own_ports(root: Path, per_slot: int) -> PortPlan:
    """A plan that begins elsewhere for most pairs of repositories on one machine."""
    return PortPlan(per_slot=per_slot, shift=crc32(os.fsencode(root)))


@dataclass(frozen=True, slots=True)
class WorktreeRoot:
    """Where a repository's worktrees live and how they are furnished.

    `keep` names the ignored folders that survive a clean-up; `setup` is an argv run once in every worktree,
    as `dress_setup` says. With `most` slots or more, a new one is made only where no idle one is left.
    """

    repo: Repo
    path: Path
    most: int = 8
    keep: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    dress_setup: "Callable[[tuple[str, ...], Worktree], SetupCommand]" = plain_setup
    setup_timeout_seconds: float = 600.0
    ports: PortPlan = field(default_factory=PortPlan)
    floor: DiskFloor = field(default_factory=DiskFloor)
    largest_file_mb: int = LARGEST_FILE_MB

    def __post_init__(self) -> None:
        for outer in (self.repo.main, self.repo.common_dir):
            if outer is not None and self.path.is_relative_to(outer):
                raise PaddockError(
                    f"worktrees cannot live in `{self.path}`: it is inside `{outer}`",
                    "choose a folder beside the repository",
                )

    @property
    def slots_folder(self) -> Path:
        return self.path / SLOTS_FOLDER

    def enclosure(self, slot: "Slot") -> Enclosure:
        folders = (slot.path, slot.home / "repo", slot.home / "control")
        return Enclosure(self.repo, *folders, largest_file_mb=self.largest_file_mb)


def default_root(repo: Repo) -> Path:
    """`../NAME.paddock`, beside the repository; of a submodule, which lies in another tree, its git directory."""
    is_submodule = (".git", "modules") in pairwise(repo.common_dir.parts)
    home = repo.common_dir if is_submodule or repo.main is None else repo.main
    return home.parent / f"{repo.name}.paddock"


@dataclass(frozen=True, slots=True)
class Slot:
    number: int
    path: Path  # the worktree
    home: Path  # what we keep about it
    lead: Lead = field(default=BY_HAND, compare=False)

    @property
    def lock_path(self) -> Path:
        return self.home / "lock"


def slot_at(root: WorktreeRoot, number: int) -> Slot:
    name = f"w{number}"
    return Slot(number, root.path / name, root.slots_folder / name, root.repo.lead)


def slot_of(root: WorktreeRoot, place: Path) -> Slot | None:
    """The slot whose worktree is at `place`, whether it exists or not; None when that is no place of this root's."""
    number = place.name.removeprefix("w")
    is_ours = place.parent == root.path and number.isdecimal() and place.name == f"w{int(number)}"
    return slot_at(root, int(number)) if is_ours else None


def list_slots(root: WorktreeRoot) -> tuple[Slot, ...]:
    try:
        names = os.listdir(root.slots_folder)
    except FileNotFoundError:
        return ()
    numbers = sorted(int(name[1:]) for name in names if name[:1] == "w" and name[1:].isdecimal())
    return tuple(slot_at(root, number) for number in numbers)


def read_record(slot: Slot) -> SlotRecord | None:
    """What is recorded of the slot; None when nothing readable is."""
    try:
        with open(f"{slot.home}/record.json", "rb", buffering=0) as file:
            return _RECORDS.decode(file.read())
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def write_record(slot: Slot, record: SlotRecord, lock: Lock) -> None:
    assert lock.path == slot.lock_path
    slot.lead.require()
    generation = slot.lead.generation or record.generation or (read_record(slot) or record).generation
    record = msgspec.structs.replace(record, generation=generation)
    fresh = f"{slot.home}/record.json.new"
    with open(fresh, "wb") as file:
        file.write(msgspec.json.encode(record))
    os.replace(fresh, f"{slot.home}/record.json")
    _remember_place(slot, record)


def remember_repository(root: WorktreeRoot) -> None:
    """For whoever asks from inside a worktree whose it is."""
    path, said = root.slots_folder / REPOSITORY_FILE, os.fsencode(root.repo.common_dir) + b"\n"
    with suppress(FileNotFoundError):
        if path.read_bytes() == said:
            return
    root.slots_folder.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{REPOSITORY_FILE}.{os.getpid()}.{threading.get_ident()}.new")
    fresh.write_bytes(said)
    os.replace(fresh, path)


@contextmanager
def hold_slot(slot: Slot) -> Iterator[Lock]:
    """Raises Succeeded where a later daemon than ours has held it: nothing here is ours to touch any more."""
    with hold(slot.lock_path, timeout_seconds=120.0) as lock:
        _take(slot, lock)
        yield lock


def _take(slot: Slot, lock: Lock) -> None:
    record = read_record(slot)
    if takes_over(record.generation if record else 0, slot.lead) and record is not None:
        write_record(slot, record, lock)


@contextmanager
def hold_if_free(slot: Slot) -> Iterator[Lock | None]:
    """As `hold_slot`; None when someone is at work in it or it has just been removed."""
    lock = try_lock(slot.lock_path) if slot.home.is_dir() else None
    if lock is None:
        yield None
        return
    with closing(lock):
        _take(slot, lock)
        yield lock


def hold_claims(root: WorktreeRoot) -> AbstractContextManager[Lock]:
    """Held for the moment in which an attempt finds its slot or a new number is taken."""
    return hold(root.slots_folder / "claims.lock")


_places: dict[tuple[Path, str], int] = {}
"""Where attempts were last seen, only to look there first: with many slots a search reads them all."""
_MOST_PLACES = 4096


def find_slot(root: WorktreeRoot, attempt: str) -> tuple[Slot, SlotRecord] | None:
    """The slot recorded for `attempt`, None when it has none."""
    return recall_slot(root, attempt) or next(
        (pair for pair in read_records(root) if belongs_to(pair[1], attempt)), None
    )


@contextmanager
def hold_attempt(root: WorktreeRoot, attempt: str) -> Iterator[tuple[Slot, SlotRecord, Lock] | None]:
    """`hold_slot` for whoever has the attempt's name only; None when it has no slot, or has just lost it."""
    found = find_slot(root, attempt)
    if found is None:
        yield None
        return
    slot, _ = found
    with hold_slot(slot) as lock:
        record = read_record(slot)
        yield (slot, record, lock) if record is not None and record.attempt == attempt else None


def recall_slot(root: WorktreeRoot, attempt: str) -> tuple[Slot, SlotRecord] | None:
    """`find_slot` where the attempt was last seen, None when it is not there."""
    number = _places.get((root.path, attempt))
    slot = slot_at(root, number) if number is not None else None
    record = read_record(slot) if slot is not None else None
    return (slot, record) if slot is not None and record is not None and belongs_to(record, attempt) else None


def read_records(root: WorktreeRoot) -> list[tuple[Slot, SlotRecord]]:
    """Every slot that has a readable record."""
    records = [(slot, record) for slot in list_slots(root) if (record := read_record(slot)) is not None]
    for slot, record in records:
        _remember_place(slot, record)
    return records


def _remember_place(slot: Slot, record: SlotRecord) -> None:
    if len(_places) > _MOST_PLACES:
        _places.clear()
    if record.attempt:
        _places[slot.path.parent, record.attempt] = slot.number


def belongs_to(record: SlotRecord, attempt: str) -> bool:
    return record.attempt == attempt and record.state is not SlotState.IDLE


def next_slot(root: WorktreeRoot, claims: Lock, homes: Homes = NOWHERE) -> Slot:
    """The lowest number nobody uses; it is taken by writing its record before `claims` is let go.

    Numbers whose removed slot a conversation may come back to are left out, as far as they are `most` or fewer.
    """
    assert claims.path.parent == root.slots_folder
    used = {slot.number for slot in list_slots(root)}
    # Numbers, and a slot only of the one that is looked at: `most` may be in the thousands.
    free = [n for n in range(1, max(root.most, len(used)) + 2) if n not in used]
    lived_in = {*homes.due, *homes.kept}
    free.sort(key=lambda n: f"{root.path}/w{n}" in lived_in)
    beyond = (n for n in count(max(root.most, len(used)) + 2) if n not in used)
    # A folder that is there is not ours: a slot's home is removed only after its worktree.
    slots = (slot_at(root, n) for n in chain(free, beyond))
    return next(slot for slot in slots if not os.path.lexists(slot.path))

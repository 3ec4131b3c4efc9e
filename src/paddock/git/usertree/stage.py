"""The folder in which an update of a working tree is prepared, and from which it is undone.

    paddock-sync/guard      a file that becomes index.lock by a hard link: so a lock left behind is known to be ours
    paddock-sync/index      the index to be
    paddock-sync/journal    which paths are to change, and what was there
    paddock-sync/placed     every file is in place; from here on nothing is undone, and the index must follow
    YARD/new/…, YARD/old/N  files to be put in place, and those they took the place of

YARD is the same folder where it is on the working tree's file system, else one inside the working tree. No file is
ever overwritten: what is there is first moved to `old`, looked at, and only then replaced by a link that fails
if something new has come up in its place. Whatever is not as expected moves everything back.
"""

import contextlib
import errno
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec

from paddock.core.errors import PaddockError
from paddock.git.checkpoints import Checkpoint
from paddock.git.disk import remove_tree
from paddock.git.usertree.places import UserTree, fingerprint, parents_of

LOCK_SECONDS = 2.0
_PAUSE_SECONDS = 0.01
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS)


class Item(msgspec.Struct, frozen=True, array_like=True):
    """One path: `before` is the fingerprint of what is there, `after` of what comes; None for nothing."""

    path: bytes
    before: str | None
    after: str | None
    is_folder: bool = False  # the empty folder of a submodule


class Journal(msgspec.Struct, frozen=True):
    yard: bytes
    items: tuple[Item, ...]
    made: tuple[bytes, ...] = ()


class InTheWay(PaddockError):
    """Somebody wrote to the working tree while it was brought up to date; it is as they left it."""

    def __init__(self, path: str) -> None:
        super().__init__(f"`{path}` changed while the checkout was brought up to date")
        self.path = path


@dataclass(frozen=True, slots=True)
class TreeStage:
    """The caller holds the lock on all updates of this repository's checkouts."""

    tree: UserTree
    checkpoint: Checkpoint

    @property
    def folder(self) -> Path:
        return self.tree.stage_folder

    @property
    def index(self) -> Path:
        return self.folder / "index"

    @property
    def yard(self) -> Path:
        here = self.tree.git_dir.stat().st_dev == self.tree.path.stat().st_dev
        return self.folder if here else self.tree.path / ".paddock-sync"

    @property
    def new(self) -> Path:
        return self.yard / "new"

    def open(self) -> None:
        """Starts from nothing, after whatever an earlier process left here was put right."""
        self.recover()
        self.folder.mkdir()
        self.new.mkdir(parents=True)
        (self.yard / "old").mkdir()
        (self.folder / "guard").touch()

    def lock_index(self) -> bool:
        """False when another git process keeps it."""
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                os.link(self.folder / "guard", self.tree.index_lock)
                return True
            except FileExistsError:
                if time.monotonic() > deadline:
                    return False
                time.sleep(_PAUSE_SECONDS)

    def holds_index(self) -> bool:
        try:
            return os.path.samestat(self.tree.index_lock.lstat(), (self.folder / "guard").lstat())
        except FileNotFoundError:
            return False

    def unlock_index(self) -> None:
        if self.holds_index():
            self.tree.index_lock.unlink()

    def place(self, items: tuple[Item, ...]) -> None:
        """Puts every file in its place. Raises InTheWay or OSError with nothing changed."""
        made = tuple(os.fsencode(folder) for folder in self._folders_to_make(items))
        self._write_journal(Journal(os.fsencode(self.yard), items, made))
        self.checkpoint("sync.journalled")
        try:
            for number, item in enumerate(items):
                if item.before is not None:
                    self._take_away(number, item)
                    self.checkpoint("sync.taken")
                if item.after is None:
                    self._drop_empty_folders(item)
            for item in items:
                if item.after is not None:
                    self._put(item)
                    self.checkpoint("sync.put")
            self._look_at_what_was_taken(items)
        except BaseException:
            self.undo()
            raise
        (self.folder / "placed").touch()
        self.checkpoint("sync.placed")

    def commit_index(self) -> None:
        """The new index takes the place of the old one; the caller holds its lock."""
        os.replace(self.index, self.tree.index)
        self.checkpoint("sync.indexed")
        self.unlock_index()

    def close(self) -> None:
        """Removes the folder; the journal goes first, so that nothing half removed is ever undone."""
        self.unlock_index()
        journal = self._read_journal()
        yard = self.yard if journal is None else Path(os.fsdecode(journal.yard))
        (self.folder / "journal").unlink(missing_ok=True)
        for folder in {yard, self.folder}:
            remove_tree(folder)

    def recover(self) -> None:
        """Puts right what a process that was killed left behind. Does nothing when there is nothing."""
        if not self.folder.exists():
            return
        if (self.folder / "placed").exists() and self.index.exists() and self.holds_index():
            self.commit_index()  # nobody can have written another index meanwhile
        self.undo()
        self.close()

    def undo(self) -> None:
        """Everything as it was before `place`; what somebody has written since then stays."""
        journal = self._read_journal()
        if journal is None or (self.folder / "placed").exists():
            return
        yard = Path(os.fsdecode(journal.yard))
        for number, item in reversed(list(enumerate(journal.items))):
            self._put_back(yard, number, item)
        for folder in reversed(journal.made):
            with contextlib.suppress(OSError):
                os.rmdir(self._at(folder))
        (self.folder / "journal").unlink()

    # -- one path -------------------------------------------------------------------------------------------

    def _at(self, path: bytes) -> Path:
        return self.tree.path / os.fsdecode(path)

    def _take_away(self, number: int, item: Item) -> None:
        kept = self.yard / "old" / str(number)
        try:
            os.rename(self._at(item.path), kept)
        except FileNotFoundError:
            raise InTheWay(os.fsdecode(item.path)) from None
        if fingerprint(kept) != item.before:
            raise InTheWay(os.fsdecode(item.path))

    def _put(self, item: Item) -> None:
        target, source = self._at(item.path), self.new / os.fsdecode(item.path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.is_dir() and not target.is_symlink():
                _remove_empty_folders(target)
            if item.is_folder:
                target.mkdir(exist_ok=True)
            elif source.is_symlink():
                os.symlink(os.readlink(source), target)
            else:
                _link(source, target)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise InTheWay(os.fsdecode(item.path)) from None

    def _put_back(self, yard: Path, number: int, item: Item) -> None:
        target, kept = self._at(item.path), yard / "old" / str(number)
        taken = os.path.lexists(kept) or item.before is None
        if taken and item.after is not None and fingerprint(target) == item.after:
            if item.is_folder:
                with contextlib.suppress(OSError):
                    os.rmdir(target)
            else:
                self._withdraw(yard, number, item)
        if os.path.lexists(kept) and not os.path.lexists(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            if kept.is_symlink():
                os.symlink(os.readlink(kept), target)
            elif kept.is_dir():
                os.rename(kept, target)
            else:
                _link(kept, target)
        if os.path.lexists(kept) and fingerprint(kept) not in (item.before, fingerprint(target)):
            # Somebody wrote to the old file after it had been taken away, and something new to its place.
            os.rename(kept, target.with_name(f"{target.name}.before-sync"))

    def _withdraw(self, yard: Path, number: int, item: Item) -> None:
        """Takes our own file out again, unless it was written to in that very moment."""
        aside, target = yard / "old" / f"{number}.new", self._at(item.path)
        os.rename(target, aside)
        if fingerprint(aside) != item.after:
            os.rename(aside, target)

    def _look_at_what_was_taken(self, items: tuple[Item, ...]) -> None:
        """A program that had a file open may have written to it after it was taken away."""
        for number, item in enumerate(items):
            if item.before is not None and fingerprint(self.yard / "old" / str(number)) != item.before:
                raise InTheWay(os.fsdecode(item.path))

    def _drop_empty_folders(self, item: Item) -> None:
        folder = self._at(item.path).parent
        while folder != self.tree.path:
            try:
                os.rmdir(folder)
            except OSError:
                return
            folder = folder.parent

    def _folders_to_make(self, items: tuple[Item, ...]) -> list[str]:
        """Parents that do not exist yet, outermost first."""
        needed = dict.fromkeys(
            folder for item in items if item.after is not None for folder in parents_of(os.fsdecode(item.path))
        )
        return [folder for folder in needed if not (self.tree.path / folder).is_dir()]

    # -- the journal ----------------------------------------------------------------------------------------

    def _write_journal(self, journal: Journal) -> None:
        draft = self.folder / "journal.new"
        with open(draft, "wb") as file:
            file.write(msgspec.msgpack.encode(journal))
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self.folder / "journal")

    def _read_journal(self) -> Journal | None:
        try:
            return msgspec.msgpack.decode((self.folder / "journal").read_bytes(), type=Journal)
        except FileNotFoundError:
            return None


def _link(source: Path, target: Path) -> None:
    """`target` becomes `source`; FileExistsError when something is there."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        with open(source, "rb") as read, open(target, "xb") as written:
            shutil.copyfileobj(read, written)
        shutil.copystat(source, target)


def _remove_empty_folders(folder: Path) -> None:
    for inner, _, _ in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(inner)

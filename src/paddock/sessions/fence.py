"""What a fenced command sees, and the bubblewrap command line that makes it so. Nothing is looked up or run here.

A fence begins with nothing and shows what is named. Each path is shown in one way; where two are named for the same
path, the one that shows more wins, for it was named for a purpose. Parents are mounted before what is in them, so a
private HOME can hold a worktree, and a repository that is not shown can hold objects that are.

The command is not the first process in there: bubblewrap's own is, which buries orphans. Between the two a shell
writes down how the command ended, because bubblewrap tells a signal from a status no more than a shell's `$?` does.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from paddock.core.fence import Level

# Standard error is the turn's record of its end, 3 the command's own standard error: as in shim.sh.
INNER_SCRIPT = (
    'exec 3>&2 2>&4 4>&-; trap : HUP INT QUIT TERM USR1 USR2 ALRM; (exec 2>&3 3>&-; exec "$@"); echo "$?" >&2'
)
INNER_COMMAND = ("/bin/sh", "-c", INNER_SCRIPT, "paddock-fence")
NAMESPACES = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL")


_ALWAYS_THERE = frozenset(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty"))


class Showing(IntEnum):
    """How a path is shown, from the least to the most."""

    SPECIAL = 0
    PRIVATE = 1
    HIDDEN = 2
    READABLE = 3
    WRITABLE = 4


@dataclass(frozen=True, slots=True)
class Fence:
    """One command's fence.

    `private` are folders that begin empty and end with the command, `hidden` files and folders that are empty.
    `kept` maps a place in the fence to the folder outside that is shown there, writable.
    A path that does not exist is not shown.
    """

    level: Level
    private: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    kept: tuple[tuple[Path, Path], ...] = ()


@dataclass(frozen=True, slots=True)
class System:
    """What every fence shows of the machine: `links` are symbolic links at the root, by what they say."""

    program: str
    reads: tuple[Path, ...]
    links: tuple[tuple[str, str], ...] = ()
    hidden_files: tuple[Path, ...] = ()
    hidden_folders: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class _Mount:
    showing: Showing
    source: str
    place: str

    @property
    def shows_itself(self) -> bool:
        return self.showing >= Showing.READABLE and self.source == self.place

    def words(self) -> tuple[str, ...]:
        match self.showing:
            case Showing.SPECIAL:
                return (self.source, self.place)
            case Showing.PRIVATE:
                return ("--tmpfs", self.place)
            case Showing.HIDDEN:
                return ("--ro-bind", "/dev/null", self.place) if self.source else ("--tmpfs", self.place)
            case _ if self.is_device:
                return ("--dev-bind-try", self.source, self.place)
            case Showing.READABLE:
                return ("--ro-bind-try", self.source, self.place)
            case Showing.WRITABLE:
                return ("--bind-try", self.source, self.place)

    @property
    def is_device(self) -> bool:
        return self.source.startswith("/dev/") and not self.source.startswith("/dev/shm/")


def fence_argv(
    fence: Fence, system: System, cwd: Path, command: Iterable[str], inner: tuple[str, ...] = INNER_COMMAND
) -> tuple[str, ...]:
    """The command line that runs `command` in the fence; it expects the record of its end as descriptor 4.

    Without the `inner` command there is none, and its status is bubblewrap's own, where a signal reads as 128 and more.
    """
    network = ("--unshare-net",) if fence.level is Level.FILES_AND_NETWORK else ()
    mounts = _without_repeats(_mounts(fence, system))
    return (
        system.program,
        *NAMESPACES,
        *network,
        *(word for said, place in system.links for word in ("--symlink", said, place)),
        *(word for mount in mounts for word in mount.words()),
        *("--chdir", str(cwd), "--"),
        *inner,
        *command,
    )


def _mounts(fence: Fence, system: System) -> Mapping[str, _Mount]:
    mounts: dict[str, _Mount] = {}

    def show(showing: Showing, place: Path, source: str) -> None:
        key = str(place)
        if key in _ALWAYS_THERE or key.startswith("/proc/"):
            return
        known = mounts.get(key)
        if known is None or known.showing < showing:
            mounts[key] = _Mount(showing, source, key)

    show(Showing.SPECIAL, Path("/proc"), "--proc")
    show(Showing.SPECIAL, Path("/dev"), "--dev")
    for folder in (Path("/tmp"), Path("/var/tmp"), *fence.private):
        show(Showing.PRIVATE, folder, "")
    for path in (*system.reads, *fence.reads):
        show(Showing.READABLE, path, str(path))
    for path in fence.writes:
        show(Showing.WRITABLE, path, str(path))
    for place, outside in fence.kept:
        show(Showing.WRITABLE, place, str(outside))
    hidden = [(path, "/dev/null") for path in system.hidden_files]
    hidden += [(path, "") for path in (*system.hidden_folders, *fence.hidden)]
    for path, source in hidden:
        show(Showing.HIDDEN, path, source)
    return mounts


def _without_repeats(mounts: Mapping[str, _Mount]) -> Iterator[_Mount]:
    """Parents first, without what a parent shows already. Such a mount would not only be superfluous: where it is a
    link, what it leads to may not be there yet."""
    for place in sorted(mounts, key=lambda place: place.split("/")):
        mount, parent = mounts[place], _parent(mounts, place)
        if parent is None or not parent.shows_itself or not mount.shows_itself or mount.showing > parent.showing:
            yield mount


def _parent(mounts: Mapping[str, _Mount], place: str) -> _Mount | None:
    """The nearest mount around the place."""
    while place != "/":
        place = place.rpartition("/")[0] or "/"
        if place in mounts:
            return mounts[place]
    return None

"""Live views, each made once for all pages that show it."""

import sys
import traceback
from collections.abc import Callable
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from paddock.core.errors import NotFound, PaddockError
from paddock.core.ids import is_task, parse_task, printable
from paddock.fleet.outlook import Outlook, look_around
from paddock.fleet.service.presence import look_for_daemon
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import LogUnusable, Store
from paddock.views.board.page import LiveBoard
from paddock.views.fleet.page import LiveFleet
from paddock.views.queue.picture import LiveQueue
from paddock.views.sight import LiveView, Sight, sight_of
from paddock.views.tasks.page import LiveTask
from paddock.web.versions import Versions

MOST_CHANNELS = 64
OUTLOOK_SECONDS = 1.0
"""How old what is seen beside the board may be: looking at it may run git."""

NAMED: dict[str, Callable[[], LiveView]] = {"board": LiveBoard, "queue": LiveQueue, "fleet": LiveFleet}


def view_named(name: str) -> LiveView:
    """Raises NotFound."""
    if name in NAMED:
        return NAMED[name]()
    kind, _, task = name.partition(":")
    if kind == "task" and is_task(task):
        return LiveTask(parse_task(task))
    known = ", ".join((*NAMED, "task:t3"))
    raise NotFound(f"there is no live view `{printable(name, 40)}`", f"there are: {known}")


class Channel:
    """A live view and the versions of its document."""

    def __init__(self, name: str, view: LiveView | None = None) -> None:
        """`view` may have looked already. Raises NotFound for an unknown name."""
        self.name = name
        self.watchers = 0
        self._complained = ""
        self._versions = Versions(name)
        self._view = view if view is not None else view_named(name)

    def begin(self) -> None:
        """With another log, perhaps: no mark of before counts."""
        self._view = view_named(self.name)
        self._versions.begin()

    @property
    def mark(self) -> str:
        return self._versions.mark

    @property
    def document(self) -> msgspec.Struct | None:
        """As it was looked at last; None if it could not be."""
        return self._versions.document

    def look(self, sight: Sight) -> bool:
        """Whether anything has changed. Raises PaddockError, such as NotFound for a task that does not exist."""
        try:
            document = self._view.look(sight)
        except (PaddockError, OSError):
            raise
        except Exception as error:  # one view that cannot be made must not end the others
            if (words := f"{type(error).__name__}: {error}") != self._complained:
                self._complained = words
                traceback.print_exc(file=sys.stderr)
            return False
        return self._versions.take(document)

    def since(self, mark: str | None) -> list[bytes]:
        """What makes the newest version of the one that has this mark: nothing, steps, or the whole."""
        return self._versions.since(mark)


class Channels:
    """Those that are watched, and for a while those that were."""

    def __init__(self) -> None:
        self._channels: dict[str, Channel] = {}
        self._outlook: Outlook | None = None

    @property
    def is_watched(self) -> bool:
        return any(channel.watchers for channel in self._channels.values())

    def __contains__(self, name: str) -> bool:
        return name in self._channels

    def open(self, name: str, sight: Callable[[], Sight], view: LiveView | None = None) -> Channel:
        """`view` is for one that is not there yet. Raises NotFound for an unknown one. While the log cannot be read it
        shows nothing: the pulse tells why."""
        channel = self._channels.pop(name, None) or Channel(name, view)
        if not channel.watchers:
            with suppress(LogUnusable, OSError):
                channel.look(sight())
        self._channels[name] = channel
        idle = [known for known, one in self._channels.items() if not one.watchers and known != name]
        for known in idle[: max(0, len(self._channels) - MOST_CHANNELS)]:
            del self._channels[known]
        return channel

    def look(self, sight: Sight) -> bool:
        """Whether any that is watched has changed. One whose task is not in the log, which is another one now, does not
        keep the others from being told."""
        changed = False
        for channel in self._channels.values():
            if channel.watchers:
                with suppress(NotFound):
                    changed |= channel.look(sight)
        return changed

    def forget(self) -> None:
        """Another log may have taken the place of the one they were made from: all begin again."""
        self._outlook = None
        for channel in self._channels.values():
            channel.begin()

    def sight(self, workspace: Workspace, store: Store, now: float) -> Sight:
        """What is seen beside the board is looked at now and then."""
        board = store.board()
        seen = self._outlook
        if seen is None or not 0 <= now - seen.now < OUTLOOK_SECONDS:
            seen = self._outlook = look_around(workspace, board, now)
        outlook = replace(seen, daemon=look_for_daemon(board, now))
        return sight_of(workspace, store, now, outlook)

"""What the screen is made from, read in a thread of its own: woken by the log, and once a second for what only time or
the daemon's notes tell."""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple

from paddock.core.errors import PaddockError
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Listener, Store
from paddock.tui.connection import interactive_engines
from paddock.views.board.page import BoardView, LiveBoard
from paddock.views.fleet.page import LiveFleet
from paddock.views.sight import Sight, sight_of

WAKE_SECONDS = 1.0
LEAST_SECONDS = 0.1
"""Between two looks, however much is recorded."""
SLICE_SECONDS = 0.2
QUOTA_SECONDS = 5.0
AGAIN_SECONDS = 1.0
"""Until a log that could not be read is tried again."""


class QuotaUse(NamedTuple):
    """One window of an account's quota; `used` is a share of one."""

    account: str
    window: str
    used: float


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest view, with what it has no room for: quotas, and which engines people can talk to. Or the trouble that
    is in the way of one, and what to do."""

    view: BoardView | None = None
    trouble: str = ""
    hint: str = ""
    quotas: tuple[QuotaUse, ...] = ()
    engines: frozenset[str] = frozenset()

    def after(self, before: "Seen") -> "Seen":
        """Where there is trouble, with what was seen last."""
        return self if self.view is not None else replace(before, trouble=self.trouble, hint=self.hint)


def follow(workspace: Workspace, tell: Callable[[Seen], None], is_over: Callable[[], bool]) -> None:
    """Blocks until it is over. A log that vanishes or cannot be read is told, and tried again."""
    told = ""
    while not is_over():
        try:
            with closing(workspace.read()) as store:
                told = ""
                _follow_store(workspace, store, tell, is_over)
        except (PaddockError, OSError) as error:
            words, hint = _trouble(workspace, error)
            if words != told:
                told = words
                tell(Seen(None, words, hint))
            _wait(AGAIN_SECONDS, is_over)


def _trouble(workspace: Workspace, error: PaddockError | OSError) -> tuple[str, str]:
    """In words, and what to do."""
    if not workspace.repo.common_dir.exists():
        return f"`{workspace.top}` is gone: it was moved or deleted", "q leaves; it is shown again when it is back"
    if isinstance(error, PaddockError):
        return error.message, error.hint or ""
    return f"the log cannot be read: {error}", ""


def _follow_store(
    workspace: Workspace, store: Store, tell: Callable[[Seen], None], is_over: Callable[[], bool]
) -> None:
    board, quotas = LiveBoard(), Quotas()
    before: Seen | None = None
    with store.listen() as listener:
        while not is_over() and store.exists():
            sight = sight_of(workspace, store, time.time())
            view = board.look(sight)
            seen = Seen(view, quotas=quotas.look(sight), engines=_talkative(workspace, view))
            if seen != before:
                before = seen
                tell(seen)
            _wait(LEAST_SECONDS, is_over)
            _await_news(listener, is_over)


def _await_news(listener: Listener, is_over: Callable[[], bool]) -> None:
    """In slices, so that leaving takes no longer than one."""
    until = time.monotonic() + WAKE_SECONDS
    while not is_over() and (left := until - time.monotonic()) > 0:
        if listener.wait(min(left, SLICE_SECONDS)):
            return


class Quotas:
    """The windows of the providers' quotas, looked at now and then: they move slowly."""

    def __init__(self) -> None:
        self._fleet = LiveFleet()
        self._at = 0.0
        self._known: tuple[QuotaUse, ...] = ()

    def look(self, sight: Sight) -> tuple[QuotaUse, ...]:
        if not 0 <= sight.now - self._at < QUOTA_SECONDS:
            self._at = sight.now
            accounts = self._fleet.look(sight).accounts.values()
            self._known = tuple(
                QuotaUse(account.name, window.name, window.used) for account in accounts for window in account.windows
            )
        return self._known


def _talkative(workspace: Workspace, view: BoardView) -> frozenset[str]:
    return interactive_engines(workspace.site, {row.engine for row in view.tasks.values() if row.engine})


def _wait(seconds: float, is_over: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while not is_over() and (left := until - time.monotonic()) > 0:
        time.sleep(min(left, SLICE_SECONDS))

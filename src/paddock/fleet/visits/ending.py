"""Ending another terminal's hold on an attempt: because its agent is to go on, or because that terminal is gone."""

import asyncio
import contextlib

from paddock.core.errors import PaddockError
from paddock.core.events import TurnEnded
from paddock.core.ids import TaskId, printable
from paddock.core.intent.holds import GO_ON, hand_back, leave
from paddock.core.tasks.task import Attempt, Hold
from paddock.core.tasks.vocabulary import EndedBy
from paddock.fleet.attempts.holding import is_left
from paddock.fleet.attempts.turn import new_session_id
from paddock.fleet.clock import wait_for
from paddock.fleet.service.presence import Presence, look_for_daemon
from paddock.fleet.site import Site
from paddock.fleet.visits.words import leave_words, take_words
from paddock.fleet.workspace import Workspace
from paddock.sessions.seats import ask_to_leave
from paddock.store.protocol import Store

LEAVE_SECONDS = 60.0
LOOK_SECONDS = 1.0


async def hand_over(workspace: Workspace, name: TaskId, text: str) -> None:
    """Its agent goes on: from a hold, whose terminal is asked to leave first, or after somebody has left.

    Raises PaddockError.
    """
    by = workspace.person
    with contextlib.closing(workspace.write()) as store:
        live = store.board().task(name).live_attempt
        held = live.held if live is not None else None
        hand_back(store.board(), name, by, text)  # refused before anybody is asked to leave for it
        if live is None or held is None or is_left(workspace.site, held):
            ended = _end_what_is_left(workspace.site, live) if live is not None and held is not None else None
            workspace.append(store, lambda board: hand_back(board, name, by, text, ended))
            return
        leave_words(workspace.site, live.id, text or GO_ON)
        if not ask_to_leave(held):
            take_words(workspace.site, live.id)
            raise PaddockError(
                f"`{live.id}` is held in a terminal on `{printable(held.host, 60)}`, out of reach from here",
                f"run `paddock handback {name}` there",
            )
        if not await _has_left(store, name, held):
            raise PaddockError(
                f"the terminal that holds `{live.id}` has not ended within {LEAVE_SECONDS:.0f} s",
                f"leave it there, or run `paddock stop {name}`",
            )


async def end_gone_hold(workspace: Workspace, name: TaskId) -> None:
    """A hold whose terminal is certainly gone: the daemon ends it, and where none runs, we do."""
    with contextlib.closing(workspace.write()) as store:
        live = store.board().task(name).live_attempt
        if live is None or live.held is None or not is_left(workspace.site, live.held):
            return
        is_led = look_for_daemon(store.board(), workspace.site.clock.now()).presence is Presence.RUNNING
        if is_led and await _has_left(store, name, live.held):
            return
        ended, attempt = _end_what_is_left(workspace.site, live), live.id
        workspace.append(store, lambda board: leave(board, attempt, ended, reason="its terminal is gone"))


async def await_leaving(workspace: Workspace, name: TaskId, held: Hold) -> bool:
    """Whether the hold has ended, within a minute."""
    with contextlib.closing(workspace.read()) as store:
        return await _has_left(store, name, held)


async def _has_left(store: Store, name: TaskId, held: Hold) -> bool:
    woken = asyncio.Event()
    with store.listen() as listener:
        listener.tell(woken.set)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                while (live := store.board().task(name).live_attempt) is not None and live.held == held:
                    await wait_for(woken, LOOK_SECONDS)
                    woken.clear()
                return True
    return False


def _end_what_is_left(site: Site, live: Attempt) -> TurnEnded | None:
    """Of a terminal that nobody keeps any more; None where none was open."""
    if not live.interactive:
        return None
    site.sessions.sweep([live.id])
    capabilities = site.capabilities_of(live.engine)
    begun = new_session_id(live.id, site.marker, live.turn) if capabilities.chooses_session_id else None
    return TurnEnded(
        turn=live.turn,
        exit=None,
        ended_by=EndedBy.VANISHED,
        problem="its terminal is gone",
        session=live.session or begun,
        cost_source="unknown",
    )

"""A person's visit to an attempt, in one terminal: what this process does from its first record to its last.

    held ─▶ the fleet ends the turn ─▶ worktree ─▶ turn recorded ─▶ terminal ─▶ swept ─▶ turn and hold ended
            (none runs: at once)                                      │
                                  the terminal is closed, a signal, `paddock handback`, `stop` or `cancel` elsewhere

The hold is recorded first, so that nobody clears away what is being brought back. A process that is killed leaves a
hold whose keeper is gone: the daemon finds that out, ends what is left, and judges. Whoever ends a hold ends it once.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from msgspec import structs

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, TurnEnded, TurnStarted
from paddock.core.ids import AttemptId, TaskId
from paddock.core.intent.forks import needs_follow_up, told_of_follow_up
from paddock.core.intent.holds import GO_ON, Seat, hold_follow_up, hold_task, leave, open_terminal
from paddock.core.intent.tasks import cancel_tasks
from paddock.core.money.budget import Cost
from paddock.core.money.spending import day_of
from paddock.core.summary import TurnSummary
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.core.tasks.vocabulary import EndedBy
from paddock.fleet.attempts.forks import copy_memory, start_after
from paddock.fleet.attempts.turn import Ended, turn_ended
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.clock import wait_for
from paddock.fleet.service.presence import ABSENT, look_for_daemon
from paddock.fleet.site import Site
from paddock.fleet.visits.conversation_file import ConversationFile
from paddock.fleet.visits.place import bring_back
from paddock.fleet.visits.program import Company, Planned, fence_of, plan_terminal, why_another_conversation
from paddock.fleet.visits.words import take_words
from paddock.fleet.workspace import Workspace
from paddock.git.worktrees.furnish import Worktree
from paddock.sessions.seats import ASKED_TO_LEAVE, this_seat
from paddock.sessions.terminal import Terminal
from paddock.store.protocol import Store

_LINE = 4096
LOOK_SECONDS = 5.0
"""How often the log is looked at where nothing wakes us."""
_LEAVING = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
NOTHING_CAME_OF_IT = "nothing came of the visit it was made for"


@dataclass(frozen=True, slots=True)
class Visited:
    """How a visit ended. `status` is the program's; `why` is what ended it, if not the person; `handed_back`: its agent
    goes on."""

    attempt: AttemptId
    status: int
    why: str = ""
    handed_back: bool = False


class SeatedVisit:
    def __init__(
        self, workspace: Workspace, task: TaskId, company: Company, shown: int, tell: Callable[[str], None]
    ) -> None:
        self._workspace, self._site = workspace, workspace.site
        self._name, self._company, self._shown, self._tell = task, company, shown, tell
        self._wake, self._leaving = asyncio.Event(), asyncio.Event()
        self._why = ""
        self._attempt: AttemptId | None = None
        self._is_follow_up = False
        self._interrupts = False
        self._handback: str | None = None

    async def run(self) -> Visited:
        """Raises PaddockError if it could not begin; nothing is held then."""
        with contextlib.closing(self._workspace.write()) as store, store.listen() as listener, self._hearing_signals():
            listener.tell(self._wake.set)
            was_live = require_fleet(self._site, store.board(), self._name)
            name = self._take(store)
            checkpoint("visit.held")
            try:
                planned = await self._enter(store, name)
            except (PaddockError, OSError) as error:
                self._back_out(store, name, error, hand_back=was_live)
                raise
            return await self._sit(store, planned)

    def _take(self, store: Store) -> AttemptId:
        """Holds it, or a new task that goes on from one that has landed."""
        board, seat = store.board(), this_seat()
        self._is_follow_up = needs_follow_up(board.task(self._name))
        if self._is_follow_up:
            held = self._workspace.append(store, self._following_up(board.task(self._name), seat))
        else:
            held = self._workspace.append(store, self._taking_over(seat))
        last = held[-1]
        assert last.task is not None
        assert last.attempt is not None
        if self._is_follow_up:
            self._tell(told_of_follow_up(board.task(self._name), last.task))
        self._name, self._attempt = last.task, last.attempt
        return last.attempt

    def _taking_over(self, seat: Seat) -> Callable[[Board], list[Draft]]:
        def decide(board: Board) -> list[Draft]:
            live = board.task(self._name).live_attempt
            self._interrupts = live is not None and live.turn_open
            return hold_task(board, self._name, seat)

        return decide

    def _following_up(self, task: Task, seat: Seat) -> Callable[[Board], list[Draft]]:
        site, known, name = self._site, self._workspace.known, task.id
        base, attempts = start_after(site, task) or site.main_tip(), site.config.limits.attempts
        return lambda board: hold_follow_up(board, name, seat, known, base=base, label=site.label, attempts=attempts)

    # -- coming in ------------------------------------------------------------------------------------------

    async def _enter(self, store: Store, name: AttemptId) -> Planned:
        await self._await_turn_end(store, name)
        board = store.board()
        task, attempt = board.task(self._name), self._held(board, name)
        self._tell(f"bringing back the worktree of {name} …")
        worktree = await bring_back(self._site, board, task, attempt)
        checkpoint("visit.prepared")
        self._require_staying()
        return await self._plan(store, task, attempt, worktree)

    async def _plan(self, store: Store, task: Task, attempt: Attempt, worktree: Worktree) -> Planned:
        """Planned before it is recorded: what cannot be started has never begun."""
        fence = fence_of(self._site, task, attempt, self._company)
        await asyncio.to_thread(copy_memory, self._site, attempt)
        why = why_another_conversation(self._site, task, attempt, worktree, fence, self._company)
        place, session = str(worktree.path), None if why else attempt.session

        def decide(board: Board) -> list[Draft]:
            return open_terminal(board, attempt.id, worktree=place, fence=fence, session=session, new_conversation=why)

        (draft,) = decide(store.board())
        begun = draft.event
        assert isinstance(begun, TurnStarted)
        planned = await plan_terminal(self._site, store, task, attempt, worktree, begun, self._company)
        Terminal.of_attempt(planned.order, self._shown, self._site.marker).require_command()
        if why or planned.note:
            await self._explain(why, planned.note)
        for file in planned.launch.files:
            file.write()
        for folder in planned.launch.writes:
            folder.mkdir(parents=True, exist_ok=True)
        self._workspace.append(store, decide)
        checkpoint("visit.opened")
        return planned

    async def _explain(self, why: str, note: str) -> None:
        """Until they have read it: many an engine's terminal begins by clearing the screen. Raises PaddockError if
        they leave instead."""
        for words in (why and f"a new conversation begins: {why}", note, "press Enter to open it"):
            if words:
                self._tell(words)
        pressed, loop = asyncio.Event(), asyncio.get_running_loop()

        def go_on() -> None:
            pressed.set()
            self._wake.set()

        loop.add_reader(self._shown, go_on)
        try:
            while not (pressed.is_set() or self._leaving.is_set()):
                await wait_for(self._wake, LOOK_SECONDS)
                self._wake.clear()
        finally:
            loop.remove_reader(self._shown)
        self._require_staying()
        with contextlib.suppress(OSError):
            os.read(self._shown, _LINE)

    async def _await_turn_end(self, store: Store, name: AttemptId) -> None:
        if self._interrupts:
            self._tell(f"waiting until the turn of {name} has ended …")
        while self._held(board := store.board(), name).turn_open:
            self._require_staying()
            if look_for_daemon(board, self._site.clock.now()).presence in ABSENT:
                raise PaddockError(
                    f"the daemon is gone that was to end the turn of `{name}`", "`paddock up`, then connect again"
                )
            await wait_for(self._wake, LOOK_SECONDS)
            self._wake.clear()

    def _held(self, board: Board, name: AttemptId) -> Attempt:
        live = board.task(self._name).live_attempt
        if live is None or live.id != name or live.held is None:
            raise PaddockError(f"`{name}` was stopped or cancelled meanwhile", f"see `paddock show {self._name}`")
        return live

    def _require_staying(self) -> None:
        if self._leaving.is_set():
            raise PaddockError("you left before the terminal was open", f"`paddock connect {self._name}` comes back")

    def _back_out(self, store: Store, name: AttemptId, error: Exception, *, hand_back: bool) -> None:
        """An agent that was interrupted for nothing goes on."""
        reason = error.message if isinstance(error, PaddockError) else str(error)
        words = self._handback if self._handback is not None else GO_ON if hand_back else None
        self._workspace.append(store, lambda board: leave(board, name, None, handback=words, reason=reason))

    # -- sitting there --------------------------------------------------------------------------------------

    async def _sit(self, store: Store, planned: Planned) -> Visited:
        terminal = Terminal.of_attempt(planned.order, self._shown, self._site.marker)
        account = self._account(planned)
        watching = asyncio.ensure_future(self._watch(store, planned.attempt.id))
        problem = ""
        try:
            status: int | None = await terminal.run(self._leaving, self._site.config.timeouts.grace)
        except (PaddockError, OSError) as error:
            status, problem = None, error.message if isinstance(error, PaddockError) else str(error)
        finally:
            watching.cancel()
        checkpoint("visit.over")
        swept = await asyncio.to_thread(self._site.sessions.sweep, [planned.attempt.id])
        checkpoint("visit.swept")
        words = tuple(process.command for process in swept.ended[:20])
        ended = self._ended(planned, account, status, problem, words)
        why = self._why or ("the terminal was closed" if terminal.hung_up else problem)
        return self._leave(store, planned.attempt.id, ended, why)

    async def _watch(self, store: Store, name: AttemptId) -> None:
        """Leaves when others have ended it."""
        while not self._why:
            await wait_for(self._wake, LOOK_SECONDS)
            self._wake.clear()
            with contextlib.suppress(PaddockError):  # a log that is busy is asked again
                if why := _why_leave(store.board().task(self._name), name):
                    self._why = why
                    self._leaving.set()

    def _account(self, planned: Planned) -> ConversationFile | None:
        if self._company.program:
            return None
        account = ConversationFile(
            self._site, self._site.engine(planned.attempt.engine), planned.attempt, planned.launch
        )
        account.note_start(planned.session)
        return account

    def _ended(
        self,
        planned: Planned,
        account: ConversationFile | None,
        status: int | None,
        problem: str,
        swept: tuple[str, ...],
    ) -> TurnEnded:
        summary = account.read(planned.session) if account is not None else None
        ended = Ended(status, EndedBy.ITSELF, problem, summary or TurnSummary(), swept)
        day = day_of(self._site.clock.now())
        event = turn_ended(planned.attempt, ended, self._site.prices, day, Cost(0.0, 0.0))
        event = structs.replace(event, session=event.session or planned.session or None)
        is_unknown = account is not None and summary is None and status is not None
        return structs.replace(event, cost_source="unknown") if is_unknown else event

    # -- leaving --------------------------------------------------------------------------------------------

    def _leave(self, store: Store, name: AttemptId, ended: TurnEnded, why: str) -> Visited:
        told, is_vain = self._handback, self._is_vain(store, name)

        def decide(board: Board) -> list[Draft]:
            left = leave(board, name, ended, handback=told, reason=why)
            return [*left, *(cancel_tasks(board, [self._name], NOTHING_CAME_OF_IT) if left and is_vain else [])]

        self._workspace.append(store, decide)
        checkpoint("visit.left")
        return Visited(name, ended.exit or 0, why, handed_back=told is not None)

    def _is_vain(self, store: Store, name: AttemptId) -> bool:
        """A task that was made for this visit alone, and nothing was done: its agent would begin it otherwise."""
        live = store.board().task(self._name).live_attempt
        if not self._is_follow_up or self._handback is not None or live is None or live.id != name:
            return False
        try:
            return not any(self._site.ground.progress(live))
        except (PaddockError, OSError):
            return False

    @contextlib.contextmanager
    def _hearing_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in _LEAVING:
            loop.add_signal_handler(number, self._go)
        loop.add_signal_handler(ASKED_TO_LEAVE, self._go_handed_back)
        try:
            yield
        finally:
            for number in (*_LEAVING, ASKED_TO_LEAVE):
                loop.remove_signal_handler(number)

    def _go(self) -> None:
        self._leaving.set()
        self._wake.set()

    def _go_handed_back(self) -> None:
        if self._attempt is not None:
            self._handback = take_words(self._site, self._attempt) or GO_ON
            self._why = "it was handed back"
            self._go()


def require_fleet(site: Site, board: Board, name: TaskId) -> bool:
    """Whether there is a live attempt. Raises PaddockError if its turn runs and nobody could end it."""
    live = board.task(name).live_attempt
    if live is not None and live.turn_open and look_for_daemon(board, site.clock.now()).presence in ABSENT:
        raise PaddockError(
            f"`{live.id}` is in a turn, and no daemon is running that could end it",
            "`paddock up` starts one; then connect again",
        )
    return live is not None


def _why_leave(task: Task, name: AttemptId) -> str:
    """Empty while the person may stay."""
    live = task.live_attempt
    if live is None or live.id != name or live.held is None:
        return "it is no longer held"
    if task.phase is Phase.CANCELLED:
        return f"{task.id} was cancelled"
    return f"it was stopped by {live.stop_requested}" if live.stop_requested is not None else ""

"""The turn itself: what is typed when, and when it is over.

Each round reads the file of the conversation, then the screen, then does at most one thing. Words are pasted once.
When the file has not told of them after a while and the screen shows that they are still in the input, Enter is
pressed again; nothing else is ever repeated. A dialog stops all typing until it is answered or gone.
"""

import select
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from paddock.bridges.dialogs import OpenDialog
from paddock.bridges.pane import PaneState, TurnPane
from paddock.bridges.pastes import Paste, Pastes
from paddock.bridges.screen import Dialog, PaneScreen, find_dialog
from paddock.bridges.session_file import SessionFile
from paddock.core.errors import PaddockError
from paddock.core.trace import (
    TEXT_LIMIT,
    DialogClosed,
    DialogOpened,
    End,
    Error,
    MessagesTaken,
    Progress,
    Prompted,
    RateLimited,
    TraceEntry,
    clip,
)
from paddock.engines.letters import LetterBox, ReceivedLetter
from paddock.engines.registry import load_engine
from paddock.engines.session_text import SessionTextParser
from paddock.engines.tmux_order import TmuxOrder

ROUND_SECONDS = 0.15
STEADY_SECONDS = 0.6  # an unchanged screen with a place for words is ready for them
UNKNOWN_STEADY_SECONDS = 3.0  # one without such a place that we know
READY_SECONDS = 90.0
SHOWN_SECONDS = 10.0  # a paste that is not seen by then is taken for one that the program shows in its own way
ENTER_SECONDS = 4.0  # after which an Enter that had no effect is pressed again
MOST_ENTERS = 5
DELIVERY_SECONDS = 120.0
IDLE_SECONDS = 1.2
SILENT_SECONDS = 45.0  # idle for so long without a word of an end: the CLI has given up without saying so
HEARTBEAT_SECONDS = 60.0


class SaidStop(BaseException):
    """A signal has asked us to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@dataclass
class Typing:
    """Words on their way from the paste to the file. `entered` counts how often Enter was pressed."""

    paste: Paste
    pasted_at: float
    entered: int = 0
    entered_at: float = 0.0


class TerminalTurn:
    def __init__(self, order: TmuxOrder, say: Callable[[TraceEntry], None]) -> None:
        self._order = order
        self._say = say
        self._pane = TurnPane(Path(order.socket))
        parser = load_engine(order.engine, {order.engine: order.settings}).session_parser()
        self._tells_ends = parser is not None and not isinstance(parser, SessionTextParser)
        self._file = SessionFile(order.session_log, order.session, order.cwd, parser)
        self._pastes = Pastes(is_exact=self._tells_ends)
        self._waiting: deque[Paste] = deque((Paste.of(order.prompt, order.messages),))
        self._mailbox = LetterBox(order.mailbox) if order.mailbox else None
        self._interrupts = False
        self._typing: Typing | None = None
        self._dialog: OpenDialog | None = None
        self._dialogs = 0
        self._end: End | None = None
        self._trouble = ""
        self._screen = PaneScreen(())
        self._started_at = self._changed_at = self._spoke_at = time.monotonic()
        self._is_ready = False
        self._is_closed = False

    def run(self) -> int:
        """The status of the turn. Raises PaddockError for a terminal that cannot be had or is taken away."""
        self._pane.start(self._order.argv, self._order.cwd, self._order.columns, self._order.rows)
        self._tell(Progress("terminal started"))
        while True:
            self._read_file()
            self._take_letters()
            state = self._look()
            if state.status is not None:
                return self._exited(state.status)
            self._act()
            if (end := self._is_over()) is not None:
                self._tell(end)
                return 0 if end.success else 1
            self._pause()

    def close(self) -> None:
        """Ends the terminal. What its program has written meanwhile is told: a message that it took must not be told
        it again."""
        if not self._is_closed:
            self._is_closed = True
            self._pane.end()
            self._read_file()

    def _tell(self, entry: TraceEntry) -> None:
        self._spoke_at = time.monotonic()
        self._say(entry)

    def _pause(self) -> None:
        waits = [self._mailbox] if self._mailbox is not None else []
        select.select(waits, [], [], ROUND_SECONDS)

    def _read_file(self) -> None:
        for entry in self._file.read():
            match entry:
                case Prompted():
                    self._confirm(entry)
                case Progress() | End() if self._is_closed:
                    pass
                case End():
                    self._end = entry
                    self._tell(Progress(f"end of a turn: {entry.reason}"))
                case _:
                    self._tell(entry)

    def _confirm(self, entry: Prompted) -> None:
        if self._tells_ends:
            self._end = None
            self._tell(replace(entry, text=clip(entry.text, TEXT_LIMIT)))
        for done in self._pastes.found(entry.text):
            if self._typing is not None and self._typing.paste is done:
                self._typing = None
            if done.numbers:
                self._tell(MessagesTaken(done.numbers, f"in {self._file.path}"))

    def _take_letters(self) -> None:
        for letter in self._mailbox.take_all() if self._mailbox is not None else ():
            if letter.request:
                self._answer(letter)
            else:
                self._waiting.append(Paste.of(letter.text, (letter.number,)))
                self._interrupts = self._interrupts or letter.now

    def _answer(self, letter: ReceivedLetter) -> None:
        if self._dialog is not None and self._dialog.request == letter.request:
            self._dialog.choose(letter)

    def _look(self) -> PaneState:
        state, text = self._pane.look()
        screen = PaneScreen.of(text)
        if screen != self._screen:
            self._screen, self._changed_at = screen, time.monotonic()
        self._read_trouble(screen)
        self._follow_dialog(screen)
        return state

    def _read_trouble(self, screen: PaneScreen) -> None:
        found: RateLimited | None = screen.trouble if screen.is_busy else None
        if found is not None and found.message != self._trouble:
            self._trouble = found.message
            self._tell(found)

    def _follow_dialog(self, screen: PaneScreen) -> None:
        seen = find_dialog(screen)
        # A dialog may be drawn in several strokes: what stands still is read.
        if seen is not None and self._dialog is None and self._is_steady(2 * ROUND_SECONDS):
            self._dialogs += 1
            self._dialog = OpenDialog.of(seen, self._dialogs)
            self._tell(DialogOpened(self._dialog.request, seen.text, seen.options))
        elif self._dialog is not None and (seen is None or self._is_another(self._dialog, seen)):
            self._tell(DialogClosed(self._dialog.request))
            if (number := self._dialog.answered_by) is not None:
                self._tell(MessagesTaken((number,), "typed into the dialog"))
            self._dialog = None
        elif self._dialog is not None and seen is not None:
            self._dialog.seen = seen
            if time.monotonic() - self._spoke_at > HEARTBEAT_SECONDS:
                self._tell(Progress("waits for an answer"))

    def _is_another(self, asked: OpenDialog, seen: Dialog) -> bool:
        """Other words alone make it another once they stand still, and at once where the answer was for the first."""
        has_moved = not asked.reads_as_asked(seen) and (asked.has_answer or self._is_steady(STEADY_SECONDS))
        return not asked.is_same(seen) or has_moved or asked.was_in_vain

    def _is_steady(self, seconds: float) -> bool:
        return time.monotonic() - self._changed_at >= seconds

    def _act(self) -> None:
        """One step at most: an answer, an interruption, a paste, or Enter."""
        if self._dialog is not None:
            keys = self._dialog.next_keys()
            if keys:
                self._pane.leave_mode()
                self._pane.press(*keys)
        elif not self._ready():
            return
        elif self._typing is not None:
            self._go_on_typing(self._typing)
        elif self._interrupts:
            self._interrupt()
        elif self._waiting:
            self._paste()

    def _ready(self) -> bool:
        if not self._is_ready:
            seconds = STEADY_SECONDS if self._screen.has_prompt else UNKNOWN_STEADY_SECONDS
            self._is_ready = not self._screen.is_blank and self._is_steady(seconds)
            if not self._is_ready and time.monotonic() - self._started_at > READY_SECONDS:
                raise PaddockError(f"the terminal was not ready within {READY_SECONDS:.0f}s")
        return self._is_ready

    def _interrupt(self) -> None:
        """Once, and only what is at work: at rest the key would mean something else."""
        if self._screen.is_busy:
            self._pane.leave_mode()
            self._pane.press("Escape")
            self._changed_at = time.monotonic()
        if not self._screen.is_busy or not self._waiting:
            self._interrupts = False

    def _paste(self) -> None:
        paste = self._waiting.popleft()
        self._pastes.add(paste)
        self._pane.leave_mode()
        self._pane.paste(paste.text)
        self._typing = Typing(paste, time.monotonic())
        self._end = None

    def _go_on_typing(self, typing: Typing) -> None:
        now = time.monotonic()
        shown = self._screen.shows(typing.paste.core)
        if not typing.entered:
            if (shown and self._is_steady(ROUND_SECONDS)) or now - typing.pasted_at > SHOWN_SECONDS:
                self._enter(typing)
        elif now - typing.entered_at > ENTER_SECONDS and self._screen.is_busy and not self._is_in_input(typing):
            # It waits in the terminal for its turn; the file will tell when that comes.
            self._typing = None
        elif now - typing.entered_at > ENTER_SECONDS and typing.entered < MOST_ENTERS and self._is_in_input(typing):
            self._enter(typing)
        elif now - typing.pasted_at > DELIVERY_SECONDS:
            raise PaddockError(f"a message was pasted and is not in the conversation after {DELIVERY_SECONDS:.0f}s")

    def _is_in_input(self, typing: Typing) -> bool:
        return self._screen.input_shows(typing.paste.core)

    def _enter(self, typing: Typing) -> None:
        typing.entered += 1
        typing.entered_at = time.monotonic()
        self._pane.leave_mode()
        self._pane.press("Enter")

    def _is_over(self) -> End | None:
        """The end to report, once nothing is on its way and the screen is at rest."""
        busy = self._waiting or self._typing is not None or self._dialog is not None or self._screen.is_busy
        if busy or not self._is_ready:
            return None
        if self._end is not None and not self._pastes.pasted and self._is_steady(IDLE_SECONDS):
            return self._end
        if not self._is_steady(SILENT_SECONDS) or time.monotonic() - self._spoke_at < SILENT_SECONDS:
            return None
        if self._tells_ends:
            self._tell(Error("the terminal is idle, and the conversation does not tell that the turn has ended"))
            return End(success=False, reason="the terminal went idle without a word of an end")
        return End(success=not self._pastes.pasted, reason="idle")

    def _exited(self, status: int) -> int:
        self._read_file()
        end = self._end
        if end is None or self._pastes.pasted or self._waiting:
            words = self._last_words()
            reason = f"the terminal's program ended with status {status}"
            self._tell(Error(f"{reason}: {words}" if words else reason))
            self._tell(End(success=False, reason=reason))
            return status if status > 0 else 128 - status if status else 1
        self._tell(end)
        return 0 if end.success else 1

    def _last_words(self) -> str:
        lines = [line.strip() for line in self._screen.lines if line.strip() and not line.startswith("Pane is dead")]
        return clip(" ".join(lines[-4:]), 500)

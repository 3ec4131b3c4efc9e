"""An application that does its work in threads, and tells what became of it."""

import asyncio
import select
import signal
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from textual import events, on
from textual.app import App
from textual.message import Message
from textual.screen import Screen

from paddock.core.errors import PaddockError
from paddock.tui.requests import as_refusal
from paddock.tui.style import safe

HANG_UP = 128 + signal.SIGHUP
HANG_UP_SECONDS = 1.0
_Result = TypeVar("_Result")


class WorkingApp(App[None]):
    class Finished(Message):
        """What a thread was asked for; `take` is called in the thread of the screen."""

        def __init__(self, take: Callable[[Any], None], result: object) -> None:
            super().__init__()
            self.take, self.result = take, result

    def on_mount(self) -> None:
        """Whoever ends the process, the terminal is given back first; after Ctrl-Z it is drawn again."""
        if not self.is_headless:
            for signum in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(signum, self.exit, None, 128 + signum)
            self.set_interval(HANG_UP_SECONDS, self._end_with_the_terminal)
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))

    def _end_with_the_terminal(self) -> None:
        """Not every terminal that goes away sends a signal. Textual would read the end of its input without a pause,
        for ever."""
        assert sys.__stdin__ is not None
        if _has_hung_up(sys.__stdin__.fileno()):
            self.exit(return_code=HANG_UP)

    async def on_event(self, event: events.Event) -> None:
        """Keys that come at once, over a slow line or pasted, are taken one after the other: what follows the key that
        opens a field or a dialog is for that, and no request."""
        is_loose = isinstance(event, events.InputEvent) and not event.is_forwarded and self.focused is None
        if is_loose and isinstance(event, events.Key) and await self._check_bindings(event.key):
            return
        await super().on_event(event)

    def work(self, ask: Callable[[], _Result], take: Callable[[_Result], None]) -> None:
        """`ask` in a thread, then `take` with its result in the thread of the screen. What it raises is told."""

        def run() -> None:
            try:
                result = ask()
            except (PaddockError, OSError) as error:
                self.post_message(self.Finished(self._tell_refusal, error))
            else:
                self.post_message(self.Finished(take, result))

        self.run_worker(run, thread=True, group="work")

    def open_dialog(self, screen: Screen[_Result], take: Callable[[_Result | None], None]) -> None:
        """Opens a dialog; what was told before would cover it."""
        self.clear_notifications()
        self.push_screen(screen, take)

    def tell(self, words: str, hint: str = "", *, is_bad: bool = False) -> None:
        text = f"{safe(words, 600)}\n{safe(hint, 400)}" if hint else safe(words, 600)
        self.notify(text, severity="error" if is_bad else "information", timeout=8 if is_bad else 4, markup=False)

    def _tell_refusal(self, error: PaddockError | OSError) -> None:
        refusal = as_refusal(error)
        self.tell(refusal.message, refusal.hint or "", is_bad=True)

    @on(Finished)
    def _take_result(self, finished: Finished) -> None:
        finished.take(finished.result)


def _has_hung_up(terminal: int) -> bool:
    poll = select.poll()
    poll.register(terminal, 0)
    return any(found & select.POLLHUP for _, found in poll.poll(0))

"""What a conversation has of the messages that were told it, by the file in which its engine keeps it.

An engine writes down what it is told before it asks its model. So a turn that was killed before the first answer may
have its messages or not, and only that file knows.
"""

import asyncio
from dataclasses import dataclass

from paddock.core.errors import PaddockError
from paddock.core.events import MessageSent, TaskRejected
from paddock.core.review.events import ReviewSentBack
from paddock.core.tasks.receipts import find_told
from paddock.core.trace import Prompted
from paddock.engines.protocol import Engine
from paddock.fleet.attempts.prompts import words_of_message
from paddock.fleet.attempts.transcript import fill_in_session
from paddock.sessions.protocol import Sessions, Turn
from paddock.store.protocol import Query, Store

MOST_BYTES = 32 * 1024 * 1024
_KINDS = (MessageSent.kind, TaskRejected.kind, ReviewSentBack.kind)


@dataclass(frozen=True, slots=True)
class Recollection:
    """`log` names the file of the conversation `session`, as `Launch.session_log` does."""

    store: Store
    sessions: Sessions
    engine: Engine
    log: str
    session: str

    async def recall(self, turn: Turn, task: str, messages: tuple[int, ...]) -> tuple[int, ...]:
        """Those of the messages that it has."""
        prompts = await asyncio.to_thread(self._read, turn)
        if not prompts:
            return ()
        texts = [(seq, words_of_message(self.store, seq)) for seq in sorted(messages)]
        earlier = [
            words_of_message(self.store, record.seq)
            for kind in _KINDS
            for record in self.store.records(Query(task=task, kind=kind, until=max(messages)))
            if record.seq not in messages
        ]
        return find_told(texts, earlier, prompts)

    def _read(self, turn: Turn) -> list[str]:
        parser = self.engine.session_parser()
        if parser is None or not self.log or not self.session:
            return []
        try:
            reader = self.sessions.find_log(turn, fill_in_session(self.log, self.session))
            if reader is None:
                return []
            reader.skip_to_tail(MOST_BYTES)
            lines = [*reader.read()]
            while not reader.at_end:
                lines += reader.read()
        except (OSError, PaddockError):
            return []
        texts = (line.text.encode("utf-8", "surrogateescape") for line in lines)
        entries = [entry for text in texts for entry in parser.feed(text)]
        return [entry.text for entry in entries if isinstance(entry, Prompted)]

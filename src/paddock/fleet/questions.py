"""A question for a person, and the wait for its answer."""

from collections.abc import Callable
from contextlib import closing

import msgspec

from paddock.core.board import Board
from paddock.core.events import Draft, MessageSent
from paddock.core.ids import AttemptId
from paddock.core.intent.questions import LONGEST_WAIT_SECONDS, ask_person, find_answer, read_answer
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Store

LOOK_SECONDS = 5.0
"""Between two looks at the log where no wake-up came."""


class AskedQuestion(msgspec.Struct, frozen=True):
    """`question` names the record. `answer` is None where nobody has answered yet, or nobody waited."""

    task: str
    attempt: str
    question: int
    answer: str | None = None


def ask(workspace: Workspace, text: str, wait_seconds: float, tell: Callable[[AskedQuestion], None]) -> AskedQuestion:
    """Records the question and waits that long for its answer. `tell` passes the answer on; only then is it recorded
    as read, so that an answer may come twice where that fails, but is never lost. Raises PaddockError."""
    with closing(workspace.write()) as store:
        [record] = workspace.append(store, lambda board: ask_person(board, workspace.worker, text))
        attempt = record.attempt
        assert attempt is not None
        asked = AskedQuestion(str(record.task), attempt, record.seq)
        messages = _wait(workspace, store, attempt, record.seq, min(wait_seconds, LONGEST_WAIT_SECONDS))
        if not messages:
            tell(asked)
            return asked
        answered = msgspec.structs.replace(asked, answer=_texts(store, messages))
        tell(answered)

        def decide(board: Board) -> list[Draft]:
            return read_answer(board, attempt, messages)

        workspace.append(store, decide)
        return answered


def _wait(
    workspace: Workspace, store: Store, attempt: AttemptId, question: int, wait_seconds: float
) -> tuple[int, ...]:
    clock = workspace.site.clock
    give_up_at = clock.boottime() + wait_seconds
    with store.listen() as listener:
        while True:
            messages = find_answer(store.board(), attempt, question)
            left = give_up_at - clock.boottime()
            if messages is not None or left <= 0:
                return messages or ()
            listener.wait(min(left, LOOK_SECONDS))


def _texts(store: Store, messages: tuple[int, ...]) -> str:
    events = (store.record(seq).event for seq in messages)
    return "\n\n".join(event.text for event in events if isinstance(event, MessageSent))

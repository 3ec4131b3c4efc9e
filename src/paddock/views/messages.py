"""Messages to agents, as readers get them: what was sent, what shows that it was delivered, and what was answered."""

from collections.abc import Mapping, Sequence

import msgspec

from paddock.core.ids import harmless
from paddock.core.intent.messages import message_name
from paddock.core.tasks.mail import MessageState, SentMessage
from paddock.core.trace import one_line
from paddock.views.document import Document, iso, iso_or_none

SHOWN_TEXT = 400
SHOWN_ANSWER = 200


class MessageView(msgspec.Struct, frozen=True):
    """`text` is the beginning of it, `size` its length in bytes. `evidence` is what shows that the engine has it;
    `answer` is the beginning of what its agent said next. `like` is the message it repeats."""

    id: str
    number: int
    task: str
    by: str
    at: str
    text: str
    size: int
    state: MessageState
    now: bool = False
    like: str | None = None
    answers: int = 0
    delivered: str | None = None
    attempt: str | None = None
    turn: int = 0
    evidence: str = ""
    answer: str = ""


class MessagesView(Document, frozen=True, kw_only=True):
    """The newest messages, oldest first."""

    messages: tuple[MessageView, ...]


def view_message(sent: SentMessage, answer: str = "") -> MessageView:
    event = sent.event
    is_answered = bool(answer) and sent.state is MessageState.DELIVERED
    return MessageView(
        id=message_name(sent.number),
        number=sent.number,
        task=sent.task,
        by=harmless(sent.by),
        at=iso(sent.at),
        text=harmless(one_line(event.text, SHOWN_TEXT)),
        size=len(event.text.encode("utf-8", "replace")),
        state=MessageState.ANSWERED if is_answered else sent.state,
        now=event.now,
        like=message_name(event.like) if event.like else None,
        answers=event.answers,
        delivered=iso_or_none(sent.delivered_at),
        attempt=sent.attempt,
        turn=sent.turn,
        evidence=harmless(sent.evidence),
        answer=harmless(one_line(answer, SHOWN_ANSWER)),
    )


def view_messages(sent: Sequence[SentMessage], answers: Mapping[int, str]) -> MessagesView:
    return MessagesView(messages=tuple(view_message(one, answers.get(one.number, "")) for one in sent))

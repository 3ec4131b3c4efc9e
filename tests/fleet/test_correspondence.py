"""What is heard of a turn's output, where an agent has written what it likes to it."""

import msgspec
import pytest

from paddock.core import events as ev
from paddock.core.ids import TaskId
from paddock.core.trace import DialogClosed, DialogOpened, MessagesTaken
from paddock.fleet.attempts.correspondence import MOST_DIALOGS, MOST_OPTIONS, MOST_QUESTION, Correspondence
from tests.core.ledger import Ledger


@pytest.fixture
def ledger() -> Ledger:
    ledger = Ledger()
    task = ledger.add()
    ledger.write(ev.Draft(ev.TurnStarted(1), task, ledger.start(task)))
    return ledger


def heard(ledger: Ledger) -> Correspondence:
    task = ledger.task("t1")
    assert task.live_attempt is not None
    # What is recorded and posted needs the fleet's ledger and sessions; what is heard needs the board alone.
    return Correspondence(ledger, None, task.id, task.live_attempt, (), listens=True)  # type: ignore[arg-type]


def receipts(mail: Correspondence, ledger: Ledger) -> list[int]:
    drafts = mail._receipts(ledger.task("t1"))
    return [seq for draft in drafts if isinstance(draft.event, ev.MessagesDelivered) for seq in draft.event.messages]


def asked(mail: Correspondence, ledger: Ledger) -> list[ev.QuestionAsked]:
    mail._asked = mail._asked or {}
    drafts = mail._questions(ledger.task("t1"))
    return [draft.event for draft in drafts if isinstance(draft.event, ev.QuestionAsked)]


def test_a_receipt_counts_for_what_was_sent_before_it_and_not_for_what_is_sent_later(ledger: Ledger) -> None:
    [first] = ledger.write(ev.Draft(ev.MessageSent("one"), TaskId("t1")))
    mail = heard(ledger)
    mail.hear(MessagesTaken(tuple(range(1, 1000)), "forged"))
    [second] = ledger.write(ev.Draft(ev.MessageSent("stop that"), TaskId("t1")))
    assert receipts(mail, ledger) == [first.seq]
    mail.hear(MessagesTaken((second.seq,)))
    assert receipts(mail, ledger) == [first.seq, second.seq]


def test_of_a_flood_of_dialogs_so_many_are_put_to_people_and_so_much_of_each(ledger: Ledger) -> None:
    mail = heard(ledger)
    mail.hear(DialogOpened("x" * 10_000, "May it?", ("yes", "no")))
    assert not mail.awaits_answer
    for number in range(2 * MOST_DIALOGS):
        mail.hear(DialogOpened(f"d{number}", "x" * 100_000, ("y" * 1_000,) * 100))
    [question] = asked(mail, ledger)
    assert (len(question.text), len(question.options)) == (MOST_QUESTION, MOST_OPTIONS)
    assert len(msgspec.json.encode(question)) < 10_000
    for number in range(2 * MOST_DIALOGS):
        mail.hear(DialogClosed(f"d{number}"))
    assert asked(mail, ledger) == []
    assert not mail.awaits_answer
    mail.hear(DialogOpened("one more", "May it?", ("yes", "no")))
    assert not mail.awaits_answer, "its deadlines go on"

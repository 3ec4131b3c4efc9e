"""Comments that wait in the log: written one by one, dropped, sent together, and never lost."""

import pytest

from paddock.core import events as ev
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import TaskId
from paddock.core.intent.comments import MOST_COMMENTS, LineComment
from paddock.core.intent.drafted_comments import DraftedComment, draft_comment, drop_comments, send_comments
from paddock.core.intent.landing import Outdated
from paddock.core.tasks.task import Phase
from tests.core.ledger import Ledger

HEAD, NEWER = "a" * 40, "b" * 40


def delivered() -> tuple[Ledger, TaskId]:
    ledger = Ledger()
    name = ledger.add()
    ledger.attempt(name, "approval", head=HEAD)
    return ledger, name


def comment(number: int, head: str = HEAD) -> LineComment:
    return LineComment("src/a.py", number, f"say {number}", quote=f"line {number}", head=head)


def draft(ledger: Ledger, name: TaskId, *numbers: int, head: str = HEAD) -> tuple[DraftedComment, ...]:
    written = []
    for number in numbers:
        (record,) = ledger.write(*draft_comment(ledger.board, name, comment(number, head)))
        written.append(DraftedComment(record.seq, record.actor, record.at, comment(number, head)))
    return tuple(written)


def test_they_are_sent_together_as_one_message_and_are_gone_then() -> None:
    ledger, name = delivered()
    drafted = draft(ledger, name, 3, 1)
    sent, message = ledger.write(*send_comments(ledger.board, name, drafted, message="Please"))
    assert sent.event == ev.CommentsSent(tuple(one.seq for one in drafted))
    assert isinstance(message.event, ev.MessageSent)
    assert message.event.text.startswith("Please\n\n2 comments on your change at aaaaaaaaaa:\n\n1. `src/a.py:1`")
    assert (ledger.task(name).comments, ledger.task(name).phase) == ((), Phase.READY)
    with pytest.raises(Misuse, match=f"there is no comment on `{name}` to send"):
        send_comments(ledger.board, name, ())


def test_they_may_be_why_a_change_is_rejected_in_the_version_that_was_seen() -> None:
    ledger, name = delivered()
    drafted = draft(ledger, name, 1)
    for rejects in (True, False):
        with pytest.raises(Outdated):
            send_comments(ledger.board, name, drafted, rejects=rejects, seen=NEWER)
    *_, rejected = ledger.write(*send_comments(ledger.board, name, drafted, rejects=True, seen=HEAD[:8]))
    assert isinstance(rejected.event, ev.TaskRejected)
    assert "1. `src/a.py:1`\n   > line 1\n   say 1" in rejected.event.message


def test_none_is_lost_when_another_version_is_delivered() -> None:
    ledger, name = delivered()
    first = draft(ledger, name, 1)
    ledger.write(ev.Draft(ev.TaskRejected(HEAD), task=name))
    ledger.attempt(name, "approval", head=NEWER)
    drafted = (*first, *draft(ledger, name, 2, head=NEWER))
    *_, message = ledger.write(*send_comments(ledger.board, name, drafted))
    assert isinstance(message.event, ev.MessageSent)
    assert "`src/a.py:1` (in your earlier version aaaaaaaaaa)" in message.event.text
    assert "`src/a.py:2`\n" in message.event.text


def test_dropping_goes_by_the_numbers_that_are_shown() -> None:
    ledger, name = delivered()
    _, two, _ = draft(ledger, name, 1, 2, 3)
    ledger.write(*drop_comments(ledger.board, name, (3, 1, 3)))
    assert ledger.task(name).comments == (two.seq,)
    for number, words in ((2, "there are 1"), (0, "there are 1"), (-1, "there are 1")):
        with pytest.raises(Misuse, match=words):
            drop_comments(ledger.board, name, (number,))


def test_what_changed_meanwhile_is_not_sent() -> None:
    ledger, name = delivered()
    drafted = draft(ledger, name, 1)
    draft(ledger, name, 2)
    with pytest.raises(PaddockError, match="have changed meanwhile"):
        send_comments(ledger.board, name, drafted)


def test_there_must_be_a_version_and_an_agent_to_hear_of_it_and_not_too_much() -> None:
    ledger, name = delivered()
    fresh = ledger.add()
    with pytest.raises(PaddockError, match="it has delivered nothing yet"):
        draft_comment(ledger.board, fresh, comment(1))
    with pytest.raises(Misuse, match="is empty"):
        draft_comment(ledger.board, name, LineComment("a.py", 1, " \n"))
    draft(ledger, name, *range(1, MOST_COMMENTS + 1))
    with pytest.raises(PaddockError, match=f"{MOST_COMMENTS} comments"):
        draft_comment(ledger.board, name, comment(1))
    ledger.write(ev.Draft(ev.TaskCancelled(), task=name))
    with pytest.raises(PaddockError, match="was cancelled: its agent would not hear of it"):
        draft_comment(ledger.board, name, comment(1))
    assert len(drop_comments(ledger.board, name, (1,))) == 1, "what is left can still be dropped"

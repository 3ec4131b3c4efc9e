"""What people may tell agents, and how an answer to an engine's dialog is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.errors import Misuse, NotFound, PaddockError
from paddock.core.ids import AttemptId, TaskId
from paddock.core.intent.messages import parse_message, send_message, text_to_repeat
from paddock.core.intent.workers import NotForWorkers, Worker, require_events
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change
from paddock.core.tasks.mail import MessageState, messages_in
from paddock.core.tasks.needs import needs_of
from paddock.core.tasks.questions import find_option, recorded_option, told_of_question
from paddock.core.tasks.receipts import evidence_of_end, evidence_of_taking, find_told, is_answer
from paddock.core.tasks.vocabulary import EndedBy
from paddock.core.trace import End, Text, TokenUsage, TraceEntry, Usage, UsageScope
from paddock.core.wording import BRIEF_LIMIT
from tests.core.ledger import Ledger

OPTIONS = ("allow", "allow always", "deny")


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def at_work(ledger: Ledger) -> tuple[TaskId, AttemptId]:
    task = ledger.add()
    attempt = ledger.start(task)
    ledger.write(ev.Draft(ev.TurnStarted(1), task, attempt))
    return task, attempt


def sent(drafts: list[ev.Draft]) -> ev.MessageSent:
    [draft] = drafts
    assert isinstance(draft.event, ev.MessageSent)
    return draft.event


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=300))
def test_any_text_but_nul_is_sent_as_it_is(text: str) -> None:
    ledger = Ledger()
    task, _ = at_work(ledger)
    if text.strip():
        assert sent(send_message(ledger.board, [task], text)).text == text
    else:
        with pytest.raises(Misuse, match="is empty"):
            send_message(ledger.board, [task], text)


def test_a_nul_is_refused_with_its_place_and_too_much_text_with_its_size(ledger: Ledger) -> None:
    task, _ = at_work(ledger)
    with pytest.raises(Misuse, match="NUL byte at character 3"):
        send_message(ledger.board, [task], "ab\0c")
    assert send_message(ledger.board, [task], "x" * BRIEF_LIMIT)
    with pytest.raises(Misuse, match="262,145 bytes"):
        send_message(ledger.board, [task], "x" * (BRIEF_LIMIT + 1))


def test_who_has_no_agent_or_must_not_change_is_told_nothing(ledger: Ledger) -> None:
    fresh = ledger.add()
    with pytest.raises(PaddockError, match="has no agent yet"):
        send_message(ledger.board, [fresh], "hello")
    ledger.attempt(fresh, "approval", head="h")
    assert send_message(ledger.board, [fresh], "hello")
    ledger.write(ev.Draft(qe.ChangeQueued(Change(fresh, 1, "h", "base", task=fresh)), fresh))
    with pytest.raises(PaddockError, match="is queued: its agent is gone"):
        send_message(ledger.board, [fresh], "hello", now=True)


@pytest.mark.parametrize(
    ("said", "chosen"),
    [
        ("1", "allow"),
        ("2", "allow always"),
        ("DENY", "deny"),
        ("d", "deny"),
        ("allow", "allow"),
        (" allow a", "allow always"),
    ],
)
def test_an_answer_is_a_number_a_name_or_its_beginning(ledger: Ledger, said: str, chosen: str) -> None:
    task, attempt = at_work(ledger)
    [asked] = ledger.write(ev.Draft(ev.QuestionAsked("May it?", OPTIONS, "r-1"), task, attempt))
    assert needs_of(ledger.board) == [task]
    answer = sent(send_message(ledger.board, [task], said))
    assert (answer.text, answer.answers) == (chosen, asked.seq)


@pytest.mark.parametrize("said", ["al", "0", "4", "yes", "-1"])
def test_what_is_no_option_or_several_is_refused_with_the_options(ledger: Ledger, said: str) -> None:
    task, attempt = at_work(ledger)
    ledger.write(ev.Draft(ev.QuestionAsked("May it?", OPTIONS, "r-1"), task, attempt))
    with pytest.raises(PaddockError, match="1 allow, 2 allow always, 3 deny"):
        send_message(ledger.board, [task], said)
    now = sent(send_message(ledger.board, [task], said, now=True))
    assert (now.text, now.answers) == (said, 0), "an interruption answers nothing"
    agents = sent(send_message(ledger.board, [task], said, by_agent=True))
    assert (agents.text, agents.answers) == (said, 0), "what another agent says answers nothing"


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=9, unique=True), st.text(max_size=8))
def test_whatever_is_said_chooses_an_option_or_none(options: list[str], said: str) -> None:
    assert find_option(options, said) in {*options, None}
    for number, option in enumerate(options, 1):
        assert find_option(options, str(number)) == option


def test_options_that_differ_in_case_only_are_told_apart() -> None:
    assert find_option(("Allow", "allow"), "allow") == "allow"
    assert find_option(("Allow", "allow"), "Allow") == "Allow"
    assert find_option(("Allow", "allow"), "ALLOW") is None
    assert find_option(("allow", "deny"), "9" * 5000) is None


def test_a_message_can_be_repeated_by_its_number_and_only_a_message(ledger: Ledger) -> None:
    task, _ = at_work(ledger)
    [record] = ledger.write(*send_message(ledger.board, [task], "try this"))
    assert parse_message(f"m{record.seq}") == parse_message(f" M{record.seq}") == record.seq
    assert text_to_repeat(record, record.seq) == "try this"
    with pytest.raises(NotFound, match="there is no message `m1`"):
        text_to_repeat(ledger.records[0], 1)
    with pytest.raises(NotFound):
        text_to_repeat(None, 999)
    with pytest.raises(Misuse, match="`banana` is not a message"):
        parse_message("banana")


@pytest.mark.parametrize(
    "event", [ev.MessageSent("x", now=True), ev.MessageSent("x", like=3), ev.MessageSent("x", answers=3)]
)
def test_agents_neither_interrupt_nor_repeat_nor_answer(ledger: Ledger, event: ev.MessageSent) -> None:
    other, _ = at_work(ledger)
    _, attempt = at_work(ledger)
    require_events(ledger.board, Worker(attempt), [ev.Draft(ev.MessageSent("x"), other)])
    with pytest.raises(NotForWorkers):
        require_events(ledger.board, Worker(attempt), [ev.Draft(event, other)])


def test_how_a_message_stands_follows_from_the_log(ledger: Ledger) -> None:
    task, attempt = at_work(ledger)
    first, second, third = (ledger.write(*send_message(ledger.board, [task], text))[0] for text in ("a", "b", "c"))
    ledger.write(ev.Draft(ev.TurnEnded(1, exit=0), task, attempt))
    ledger.write(ev.Draft(ev.TurnStarted(2, messages=(first.seq, second.seq)), task, attempt))
    ledger.write(ev.Draft(ev.MessagesDelivered((first.seq,), 2, "seen"), task, attempt))
    stories = messages_in(ledger.records, ledger.board)
    assert [(one.number, one.state) for one in stories] == [
        (first.seq, MessageState.DELIVERED),
        (second.seq, MessageState.TOLD),
        (third.seq, MessageState.QUEUED),
    ]
    assert (stories[0].attempt, stories[0].turn, stories[0].evidence) == (attempt, 2, "seen")
    assert messages_in(ledger.records, ledger.board, most=1) == stories[-1:]


@given(st.lists(st.sampled_from(["go on", "go", "yes\nno", "x"]), max_size=6), st.data())
def test_a_conversation_has_as_many_messages_as_it_was_told(texts: list[str], data: st.DataObject) -> None:
    """Of any run of messages, of which a conversation was told the first ones, exactly those are found."""
    told = data.draw(st.integers(0, len(texts)))
    earlier = data.draw(st.integers(0, told))
    prompts = [f"Moved.\n\n{text}" for text in texts[:told]]
    numbered = list(enumerate(texts))[earlier:]
    assert find_told(numbered, texts[:earlier], prompts) == tuple(range(earlier, told))


def test_words_in_the_middle_of_others_are_no_message() -> None:
    assert find_told([(1, "yes")], [], ["oh yes, do that", "yesterday"]) == ()
    assert find_told([(1, "yes")], [], ["first\n\nyes\n\nlast"]) == (1,)


def test_answers_that_nobody_waits_for_are_dropped_and_other_messages_are_not(ledger: Ledger) -> None:
    task, attempt = at_work(ledger)
    [asked] = ledger.write(ev.Draft(ev.QuestionAsked("May it?", OPTIONS, "r-1"), task, attempt))
    [late] = ledger.write(*send_message(ledger.board, [task], "1"))
    ledger.write(
        ev.Draft(ev.QuestionWithdrawn(asked.seq), task, attempt), ev.Draft(ev.MessagesRead((late.seq,)), task, attempt)
    )
    [plain] = ledger.write(*send_message(ledger.board, [task], "go on"))
    ledger.write(ev.Draft(ev.TurnEnded(1, exit=0), task, attempt))
    ledger.write(ev.Draft(ev.TurnStarted(2, messages=(plain.seq,)), task, attempt))
    stories = {one.number: one.state for one in messages_in(ledger.records, ledger.board)}
    assert stories == {late.seq: MessageState.DROPPED, plain.seq: MessageState.TOLD}


def test_messages_are_listed_of_the_tasks_that_are_asked_about(ledger: Ledger) -> None:
    one, other = at_work(ledger)[0], at_work(ledger)[0]
    ledger.write(*send_message(ledger.board, [one, other], "hello"))
    assert [story.task for story in messages_in(ledger.records, ledger.board, [other])] == [other]
    assert messages_in(ledger.records, ledger.board, []) == []


def test_an_option_is_its_name_before_it_is_anything_else() -> None:
    assert find_option(("yes", "yes, always"), "yes") == "yes"
    assert find_option(("yes", "yes, always"), "YES") == "yes"
    assert find_option(("only",), "") is None
    assert recorded_option(("2", "1"), "1") == "1"
    assert recorded_option(("allow", "deny"), "2") == "deny"
    assert told_of_question("May it?") == "asks: May it?"


@pytest.mark.parametrize(
    ("entry", "answers"),
    [
        (Usage(TokenUsage(output=1), UsageScope.DELTA), True),
        (Usage(TokenUsage(input_uncached=9), UsageScope.DELTA), False),
        (Text(" "), False),
        (Text("well"), True),
        (End(success=False), False),
        (End(success=True), True),
    ],
)
def test_a_turn_has_its_messages_once_its_model_has_begun_to_answer(entry: TraceEntry, answers: bool) -> None:
    assert is_answer(entry) is answers


def test_a_turn_that_ended_without_a_word_shows_something_only_if_it_ended_well() -> None:
    attempt = AttemptId("t1.1")
    assert evidence_of_end(attempt, 2, 0, EndedBy.ITSELF) == "t1.1 turn 2: it ended well"
    assert evidence_of_end(attempt, 2, 1, EndedBy.ITSELF) == ""
    assert evidence_of_end(attempt, 2, 0, EndedBy.STOP) == ""
    assert evidence_of_taking(attempt, 2, "echo 7") == "t1.1 turn 2: taken while it worked (echo 7)"
    assert evidence_of_taking(attempt, 2, "") == "t1.1 turn 2: taken while it worked"

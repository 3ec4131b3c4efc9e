"""What is worth telling, as the board has it, and the words in which it is told."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.ids import TaskId, attempt_id
from paddock.core.merge import events as qe
from paddock.core.money.budget import FLEET
from paddock.core.notify.concern import Concern, ConcernKind, Scarcity, Seen, find_concerns
from paddock.core.notify.notification import BODY_CHARACTERS, TITLE_CHARACTERS, compose, defuse_words
from paddock.core.redaction import HIDDEN, redact
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Step
from tests.core.ledger import START, Ledger
from tests.core.test_board_machine import HEAD
from tests.core.test_needs import refuse

ALL = tuple(kind.value for kind in ConcernKind)
DEFAULT = tuple(name for name in ALL if name != "landed")


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


def kinds(ledger: Ledger, about: tuple[str, ...] = ALL, scarce: Scarcity | None = None) -> list[str]:
    return [concern.kind.value for concern in find_concerns(ledger.board, about, START, scarce=scarce)]


def keys(ledger: Ledger) -> list[str]:
    return [concern.key for concern in find_concerns(ledger.board, ALL, START)]


def test_what_stops_everything_is_told_first_and_each_kind_only_if_asked_for(ledger: Ledger) -> None:
    for end in ("fail", "block", "approval"):
        ledger.attempt(ledger.add(), end, head=HEAD)
    refuse(ledger, ledger.add())
    ledger.write(ev.Draft(qe.QueueHalted("main is red")))
    assert kinds(ledger) == ["halted", "approval", "answer", "blocked", "failed"]
    assert kinds(ledger, ("failed", "halted")) == ["halted", "failed"]
    assert kinds(ledger, ()) == []
    assert all(concern.run.startswith("paddock ") for concern in find_concerns(ledger.board, ALL, START))


def test_who_looks_often_finds_the_same(ledger: Ledger) -> None:
    seen: Seen = {}
    for end in ("fail", "approval", "block"):
        ledger.attempt(ledger.add(), end, head=HEAD)
        found = find_concerns(ledger.board, ALL, START, seen=seen)
        assert found == find_concerns(ledger.board, ALL, START)
    ledger.write(ev.Draft(ev.TaskRetried(2), task=TaskId("t1")))
    assert find_concerns(ledger.board, ALL, START, seen=seen) == find_concerns(ledger.board, ALL, START)
    ledger.attempt(TaskId("t1"), "fail")
    assert find_concerns(ledger.board, ALL, START, seen=seen) == find_concerns(ledger.board, ALL, START)


def test_a_question_stays_one_question_when_the_turn_ends_over_it(ledger: Ledger) -> None:
    task = ledger.add()
    attempt = ledger.start(task)
    asked = ev.QuestionAsked("May I?", options=("allow", "deny"))
    ledger.write(ev.Draft(asked, task=task, attempt=attempt))
    [concern] = find_concerns(ledger.board, ALL, START)
    assert (concern.kind, concern.why, concern.run) == (
        *(ConcernKind.ANSWER, "asks: May I? (1 allow, 2 deny)", 'paddock message t1 "…"'),
    )
    ended = ev.AttemptEnded(Outcome.ASKED, Step.BLOCK, counted=False, reason="asks: May I?")
    ledger.write(ev.Draft(ended, task=task, attempt=attempt))
    assert keys(ledger) == [concern.key]


def test_a_task_that_fails_again_is_news(ledger: Ledger) -> None:
    task = ledger.add(attempts=1)
    ledger.attempt(task, "fail")
    before = keys(ledger)
    ledger.write(ev.Draft(ev.TaskRetried(2), task=task))
    assert keys(ledger) == []
    ledger.attempt(task, "fail")
    assert len(keys(ledger)) == 1
    assert keys(ledger) != before


def test_who_visited_a_task_and_left_it_as_it_was_is_not_told_how_it_stands(ledger: Ledger) -> None:
    task = ledger.add()
    ledger.attempt(task, "approval", head=HEAD)
    visit = attempt_id(task, 2)
    came = (ev.AttemptStarted("claude", "b" * 40, f"paddock/{task}", visit=True), ev.AttemptHeld())
    left = (ev.HoldEnded(), ev.AttemptEnded(Outcome.LEFT, Step.APPROVAL, counted=False, head=HEAD))
    ledger.write(*(ev.Draft(event, task=task, attempt=visit) for event in (*came, *left)))
    assert ledger.task(task).phase is Phase.APPROVAL
    assert kinds(ledger) == []
    ledger.write(ev.Draft(ev.TaskBlocked("needs a key", "export KEY"), task=task))
    assert kinds(ledger) == ["blocked"]


def test_a_task_over_its_budget_is_told_as_that(ledger: Ledger) -> None:
    task = ledger.add()
    attempt = ledger.start(task)
    ledger.write(ev.Draft(ev.AttemptEnded(Outcome.OVER_BUDGET, Step.BLOCK, False), task=task, attempt=attempt))
    assert kinds(ledger) == ["budget"]
    assert kinds(ledger, ("blocked",)) == ["blocked"]
    assert kinds(ledger, ("failed",)) == []


def spend(ledger: Ledger, dollars: float) -> None:
    task = ledger.add()
    attempt = attempt_id(task, 1)
    started = ev.AttemptStarted("claude", "b" * 40, f"paddock/{task}", reserved_usd=0.1)
    turns = (started, ev.TurnStarted(1), ev.TurnEnded(1, 0, cost_usd=dollars))
    ledger.write(*(ev.Draft(event, task=task, attempt=attempt) for event in turns))
    ledger.write(ev.Draft(ev.AttemptEnded(Outcome.NOOP, Step.NOOP, True), task=task, attempt=attempt))


def test_a_budget_is_told_of_when_most_of_it_is_used_and_when_nothing_starts_any_more(ledger: Ledger) -> None:
    ledger.write(ev.Draft(ev.BudgetSet(FLEET, money=10.0)), ev.Draft(ev.BudgetSet("day", money=100.0)))
    spend(ledger, 7.0)
    assert kinds(ledger) == []
    spend(ledger, 1.5)
    [nearly] = find_concerns(ledger.board, ALL, START)
    assert nearly.why == "85% of it is used"
    assert nearly.run == "paddock budget show, then paddock budget set fleet --usd 20"
    scarce = Scarcity(FLEET, "fleet has $1.50 of $10.00 left, $2.00 needed")
    [full] = find_concerns(ledger.board, ALL, START, scarce=scarce)
    assert full.why == "tasks cannot start: fleet has $1.50 of $10.00 left, $2.00 needed"
    spend(ledger, 1.5)
    [spent] = find_concerns(ledger.board, ALL, START)
    assert spent.key == full.key != nearly.key
    ledger.write(ev.Draft(ev.BudgetSet(FLEET, money=100.0)))
    assert kinds(ledger) == []


def concern(
    kind: ConcernKind = ConcernKind.FAILED, subject: str = "t1 Fix it", why: str = "it broke", run: str = ""
) -> Concern:
    return Concern(kind, f"{kind}:{subject}", subject, why, run or "paddock retry t1")


def test_one_thing_is_told_with_its_reason_and_its_command() -> None:
    told = compose([concern()], "app")
    assert told.title == "app: t1 has failed"
    assert told.body == "t1 Fix it: it broke\n  run: paddock retry t1"


def test_several_things_are_counted_and_the_first_are_shown() -> None:
    many = [concern(ConcernKind.APPROVAL, f"t{number} Task") for number in range(1, 12)]
    told = compose([concern(ConcernKind.HALTED, "merge queue", "main is red"), *many], "app")
    assert told.title == "app: merge queue halted, 11 approvals"
    assert told.body.count("run: ") == 6
    assert told.body.endswith("\n… and 6 more: paddock status")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31m\nb\u202ec", "a�[31m b�c"),
        ("<!channel> <b>hi</b>", "‹!channel› ‹b›hi‹/b›"),
        ("@everyone look at me@home.org", "@ everyone look at me@home.org"),
        ("[click](http://example.invalid)", "[click] (http: //example.invalid)"),
        (f"key sk-{'a1' * 12}", f"key {HIDDEN}"),
    ],
)
def test_an_agents_words_are_only_words(text: str, shown: str) -> None:
    assert defuse_words(text, 200) == shown


def test_a_command_that_is_not_plain_is_left_to_the_terminal() -> None:
    for odd in ("rm 'a<b>.lock'; curl example.invalid | sh", "paddock budget set `id` --usd 2", "paddock show $(id)"):
        assert compose([concern(run=odd)], "app").body.endswith("run: paddock show t1")


@pytest.mark.parametrize(
    "text",
    [
        "ghp_0123456789abcdefghijABCDEFGHIJ",
        "token: hunter22",
        'PASSWORD="hunter22"',
        "Authorization: Bearer hunter22hunter22",
        "https://me:hunter22@example.invalid/x",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.hunter22",
        "xoxb-1234567890-hunter22",
    ],
)
def test_what_looks_like_a_secret_is_left_out(text: str) -> None:
    assert HIDDEN in redact(f"it said {text} twice")
    assert "hunter22" not in redact(text)
    assert "ghp_" not in redact(text)


def test_ordinary_words_stay() -> None:
    words = "main moved from 3f2c1aa0b1c2d3e4f5061728394a5b6c7d8e9f00 to src/token.py: the password check is missing"
    assert redact(words) == words
    assert redact("the value is correct horse", ["correct horse"]) == f"the value is {HIDDEN}"


texts = st.text(max_size=3000)
concerns = st.builds(
    Concern, kind=st.sampled_from(list(ConcernKind)), key=texts, subject=texts, why=texts, run=st.text(max_size=300)
)


@given(st.lists(concerns, min_size=1, max_size=30), texts)
@example([concern(why="=" * 5000, subject="password" * 400)] * 20, "a" * 300)
def test_whatever_is_told_is_bounded_harmless_and_tells_how_many(found: list[Concern], place: str) -> None:
    told = compose(found, place)
    assert len(told.title) <= TITLE_CHARACTERS
    assert len(told.body) <= BODY_CHARACTERS
    assert all(line.isprintable() for line in (told.title, *told.body.split("\n")))
    assert not {"<", ">"} & set(told.title + told.body)
    shown = told.body.count("\n  run: ")
    more = f"\n… and {len(found) - shown:,} more: paddock status"
    assert told.body.endswith(more) == (shown < len(found))

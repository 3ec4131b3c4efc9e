"""What is worth telling, as the board has it, and the words in which it is told."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paddock.core import events as ev
from paddock.core.ids import TaskId, attempt_id
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change, Member, Purpose, Result
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


def landed_one(ledger: Ledger, end: str = "landed") -> None:
    """t1 in a train that has landed, or t1 out of the queue again."""
    task = ledger.add()
    ledger.attempt(task, "approval", head=HEAD)
    change = Change(task, 1, HEAD, "base", task=task, title="Fix it")
    queued = (qe.MainMoved("m0", "tree0"), qe.CiDefined("ci"), qe.ChangeQueued(change))
    ledger.write(*(ev.Draft(event, task=task) for event in queued))
    if end == "cancelled":
        ledger.write(ev.Draft(qe.ChangeCancelled(task, 1, "no"), task=task))
        return
    train = qe.RunStarted("r2", Purpose.TRAIN, "m0", "tree0", (Member(task, 1, HEAD),), "tree1", "m1", "ci")
    events = (
        qe.RunStarted("r1", Purpose.BASELINE, "m0", "tree0", (), "tree0", "m0", "ci"),
        *(qe.RunEnded("r1", Result.PASS), train, qe.RunEnded("r2", Result.PASS)),
        *(qe.LandingStarted("r2", "m0", "m1"), qe.TrainLanded("r2", "m0", "m1")),
    )
    ledger.write(*(ev.Draft(event, task=task) for event in events))


def test_what_has_landed_is_told_if_somebody_asked_and_only_since_they_are_told_anything(ledger: Ledger) -> None:
    landed_one(ledger)
    [told] = find_concerns(ledger.board, ("landed",), START)
    assert (told.kind, told.subject, told.why, told.run) == (
        *(ConcernKind.LANDED, "t1 Fix it", "landed in m1", "paddock show t1"),
    )
    assert find_concerns(ledger.board, DEFAULT, START) == []
    at = ledger.board.queue.decided[-1].at
    assert len(find_concerns(ledger.board, ("landed",), START, since=at)) == 1
    assert find_concerns(ledger.board, ("landed",), START, since=at + 1) == []


def test_what_left_the_queue_in_another_way_has_not_landed(ledger: Ledger) -> None:
    landed_one(ledger, "cancelled")
    assert [one.outcome for one in ledger.board.queue.decided] == ["cancelled"]
    assert find_concerns(ledger.board, ("landed",), START) == []


def test_who_interrupted_an_agent_and_left_is_told_that_it_waits_for_them(ledger: Ledger) -> None:
    task = ledger.add()
    attempt = ledger.start(task)
    left = ev.AttemptEnded(Outcome.LEFT, Step.BLOCK, counted=False, unblock=f"paddock handback {task}")
    ledger.write(*(ev.Draft(event, task=task, attempt=attempt) for event in (ev.AttemptHeld(), ev.HoldEnded(), left)))
    [told] = find_concerns(ledger.board, ALL, START)
    assert (told.kind, told.run) == (ConcernKind.BLOCKED, "paddock handback t1")


def test_what_a_visitor_has_committed_is_news(ledger: Ledger) -> None:
    task = ledger.add()
    ledger.attempt(task, "approval", head=HEAD)
    visit = attempt_id(task, 2)
    came = (ev.AttemptStarted("claude", "b" * 40, f"paddock/{task}", visit=True), ev.AttemptHeld())
    worked = (ev.HoldEnded(), ev.AttemptEnded(Outcome.DELIVERED, Step.APPROVAL, counted=True, head="c" * 40))
    ledger.write(*(ev.Draft(event, task=task, attempt=visit) for event in (*came, *worked)))
    assert kinds(ledger) == ["approval"]


def test_each_need_comes_with_the_command_that_meets_it(ledger: Ledger) -> None:
    for end in ("approval", "fail", "block"):
        ledger.attempt(ledger.add(), end, head=HEAD)
    asks = ledger.add()
    ledger.write(ev.Draft(ev.QuestionAsked("Which?"), task=asks, attempt=ledger.start(asks)))
    told = {concern.subject.split()[0]: concern.run for concern in find_concerns(ledger.board, ALL, START)}
    assert told == {
        "t1": "paddock diff t1, then paddock land t1",
        "t2": "paddock show t2, then paddock retry t2",
        "t3": "paddock show t3, then paddock retry t3",
        "t4": 'paddock message t4 "…"',
    }


def test_a_task_that_was_over_its_budget_and_is_blocked_by_something_else_since_is_blocked(ledger: Ledger) -> None:
    task = ledger.add()
    attempt = ledger.start(task)
    ledger.write(ev.Draft(ev.AttemptEnded(Outcome.OVER_BUDGET, Step.BLOCK, False), task=task, attempt=attempt))
    ledger.write(ev.Draft(ev.TaskBlocked("needs a key", "export KEY"), task=task))
    assert kinds(ledger) == ["blocked"]


def test_budgets_are_told_only_if_somebody_asked(ledger: Ledger) -> None:
    ledger.write(ev.Draft(ev.BudgetSet(FLEET, money=1.0)))
    spend(ledger, 2.0)
    assert kinds(ledger) == ["budget"]
    assert kinds(ledger, ("failed", "halted")) == []


@pytest.mark.parametrize(
    ("limit", "state", "run"),
    [
        (ev.BudgetSet(FLEET, money=5.0), "80% of it is used", "set fleet --usd 10"),
        (ev.BudgetSet(FLEET, money=5.01), "", ""),
        (ev.BudgetSet("day", money=4.0), "100% of it is used", "set day --usd 8"),
        (ev.BudgetSet(FLEET, tokens=1100.0), "91% of it is used", "set fleet --tokens 2200"),
        (ev.BudgetSet(FLEET, money=5.0, tokens=1000.0), "100% of it is used", "set fleet --usd 10 --tokens 2000"),
        (ev.BudgetSet("convoy:c", money=4.0), "100% of it is used", "set convoy:c --usd 8"),
        (ev.BudgetSet("task:t1", money=4.0), "", ""),
    ],
)
def test_each_budget_of_more_than_one_task_is_told_with_the_command_that_raises_it(
    ledger: Ledger, limit: ev.BudgetSet, state: str, run: str
) -> None:
    ledger.write(ev.Draft(ev.ConvoyAdded("c")), ev.Draft(limit))
    task = ledger.add(convoy="c")
    attempt = attempt_id(task, 1)
    started = ev.AttemptStarted("claude", "b" * 40, f"paddock/{task}", reserved_usd=0.1)
    turns = (started, ev.TurnStarted(1), ev.TurnEnded(1, 0, output_tokens=1000, cost_usd=4.0))
    ledger.write(*(ev.Draft(event, task=task, attempt=attempt) for event in turns))
    for is_over in (False, True):
        found = find_concerns(ledger.board, ALL, START)
        assert [(one.why, one.run.partition("paddock budget ")[2].partition("budget ")[2]) for one in found] == (
            [(state, run)] if state else []
        ), "at work" if not is_over else "ended"
        if not is_over:
            ended = ev.AttemptEnded(Outcome.NOOP, Step.NOOP, True)
            ledger.write(ev.Draft(ended, task=task, attempt=attempt))


def test_a_budget_that_keeps_tasks_from_starting_is_told_once_and_others_beside_it(ledger: Ledger) -> None:
    ledger.write(ev.Draft(ev.BudgetSet(FLEET, money=5.0)), ev.Draft(ev.BudgetSet("day", money=5.0)))
    spend(ledger, 4.5)
    found = find_concerns(ledger.board, ALL, START, scarce=Scarcity(FLEET, "it is full"))
    assert [(one.subject.split(":")[0], one.why) for one in found] == [
        ("budget of fleet", "tasks cannot start: it is full"),
        ("budget of day", "90% of it is used"),
    ]
    assert find_concerns(Ledger().board, ALL, START, scarce=Scarcity(FLEET, "it is full")) == []


def test_what_is_not_about_a_task_is_named_in_words_of_its_own() -> None:
    halted = compose([concern(ConcernKind.HALTED, "merge queue", "main is red", "paddock queue why main")], "app")
    assert (halted.title, halted.body) == (
        "app: merge queue halted",
        "merge queue: main is red\n  run: paddock queue why main",
    )
    budget = compose([concern(ConcernKind.BUDGET, "budget of fleet", "85% of it is used", "curl $(id)")], "app")
    assert (budget.title, budget.body.splitlines()[-1]) == ("app: a budget runs out", "  run: paddock status")


def test_what_has_no_reason_is_told_in_a_sentence() -> None:
    assert compose([concern(why="")], "app").body.startswith("t1 Fix it has failed\n")


def test_a_question_has_more_room_than_other_reasons_for_its_options_come_last() -> None:
    why = "x" * 300 + " (1 allow, 2 deny)"
    assert "(1 allow, 2 deny)" in compose([concern(ConcernKind.ANSWER, why=why)], "app").body
    assert "2 deny" not in compose([concern(ConcernKind.BLOCKED, why=why)], "app").body


def test_a_command_that_is_too_long_to_paste_is_left_to_the_terminal() -> None:
    assert compose([concern(run="paddock retry " + "t1 " * 40)], "app").body.endswith("run: paddock show t1")
    assert compose([concern(run="paddock retry t1\u2028t2")], "app").body.endswith("run: paddock show t1")


def test_what_one_convoy_spends_at_work_counts_towards_no_other(ledger: Ledger) -> None:
    limits = (ev.BudgetSet("convoy:c", money=5.0), ev.BudgetSet("convoy:d", money=5.0))
    ledger.write(*(ev.Draft(event) for event in (ev.ConvoyAdded("c"), ev.ConvoyAdded("d"), *limits)))
    for convoy, dollars in (("c", 4.5), ("d", 0.5)):
        task = ledger.add(convoy=convoy)
        started = ev.AttemptStarted("claude", "b" * 40, f"paddock/{task}", reserved_usd=0.1)
        turns = (started, ev.TurnStarted(1), ev.TurnEnded(1, 0, cost_usd=dollars))
        ledger.write(*(ev.Draft(event, task=task, attempt=attempt_id(task, 1)) for event in turns))
    assert [one.subject for one in find_concerns(ledger.board, ALL, START)] == ["budget of convoy:c"]

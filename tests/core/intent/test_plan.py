"""What people may ask about plans, and when they may not."""

import pytest

from paddock.core import events as ev
from paddock.core.errors import IllegalTransition, Misuse, PaddockError
from paddock.core.ids import TaskId
from paddock.core.intent.messages import send_message
from paddock.core.intent.plan import PlanRequest, accept_plan, drop_plan, request_plan, require_open_plan
from paddock.core.intent.tasks import Known
from paddock.core.plan.plan import Plan, PlannedTask, encode_plan
from paddock.core.routing import RosterAgent
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Role, Step
from tests.core.ledger import Ledger

ROSTER = (RosterAgent("fixer", kinds=("docs",)), RosterAgent("zoe", "planner"), RosterAgent("eva", "planner"))
KNOWN = Known(frozenset({"fixer", "zoe", "eva"}), frozenset({"claude"}), ROSTER)
T1 = TaskId("t1")
PLAN = Plan(
    "strict",
    (
        PlannedTask("manual", "Describe it", "Describe it.", ("docs/**",), ("errors",), kind="docs"),
        PlannedTask("errors", "Name the place", "Name the place.", ("src/**",)),
    ),
    "Be strict",
)


@pytest.fixture
def ledger() -> Ledger:
    log = Ledger()
    log.write(*request_plan(log.board, PlanRequest("Make the parser strict", ("src/**",), max_tasks=5), KNOWN))
    return log


def propose(log: Ledger, plan: Plan = PLAN) -> int:
    """The planner delivers; the number of the record with its plan."""
    attempt = log.start(T1, role=Role.PLAN)
    proposed = ev.Draft(ev.PlanProposed(encode_plan(plan)), task=T1, attempt=attempt)
    ended = ev.Draft(ev.AttemptEnded(Outcome.ANSWERED, Step.DONE, False), task=T1, attempt=attempt)
    return log.write(proposed, ended)[0].seq


def test_a_goal_becomes_a_task_whose_answer_is_a_plan(ledger: Ledger) -> None:
    task = ledger.task("t1")
    assert (task.role, task.title, task.paths) == (Role.PLAN, "Plan: Make the parser strict", ("src/**",))
    event = ledger.records[0].event
    assert isinstance(event, ev.TaskAdded)
    assert (event.brief, event.max_tasks) == ("Make the parser strict", 5)
    assert event.agent == "eva", "the first planner by name"


def test_a_planner_that_owns_the_paths_is_preferred_and_none_is_needed() -> None:
    owner = RosterAgent("zoe", "planner", owns=("src/**",))
    for known, agent in ((Known(roster=(*ROSTER[:1], owner, ROSTER[2])), "zoe"), (Known(), None)):
        (draft,) = request_plan(Ledger().board, PlanRequest("Plan it", ("src/x.py",)), known)
        assert isinstance(draft.event, ev.TaskAdded)
        assert draft.event.agent == agent


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (PlanRequest(" "), "the goal is empty"),
        (PlanRequest("x", ("../y",)), "not a path inside the repository"),
        (PlanRequest("x", max_tasks=101), "101 tasks is not between 1 and 100"),
        (PlanRequest("x", agent="nobody"), "there is no agent `nobody`"),
        (PlanRequest("x", engine="clod"), "there is no engine `clod`"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(request_: PlanRequest, words: str) -> None:
    with pytest.raises(Misuse, match=words):
        request_plan(Ledger().board, request_, KNOWN)


def test_accepting_adds_the_tasks_and_says_so_in_one_step(ledger: Ledger) -> None:
    seq = propose(ledger)
    drafts = accept_plan(ledger.board, T1, seq, PLAN, KNOWN, attempts=2)
    assert [draft.event.kind for draft in drafts] == ["convoy.added", "task.added", "task.added", "plan.accepted"]
    ledger.write(*drafts)
    assert drafts[-1].event == ev.PlanAccepted(seq, (TaskId("t2"), TaskId("t3")), "strict")
    errors, manual = ledger.task("t2"), ledger.task("t3")
    assert (errors.title, errors.paths, errors.after, errors.allowed) == ("Name the place", ("src/**",), (), 2)
    assert (manual.after, manual.agent, manual.convoy) == (("t2",), "fixer", "strict")
    assert ledger.task("t1").reason == "its plan was accepted"


def test_a_plan_is_decided_about_once(ledger: Ledger) -> None:
    seq = propose(ledger)
    accepted = accept_plan(ledger.board, T1, seq, PLAN, KNOWN)
    ledger.write(*accepted)
    with pytest.raises(PaddockError, match="its plan was accepted"):
        accept_plan(ledger.board, T1, seq, PLAN, KNOWN)
    with pytest.raises(PaddockError, match="its plan was accepted"):
        drop_plan(ledger.board, T1, seq)
    with pytest.raises(IllegalTransition):
        ledger.write(accepted[-1])


def test_a_dropped_plan_adds_nothing_and_cannot_be_accepted(ledger: Ledger) -> None:
    seq = propose(ledger)
    ledger.write(*drop_plan(ledger.board, T1, seq, "too large"))
    assert list(ledger.board.tasks) == ["t1"]
    with pytest.raises(PaddockError, match="its plan was dropped"):
        accept_plan(ledger.board, T1, seq, PLAN, KNOWN)


def test_only_the_newest_plan_can_be_accepted(ledger: Ledger) -> None:
    first = propose(ledger)
    ledger.write(*send_message(ledger.board, [T1], "Smaller, please."))
    assert ledger.task("t1").phase is Phase.READY
    with pytest.raises(PaddockError, match="is ready: there is no plan to decide about"):
        accept_plan(ledger.board, T1, first, PLAN, KNOWN)
    second = propose(ledger)
    with pytest.raises(PaddockError, match="has a newer plan than the one you decided about"):
        accept_plan(ledger.board, T1, first, PLAN, KNOWN)
    ledger.write(*accept_plan(ledger.board, T1, second, PLAN, KNOWN))


def test_another_plan_can_follow_one_that_was_accepted(ledger: Ledger) -> None:
    ledger.write(*accept_plan(ledger.board, T1, propose(ledger), PLAN, KNOWN))
    ledger.write(*send_message(ledger.board, [T1], "And the rest?"))
    ledger.write(*accept_plan(ledger.board, T1, propose(ledger), PLAN, KNOWN))
    assert list(ledger.board.tasks) == ["t1", "t2", "t3", "t4", "t5"]


def test_a_task_that_makes_no_plan_has_none_to_accept(ledger: Ledger) -> None:
    ledger.add()
    with pytest.raises(PaddockError, match="task `t2` makes no plan"):
        require_open_plan(ledger.board, TaskId("t2"))


def test_a_plan_that_does_not_fit_any_more_adds_nothing(ledger: Ledger) -> None:
    seq = propose(ledger)
    with pytest.raises(Misuse, match="there is no kind `docs`"):
        accept_plan(ledger.board, T1, seq, PLAN, Known(frozenset({"x"}), roster=(RosterAgent("x", kinds=("code",)),)))

"""What the live view tells of a board: who needs a person, what agents do, what holds up the rest, what lands next."""

from pathlib import Path

import pytest

from paddock.cli.pages.scene import NeedRow, Scene, make_scene
from paddock.core import events as ev
from paddock.core.ids import TaskId
from paddock.core.intent.queue import QueueSwitch, switch_queue
from paddock.core.merge import events as qe
from paddock.core.merge.model import Member, Purpose
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.fleet.glance import AgentGlance, Glance
from tests.core.ledger import START, Ledger
from tests.core.test_board_machine import HEAD
from tests.views.eyes import NOBODY, LedgerEye, workspace_in
from tests.views.test_board import begin_queue, enqueue, finish


@pytest.fixture
def eye(tmp_path: Path) -> LedgerEye:
    return LedgerEye(workspace_in(tmp_path / "harbor", '[land]\nci = "true"\nslots = 3\n'), Ledger())


def see(eye: LedgerEye, convoy: str | None = None) -> Scene:
    return make_scene(eye.sight(), (), convoy)


def words(scene: Scene) -> list[str]:
    return [text for text, _ in scene.standing]


def end(ledger: Ledger, outcome: Outcome, step: Step, reason: str, unblock: str = "") -> TaskId:
    task = ledger.add()
    attempt = ledger.start(task)
    ended = ev.AttemptEnded(outcome, step, True, reason=reason, head=HEAD, unblock=unblock)
    ledger.write(ev.Draft(ended, task=task, attempt=attempt))
    return task


def test_who_needs_a_person_is_listed_by_what_is_settled_most_easily(eye: LedgerEye) -> None:
    ledger = eye.ledger
    end(ledger, Outcome.CRASHED, Step.FAIL, "exit 3")
    end(ledger, Outcome.CRASHED, Step.BLOCK, "the disk is full", "paddock retry t2")
    end(ledger, Outcome.REFUSED, Step.BLOCK, "which database?", "paddock message t3")
    finish(ledger, ledger.add())
    needs = see(eye).needs
    assert [(row.what, row.id) for row in needs] == [
        ("approve", "t4"),
        ("answer", "t3"),
        ("blocked", "t2"),
        ("failed", "t1"),
    ]
    assert [row.command for row in needs] == [
        "paddock diff t4, then paddock land t4",
        "paddock message t3",
        "paddock retry t2",
        "paddock show t1, then paddock retry t1",
    ]
    assert needs[1] == NeedRow("!", "yellow", "t3", "answer", "task t3", "which database?", "5s", "paddock message t3")


def test_what_is_no_task_and_needs_a_person_comes_first(eye: LedgerEye) -> None:
    finish(eye.ledger, eye.ledger.add())
    eye.ledger.write(ev.Draft(qe.QueueHalted("r1 found main red", runs=("r1",))))
    first, second = see(eye).needs
    assert first.title.startswith("merge queue halted: r1 found main red")
    assert first.command == "paddock queue why main"
    assert second.what == "approve"
    assert see(eye).queue[0] == ("merge queue halted: r1 found main red", "red")


def test_agents_show_what_they_cost_and_those_that_look_stuck_come_first(eye: LedgerEye) -> None:
    ledger = eye.ledger
    attempts = [ledger.start(ledger.add()) for _ in range(3)]
    eye.glance = Glance(
        START,
        {
            attempts[0]: AgentGlance("Edit a.py", cost_usd=0.256, insertions=12, deletions=3),
            attempts[1]: AgentGlance("Bash make", assumed_usd=0.1, stuck="same error 4×"),
        },
        running=3,
        cap=8,
    )
    rows = see(eye).agents
    assert [(row.id, row.cost, row.change, row.step, row.stuck) for row in rows] == [
        ("t2.1", "~$0.10", "", "Bash make", "same error 4×"),
        ("t1.1", "$0.26", "+12 −3", "Edit a.py", ""),
        ("t3.1", "", "", "claude", ""),
    ]
    assert "3/8 agents" in words(see(eye))


def test_the_limit_that_binds_is_told_with_when_it_is_tried_again(eye: LedgerEye) -> None:
    eye.ledger.add()
    eye.now = START + 100
    assert see(eye).limit == ""
    eye.waiting = {"t1": "t9.1 holds port:1"}
    assert see(eye).limit == "1 task waiting: t9.1 holds port:1"
    eye.glance = Glance(
        START, limit="window", limit_reason="account claude: 5h window used up", limit_until=START + 400
    )
    assert see(eye).limit == "1 task waiting: account claude: 5h window used up; next try in 5m"


def test_what_today_has_cost_is_set_against_its_budget(eye: LedgerEye) -> None:
    ledger = eye.ledger
    finish(ledger, ledger.add(), 1.5)
    assert "$1.50 today" in words(see(eye))
    attempt = ledger.start(ledger.add())
    ledger.write(ev.Draft(ev.BudgetSet("day", money=2.0)))
    eye.glance = Glance(START, {attempt: AgentGlance(cost_usd=0.25)}, running=1, cap=4)
    assert ("$1.75 of $2.00 today", "yellow") in see(eye).standing


def test_the_queue_tells_what_is_tested_and_what_lands_next(eye: LedgerEye) -> None:
    ledger = eye.ledger
    begin_queue(ledger)
    for _ in range(2):
        task = ledger.add()
        finish(ledger, task)
        enqueue(ledger, task)
    member = Member("t1", 1, HEAD)
    ledger.write(ev.Draft(qe.RunStarted("r2", Purpose.TRAIN, "m0", "tree m0", (member,), "tree m1", "m1", "ci", "log")))
    state, following, run = (text for text, _ in see(eye).queue)
    assert state == "merge queue open, 2 queued"
    assert following == "next: t1, t2 in about 1s"
    assert run == "r2 train t1 for 0s, 1s left"
    eye.now = eye.sight().now + 60
    assert see(eye).queue[2][0] == "r2 train t1 for 1m, longer than usual"
    eye.now = None
    eye.daemon = NOBODY
    assert not any(text.startswith("next") for text, _ in see(eye).queue), "nothing lands without a daemon"
    assert words(see(eye))[0] == "no daemon is running (`paddock up` starts one)"


def test_an_open_queue_with_nothing_in_it_is_not_worth_a_line(eye: LedgerEye) -> None:
    eye.ledger.add()
    assert see(eye).queue == ()
    eye.ledger.write(*switch_queue(QueueSwitch.FREEZE, "a release"))
    assert see(eye).queue == (("merge queue frozen", ""),)


def test_a_convoy_is_watched_without_the_rest(eye: LedgerEye) -> None:
    ledger = eye.ledger
    ledger.write(ev.Draft(ev.ConvoyAdded("prices", "Prices")))
    inside, outside = ledger.add(convoy="prices"), ledger.add()
    for task in (inside, outside):
        ledger.start(task)
    finish(ledger, ledger.add())
    seen = see(eye, "prices")
    assert (seen.name, seen.counts, seen.total) == ("prices", ((Phase.RUNNING, 1),), 1)
    assert [row.id for row in seen.agents] == ["t1.1"]
    assert seen.needs == ()

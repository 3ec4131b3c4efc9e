"""The live board: complete, true to the log however often one looks, and the same objects for what is the same."""

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, run_state_machine_as_test

from paddock.core import events as ev
from paddock.core.ids import TaskId
from paddock.core.intent.queue import QueueSwitch, switch_queue
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change, HaltCause, Member, Purpose, Result
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.fleet.glance import AgentGlance, Glance
from paddock.fleet.workspace import Workspace
from paddock.views.board.pace import KEPT_FINISHED
from paddock.views.board.page import BoardView, LiveBoard
from paddock.views.difference import Difference, difference
from paddock.views.document import iso, to_json
from tests.core.ledger import START, Ledger
from tests.core.test_board_machine import HEAD, Fleet
from tests.views.eyes import DAEMON, NOBODY, LedgerEye, apply_difference, workspace_in

BASE = "b" * 40


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return workspace_in(tmp_path_factory.mktemp("board") / "harbor", '[land]\nci = "true"\nslots = 3\n')


@pytest.fixture
def eye(workspace: Workspace) -> LedgerEye:
    return LedgerEye(workspace, Ledger())


class Watching(Fleet):
    """A reader that has looked all the time sees what one sees who looks for the first time."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.eye = LedgerEye(workspace, self.ledger)
        self.live = LiveBoard()
        self.page: BoardView | None = None

    @rule(switch=st.sampled_from(QueueSwitch))
    def switch_the_queue(self, switch: QueueSwitch) -> None:
        self.ledger.write(*switch_queue(switch, "a release"))

    @rule(seconds=st.sampled_from([0.0, 0.3, 20.0]), daemon=st.booleans())
    def time_passes(self, seconds: float, daemon: bool) -> None:
        self.eye.now = START + self.board.seq + seconds
        self.eye.glance = Glance(agents={f"t{n}.1": AgentGlance(step=f"edit {n}", cost_usd=0.5) for n in (1, 2)})
        self.eye.waiting = {"t1": "claude is full"} if daemon else {}

    @invariant()
    def what_is_told_is_what_is(self) -> None:
        self.eye.now = max(self.eye.now or 0.0, START + self.board.seq)
        sight = self.eye.sight()
        seen, fresh = self.live.look(sight), LiveBoard().look(sight)
        for name in ("tasks", "seq", "counts", "needs", "older", "words", "agents", "main", "daemon", "queue"):
            assert getattr(seen, name) == getattr(fresh, name), name
        for name, row in seen.convoys.items():
            other = fresh.convoys[name]
            if self.board.spending.experience.samples:
                other = msgspec.structs.replace(other, eta=row.eta, longest=row.longest)
            assert row == other, "what was learnt elsewhere counts at the next look ahead"
        if self.page is None:
            self.page = seen
        else:
            self.page = apply_difference(self.page, difference(self.page, seen) or Difference({}, {}))
        assert self.page == seen
        again = self.live.look(sight)
        assert difference(seen, again) is None
        assert all(again.tasks[name] is row for name, row in seen.tasks.items())


def test_a_reader_who_stays_sees_what_one_sees_who_comes(workspace: Workspace) -> None:
    run_state_machine_as_test(
        lambda: Watching(workspace),  # type: ignore[arg-type]
        settings=settings(
            max_examples=30, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
        ),
    )


def finish(ledger: Ledger, task: TaskId, cost: float | None = None) -> None:
    """One turn of work that is delivered."""
    attempt = ledger.start(task)
    ledger.write(
        ev.Draft(ev.TurnStarted(1, session="s"), task=task, attempt=attempt),
        ev.Draft(ev.TurnEnded(1, exit=0, cost_usd=cost, output_tokens=9), task=task, attempt=attempt),
        ev.Draft(
            ev.AttemptEnded(
                Outcome.DELIVERED, Step.APPROVAL, False, head=HEAD, base=BASE, files=2, insertions=12, deletions=3
            ),
            task=task,
            attempt=attempt,
        ),
    )


def enqueue(ledger: Ledger, task: TaskId) -> Change:
    change = Change(task, 1, HEAD, BASE, task=task, approved_by="ana@desk")
    ledger.write(ev.Draft(qe.ChangeQueued(change), task=task))
    return change


def land(ledger: Ledger, task: TaskId, run: str, main: str, new: str) -> None:
    """A train of one, from main to a new tip."""
    member = Member(task, 1, HEAD)
    started = qe.RunStarted(run, Purpose.TRAIN, main, f"tree {main}", (member,), f"tree {new}", new, "ci", "log")
    ledger.write(
        ev.Draft(started),
        ev.Draft(qe.RunEnded(run, Result.PASS)),
        ev.Draft(qe.LandingStarted(run, main, new)),
        ev.Draft(qe.TrainLanded(run, main, new)),
    )


def begin_queue(ledger: Ledger) -> None:
    """A main that has passed."""
    ledger.write(
        ev.Draft(qe.CiDefined("ci")),
        ev.Draft(qe.MainMoved("m0", "tree m0")),
        ev.Draft(qe.RunStarted("r1", Purpose.BASELINE, "m0", "tree m0", (), "tree m0", "m0", "ci", "log")),
        ev.Draft(qe.RunEnded("r1", Result.PASS)),
    )


def test_a_row_tells_what_its_agent_does_and_what_people_may_ask(eye: LedgerEye) -> None:
    ledger = eye.ledger
    task = ledger.add()
    attempt = ledger.start(task)
    ledger.write(ev.Draft(ev.TurnStarted(1, session="s"), task=task, attempt=attempt))
    at = START + 60
    told = AgentGlance("Edit \x1b[31ma.py", at, 3, 1, 0.25, insertions=5, deletions=2, files=1, stuck="quiet for 6m")
    eye.glance = Glance(at=at, agents={attempt: told}, running=1, cap=8, limit="memory", limit_reason="no memory left")
    live = LiveBoard()
    seen = live.look(eye.sight())
    row = seen.tasks[task]
    assert (row.phase, row.attempt, row.turn, row.step, row.step_at) == (
        "running",
        "t1.1",
        1,
        "Edit �[31ma.py",
        iso(at),
    )
    assert (row.cost_usd, row.insertions, row.deletions, row.files) == (0.25, 5, 2, 1)
    assert row.stuck == "quiet for 6m"
    assert row.may == ("stop", "cancel", "message", "edit", "diff", "connect")
    assert (seen.agents.running, seen.agents.cap, seen.agents.limit) == (1, 8, "memory")
    assert seen.words == "Nobody waits for you. 1 agent is at work."
    other = ledger.add()
    eye.waiting = {other: "waits for memory"}
    later = live.look(eye.sight())
    assert later.tasks[task] is row
    assert later.tasks[other].reason == "waits for memory"
    assert list((difference(seen, later) or Difference({}, {})).rows["tasks"]) == [other]


def test_what_was_delivered_is_counted_by_the_log_once_the_agent_is_gone(eye: LedgerEye) -> None:
    task = eye.ledger.add()
    finish(eye.ledger, task, 1.5)
    row = LiveBoard().look(eye.sight()).tasks[task]
    assert (row.need, row.insertions, row.deletions, row.files, row.cost_usd) == ("approve", 12, 3, 2, 1.5)
    assert row.head == HEAD
    assert "approve" in row.may
    assert (row.step, row.started) == ("", None)


def test_a_queued_row_knows_its_place_and_when_it_may_land(eye: LedgerEye) -> None:
    ledger = eye.ledger
    begin_queue(ledger)
    for _ in range(2):
        task = ledger.add()
        finish(ledger, task)
        enqueue(ledger, task)
    member = Member("t1", 1, HEAD)
    ledger.write(ev.Draft(qe.RunStarted("r2", Purpose.TRAIN, "m0", "tree m0", (member,), "tree m1", "m1", "ci", "log")))
    live = LiveBoard()
    seen = live.look(eye.sight())
    assert [seen.tasks[name].place for name in ("t1", "t2")] == [1, 2]
    started = ledger.records[-1].at
    assert seen.tasks["t1"].eta == iso(started + 1.0), "the baseline took a second"
    assert seen.queue.next is not None
    assert (seen.queue.next.members, seen.queue.next.eta) == (("t1",), seen.tasks["t1"].eta)
    assert [(run.run, run.purpose, run.eta) for run in seen.queue.runs] == [("r2", "train", iso(started + 1.0))]
    assert (seen.queue.queued, seen.queue.slots) == (2, 3)
    eye.daemon = NOBODY
    alone = live.look(eye.sight())
    assert alone.tasks["t1"].eta is None
    assert alone.words.startswith("Nobody waits for you. No daemon is running")


def test_who_stopped_the_queue_and_why_is_told_also_long_after(eye: LedgerEye) -> None:
    ledger = eye.ledger
    ledger.add()
    ledger.write(*switch_queue(QueueSwitch.FREEZE, "a release"))
    first = LiveBoard().look(eye.sight())
    assert (first.queue.state, first.queue.reason, first.queue.by) == ("frozen", "a release", "ana@host")
    assert first.queue.since == iso(START + 2)
    assert first.words.endswith("The merge queue is frozen: a release.")
    live = LiveBoard()
    live.look(eye.sight())
    ledger.write(*switch_queue(QueueSwitch.UNFREEZE), *switch_queue(QueueSwitch.FREEZE, "another one"))
    assert live.look(eye.sight()).queue.reason == "another one"


def test_landings_are_counted_by_the_hour_and_main_by_its_streak(eye: LedgerEye) -> None:
    ledger = eye.ledger
    begin_queue(ledger)
    live = LiveBoard()
    live.look(eye.sight())
    for number in (1, 2):
        task = ledger.add()
        finish(ledger, task, 0.5)
        enqueue(ledger, task)
        land(ledger, task, f"r{number + 1}", f"m{number - 1}", f"m{number}")
    seen = live.look(eye.sight())
    assert (seen.main.commit, seen.main.state, seen.main.streak) == ("m2", "green", 2)
    assert seen.main.since == iso(ledger.records[-1].at)
    assert (seen.landed.today, seen.landed.per_hour, seen.landed.hours[-1], len(seen.landed.hours)) == (2, 2, 2, 12)
    assert seen.tasks["t1"].phase == "landed"
    assert (seen.spend.cost_usd, seen.spend.per_landed_usd) == (1.0, 0.5)
    eye.now = START + 5 * 3600
    later = live.look(eye.sight()).landed
    assert (later.per_hour, sum(later.hours), later.hours[-1]) == (0, 2, 0)
    ledger.write(ev.Draft(qe.QueueHalted("main is red", until_main_moves=True, cause=HaltCause.MAIN_RED)))
    red = live.look(eye.sight()).main
    assert (red.state, red.streak) == ("red", 0)
    assert LiveBoard().look(eye.sight()).main == red


def test_the_days_money_is_foretold_from_the_last_hour_and_not_from_nothing(eye: LedgerEye) -> None:
    ledger = eye.ledger
    for _ in range(4):
        finish(ledger, ledger.add(), 2.0)
    turns = [record.at for record in ledger.records if isinstance(record.event, ev.TurnEnded)]
    assert LiveBoard().look(eye.sight()).spend.forecast_usd is None
    eye.now = turns[0] + 1800
    spend = LiveBoard().look(eye.sight()).spend
    left = 86400 - eye.now % 86400
    assert spend.cost_usd == 8.0
    assert spend.forecast_usd == round(8.0 + 6.0 / 1800 * left)
    ledger.write(ev.Draft(ev.BudgetSet("day", 80.0, None)))
    assert LiveBoard().look(eye.sight()).spend.budget_usd == 80.0


def test_only_so_many_finished_tasks_are_listed_and_the_others_counted(eye: LedgerEye) -> None:
    ledger = eye.ledger
    for _ in range(KEPT_FINISHED + 5):
        ledger.add()
    ledger.write(*(ev.Draft(ev.TaskCancelled(), task=name) for name in [*ledger.board.tasks][:-1]))
    live = LiveBoard()
    seen = live.look(eye.sight())
    assert (len(seen.tasks), seen.older) == (KEPT_FINISHED + 1, 4)
    assert "t4" not in seen.tasks
    ledger.write(ev.Draft(ev.TaskRetried(1), task=TaskId("t2")), ev.Draft(ev.TaskCancelled(), task=TaskId("t2")))
    again = live.look(eye.sight())
    assert again.tasks["t2"].phase == "cancelled", "it finished again, and so it is the newest"
    assert "t5" not in again.tasks
    assert again.older == 4


def test_a_convoy_tells_the_longest_way_left_and_when_it_may_be_over(eye: LedgerEye) -> None:
    ledger = eye.ledger
    ledger.write(ev.Draft(ev.ConvoyAdded("pg16", "Postgres 16")))
    ledger.add(convoy="pg16")
    ledger.add(convoy="pg16", after=["t1"])
    ledger.add(convoy="pg16")
    ledger.add(convoy="pg16", after=["t2", "t3"])
    unknown = LiveBoard().look(eye.sight()).convoys["pg16"]
    assert unknown.longest == ("t1", "t2", "t4")
    assert unknown.eta is None, "nothing of the kind was ever done"
    finish(ledger, ledger.add(convoy="pg16"), 1.25)
    ledger.write(ev.Draft(ev.BudgetSet("convoy:pg16", 25.0, None)))
    known = LiveBoard().look(eye.sight()).convoys["pg16"]
    assert known.longest == ("t1", "t2", "t4")
    assert known.eta is not None
    assert known.eta > iso(START + ledger.board.seq)
    assert (known.total, known.done, known.needs, known.cost_usd, known.budget_usd) == (5, 0, 1, 1.25, 25.0)
    eye.daemon = NOBODY
    assert LiveBoard().look(eye.sight()).convoys["pg16"].eta is None, "nobody works on it"
    eye.daemon = DAEMON
    ledger.write(ev.Draft(ev.BudgetSet("convoy:pg16", None, None)))
    ledger.attempt(TaskId("t1"), "fail")
    assert ledger.task("t1").phase is Phase.FAILED
    assert LiveBoard().look(eye.sight()).convoys["pg16"].eta is None


def test_an_empty_board_says_so_in_words(eye: LedgerEye) -> None:
    seen = LiveBoard().look(eye.sight())
    assert seen.words == "Nothing to do yet: add a task, and an agent takes it."
    assert (seen.repo, seen.branch, seen.tasks, seen.main.state) == ("harbor", "main", {}, "unknown")
    assert msgspec.json.decode(to_json(seen))["schema"] == 1


def test_the_log_is_read_once_and_then_only_what_is_new(eye: LedgerEye) -> None:
    ledger = eye.ledger
    finish(ledger, ledger.add(), 1.0)
    live = LiveBoard()
    live.look(eye.sight())
    eye.asked.clear()
    live.look(eye.sight())
    assert not eye.asked
    seq = ledger.board.seq
    ledger.add()
    live.look(eye.sight())
    assert [(query.after, query.until) for query in eye.asked] == [(seq, seq + 1)]

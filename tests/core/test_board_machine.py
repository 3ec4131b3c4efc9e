"""Whatever people and the fleet do, in any order, the board stays the fold of its log."""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.causes.decide import Diagnosis, record_diagnosis
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId, task_id
from paddock.core.intent import holds
from paddock.core.intent import tasks as intent
from paddock.core.intent.causes import clear_causes, settle_cause
from paddock.core.intent.messages import send_message
from paddock.core.merge import events as qe
from paddock.core.merge.model import Change
from paddock.core.snapshot import encode_board
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Role, Step
from tests.core.ledger import Ledger, assert_sound, fold, fold_from_snapshot

KNOWN = intent.Known(frozenset({"parser"}), frozenset({"claude", "codex"}))
HEAD = "c" * 40
SEAT = holds.Seat("host", "id", "7 7 boot")
NEXT = ("review", "approval", "noop", "retry", "fail", "block")

numbers = st.integers(1, 12)
some_numbers = st.lists(numbers, max_size=3)
keys = st.sampled_from(["a", "b", "c", "d"])


@st.composite
def batches(draw: st.DrawFn) -> intent.Batch:
    """Small batches whose dependencies may be wrong: unknown ids, cycles, keys used twice."""
    specs = []
    for key in draw(st.lists(st.none() | keys, min_size=1, max_size=4)):
        after = draw(st.lists(keys | numbers.map(lambda number: f"t{number}"), max_size=2))
        engine = draw(st.sampled_from([None, "claude", "clod"]))
        specs.append(intent.TaskSpec("do it", key=key, after=tuple(after), engine=engine))
    return intent.Batch(tuple(specs), draw(st.sampled_from([None, None, "red", "blue"])))


class Fleet(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger()

    @property
    def board(self) -> Board:
        return self.ledger.board

    def decide(self, decision: Callable[..., Sequence[ev.Draft]], *arguments: Any) -> None:
        """As a store does it: a refusal leaves no trace; what was decided must fold."""
        before = encode_board(self.board)
        try:
            drafts = decision(self.board, *arguments)
        except PaddockError:
            assert encode_board(self.board) == before
            return
        self.ledger.write(*drafts)

    def pick(self, number: int, *phases: Phase) -> TaskId | None:
        names = [task for task in self.board.tasks if self.board.tasks[task].phase in phases]
        return names[number % len(names)] if names else None

    def named(self, numbers_: list[int]) -> list[TaskId]:
        """Mostly tasks there are; 12 may be one there is not."""
        count = max(self.board.next_task - 1, 1)
        return [task_id(number if number == 12 else number % count + 1) for number in numbers_]

    @initialize(after=st.lists(st.lists(st.integers(0, 3), max_size=2), min_size=3, max_size=6))
    def begin(self, after: list[list[int]]) -> None:
        self.ledger.write(ev.Draft(ev.ConvoyAdded("red")))
        for index, wanted in enumerate(after):
            before = {f"t{number % index + 1}" for number in wanted} if index else set()
            self.ledger.add(after=sorted(before), convoy="red" if index % 2 else None)

    @rule(after=some_numbers)
    def add_one(self, after: list[int]) -> None:
        if self.board.next_task < 10:
            known = [name for name in dict.fromkeys(self.named(after)) if name in self.board.tasks]
            self.ledger.add(after=known, convoy="red")

    @rule(batch=batches())
    def add(self, batch: intent.Batch) -> None:
        self.decide(intent.add_tasks, batch, KNOWN)

    @rule(names=some_numbers)
    def cancel(self, names: list[int]) -> None:
        self.decide(intent.cancel_tasks, self.named(names), "no longer needed")

    @rule(names=some_numbers, attempts=st.integers(0, 3))
    def retry(self, names: list[int], attempts: int) -> None:
        self.decide(intent.retry_tasks, self.named(names), attempts, "again")

    @rule(name=numbers, after=some_numbers)
    def edit_dependencies(self, name: int, after: list[int]) -> None:
        edit = ev.TaskEdited(after=tuple(dict.fromkeys(self.named(after))))
        self.decide(intent.edit_task, self.named([name])[0], edit, KNOWN)

    @rule(name=numbers, edit=st.sampled_from([ev.TaskEdited(brief="anew"), ev.TaskEdited(attempts=1), ev.TaskEdited()]))
    def edit(self, name: int, edit: ev.TaskEdited) -> None:
        self.decide(intent.edit_task, self.named([name])[0], edit, KNOWN)

    @rule(names=some_numbers)
    def stop(self, names: list[int]) -> None:
        self.decide(intent.stop_tasks, self.named(names), "enough")

    @rule(names=some_numbers)
    def message(self, names: list[int]) -> None:
        self.decide(send_message, self.named(names), "also do this")

    @rule(names=some_numbers)
    def hold(self, names: list[int]) -> None:
        for name in self.named(names):
            self.decide(holds.hold_task, name, SEAT)

    @rule(names=some_numbers, back=st.booleans())
    def stop_holding(self, names: list[int], back: bool) -> None:
        for name in self.named(names):
            live = self.board.tasks[name].live_attempt if name in self.board.tasks else None
            if live is None or live.held is None:
                continue
            ended = ev.TurnEnded(live.turn, exit=0) if live.interactive else None
            if back:
                self.decide(holds.hand_back, name, live.held.by, "", ended)
            else:
                self.decide(holds.leave, live.id, ended)

    @rule(number=numbers)
    def start_attempt(self, number: int) -> None:
        ready = [task for task in self.board.ready if self.board.tasks[task].live_attempt is None]
        if ready:
            self.ledger.start(ready[number % len(ready)])

    @rule(
        cause=st.sampled_from(FailureCause),
        signature=st.sampled_from(["f1", "f2"]),
        number=numbers,
        then=st.sampled_from(("retry", "fail")),
        is_sure=st.booleans(),
    )
    def fail_and_explain(self, cause: FailureCause, signature: str, number: int, then: str, is_sure: bool) -> None:
        if (name := self.pick(number, Phase.READY)) is not None and self.board.tasks[name].live_attempt is None:
            failed = self.ledger.start(name)
            ended = ev.AttemptEnded(Outcome.CRASHED, Step(then), counted=True, base="b" * 40)
            self.ledger.write(ev.Draft(ended, task=name, attempt=failed))
        tasks = (self.board.tasks[name] for name in self.board.tasks)
        attempts = [attempt.id for task in tasks for attempt in task.attempts]
        self.decide(record_diagnosis, Diagnosis(signature, cause, attempts, is_sure=is_sure))

    @rule(number=st.integers(1, 4), word=st.sampled_from(["clear", "network", "dependency", "task"]))
    def say_of_a_cause(self, number: int, word: str) -> None:
        if word == "clear":
            self.decide(clear_causes, [f"c{number}"])
        else:
            self.decide(settle_cause, f"c{number}", word)

    @rule(number=numbers)
    def start_review(self, number: int) -> None:
        waiting = [name for name in self.board.tasks if self.board.tasks[name].phase is Phase.REVIEWING]
        idle = [name for name in waiting if self.board.tasks[name].live_attempt is None]
        if idle:
            self.ledger.start(idle[number % len(idle)], role=Role.REVIEW)

    @precondition(lambda self: self.board.live)
    @rule(number=numbers)
    def go_on_with_a_turn(self, number: int) -> None:
        name = list(self.board.live)[number % len(self.board.live)]
        task = self.board.tasks[name]
        attempt = task.live_attempt
        assert attempt is not None
        event: ev.Event
        if attempt.turn_open:
            event = ev.TurnEnded(attempt.turn, exit=0, steps=3, output_tokens=10, cost_usd=0.5)
        else:
            is_held = attempt.held is not None
            messages = () if is_held else task.inbox
            event = ev.TurnStarted(attempt.turn + 1, session="s", messages=messages, interactive=is_held)
        self.ledger.write(ev.Draft(event, task=name, attempt=attempt.id))

    @precondition(lambda self: self.board.live)
    @rule(number=numbers, then=st.sampled_from((*NEXT, "noop", "fail")), counted=st.booleans())
    def end_attempt(self, number: int, then: str, counted: bool) -> None:
        name = list(self.board.live)[number % len(self.board.live)]
        attempt = self.board.tasks[name].live_attempt
        assert attempt is not None
        if attempt.turn_open:
            self.ledger.write(ev.Draft(ev.TurnEnded(attempt.turn, exit=0), task=name, attempt=attempt.id))
        self.decide(holds.leave, attempt.id, None)
        if attempt.role is Role.REVIEW and then == "noop":
            then = "review"
        self.ledger.end(name, then, head=HEAD, counted=counted)

    @rule(number=numbers, reject=st.booleans())
    def judge(self, number: int, reject: bool) -> None:
        if (name := self.pick(number, Phase.APPROVAL)) and self.board.tasks[name].head:
            verdict = ev.TaskRejected(HEAD, "not so") if reject else ev.TaskApproved(HEAD)
            self.ledger.write(ev.Draft(verdict, task=name))

    @rule(number=numbers)
    def block(self, number: int) -> None:
        if name := self.pick(number, Phase.READY, Phase.WAITING, Phase.APPROVAL):
            self.ledger.write(ev.Draft(ev.TaskBlocked("needs a key", "export KEY"), task=name))

    @rule(number=numbers)
    def queue(self, number: int) -> None:
        if name := self.pick(number, Phase.APPROVAL):
            change = Change(name, self.board.seq, HEAD, "b" * 40, task=name)
            self.ledger.write(ev.Draft(qe.ChangeQueued(change), task=name))

    @rule(number=numbers, how=st.sampled_from(["empty", "cancelled", "conflicted", "rejected"]))
    def leave_the_queue(self, number: int, how: str) -> None:
        name = self.pick(number, Phase.QUEUED)
        if name is None or name not in self.board.queue.entries:
            return
        version = self.board.queue.entries[name].change.version
        event: ev.Event
        match how:
            case "empty":
                event = qe.ChangeFoundEmpty(name, version, "b" * 40)
            case "cancelled":
                event = qe.ChangeCancelled(name, version)
            case "conflicted":
                event = qe.ChangeConflicted(name, version, "b" * 40, ("a.py",))
            case _:
                event = qe.ChangeRejected(name, version, "tests fail")
        before = encode_board(self.board)
        try:
            self.ledger.write(ev.Draft(event, task=name))
        except PaddockError:
            assert encode_board(self.board) == before

    @rule()
    def meet_the_future(self) -> None:
        self.ledger.write(ev.Draft(ev.Unknown("task.teleported", b"{}")))

    @rule(cut=st.integers(0, 200))
    def start_from_a_snapshot(self, cut: int) -> None:
        records = self.ledger.records
        cut = min(cut, len(records))
        assert encode_board(fold_from_snapshot(records, cut)) == encode_board(self.board)

    @invariant()
    def every_index_equals_a_recount(self) -> None:
        assert_sound(self.board)

    def teardown(self) -> None:
        assert encode_board(fold(self.ledger.records)) == encode_board(self.board)


TestFleet = Fleet.TestCase
TestFleet.settings = settings(
    max_examples=80, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

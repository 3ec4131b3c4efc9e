"""Driving one attempt. Every step looks at what is recorded and does the next thing; after a crash the
next daemon does exactly the same, so there is no separate recovery.

    started ─▶ worktree ─▶ turn claimed ─▶ process ─▶ turn ended ─▶ message? another turn : judged ─▶ worktree back
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from msgspec import structs

from paddock.core.answers import Unusable
from paddock.core.board import Board
from paddock.core.causes.probing import PROBE
from paddock.core.errors import PaddockError
from paddock.core.events import (
    AnswerRefused,
    AttemptEnded,
    Draft,
    Event,
    MessagesDelivered,
    TurnEnded,
    TurnStarted,
)
from paddock.core.ids import AttemptId, TaskId, task_of
from paddock.core.leases.decisions import end_attempt
from paddock.core.money.spending import day_of, still_reserved
from paddock.core.review.intake import dispute_findings
from paddock.core.summary import TurnSummary
from paddock.core.tasks.conversations import memory_of_turn
from paddock.core.tasks.edits import EditTally
from paddock.core.tasks.receipts import evidence_in_session
from paddock.core.tasks.task import Attempt, Phase, Task, as_seen_by
from paddock.core.tasks.vocabulary import NO_FAILURE, EndedBy, Outcome, Step
from paddock.core.trace import TraceEntry
from paddock.core.troubles import Trouble
from paddock.engines.protocol import Engine
from paddock.fleet.attempts.allowance import Purse
from paddock.fleet.attempts.answers import Answer, may_ask_again, read_answer, tell_answer
from paddock.fleet.attempts.correspondence import Correspondence
from paddock.fleet.attempts.folders import why_new_conversation
from paddock.fleet.attempts.forks import copy_memory
from paddock.fleet.attempts.ground import Unprepared
from paddock.fleet.attempts.holding import end_hold, why_end_hold
from paddock.fleet.attempts.openings import ToTell, last_words, messages_to_tell
from paddock.fleet.attempts.preparation import prepare_worktree
from paddock.fleet.attempts.prompts import TurnContext, TurnPlan, plan_turn, read_messages, read_question
from paddock.fleet.attempts.reading import plan_reading_turn
from paddock.fleet.attempts.recollection import Recollection
from paddock.fleet.attempts.traces import NO_TRACE, end_unseen, has_no_trace
from paddock.fleet.attempts.turn import (
    Ended,
    TurnRun,
    Wish,
    describe_turn,
    fence_level,
    lost_session,
    open_turn,
    read_again,
    session_log_of,
    start,
    turn_ended,
    unstartable,
    was_started,
)
from paddock.fleet.attempts.verdict import Judging, judge_attempt
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.dispatch.claims import renew_leases
from paddock.fleet.ledger import Decision, Ledger
from paddock.fleet.results import hear_inputs
from paddock.fleet.site import Site
from paddock.fleet.upkeep.sweeper import Sweeper
from paddock.git.command import GitKilled
from paddock.git.worktrees.furnish import Worktree
from paddock.git.worktrees.release import Secured


class Ear(Protocol):
    """Who learns from what agents at work are told, and from how they end: the gate, or who passes it on to that."""

    def hear(self, account: str, entry: TraceEntry, *, is_first: bool) -> None: ...

    def hear_end(self, engine: str, task: str, started: float, end: AttemptEnded) -> None: ...


@dataclass
class Crew:
    """What the runs of all attempts share."""

    site: Site
    ledger: Ledger
    sweeper: Sweeper
    gate: Ear
    stirred: Callable[[], None] = lambda: None
    """Called for every step of an agent."""
    failed: Callable[[], None] = lambda: None
    """Called when the log has an attempt that failed."""
    preparing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(8))


class AttemptRun:
    def __init__(self, crew: Crew, task: TaskId, attempt: AttemptId) -> None:
        self.task_id = task
        self.attempt_id = attempt
        self.wish = Wish()
        self.turn: TurnRun | None = None
        self.mail_seen: tuple[tuple[int, ...], int] = ((), 0)
        self._edits = EditTally()
        self._crew = crew
        self._site = crew.site
        self._ledger = crew.ledger
        self._summary: TurnSummary | None = None
        self._mail: Correspondence | None = None
        self._worktree: Worktree | None = None
        self._secured: Secured | None = None
        self._only_reads = False
        live = self._live()
        # Asked before anybody makes anything in its folder.
        self._lost_turn = live.turn if live is not None and has_no_trace(self._site, live) else None

    async def drive(self) -> None:
        """Drives it to its end, or to where a person has it. Raises only what no attempt is to blame for: a full disk,
        a lost lease."""
        while (attempt := self._live()) is not None:
            task = as_seen_by(self._ledger.board.task(self.task_id), attempt)
            self._only_reads = attempt.role.only_reads
            if attempt.held is not None and (attempt.interactive or not attempt.turn_open):
                if (why := why_end_hold(self._site, task, attempt)) is None:
                    return
                await end_hold(self._ledger, self._crew.sweeper, attempt, why)
            elif attempt.turn_open:
                await self._run_turn(task, attempt)
            elif not self._may_go_on(task, attempt):
                await self._end(task, attempt)
            elif attempt.turn == 0:
                await self._begin(task, attempt)
            else:
                await self._claim_turn(task, attempt)
        await self._give_back()

    @property
    def edits(self) -> EditTally:
        """What was seen of them; after a restart of the daemon, of the open turn only."""
        if self.turn is None:
            return self._edits
        return self._edits.plus(self.turn.reader.edits) if self._edits.files else self.turn.reader.edits

    async def pause(self, seconds: float) -> None:
        """The pause before the next try; ends at once if the attempt is to be stopped."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self.wish.stop:
                    self.wish.changed.clear()
                    await self.wish.changed.wait()

    async def give_up(self, trouble: Trouble, retry_at: float | None = None) -> None:
        """Paddock itself could not continue, however often it tried: the agent is ended, and the task needs a person.

        Unless it will be tried once more at `retry_at`, where the machine is to blame. The janitor brings the worktree
        back, with what is in it.
        """
        if (attempt := self._live()) is None:
            return
        head = None
        with contextlib.suppress(PaddockError, OSError):  # what failed so far may fail again; the janitor repeats it
            await self._crew.sweeper.sweep(attempt.id)
            head = (await asyncio.to_thread(self._site.ground.secure, attempt)).head
        checkpoint("attempt.swept")
        tries = "1 try" if trouble.times == 1 else f"{trouble.times} tries"
        verdict = AttemptEnded(
            outcome=Outcome.LOST,
            next=Step.BLOCK if retry_at is None else Step.RETRY,
            counted=False,
            reason=f"Paddock gave up on it after {tries}: {trouble.problem}",
            head=head,
            retry_at=retry_at,
            unblock=f"paddock retry {self.task_id}" if retry_at is None else "",
        )
        unseen = Ended(None, EndedBy.VANISHED, trouble.problem, TurnSummary())

        def decide(board: Board) -> list[Draft]:
            if self._is_held(board):
                return []
            last = [self._draft(self._turn_ended(attempt, unseen))] if attempt.turn_open else []
            return [*last, *self._ended(board, verdict)]

        await self._record(decide)
        checkpoint("attempt.given_up")

    def _live(self, board: Board | None = None) -> Attempt | None:
        attempt = (self._ledger.board if board is None else board).task(self.task_id).live_attempt
        return attempt if attempt is not None and attempt.id == self.attempt_id else None

    def _is_held(self, board: Board) -> bool:
        """Somebody may have taken it over since we looked."""
        live = self._live(board)
        return live is not None and live.held is not None

    async def _record(self, decide: Decision) -> None:
        """Nothing if the attempt has been ended in the meantime."""
        await self._ledger.record(lambda board: decide(board) if self._live(board) is not None else [])

    def _draft(self, event: Event) -> Draft:
        return Draft(event, self.task_id, self.attempt_id)

    def _ended(self, board: Board, verdict: AttemptEnded) -> list[Draft]:
        return [self._draft(verdict), *(Draft(event) for event in end_attempt(board.leases, self.attempt_id))]

    def _may_go_on(self, task: Task, attempt: Attempt) -> bool:
        """Another turn: the first one, one for messages that came in meanwhile, one to answer again, or one in a new
        conversation where the engine has lost the old one. After a person has left, only a message makes it go on."""
        if task.phase is Phase.CANCELLED or self.wish.stop or attempt.stop_requested is not None:
            return False
        if attempt.left_by:
            return bool(_messages(task, attempt))
        if attempt.turn == 0 or attempt.session_lost or attempt.owes_answer or attempt.ended_by is EndedBy.MESSAGE:
            return True
        return bool(_messages(task, attempt)) and attempt.ended_by in (EndedBy.ITSELF, EndedBy.HELD)

    async def _begin(self, task: Task, attempt: Attempt) -> None:
        prepared = await self._prepare(task, attempt)
        if isinstance(prepared, Unprepared):
            await self._end(task, attempt, prepared)
        else:
            await self._claim_turn(task, attempt)

    async def _prepare(self, task: Task, attempt: Attempt) -> Worktree | Unprepared:
        if self._worktree is None:
            crew, board = self._crew, self._ledger.board
            prepared = await prepare_worktree(crew.site, crew.preparing, board, task, attempt)
            if isinstance(prepared, Unprepared):
                return prepared
            self._worktree = prepared
        return self._worktree

    async def _claim_turn(self, task: Task, attempt: Attempt) -> None:
        """Recorded before the process exists: whoever reads this starts the turn, exactly once."""
        self._secured = None
        folder = attempt.worktree if self._worktree is None else str(self._worktree.path)
        engine = self._engine(attempt)
        await asyncio.to_thread(copy_memory, self._site, attempt)
        fence = self._fence(engine, task)
        why = why_new_conversation(self._site, engine, task, attempt, folder, fence) if engine is not None else ""
        claim = TurnStarted(
            turn=attempt.turn + 1,
            session=None if why else attempt.session,
            messages=_messages(task, attempt),
            worktree=folder,
            new_conversation=why,
            fence=fence,
            memory=memory_of_turn(attempt, begins=bool(why)),
        )

        def decide(board: Board) -> list[Draft]:
            if self._is_held(board):
                return []
            now = self._site.clock.now()
            return [self._draft(claim), *renew_leases(self._site, board, task, self.attempt_id, now)]

        await self._record(decide)
        checkpoint("turn.claimed_in_log")

    def _fence(self, engine: Engine | None, task: Task) -> str:
        """The level for the next turn; empty where it cannot be had, which the start then says."""
        try:
            return fence_level(self._site, engine, task) if engine is not None else ""
        except PaddockError:
            return ""

    async def _run_turn(self, task: Task, attempt: Attempt) -> None:
        if self._lost_turn == attempt.turn:
            await self._crew.sweeper.sweep(attempt.id)
            gone = end_unseen(self._site, self._ledger.board, attempt, NO_TRACE, TurnSummary())
            await self._record(lambda _board: [self._draft(gone)])
            return
        ended = await self._start_and_follow(task, attempt)
        self._summary = ended.summary
        checkpoint("turn.over")
        swept = await self._crew.sweeper.sweep(attempt.id)
        checkpoint("turn.swept")
        words = tuple(process.command for process in swept.ended[:20])
        event = self._turn_ended(attempt, replace(ended, swept=words))
        mail = self._mail

        def decide(board: Board) -> list[Draft]:
            return [*(mail.too_late(board) if mail is not None else []), self._draft(event)]

        await self._record(decide)
        checkpoint("turn.ended_in_log")

    def _turn_ended(self, attempt: Attempt, ended: Ended) -> TurnEnded:
        expected = still_reserved(self._ledger.board.spending, attempt)
        return turn_ended(attempt, ended, self._site.prices, day_of(self._site.clock.now()), expected)

    async def _start_and_follow(self, task: Task, attempt: Attempt) -> Ended:
        try:
            engine = self._site.engine_of(attempt)
            worktree = await self._prepare(task, attempt)
            if isinstance(worktree, Unprepared):
                raise PaddockError(worktree.reason)
            plan = await self._plan(engine, task, attempt, worktree)
            launch, fence = describe_turn(self._site, engine, task, attempt, worktree, plan)
            checkpoint("turn.planned")
            adopted = was_started(self._site, attempt)
            await asyncio.to_thread(start, self._site, attempt, launch, fence)
        except GitKilled:
            raise
        except PaddockError as error:
            return unstartable(error)
        checkpoint("turn.started")
        listens = launch.mailbox is not None
        self._mail = Correspondence(self._ledger, self._site.sessions, self.task_id, attempt, plan.messages, listens)
        account = attempt.account or self._site.account_of(attempt.engine)
        self._edits = self.edits
        self.turn = TurnRun(
            self._site,
            engine,
            attempt,
            launch,
            self.wish,
            partial(self._hear, account),
            Purse(self._site, self._ledger, self.task_id, attempt).afford,
            self._site.loop_limits(task),
            self._site.turn_limits(task),
            self._mail,
        )
        if adopted:
            await self.turn.reader.catch_up()
            checkpoint("turn.caught_up")
        sessions, turn = self._site.sessions, open_turn(attempt)
        sessions.follow(turn, self.wish.changed.set)
        checkpoint("turn.followed")
        try:
            ended = await self.turn.follow()
        finally:
            sessions.forget(turn)
        return replace(ended, session_lost=lost_session(ended, sessions, turn)) if plan.session else ended

    def _hear(self, account: str, entry: TraceEntry, is_first: bool) -> None:
        self._crew.gate.hear(account, entry, is_first=is_first)
        self._crew.stirred()

    async def _plan(self, engine: Engine, task: Task, attempt: Attempt, worktree: Worktree) -> TurnPlan:
        store = self._ledger.store
        remembers = engine.capabilities.resume and attempt.session is not None
        is_reviewer = attempt.role is not task.role  # messages to the task are for its worker
        tell = ToTell() if is_reviewer else messages_to_tell(store, task, attempt, remembers=remembers)
        if remembers and tell.before and not was_started(self._site, attempt):
            tell = await self._recall(engine, task, attempt, worktree, tell)
        words = "" if remembers else await last_words(self._site, task, attempt)
        others = (task_of(task.forks),) if task.forks is not None and not remembers else ()
        results = await hear_inputs(self._site, store, task, others) if attempt.turn <= 1 or not remembers else ""
        context = TurnContext(read_messages(store, tell.all), words, results)
        if attempt.role.only_reads:
            plan = await plan_reading_turn(self._site, self._ledger.board, store, attempt, context)
        else:
            plan = plan_turn(self._site, store, task, attempt, worktree, context)
        return replace(plan, messages=tell.all)

    async def _recall(self, engine: Engine, task: Task, attempt: Attempt, worktree: Worktree, tell: ToTell) -> ToTell:
        """Without what its conversation has, although no answer to it was seen."""
        log = session_log_of(self._site, engine, task, attempt, worktree)
        memory = Recollection(self._ledger.store, self._site.sessions, engine, log, attempt.session or "")
        found = await memory.recall(open_turn(attempt), task.id, tell.before)
        if not found:
            return tell
        evidence = evidence_in_session(attempt.engine, attempt.session or "")
        receipt = MessagesDelivered(found, attempt.turn, evidence)
        await self._record(
            lambda board: [self._draft(receipt)] if set(found) <= set(board.task(task.id).untold) else []
        )
        checkpoint("turn.recalled")
        return replace(tell, before=tuple(seq for seq in tell.before if seq not in found))

    async def _end(self, task: Task, attempt: Attempt, unprepared: Unprepared | None = None) -> None:
        engine = self._engine(attempt)
        # A terminal says nothing to us: only what was left there counts.
        summary = TurnSummary() if attempt.left_by else self._summary or await self._read_again(engine, attempt)
        answer = await self._answer(engine, task, attempt)
        asks = attempt.role is task.role and task.question > 0
        if isinstance(answer, Unusable) and not asks and not attempt.left_by and may_ask_again(attempt, summary):
            refused = self._draft(AnswerRefused(answer.problem))
            await self._record(lambda board: [] if self._is_held(board) else [refused])
            checkpoint("attempt.asked_again")
            return
        if attempt.turn == 0 and unprepared is None and not attempt.left_by:
            step = Step.RETRY if attempt.stop_requested is None else Step.BLOCK
            verdict = AttemptEnded(outcome=Outcome.KILLED, next=step, counted=False, reason="stopped before it started")
        else:
            problem = answer.problem if isinstance(answer, Unusable) else ""
            asked = read_question(self._ledger.store, task) if asks else ""
            judging = Judging(task, attempt, summary, unprepared, problem, asked)
            judged = await asyncio.to_thread(judge_attempt, self._site, engine, judging)
            verdict, self._secured = judged.event, judged.secured
        answered = verdict.outcome is Outcome.ANSWERED
        self._crew.gate.hear_end(attempt.engine, task.id, attempt.started, verdict)
        checkpoint("attempt.judged")

        def decide(board: Board) -> list[Draft]:
            # A message that came while it was judged is still answered by this attempt.
            goes_on = attempt.turn and self._may_go_on(board.task(self.task_id), attempt)
            if goes_on or self._is_held(board):
                return []
            if not answered or answer is None or isinstance(answer, Unusable):
                disputes = dispute_findings(board, self.task_id, summary.refuted) if not self._only_reads else []
                return [*(self._draft(event) for event in disputes), *self._ended(board, verdict)]
            told = tell_answer(self._site, board, board.task(self.task_id), attempt, answer)
            ended = structs.replace(verdict, reason=told.reason)
            return [*told.drafts, *self._ended(board, ended)]

        await self._record(decide)
        checkpoint("attempt.ended_in_log")
        if verdict.outcome not in NO_FAILURE or PROBE in task.labels:
            self._crew.failed()

    async def _answer(self, engine: Engine | None, task: Task, attempt: Attempt) -> Answer | Unusable | None:
        """None of an attempt that delivers commits."""
        if not attempt.role.only_reads:
            return None
        if attempt.turn == 0 or engine is None:
            return Unusable("it never began")
        return await read_answer(self._site, self._ledger.board, engine, task, attempt)

    def _engine(self, attempt: Attempt) -> Engine | None:
        try:
            return self._site.engine(attempt.engine)
        except PaddockError:
            return None

    async def _read_again(self, engine: Engine | None, attempt: Attempt) -> TurnSummary:
        if engine is None or attempt.turn == 0:
            return TurnSummary()
        return await read_again(engine, self._site.sessions, open_turn(attempt))

    async def _give_back(self) -> None:
        why = f"{self.attempt_id} ended"
        if self._only_reads:
            await asyncio.to_thread(self._site.ground.discard, self.attempt_id, why)
        else:
            await asyncio.to_thread(self._site.ground.release, self.attempt_id, why, self._secured)
        checkpoint("attempt.released")


def _messages(task: Task, attempt: Attempt) -> tuple[int, ...]:
    """What its next turn is to answer. Messages to a task are not for those who review its change."""
    inbox = task.inbox if attempt.role is task.role else ()
    return (*((attempt.owes_answer,) if attempt.owes_answer else ()), *inbox)

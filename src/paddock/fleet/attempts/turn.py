"""One turn, from a recorded claim to a recorded end; the same path for a new turn and an adopted one."""

import asyncio
import os
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.core.events import TurnEnded
from paddock.core.fence import Level
from paddock.core.ids import AttemptId, attempt_number, task_of
from paddock.core.money.budget import Cost
from paddock.core.money.prices import PriceBook
from paddock.core.money.startup import Startup
from paddock.core.summary import Final, TurnSummary, main_model, turn_usage, uncounted_calls
from paddock.core.tasks.deadlines import TurnLimits
from paddock.core.tasks.repetition import LoopLimits, why_looping
from paddock.core.tasks.standstill import why_stuck
from paddock.core.tasks.task import Attempt, Task
from paddock.core.tasks.vocabulary import EndedBy
from paddock.core.trace import TokenUsage
from paddock.engines.lost_session import find_lost_session
from paddock.engines.protocol import Engine, Launch, TurnRequest
from paddock.fleet.attempts.answer_files import ANSWER_VARIABLE, answer_file
from paddock.fleet.attempts.correspondence import Correspondence
from paddock.fleet.attempts.deadlines import SteadyTurn, TurnClock
from paddock.fleet.attempts.prompts import TurnPlan
from paddock.fleet.attempts.tools import tool_server
from paddock.fleet.attempts.transcript import Heard, TurnReader, nobody
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.clock import wait_for
from paddock.fleet.desk.wire import DESK_VARIABLE
from paddock.fleet.dispatch.pricing import bill
from paddock.fleet.fences import agents_level, fence_attempt, seen_from_outside
from paddock.fleet.site import Site
from paddock.fleet.worker_token import TOKEN_VARIABLE, token_for
from paddock.git.worktrees.furnish import Worktree
from paddock.sessions.protocol import (
    Exited,
    MakeFence,
    NeverStarted,
    Running,
    Sessions,
    Stream,
    Turn,
    TurnOrder,
    Vanished,
    no_fence,
)

LAST_BYTES = 16_384
_NAMESPACE = uuid.UUID("6f2b7d3e-5c0a-4a51-9f0e-7a64646f636b")

Afford = Callable[[TurnSummary], Awaitable[str]]
"""Called as a turn runs; returns why it must stop, if it must."""


@dataclass
class Wish:
    """Requests to a running turn. `stop` ends the attempt with it; `interrupt` ends only the turn `interrupted`, and
    the attempt goes on. Set `changed` after editing it."""

    stop: EndedBy = EndedBy.ITSELF
    interrupt: EndedBy = EndedBy.ITSELF
    interrupted: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def interrupt_turn(self, turn: int, why: EndedBy) -> None:
        self.interrupt, self.interrupted = why, turn
        self.changed.set()


@dataclass(frozen=True, slots=True)
class Ended:
    exit: int | None
    ended_by: EndedBy
    problem: str
    summary: TurnSummary
    swept: tuple[str, ...] = ()
    startup_seconds: float | None = None
    startup: Startup = Startup()  # noqa: RUF009 (frozen)
    session_lost: str = ""


def new_session_id(attempt: AttemptId, marker: str, turn: int) -> str:
    """The same for the same turn, so that a restarted daemon asks for the same conversation."""
    later = f":{turn}" if turn > 1 else ""
    return str(uuid.uuid5(_NAMESPACE, f"{marker}:{attempt}{later}"))


def describe_turn(
    site: Site, engine: Engine, task: Task, attempt: Attempt, worktree: Worktree, plan: TurnPlan
) -> tuple[Launch, MakeFence]:
    """How to start the turn. Its fence is made when it begins: an adopted turn is in one already.

    Raises PaddockError where the engine cannot be called, or not in the fence it should be in.
    """
    launch = engine.launch(turn_request(site, engine, task, attempt, worktree, plan))
    return fence_turn(site, attempt, worktree, _level(site, engine, task, attempt), launch)


def turn_request(
    site: Site, engine: Engine, task: Task, attempt: Attempt, worktree: Worktree, plan: TurnPlan
) -> TurnRequest:
    """What an engine is told of the open turn, whether a daemon runs it or a person sits in it."""
    environment = attempt_environment(site, attempt, worktree)
    return TurnRequest(
        prompt=plan.prompt,
        worktree=worktree.path,
        folder=site.attempt_folder(attempt.id),
        memory=site.memory_of(attempt),
        task_text=plan.task_text,
        session_id=plan.session,
        new_session_id=new_session_id(attempt.id, site.marker, attempt.turn),
        model=attempt.model or site.agent_of(task).model or None,
        tools=site.agent_of(task).tools,
        attempt=attempt_number(attempt.id),
        turn=attempt.turn,
        git_dir=worktree.git_dir,
        base_env=os.environ,
        attempt_env=environment,
        tool_server=tool_server(site, engine, environment),
        mailbox=site.sessions.mailbox(open_turn(attempt)) if engine.capabilities.listens else None,
        messages=plan.messages,
        repository=site.repo.main,
        fenced=_level(site, engine, task, attempt) is not Level.NONE,
        fork=attempt.fork,
    )


def fence_turn(
    site: Site, attempt: Attempt, worktree: Worktree, level: Level, launch: Launch
) -> tuple[Launch, MakeFence]:
    """The launch as it is in the fence of the open turn, and that fence."""
    if attempt.role.only_reads:
        launch = replace(launch, writes=(*launch.writes, answer_file(site, attempt).parent))
    if level is Level.NONE:
        return launch, no_fence
    memory = site.memory_of(attempt)
    memory.mkdir(parents=True, exist_ok=True)
    return seen_from_outside(memory, launch), partial(fence_attempt, site, attempt, worktree, level, launch)


def session_log_of(site: Site, engine: Engine, task: Task, attempt: Attempt, worktree: Worktree) -> str:
    """The file in which the engine keeps the attempt's conversation, as `Launch.session_log` names it."""
    request = turn_request(site, engine, task, attempt, worktree, TurnPlan("", "", attempt.session))
    launch = engine.interactive(request)
    if launch is None:
        return ""
    fenced = _level(site, engine, task, attempt) is not Level.NONE
    return (seen_from_outside(site.memory_of(attempt), launch) if fenced else launch).session_log


def _level(site: Site, engine: Engine, task: Task, attempt: Attempt) -> Level:
    """The one noted when the turn was claimed, whatever has been configured or installed since."""
    return Level(attempt.fence) if attempt.fence else fence_level(site, engine, task)


def fence_level(site: Site, engine: Engine, task: Task) -> Level:
    """The one that a turn of the task has from now on. Raises PaddockError where it cannot be had."""
    return agents_level(site.config, site.agent_of(task), engine.name, engine.capabilities).level


def attempt_environment(site: Site, attempt: Attempt, worktree: Worktree) -> dict[str, str]:
    values = {
        **site.identity,
        **worktree.environment(),
        "PADDOCK_TASK": task_of(attempt.id),
        "PADDOCK_BRANCH": attempt.branch,
        DESK_VARIABLE: site.furnish_desk(attempt.id),
        TOKEN_VARIABLE: token_for(site.state_dir, attempt.id),
    }
    if attempt.role.only_reads:
        values[ANSWER_VARIABLE] = str(answer_file(site, attempt))
    if site.config.worktrees.isolate_home:
        home = site.attempt_folder(attempt.id) / "home"
        home.mkdir(parents=True, exist_ok=True)
        values["HOME"] = str(home)
    return values


def open_turn(attempt: Attempt) -> Turn:
    return Turn(attempt.id, attempt.turn)


def was_started(site: Site, attempt: Attempt) -> bool:
    """Whether an earlier daemon has started the open turn."""
    return not isinstance(site.sessions.observe(open_turn(attempt)), NeverStarted)


def start(site: Site, attempt: Attempt, launch: Launch, fence: MakeFence = no_fence) -> None:
    """Starts the turn unless it has been started. Raises PaddockError when it cannot be."""
    site.lead.require()
    # Its command reads them: they stay as it has them, whatever there is to tell by now.
    for file in () if was_started(site, attempt) else launch.files:
        file.write()
    for folder in launch.writes:
        folder.mkdir(parents=True, exist_ok=True)
    checkpoint("turn.files_written")
    order = TurnOrder(
        open_turn(attempt),
        launch.argv,
        launch.env,
        launch.cwd,
        logs=launch.logs,
        mail=launch.mailbox is not None,
        programs=launch.programs,
        fence=fence,
    )
    site.sessions.start(order)


class TurnRun:
    """Follows one started turn to its end. `wish` is how the rest of the daemon talks to it."""

    def __init__(
        self,
        site: Site,
        engine: Engine,
        attempt: Attempt,
        launch: Launch,
        wish: Wish,
        heard: Heard,
        afford: Afford,
        loops: LoopLimits,
        limits: TurnLimits,
        mail: Correspondence,
    ) -> None:
        self._site = site
        self._attempt = attempt
        self._launch = launch
        self._wish = wish
        self._sessions = site.sessions
        self._turn = open_turn(attempt)
        self._reason_file = stop_reason_file(site, attempt)
        self._afford = afford
        self._loops = loops
        self._mail = mail
        self.reader = TurnReader(engine, self._sessions, self._turn, heard, site.clock, launch.session_log, mail.hear)
        self._clock = TurnClock(
            limits,
            engine.capabilities,
            lambda: self.reader.tools,
            lambda since: self._sessions.runs_child(self._turn, site.clock.now() - (_steady_now() - since)),
        )
        self._steady = SteadyTurn()
        self._seen: Running | None = None
        self._waits_since: float | None = None
        self._waited = 0.0

    @property
    def number(self) -> int:
        return self._turn.number

    def why_stuck(self) -> str:
        """Why it looks stuck, if it does; nothing is ended because of it. One that waits for a person is not."""
        if self._mail.awaits_answer:
            return ""
        quiet = self._clock.quiet_seconds(self._seen, _steady_now()) if self._seen is not None else None
        return why_stuck(self.reader.tools, self.reader.summary.trouble, quiet)

    async def follow(self) -> Ended:
        """Waits until the process has ended, by itself, because of a deadline, or on request."""
        ended_by, problem = EndedBy.ITSELF, ""
        while True:
            state = self._sessions.observe(self._turn)
            more = await self.reader.read()
            ended_by, problem = self._read_reason()
            if not isinstance(state, Running):
                break
            if not ended_by:
                ended_by, problem = await self._reason_to_stop(state)
            if not ended_by and not more:
                ended_by = await self._mail.exchange()
            if ended_by:
                problem = await self._stop(ended_by, problem)
                state = self._sessions.observe(self._turn)
                break
            if not more:
                await self._sleep(state)
        checkpoint("turn.gone")
        # First, so that what a flood has left is not read for nothing.
        self._sessions.bound(self._turn, self._output_bytes)
        summary = await self.reader.finish()
        checkpoint("turn.read")
        ended = _ending(state, ended_by, problem, summary)
        await self._mail.close(ended.exit, ended.ended_by)
        first = self.reader.first_step_at
        seconds = None if first is None else max(0.0, first - self._attempt.started)
        return replace(ended, startup_seconds=seconds, startup=self.reader.startup)

    async def _reason_to_stop(self, state: Running) -> tuple[EndedBy, str]:
        """What ends the turn, and the details."""
        if self._wish.stop:
            return self._wish.stop, ""
        if self._wish.interrupt and self._wish.interrupted == self._turn.number:
            return self._wish.interrupt, ""
        now = _steady_now()
        if (until := self._lingers_until()) is not None and now >= until:
            return EndedBy.LINGERING, ""
        self._seen = self._view(state, now)
        if not self._mail.awaits_answer and (deadline := self._clock.passed(self._seen, now)) is not None:
            return deadline, ""
        if state.output_bytes > self._output_bytes and not self._sessions.bound(self._turn, self._output_bytes):
            return EndedBy.OUTPUT, ""
        if self.reader.summary.final is not Final.NONE:
            # After its final event it neither spends nor calls anything more.
            return EndedBy.ITSELF, ""
        if looping := why_looping(self.reader.tools, self._loops):
            return EndedBy.LOOPING, looping
        if overspent := await self._afford(self.reader.summary):
            return EndedBy.BUDGET, overspent
        return EndedBy.ITSELF, ""

    def _view(self, state: Running, now: float) -> Running:
        """As if it had begun later, by the time that it has waited for people: they take as long as they do."""
        if self._mail.awaits_answer:
            self._waits_since = self._waits_since or now
        elif self._waits_since is not None:
            self._waited += now - self._waits_since
            self._waits_since = None
        view = self._steady.view(state, self._site.clock.now(), now)
        return replace(view, started_at=view.started_at + self._waited)

    @property
    def _output_bytes(self) -> int:
        return self._site.config.limits.output_mb * 1024 * 1024

    def _read_reason(self) -> tuple[EndedBy, str]:
        try:
            why, _, problem = self._reason_file.read_text(encoding="utf-8").partition("\n")
            return EndedBy(why), problem
        except (FileNotFoundError, ValueError):  # none, or cut off before anything was written
            return EndedBy.ITSELF, ""

    def _lingers_until(self) -> float | None:
        """Some CLIs print their final event and never exit; their process is then ended."""
        if self.reader.summary.final is Final.NONE or self.reader.last_event is None:
            return None
        return self.reader.last_event + self._site.config.timeouts.linger

    async def _sleep(self, state: Running) -> None:
        now = _steady_now()
        view, waits = self._view(state, now), self._mail.awaits_answer
        moments = [None if waits else self._clock.look_again_at(view, now), self._lingers_until()]
        next_moment = min((moment for moment in moments if moment is not None), default=None)
        pause = max(0.05, next_moment - now) if next_moment is not None else None
        await wait_for(self._wish.changed, pause)
        self._wish.changed.clear()

    async def _stop(self, why: EndedBy, problem: str) -> str:
        self._site.lead.require()
        self._reason_file.write_text(f"{why}\n{problem}" if problem else why, encoding="utf-8")
        checkpoint("turn.stopping")
        grace = 0.2 if why is EndedBy.DOWN else self._site.config.timeouts.grace
        forced = await self._sessions.stop(self._turn, grace)
        checkpoint("turn.stopped")
        ignored = "it ignored the request to stop and was killed" if forced else ""
        return "; ".join(part for part in (problem, ignored) if part)


def _steady_now() -> float:
    """Nobody sets this clock, and it stands still while the machine, and with it every agent, sleeps."""
    return asyncio.get_running_loop().time()


def _ending(state: object, ended_by: EndedBy, problem: str, summary: TurnSummary) -> Ended:
    match state:
        case Exited(code=code, signal=signum):
            status = code if code is not None else -(signum or 0)
            return Ended(status, ended_by, problem, summary)
        case Vanished(rebooted=True):
            return Ended(None, ended_by or EndedBy.REBOOT, problem, summary)
        case NeverStarted():
            return Ended(None, ended_by or EndedBy.UNSTARTABLE, problem, summary)
        case _:
            return Ended(None, ended_by or EndedBy.VANISHED, problem, summary)


def lost_session(ended: Ended, sessions: Sessions, turn: Turn) -> str:
    """The engine's words if it could not find the conversation to resume; otherwise empty."""
    if ended.exit in (0, None) or ended.ended_by or ended.summary.saw_llm_call:
        return ""
    said = (sessions.tail(turn, stream, LAST_BYTES) for stream in (Stream.STDERR, Stream.STDOUT))
    return find_lost_session("\n".join(said))


def stop_reason_file(site: Site, attempt: Attempt) -> Path:
    """Why the open turn is being stopped, written before the first signal: whoever finds it dead knows why."""
    return site.attempt_folder(attempt.id) / f"turn-{attempt.turn}.stop"


def unstartable(error: PaddockError) -> Ended:
    return Ended(None, EndedBy.UNSTARTABLE, error.message, TurnSummary())


async def read_again(engine: Engine, sessions: Sessions, turn: Turn, heard: Heard = nobody) -> TurnSummary:
    """The summary of a turn that has ended, from what it wrote."""
    return await TurnReader(engine, sessions, turn, heard).finish()


def turn_ended(attempt: Attempt, ended: Ended, prices: PriceBook, day: str, expected: Cost) -> TurnEnded:
    """The facts of a turn. If the engine reports no tokens, the turn counts as having used what was `expected`."""
    before = TokenUsage(*attempt.conversation_used, attempt.conversation_cost)
    usage = turn_usage(ended.summary, before)
    model, uncounted = main_model(ended.summary), uncounted_calls(ended.summary)
    charged = bill(usage, model or attempt.model, ended.startup, prices, day, ended.summary.models)
    is_unknown = bool(uncounted) and charged.cost is None and not charged.source
    return TurnEnded(
        turn=attempt.turn,
        exit=ended.exit,
        ended_by=ended.ended_by,
        problem=ended.problem,
        session=ended.summary.session_id or None,
        steps=ended.summary.steps,
        input_tokens=usage.input_uncached,
        cache_write_tokens=usage.cache_write,
        cache_read_tokens=usage.cache_read,
        output_tokens=usage.output,
        cost_usd=charged.cost,
        cost_source="unknown" if is_unknown else charged.source,
        startup_seconds=ended.startup_seconds,
        startup_tokens=ended.startup.tokens,
        startup_usd=charged.startup,
        assumed_usd=(expected.money or 0.0) if is_unknown else charged.assumed,
        assumed_tokens=round(expected.tokens) if is_unknown else 0,
        model=model or None,
        uncounted_calls=uncounted,
        swept=ended.swept,
        session_lost=ended.session_lost,
    )

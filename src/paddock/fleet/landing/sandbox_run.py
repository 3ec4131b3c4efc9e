"""Commands in a sandbox at an exact commit, as detached processes that outlive the daemon: CI runs, checks of changes.

A run is found again after a crash by its folder and its sandbox's record; driving it again goes on where it was. Its
turns are numbered: 0 is the set-up, then one for each command in the order they are run.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from paddock.core.errors import PaddockError
from paddock.core.merge.model import Result
from paddock.core.tasks.deadlines import Steady
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.clock import wait_for
from paddock.fleet.desk.wire import DESK_VARIABLE
from paddock.fleet.fences import fence_ci
from paddock.fleet.landing.ci_output import last_lines_of, note_step, step_turn
from paddock.fleet.landing.ci_verdict import RunResult, judge_exit, judge_loss
from paddock.fleet.site import Site
from paddock.fleet.upkeep.sweeper import Sweeper
from paddock.git.command import GitKilled
from paddock.git.sandboxes.ci import CiCommand, CiDefinition, setup_command
from paddock.git.sandboxes.sandbox import (
    InUse,
    NotPrepared,
    PreparedSandbox,
    SandboxOrder,
    finish_setup,
    list_sandboxes,
    prepare_sandbox,
    release_sandbox,
    reserve_sandbox,
)
from paddock.git.sandboxes.tree import Sandbox
from paddock.sessions.protocol import Exited, NeverStarted, Running, Turn, TurnOrder

OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024
STOP_GRACE_SECONDS = 2.0


@dataclass
class CiCrew:
    """What all runs of a daemon share. `alone` is held by the one run under way where CI bears no other beside it."""

    site: Site
    sweeper: Sweeper
    claims: asyncio.Lock = field(default_factory=asyncio.Lock)
    alone: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class SandboxJob:
    """Run `id`, at `commit`, with `base` shown as main. `fresh`: nothing that others left may decide it. Without a
    `sandbox` of its own it takes a free one."""

    id: str
    commit: str
    base: str
    timeout_seconds: float
    fresh: bool = False
    sandbox: Sandbox | None = None


@dataclass(frozen=True, slots=True)
class SandboxStep:
    """One command. `seconds` is the time it has for itself, None for what the run has left; with `apart` its standard
    error is not among its output."""

    number: int
    name: str
    command: CiCommand
    seconds: float | None = None
    apart: bool = False


class SandboxRun:
    """Drives one run to its result; what is to be run there its owner says."""

    def __init__(self, crew: CiCrew, job: SandboxJob) -> None:
        self.job = job
        self.cancelled = ""
        self.changed = asyncio.Event()
        self._crew = crew
        self._site = crew.site
        self._folder = crew.site.run_folder(job.id)
        self._began: float | None = None
        self._deadline = 0.0
        self._steady = Steady()
        self._sessions = crew.site.sessions

    def cancel(self, reason: str) -> None:
        """Has it stopped."""
        self.cancelled = reason
        self.changed.set()

    async def drive(
        self, definition: CiDefinition, work: Callable[[Sandbox, SandboxOrder], Awaitable[RunResult]]
    ) -> RunResult:
        """Prepares a sandbox, has `work` done in it, and gives it back with no process left in it."""
        if self._site.config.land.exclusive:
            async with self._crew.alone:
                return await self._drive(definition, work)
        return await self._drive(definition, work)

    def has_begun(self, number: int) -> bool:
        return self._sessions.observe(self._turn(number)) != NeverStarted()

    async def step(self, sandbox: Sandbox, step: SandboxStep) -> RunResult | None:
        """None when the command passed. One that was started before is only waited for."""
        if self.cancelled:
            return RunResult(Result.CANCELLED)
        turn, command = self._turn(step.number), step.command
        self._site.lead.require()
        note_step(self._site, self.job.id, step.number, step.name)
        env = {**command.env, DESK_VARIABLE: self._site.furnish_desk(turn.owner)}
        fence = partial(fence_ci, self._site, turn.owner, sandbox, env)
        order = TurnOrder(turn, command.argv, env, command.cwd, one_stream=not step.apart, fence=fence)
        await asyncio.to_thread(self._sessions.start, order)
        checkpoint("ci.started")
        self._sessions.follow(turn, self.changed.set)
        try:
            return await self._follow(turn, step)
        finally:
            self._sessions.forget(turn)

    async def _drive(
        self, definition: CiDefinition, work: Callable[[Sandbox, SandboxOrder], Awaitable[RunResult]]
    ) -> RunResult:
        self._folder.mkdir(parents=True, exist_ok=True)
        sandbox = await self._claim_sandbox()
        try:
            order = self._order(definition)
            unready = await self._make_ready(sandbox, order, definition)
            result = await work(sandbox, order) if unready is None else unready
        except GitKilled:
            raise
        except PaddockError as error:
            result = RunResult(Result.INFRA, None, error.message)
        await self._crew.sweeper.sweep(self._turn(0).owner)
        checkpoint("ci.swept")
        await asyncio.to_thread(release_sandbox, sandbox, self.job.id)
        checkpoint("ci.released")
        return RunResult(Result.CANCELLED, None, self.cancelled) if self.cancelled else result

    async def _make_ready(self, sandbox: Sandbox, order: SandboxOrder, definition: CiDefinition) -> RunResult | None:
        """None when it is; else why not."""
        prepared = await self._prepare(sandbox, order)
        if isinstance(prepared, RunResult):
            return prepared
        if not prepared.needs_setup:
            return None
        command = setup_command(sandbox, definition, self.job.commit, os.environ)
        failed = await self.step(sandbox, SandboxStep(0, "set-up", command))
        if failed is not None:
            cannot_run = f"set-up: {failed.cannot_run}" if failed.cannot_run else ""
            return RunResult(Result.INFRA, failed.exit, f"set-up: {failed.note}", cannot_run)
        finished = await asyncio.to_thread(finish_setup, sandbox, order)
        if not isinstance(finished, PreparedSandbox):
            return RunResult(Result.INFRA, None, "the sandbox was lost during set-up")
        return None

    def _order(self, definition: CiDefinition) -> SandboxOrder:
        refs = ((f"refs/heads/{self._site.config.landing_branch}", self.job.base),)
        return SandboxOrder(self.job.id, self.job.commit, definition.setup_digest, definition.keep, refs)

    async def _prepare(self, sandbox: Sandbox, order: SandboxOrder) -> PreparedSandbox | RunResult:
        """Only before the first process: after that the sandbox contains the run's own changes."""
        set_up, checked = (self.has_begun(number) for number in range(2))
        if set_up or checked:
            return PreparedSandbox(needs_setup=bool(order.setup) and not checked)
        await asyncio.to_thread(self._site.ground.bring, self.job.commit, self.job.base)
        prepared = await asyncio.to_thread(prepare_sandbox, sandbox, order, self._site.checkpoint)
        match prepared:
            case InUse(run=other):
                return RunResult(Result.INFRA, None, f"its sandbox is taken by run {other}")
            case NotPrepared(reason=reason):
                return RunResult(Result.INFRA, None, f"no sandbox: {reason}")
        return prepared

    def _turn(self, number: int) -> Turn:
        return step_turn(self.job.id, number)

    async def _follow(self, turn: Turn, step: SandboxStep) -> RunResult | None:
        too_long = self._folder / f"turn-{turn.number}.timeout"
        while isinstance(state := self._sessions.observe(turn), Running):
            self._set_deadline(step, self._steady_moment(turn, state.started_at))
            if self.cancelled:
                await self._sessions.stop(turn, STOP_GRACE_SECONDS)
                return RunResult(Result.CANCELLED)
            if asyncio.get_running_loop().time() >= self._deadline:
                # Written before the first signal: who finds it dead after a crash knows why.
                self._site.lead.require()
                limit = self._deadline - self._steady_moment(turn, state.started_at)
                too_long.write_text(f"`{step.name}` did not finish within {limit:.0f} s")
                checkpoint("ci.stopping")
                await self._sessions.stop(turn, STOP_GRACE_SECONDS)
                break
            if state.output_bytes > OUTPUT_LIMIT_BYTES:
                self._sessions.bound(turn, OUTPUT_LIMIT_BYTES)
            await self._sleep()
        self._sessions.bound(turn, OUTPUT_LIMIT_BYTES)
        if too_long.exists():
            return RunResult(Result.TIMEOUT, None, too_long.read_text())
        if isinstance(state, Exited):
            self._set_deadline(step, self._steady_moment(turn, state.started_at))
            return judge_exit(state, step.name, await asyncio.to_thread(last_lines_of, self._site, turn))
        return judge_loss(state, step.name)

    def _steady_moment(self, turn: Turn, started_at: float) -> float:
        """By the event loop's clock, which nobody sets and which stands still while the machine sleeps."""
        now = asyncio.get_running_loop().time()
        return self._steady.moment(str(turn.number), started_at, self._site.clock.now(), now)

    def _set_deadline(self, step: SandboxStep, started_at: float) -> None:
        """The run's clock starts with its first process: time without a daemon is not held against it."""
        if self._began is None:
            self._began = started_at
        limit = self._began + self.job.timeout_seconds
        self._deadline = limit if step.seconds is None else min(limit, started_at + step.seconds)

    async def _sleep(self) -> None:
        await wait_for(self.changed, max(0.05, self._deadline - asyncio.get_running_loop().time()))
        self.changed.clear()

    async def _claim_sandbox(self) -> Sandbox:
        """The one it was given or that is this run's already, else a free one, else a new one."""
        if self.job.sandbox is not None:
            await asyncio.to_thread(reserve_sandbox, self.job.sandbox, self.job.id, fresh=True)
            return self.job.sandbox
        async with self._crew.claims:
            return await asyncio.to_thread(self._find_sandbox)

    def _find_sandbox(self) -> Sandbox:
        root = self._site.sandbox_root
        seen = list_sandboxes(self._site.repo, root)
        mine = [name for name, record in seen.items() if record.run == self.job.id]
        free = [name for name, record in seen.items() if record.run is None]
        names = [*mine, *free, next(f"ci{n}" for n in range(1, 10_000) if f"ci{n}" not in seen)]
        sandbox = Sandbox(self._site.repo, root, names[0])
        if not mine:
            reserve_sandbox(sandbox, self.job.id, fresh=self.job.fresh)
        return sandbox

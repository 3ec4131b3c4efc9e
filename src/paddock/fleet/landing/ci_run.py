"""One CI run: a sandbox at an exact commit, its set-up and checks as detached processes, a result.

A run is found again after a crash by its folder and its sandbox's record; driving it again goes on where
it was. The turns of a run are: 0 set-up, then one for each time a check is run.
"""

import asyncio
import os
from dataclasses import dataclass, field
from functools import partial

from paddock.core.errors import PaddockError
from paddock.core.merge.guards import BLAMING
from paddock.core.merge.model import Purpose, Result, Run
from paddock.core.tasks.deadlines import Steady
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.clock import wait_for
from paddock.fleet.desk.wire import DESK_VARIABLE
from paddock.fleet.fences import fence_ci
from paddock.fleet.landing.ci_output import last_lines_of, note_step, step_turn
from paddock.fleet.landing.ci_verdict import RunResult, Tried, judge_exit, judge_loss, sum_up
from paddock.fleet.landing.entrance import ci_of
from paddock.fleet.site import Site
from paddock.fleet.upkeep.sweeper import Sweeper
from paddock.git.command import GitKilled
from paddock.git.sandboxes.ci import CiCheck, CiCommand, CiDefinition, check_command, setup_command
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
    site: Site
    sweeper: Sweeper
    claims: asyncio.Lock = field(default_factory=asyncio.Lock)


class CiRun:
    """Drives one run to its result, in `sandbox` if one is named."""

    def __init__(self, crew: CiCrew, run: Run, timeout_seconds: float, sandbox: Sandbox | None = None) -> None:
        self._own_sandbox = sandbox
        self.run = run
        self.cancelled = ""
        self.changed = asyncio.Event()
        self._crew = crew
        self._site = crew.site
        self._folder = crew.site.run_folder(run.id)
        self._began: float | None = None
        self._deadline = 0.0
        self._steady = Steady()
        self._timeout = timeout_seconds
        self._check_timeouts = {check.name: check.timeout for check in crew.site.config.land.checks}
        self._sessions = crew.site.sessions

    def cancel(self, reason: str) -> None:
        """Has it stopped."""
        self.cancelled = reason
        self.changed.set()

    async def drive(self) -> RunResult:
        self._folder.mkdir(parents=True, exist_ok=True)
        definition = ci_of(self._site)
        if definition.digest != self.run.ci:
            self.cancelled = self.cancelled or "the CI definition changed"
        if self.run.since and not self.run.checks:
            return RunResult(Result.PASS, 0, "no check covers what it changes")
        sandbox = await self._claim_sandbox()
        try:
            result = await self._drive_in(sandbox, definition)
        except GitKilled:
            raise
        except PaddockError as error:
            result = RunResult(Result.INFRA, None, error.message)
        await self._crew.sweeper.sweep(self._turn(0).owner)
        checkpoint("ci.swept")
        await asyncio.to_thread(release_sandbox, sandbox, self.run.id)
        checkpoint("ci.released")
        return RunResult(Result.CANCELLED, None, self.cancelled) if self.cancelled else result

    async def _drive_in(self, sandbox: Sandbox, definition: CiDefinition) -> RunResult:
        order = self._order(definition)
        prepared = await self._prepare(sandbox, order)
        if isinstance(prepared, RunResult):
            return prepared
        if prepared.needs_setup:
            command = setup_command(sandbox, definition, self.run.commit, os.environ)
            failed = await self._step(sandbox, 0, command, "set-up")
            if failed is not None:
                cannot_run = f"set-up: {failed.cannot_run}" if failed.cannot_run else ""
                return RunResult(Result.INFRA, failed.exit, f"set-up: {failed.note}", cannot_run)
            finished = await asyncio.to_thread(finish_setup, sandbox, order)
            if not isinstance(finished, PreparedSandbox):
                return RunResult(Result.INFRA, None, "the sandbox was lost during set-up")
        return await self._check(sandbox, definition)

    async def _check(self, sandbox: Sandbox, definition: CiDefinition) -> RunResult:
        """One check after the other; the first that fails decides, unless it is in quarantine."""
        tried: list[Tried] = []
        for check in self._in_order(definition):
            command = check_command(sandbox, definition, check, self.run.commit, os.environ)
            tried.append(await self._try(sandbox, check, command, sum(one.times for one in tried)))
            failed = tried[-1].failed
            if failed is not None and not (check.quarantine and failed.result in BLAMING):
                return sum_up(failed, tried)
        return sum_up(RunResult(Result.PASS, 0), tried)

    async def _try(self, sandbox: Sandbox, check: CiCheck, command: CiCommand, turn: int) -> Tried:
        """A check that fails is run again in the same sandbox, as often as it may be."""
        failed = None
        for times in range(1, check.retry + 2):
            failed = await self._step(sandbox, turn + times, command, check.name)
            if failed is None or failed.result is not Result.FAIL or failed.cannot_run:
                break
        return Tried(check, times, failed)

    def _in_order(self, definition: CiDefinition) -> list[CiCheck]:
        """Those in quarantine come last: they must not use up the time of one that decides."""
        asked = [check for check in definition.checks if not self.run.since or check.name in self.run.checks]
        return sorted(asked, key=lambda check: check.quarantine)

    def _order(self, definition: CiDefinition) -> SandboxOrder:
        name = self._site.config.landing_branch
        refs = ((f"refs/heads/{name}", self.run.base),)
        return SandboxOrder(self.run.id, self.run.commit, definition.setup_digest, definition.keep, refs)

    async def _prepare(self, sandbox: Sandbox, order: SandboxOrder) -> PreparedSandbox | RunResult:
        """Only before the first process: after that the sandbox contains the run's own changes."""
        set_up, checked = (self._sessions.observe(self._turn(number)) != NeverStarted() for number in range(2))
        if set_up or checked:
            return PreparedSandbox(needs_setup=bool(order.setup) and not checked)
        prepared = await asyncio.to_thread(prepare_sandbox, sandbox, order, self._site.checkpoint)
        match prepared:
            case InUse(run=other):
                return RunResult(Result.INFRA, None, f"its sandbox is taken by run {other}")
            case NotPrepared(reason=reason):
                return RunResult(Result.INFRA, None, f"no sandbox: {reason}")
        return prepared

    async def _step(self, sandbox: Sandbox, number: int, command: CiCommand, name: str) -> RunResult | None:
        """None when the command passed."""
        if self.cancelled:
            return RunResult(Result.CANCELLED)
        turn = self._turn(number)
        self._site.lead.require()
        note_step(self._site, self.run.id, number, name)
        env = {**command.env, DESK_VARIABLE: self._site.furnish_desk(turn.owner)}
        fence = partial(fence_ci, self._site, turn.owner, sandbox, env)
        order = TurnOrder(turn, command.argv, env, command.cwd, one_stream=True, fence=fence)
        await asyncio.to_thread(self._sessions.start, order)
        checkpoint("ci.started")
        self._sessions.follow(turn, self.changed.set)
        try:
            return await self._follow(turn, name)
        finally:
            self._sessions.forget(turn)

    def _turn(self, number: int) -> Turn:
        return step_turn(self.run.id, number)

    async def _follow(self, turn: Turn, name: str) -> RunResult | None:
        too_long = self._folder / f"turn-{turn.number}.timeout"
        while isinstance(state := self._sessions.observe(turn), Running):
            self._set_deadline(name, self._steady_moment(turn, state.started_at))
            if self.cancelled:
                await self._sessions.stop(turn, STOP_GRACE_SECONDS)
                return RunResult(Result.CANCELLED)
            if asyncio.get_running_loop().time() >= self._deadline:
                # Written before the first signal: who finds it dead after a crash knows why.
                self._site.lead.require()
                limit = self._deadline - self._steady_moment(turn, state.started_at)
                too_long.write_text(f"`{name}` did not finish within {limit:.0f} s")
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
            self._set_deadline(name, self._steady_moment(turn, state.started_at))
            return judge_exit(state, name, await asyncio.to_thread(last_lines_of, self._site, turn))
        return judge_loss(state, name)

    def _steady_moment(self, turn: Turn, started_at: float) -> float:
        """By the event loop's clock, which nobody sets and which stands still while the machine sleeps."""
        now = asyncio.get_running_loop().time()
        return self._steady.moment(str(turn.number), started_at, self._site.clock.now(), now)

    def _set_deadline(self, check: str, started_at: float) -> None:
        """The run's clock starts with its first process: time without a daemon is not held against it."""
        if self._began is None:
            self._began = started_at
        own = self._check_timeouts.get(check)
        limit = self._began + self._timeout
        self._deadline = limit if own is None else min(limit, started_at + own)

    async def _sleep(self) -> None:
        await wait_for(self.changed, max(0.05, self._deadline - asyncio.get_running_loop().time()))
        self.changed.clear()

    async def _claim_sandbox(self) -> Sandbox:
        """The one it was given or that is this run's already, else a free one, else a new one."""
        if self._own_sandbox is not None:
            await asyncio.to_thread(reserve_sandbox, self._own_sandbox, self.run.id, fresh=True)
            return self._own_sandbox
        async with self._crew.claims:
            return await asyncio.to_thread(self._find_sandbox)

    def _find_sandbox(self) -> Sandbox:
        root = self._site.sandbox_root
        seen = list_sandboxes(self._site.repo, root)
        mine = [name for name, record in seen.items() if record.run == self.run.id]
        free = [name for name, record in seen.items() if record.run is None]
        names = [*mine, *free, next(f"ci{n}" for n in range(1, 10_000) if f"ci{n}" not in seen)]
        sandbox = Sandbox(self._site.repo, root, names[0])
        if not mine:
            # Leftovers must not decide a run whose failure would be blamed on a change.
            reserve_sandbox(sandbox, self.run.id, fresh=self.run.purpose is Purpose.CONFIRM)
        return sandbox

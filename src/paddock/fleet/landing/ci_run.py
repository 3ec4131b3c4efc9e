"""One CI run of the merge queue: its checks one after the other, on an exact commit, to a result."""

import os

from paddock.core.merge.guards import BLAMING
from paddock.core.merge.model import Purpose, Result, Run
from paddock.fleet.landing.ci_verdict import RunResult, Tried, sum_up
from paddock.fleet.landing.entrance import ci_of
from paddock.fleet.landing.sandbox_run import CiCrew, SandboxJob, SandboxRun, Step
from paddock.git.sandboxes.ci import CiCheck, CiDefinition, check_command
from paddock.git.sandboxes.sandbox import SandboxOrder
from paddock.git.sandboxes.tree import Sandbox


class CiRun:
    """Drives one run to its result, in `sandbox` if one is named."""

    def __init__(self, crew: CiCrew, run: Run, timeout_seconds: float, sandbox: Sandbox | None = None) -> None:
        self.run = run
        self._site = crew.site
        # Leftovers must not decide a run whose failure would be blamed on a change.
        fresh = run.purpose is Purpose.CONFIRM
        self.inside = SandboxRun(crew, SandboxJob(run.id, run.commit, run.base, timeout_seconds, fresh, sandbox))
        self._seconds = {check.name: check.timeout for check in crew.site.config.land.checks}

    async def drive(self) -> RunResult:
        definition = ci_of(self._site)
        if definition.digest != self.run.ci:
            self.inside.cancelled = self.inside.cancelled or "the CI definition changed"
        if self.run.since and not self.run.checks:
            return RunResult(Result.PASS, 0, "no check covers what it changes")

        async def work(sandbox: Sandbox, _order: SandboxOrder) -> RunResult:
            return await self._check(sandbox, definition)

        return await self.inside.drive(definition, work)

    async def _check(self, sandbox: Sandbox, definition: CiDefinition) -> RunResult:
        """One check after the other; the first that fails decides, unless it is in quarantine."""
        tried: list[Tried] = []
        for check in self._in_order(definition):
            tried.append(await self._try(sandbox, definition, check, sum(one.times for one in tried)))
            failed = tried[-1].failed
            if failed is not None and not (check.quarantine and failed.result in BLAMING):
                return sum_up(failed, tried)
        return sum_up(RunResult(Result.PASS, 0), tried)

    async def _try(self, sandbox: Sandbox, definition: CiDefinition, check: CiCheck, turn: int) -> Tried:
        """A check that fails is run again in the same sandbox, as often as it may be."""
        command = check_command(sandbox, definition, check, self.run.commit, os.environ)
        failed = None
        for times in range(1, check.retry + 2):
            step = Step(turn + times, check.name, command, self._seconds.get(check.name))
            failed = await self.inside.step(sandbox, step)
            if failed is None or failed.result is not Result.FAIL or failed.cannot_run:
                break
        return Tried(check, times, failed)

    def _in_order(self, definition: CiDefinition) -> list[CiCheck]:
        """Those in quarantine come last: they must not use up the time of one that decides."""
        asked = [check for check in definition.checks if not self.run.since or check.name in self.run.checks]
        return sorted(asked, key=lambda check: check.quarantine)

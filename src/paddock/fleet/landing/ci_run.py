"""One CI run of the merge queue: its checks one after the other, on an exact commit, to a result.

What its members have to pass by themselves comes last, each on the tree as it was composed: neither sees what another
has laid over it or left behind.
"""

import asyncio
import os
import shlex
from collections.abc import Callable

from paddock.core.events import Acceptance
from paddock.core.ids import printable
from paddock.core.merge.guards import BLAMING
from paddock.core.merge.model import ACCEPTANCE, Purpose, Result, Run
from paddock.fleet.landing.ci_verdict import RunResult, Tried, sum_up
from paddock.fleet.landing.entrance import ci_of
from paddock.fleet.landing.sandbox_run import CiCrew, SandboxJob, SandboxRun, SandboxStep
from paddock.git.sandboxes.ci import CiCheck, CiDefinition, argv_command, check_command
from paddock.git.sandboxes.overlay import lay_over
from paddock.git.sandboxes.sandbox import PreparedSandbox, SandboxOrder, restore_sandbox
from paddock.git.sandboxes.tree import Sandbox

FindAcceptance = Callable[[int], Acceptance | None]
"""What the record of that number holds."""


def no_acceptance(_seq: int) -> Acceptance | None:
    return None


class CiRun:
    """Drives one run to its result, in `sandbox` if one is named."""

    def __init__(
        self,
        crew: CiCrew,
        run: Run,
        timeout_seconds: float,
        acceptance_at: FindAcceptance = no_acceptance,
        sandbox: Sandbox | None = None,
    ) -> None:
        self.run = run
        self._site = crew.site
        self._acceptance_at = acceptance_at
        # Leftovers must not decide a run whose failure would be blamed on a change.
        fresh = run.purpose is Purpose.CONFIRM
        self.inside = SandboxRun(crew, SandboxJob(run.id, run.commit, run.base, timeout_seconds, fresh, sandbox))
        self._seconds = {check.name: check.timeout for check in crew.site.config.land.checks}

    async def drive(self) -> RunResult:
        definition = ci_of(self._site)
        if definition.digest != self.run.ci:
            self.inside.cancelled = self.inside.cancelled or "the CI definition changed"
        if self.run.since and not self.run.checks and not self.run.accepts:
            return RunResult(Result.PASS, 0, "no check covers what it changes")

        async def work(sandbox: Sandbox, order: SandboxOrder) -> RunResult:
            return await self._check(sandbox, order, definition)

        return await self.inside.drive(definition, work)

    async def _check(self, sandbox: Sandbox, order: SandboxOrder, definition: CiDefinition) -> RunResult:
        """One check after the other; the first that fails decides, unless it is in quarantine."""
        tried: list[Tried] = []
        for check in self._in_order(definition):
            tried.append(await self._try(sandbox, definition, check, _turns(tried)))
            failed = tried[-1].failed
            if failed is not None and not (check.quarantine and failed.result in BLAMING):
                return sum_up(failed, tried)
        for name in self.run.accepts:
            tried.append(await self._accept(sandbox, order, definition, name, _turns(tried)))
            if (failed := tried[-1].failed) is not None:
                return sum_up(failed, tried)
        return sum_up(RunResult(Result.PASS, 0), tried)

    async def _try(self, sandbox: Sandbox, definition: CiDefinition, check: CiCheck, turn: int) -> Tried:
        """A check that fails is run again in the same sandbox, as often as it may be."""
        command = check_command(sandbox, definition, check, self.run.commit, os.environ)
        failed = None
        for times in range(1, check.retry + 2):
            step = SandboxStep(turn + times, check.name, command, self._seconds.get(check.name))
            failed = await self.inside.step(sandbox, step)
            if failed is None or failed.result is not Result.FAIL or failed.cannot_run:
                break
        return Tried(check, times, failed, times)

    async def _accept(
        self, sandbox: Sandbox, order: SandboxOrder, definition: CiDefinition, name: str, turn: int
    ) -> Tried:
        """A member's own commands, with its files laid over the tree."""
        change, _, seq = name.rpartition("@")
        check = CiCheck(f"{ACCEPTANCE}{change}", "")
        accept = self._acceptance_at(int(seq)) or Acceptance()
        number = turn
        for number, words in enumerate(accept.commands, turn + 1):
            if not self.inside.has_begun(number):
                problem = await self._lay_over(sandbox, order, accept, again=number > turn + 1)
                if problem is not None:
                    return Tried(check, 1, problem, number - turn)
            shown = f"{check.name} ({printable(shlex.join(words), 80)})"
            command = argv_command(sandbox, definition, words, check.name, self.run.commit, os.environ)
            failed = await self.inside.step(sandbox, SandboxStep(number, shown, command))
            if failed is not None:
                return Tried(check, 1, failed, number - turn)
        return Tried(check, 1, None, number - turn)

    async def _lay_over(
        self, sandbox: Sandbox, order: SandboxOrder, accept: Acceptance, *, again: bool
    ) -> RunResult | None:
        """Why it could not be done; None if it was."""
        if not again:
            restored = await asyncio.to_thread(restore_sandbox, sandbox, order)
            if not isinstance(restored, PreparedSandbox):
                return RunResult(Result.INFRA, None, "the sandbox was lost between two checks")
        try:
            await asyncio.to_thread(lay_over, sandbox, accept.files)
        except OSError as error:
            return RunResult(Result.INFRA, None, f"an acceptance cannot be laid over the tree: {error}")
        return None

    def _in_order(self, definition: CiDefinition) -> list[CiCheck]:
        """Those in quarantine come last: they must not use up the time of one that decides."""
        asked = [check for check in definition.checks if not self.run.since or check.name in self.run.checks]
        return sorted(asked, key=lambda check: check.quarantine)


def _turns(tried: list[Tried]) -> int:
    return sum(one.turns for one in tried)

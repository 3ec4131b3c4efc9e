"""One run of the checks of a delivered change: its acceptance first, then those of `[[review.checks]]`.

Each command has a number of its own among the run's turns, whatever the others come to, so a daemon that finds the run
again knows which is which.
"""

import asyncio
import contextlib
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from paddock.config.schema import ReviewCheck
from paddock.core.errors import PaddockError
from paddock.core.events import Acceptance
from paddock.core.ids import TaskId, printable
from paddock.core.leases.globs import matches_file
from paddock.core.merge.guards import BLAMING
from paddock.core.merge.model import Result
from paddock.core.review.checks import ACCEPT, CheckResult, Lines, edits_of_acceptance, failure, only_of_change
from paddock.core.review.sarif import TEXT_LIMIT, SarifReport, read_sarif
from paddock.fleet.landing.ci_output import last_lines_of, step_turn
from paddock.fleet.landing.ci_verdict import RunResult
from paddock.fleet.landing.sandbox_run import CiCrew, SandboxJob, SandboxRun, SandboxStep
from paddock.git.sandboxes.ci import CiDefinition, argv_command, shell_command
from paddock.git.sandboxes.overlay import clear_left, lay_over, read_left
from paddock.git.sandboxes.sandbox import PreparedSandbox, SandboxOrder, restore_sandbox
from paddock.git.sandboxes.tree import Sandbox
from paddock.sessions.protocol import Exited, Stream

STDOUT = "-"
NOT_FOUND = 127
NOT_STARTED = (126, NOT_FOUND)


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """What is to be run on `head`, which began at `base`. `changed` is git's letter for each path that the change
    touches, `touched` the lines of those whose lines can be compared."""

    run: str
    task: TaskId
    head: str
    base: str
    accept: Acceptance | None
    checks: tuple[ReviewCheck, ...]
    definition: CiDefinition
    changed: Mapping[str, str]
    touched: Mapping[str, Lines]
    accept_seconds: float

    @property
    def seconds(self) -> float:
        """For all of it, the set-up included."""
        return 2 * self.accept_seconds + sum(check.timeout for check in self.checks)


class CannotRun(PaddockError):
    """Through no fault of the change."""


class CheckRun:
    def __init__(self, crew: CiCrew, plan: CheckPlan) -> None:
        self.plan = plan
        self._site = crew.site
        self.inside = SandboxRun(crew, SandboxJob(plan.run, plan.head, plan.base, plan.seconds))

    async def drive(self) -> list[CheckResult]:
        """How each check ended. Raises CannotRun where the machine did not let it be run, and when it was cancelled."""
        results: list[CheckResult] = [self._skipped(check) for check in self.plan.checks if not self._looks_at(check)]
        if self.plan.accept is None and len(results) == len(self.plan.checks):
            return results

        async def work(sandbox: Sandbox, order: SandboxOrder) -> RunResult:
            results.extend(await self._work(sandbox, order))
            return RunResult(Result.PASS, 0)

        ended = await self.inside.drive(self.plan.definition, work)
        if ended.result is not Result.PASS:
            raise CannotRun(ended.note or ended.result.value)
        return results

    async def _work(self, sandbox: Sandbox, order: SandboxOrder) -> list[CheckResult]:
        results = []
        first = 1
        if (accept := self.plan.accept) is not None:
            results.append(await self._accept(sandbox, accept))
            first += len(accept.commands)
            if not self.inside.has_begun(first):
                await self._restore(sandbox, order)
        for number, check in enumerate((one for one in self.plan.checks if self._looks_at(one)), first):
            results.append(await self._check(sandbox, check, number))
        return results

    async def _restore(self, sandbox: Sandbox, order: SandboxOrder) -> None:
        """What was laid over the change, and what its acceptance left, is for nobody else to see."""
        restored = await asyncio.to_thread(restore_sandbox, sandbox, order)
        if not isinstance(restored, PreparedSandbox):
            raise CannotRun("the sandbox was lost between two checks")

    async def _lay_over(self, sandbox: Sandbox, accept: Acceptance) -> None:
        try:
            await asyncio.to_thread(lay_over, sandbox, accept.files)
        except OSError as error:
            raise CannotRun(f"the files of the acceptance cannot be laid over the change: {error}") from None

    async def _accept(self, sandbox: Sandbox, accept: Acceptance) -> CheckResult:
        """One command after the other, until one fails."""
        edits = tuple(edits_of_acceptance(accept, self.plan.changed))
        seconds, output = 0.0, ""
        for number, words in enumerate(accept.commands, 1):
            if not self.inside.has_begun(number):
                await self._lay_over(sandbox, accept)
            command = argv_command(sandbox, self.plan.definition, words, ACCEPT, self.plan.head, os.environ)
            name = f"{ACCEPT}: {printable(shlex.join(words), 100)}"
            failed = await self._step(sandbox, SandboxStep(number, name, command, self.plan.accept_seconds))
            seconds, output = seconds + self._seconds(number), await self._output(number)
            if failed is not None and (why := _why_not_started(failed, words[0])):
                return CheckResult(ACCEPT, unable=why)
            if failed is not None:
                claims = (failure(ACCEPT, failed.note, output), *edits)
                return CheckResult(ACCEPT, False, failed.exit, seconds, output, claims)
        return CheckResult(ACCEPT, True, 0, seconds, output, edits)

    async def _check(self, sandbox: Sandbox, check: ReviewCheck, number: int) -> CheckResult:
        begun = self.inside.has_begun(number)
        to_file = check.sarif if check.sarif != STDOUT else ""
        if to_file and not begun:
            with contextlib.suppress(OSError):
                await asyncio.to_thread(clear_left, sandbox, to_file)
        command = shell_command(sandbox, self.plan.definition, check.run, check.name, self.plan.head, os.environ)
        step = SandboxStep(number, check.name, command, check.timeout, apart=check.sarif == STDOUT)
        failed = await self._step(sandbox, step)
        output = await self._output(number, Stream.STDERR if step.apart else Stream.STDOUT)
        if failed is not None and (why := _why_not_started(failed, _program(check.run))):
            return CheckResult(check.name, unable=why)
        result = CheckResult(check.name, failed is None, failed.exit if failed else 0, self._seconds(number), output)
        report = await asyncio.to_thread(self._read_sarif, sandbox, check, number) if check.sarif else None
        return _judge(result, failed, report, {**self._without_lines(), **self.plan.touched})

    def _without_lines(self) -> dict[str, Lines]:
        return {path: () for path in self.plan.changed if path not in self.plan.touched}

    async def _step(self, sandbox: Sandbox, step: SandboxStep) -> RunResult | None:
        failed = await self.inside.step(sandbox, step)
        if failed is not None and failed.result not in BLAMING:
            raise CannotRun(failed.note or failed.result.value)
        return failed

    def _read_sarif(self, sandbox: Sandbox, check: ReviewCheck, number: int) -> SarifReport:
        """Kept beside the output: the sandbox is somebody else's when a later daemon asks again."""
        kept = self._site.run_folder(self.plan.run) / f"turn-{number}.sarif"
        if not kept.exists():
            if (written := self._sarif(sandbox, check.sarif, number)) is None:
                return SarifReport(problem=f"there is no file `{printable(check.sarif, 80)}` in the repository")
            kept.with_suffix(".new").write_bytes(written)
            os.replace(kept.with_suffix(".new"), kept)
        text = kept.read_bytes().decode("utf-8", "replace")
        return read_sarif(text, str(sandbox.tree), str(sandbox.tree.resolve()))

    def _sarif(self, sandbox: Sandbox, where: str, number: int) -> bytes | None:
        if where != STDOUT:
            return read_left(sandbox, where, TEXT_LIMIT)
        turn = step_turn(self.plan.run, number)
        return self._site.sessions.tail(turn, Stream.STDOUT, TEXT_LIMIT).encode("utf-8", "replace")

    def _seconds(self, number: int) -> float:
        state = self._site.sessions.observe(step_turn(self.plan.run, number))
        return max(0.0, state.at - state.started_at) if isinstance(state, Exited) else 0.0

    async def _output(self, number: int, stream: Stream = Stream.STDOUT) -> str:
        turn = step_turn(self.plan.run, number)
        return await asyncio.to_thread(last_lines_of, self._site, turn, stream=stream)

    def _looks_at(self, check: ReviewCheck) -> bool:
        return not check.paths or any(matches_file(glob, path) for path in self.plan.changed for glob in check.paths)

    def _skipped(self, check: ReviewCheck) -> CheckResult:
        return CheckResult(check.name, passed=True, output="not run: the change touches none of its paths")


def _judge(
    result: CheckResult, failed: RunResult | None, report: SarifReport | None, touched: Mapping[str, Lines]
) -> CheckResult:
    """With what the tool says, where it says it in SARIF: then that counts, and not how it exited."""
    name, note = result.name, f"the check {failed.note}" if failed else ""
    if report is None or (failed is not None and not report.claims):
        return replace(result, claims=(failure(name, note, result.output),) if failed else ())
    if report.problem and not report.claims:
        return CheckResult(name, unable=f"what it writes cannot be read as SARIF: {report.problem}")
    claims, elsewhere = only_of_change(report.claims, touched)
    more = (("held against what the change does not touch, and left out", elsewhere), ("too many", report.left_out))
    notes = [f"{count} finding{'s' if count != 1 else ''}: {why}" for why, count in more if count]
    output = "\n".join((*([result.output] if result.output else []), *notes))
    return replace(result, passed=result.passed or not claims, claims=tuple(claims), output=output)


def _why_not_started(failed: RunResult, program: str) -> str:
    """The command itself is not there: that says something about the machine, or about who wrote it. A program of the
    change's own is another matter."""
    from_the_change = "/" in program and not program.startswith("/")
    about_it = f"`{program}`" in failed.cannot_run or "a command" in failed.cannot_run
    if from_the_change or failed.exit not in NOT_STARTED or not about_it:
        return ""
    return f"`{printable(program, 80)}` {'was not found' if failed.exit == NOT_FOUND else 'is not executable'}"


def _program(command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    return words[0] if words else ""

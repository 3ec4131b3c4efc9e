"""The checks of delivered changes, run for real: what passes, what is held against one, what is nobody's fault."""

import asyncio
import json
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from paddock.config.load import load_config
from paddock.core.events import AttemptEnded, AttemptStarted, Draft
from paddock.core.ids import AttemptId, TaskId
from paddock.core.review.events import CheckEnded
from paddock.core.review.model import Finding
from paddock.core.tasks.task import Phase, Task
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.fleet.drives import Drives
from paddock.fleet.landing.sandbox_run import CiCrew
from paddock.fleet.ledger import take_lead
from paddock.fleet.review import check_runs
from paddock.fleet.review.check_runs import CheckRuns
from paddock.fleet.review.policy import review_policy
from paddock.fleet.site import Site
from paddock.fleet.upkeep.sweeper import Sweeper
from paddock.git.repo import discover
from paddock.git.sandboxes.sandbox import list_sandboxes
from paddock.sessions.host import this_process
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.fleet.conftest import MakeYard
from tests.fleet.landing.lab import Files, write_commit
from tests.fleet.yard import Yard

T1 = TaskId("t1")
WRITE_SARIF = """\
import json, pathlib
results = []
for path, line in ("app.txt", 2), ("app.txt", 40), ("old.txt", 1):
    file = {"uri": pathlib.Path(path).absolute().as_uri()}
    place = {"physicalLocation": {"artifactLocation": file, "region": {"startLine": line}}}
    results.append({"ruleId": "R1", "level": "error", "message": {"text": f"bad {path}"}, "locations": [place]})
print(json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": results}]}))
"""


@dataclass
class Desk:
    """One repository, one task whose change is under review, and the runner of its checks."""

    yard: Yard

    def deliver(self, files: Files, **fields: object) -> Task:
        self.yard.add_all([{"brief": "do it", **fields}])
        base = self.yard.git("rev-parse", "main")
        head = write_commit(self.yard.top, "refs/heads/paddock/t1", files, base, "Work")
        self.write(
            Draft(AttemptStarted("scripted", base, "paddock/t1"), T1, AttemptId("t1.1")),
            Draft(AttemptEnded(Outcome.DELIVERED, Step.REVIEW, True, head=head, base=base), T1, AttemptId("t1.1")),
        )
        return self.yard.task()

    def write(self, *drafts: Draft) -> None:
        store = SqliteStore(self.yard.log_path)
        store.append(lambda _board: drafts, Author("daemon"))
        store.close()

    @asynccontextmanager
    async def runs(self) -> AsyncIterator[CheckRuns]:
        yard = self.yard
        store = SqliteStore(yard.log_path)
        config = load_config(yard.top, yard.env).config
        site = Site(discover(yard.top), config, yard.log_path.parent, yard.marker, log_identity=yard.identity)
        ledger = take_lead(store, this_process("daemon"), site.seat)
        ledger.lead.take_seat()
        site.follow(ledger.lead)
        ledger.lead.answer_in(asyncio.get_running_loop())
        runs = CheckRuns(site, ledger, CiCrew(site, Sweeper(site.sessions)), Drives(lambda: None))
        try:
            async with asyncio.TaskGroup() as group:
                runs.drives.run_in(group)
                yield runs
        finally:
            site.sessions.close()
            ledger.give_up()
            store.close()

    def check(self) -> dict[str, CheckEnded]:
        """Runs them all to the end; how each ended."""

        async def drive() -> None:
            async with self.runs() as runs:
                task = runs.ledger.read().task(T1)
                runs.start(task, review_policy(runs.site, task).checks)

        asyncio.run(drive())
        self.assert_all_is_given_back()
        events = [record.event for record in self.yard.records(CheckEnded)]
        return {event.name: event for event in events if isinstance(event, CheckEnded)}

    @property
    def findings(self) -> list[Finding]:
        return self.yard.board().reviews.findings_of(T1)

    def told(self) -> list[tuple[str, int, str, bool]]:
        return [(one.path, one.line, one.severity.value, one.blocks) for one in self.findings]

    def assert_all_is_given_back(self) -> None:
        root = self.yard.worktrees
        assert not any(box.run for box in list_sandboxes(root.repo, root.path / ".ci").values())
        assert not self.yard.processes()


@pytest.fixture
def desk(make_yard: MakeYard) -> Desk:
    yard = make_yard()
    (yard.top / "app.txt").write_text("".join(f"line {number}\n" for number in range(1, 50)))
    (yard.top / "old.txt").write_text("old\n")
    (yard.top / "check.sh").write_text("grep -q right answer.txt\n")
    yard.git("add", "-A")
    yard.git("commit", "-q", "-m", "Begin")
    return Desk(yard)


def configure(desk: Desk, *checks: dict[str, object]) -> None:
    tables = "\n".join(
        "[[review.checks]]\n" + "\n".join(f"{key} = {json.dumps(value)}" for key, value in check.items())
        for check in checks
    )
    (desk.yard.top / "paddock.toml").write_text(f'engine = "scripted"\n{tables}\n')


ACCEPT = {"commands": ["sh check.sh"], "files": {"check.sh": "test -e answer.txt && grep -q exact answer.txt\n"}}


def test_the_acceptance_sees_its_own_files_and_nobody_else_does(desk: Desk) -> None:
    configure(desk, {"name": "plain", "run": "grep -q right check.sh"})
    desk.deliver({"answer.txt": "exact\n"}, accept=ACCEPT)
    ended = desk.check()

    assert {name: one.passed for name, one in ended.items()} == {"accept": True, "plain": True}
    assert desk.findings == []


def test_what_fails_is_held_against_the_change_with_its_output_until_it_passes(desk: Desk) -> None:
    accept = {"commands": ["cat answer.txt", "grep exact answer.txt"]}
    task = desk.deliver({"answer.txt": "wrong\n"}, accept=accept)
    ended = desk.check()
    assert not ended["accept"].passed
    assert (ended["accept"].exit, ended["accept"].head) == (1, task.head)
    (finding,) = desk.findings
    assert finding.blocks
    assert finding.by == ("check:accept",)
    assert "`accept: grep exact answer.txt` failed with exit 1" in finding.claim


def test_a_change_that_edits_its_acceptance_is_named_and_gains_nothing(desk: Desk) -> None:
    desk.deliver({"check.sh": "true\n", "answer.txt": "cheated\n"}, accept=ACCEPT)
    ended = desk.check()

    assert not ended["accept"].passed
    assert desk.told() == [("", 0, "error", True), ("check.sh", 0, "error", True)]
    assert desk.findings[1].claim == "edits a file of its acceptance: check.sh"


@pytest.mark.parametrize("to", ["-", "out.sarif"])
def test_what_a_tool_says_in_sarif_counts_only_where_the_change_is(desk: Desk, to: str) -> None:
    script = shlex.join((sys.executable, "-c", WRITE_SARIF))
    run = f"{script}; echo working >&2; exit 1" if to == "-" else f"{script} > out.sarif; exit 1"
    configure(
        desk,
        {"name": "lint", "run": run, "sarif": to},
        {"name": "docs", "run": "false", "paths": ["docs/**"]},
    )
    lines = [f"line {number}\n" for number in range(1, 50)]
    lines[1] = "changed\n"
    desk.deliver({"app.txt": "".join(lines)})
    ended = desk.check()

    assert desk.told() == [("app.txt", 2, "error", True), ("app.txt", 40, "note", False)]
    assert "1 finding: held against what the change does not touch" in ended["lint"].output
    assert ended["docs"].passed
    assert "touches none of its paths" in ended["docs"].output


@pytest.mark.parametrize(
    ("check", "why"),
    [
        ({"name": "x", "run": "exit 75"}, "asked to be retried with exit 75"),
        ({"name": "x", "run": "no-such-program --all"}, "`no-such-program` was not found"),
        ({"name": "x", "run": "true", "sarif": "none.sarif"}, "there is no file `none.sarif`"),
    ],
)
def test_what_cannot_be_run_is_for_a_person_and_no_finding(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, check: dict[str, object], why: str
) -> None:
    monkeypatch.setattr(check_runs, "PAUSES_SECONDS", (0.0,))
    configure(desk, check)
    desk.deliver({"answer.txt": "x\n"})

    assert desk.check() == {}
    task = desk.yard.task()
    assert task.phase is Phase.BLOCKED
    assert task.reason.startswith("the check `x` could not be run: ")
    assert why in task.reason
    assert desk.findings == []


def test_an_acceptance_whose_program_is_missing_is_not_the_workers_fault(desk: Desk) -> None:
    desk.deliver({"answer.txt": "x\n"}, accept="no-such-program -q")

    assert desk.check() == {}
    assert desk.yard.task().reason.endswith("`no-such-program` was not found")


def test_a_daemon_that_comes_later_goes_on_with_what_runs(desk: Desk) -> None:
    """The first command waits until the second daemon is there, and is not started again by it."""
    gate, count = desk.yard.folder / "gate", desk.yard.folder / "count"
    script = f"echo x >> {count}; while [ ! -e {gate} ]; do sleep 0.05; done"
    desk.deliver({"answer.txt": "x\n"}, accept={"commands": [["sh", "-c", script], ["true"]]})
    (desk.yard.top / "paddock.toml").write_text('engine = "scripted"\n[land]\nfence = "none"\n')

    async def abandon() -> None:
        async with desk.runs() as runs:
            runs.start(runs.ledger.read().task(T1), ("accept",))
            while not count.exists():
                await asyncio.sleep(0.02)
            runs.drives.cancel()

    asyncio.run(abandon())
    gate.touch()
    ended = desk.check()
    assert ended["accept"].passed
    assert count.read_text() == "x\n"


def test_a_change_that_is_not_under_review_any_more_stops_its_checks(desk: Desk) -> None:
    desk.deliver({"answer.txt": "x\n"}, accept={"commands": [["sleep", "600"]]})

    async def drive() -> None:
        async with desk.runs() as runs:
            runs.start(runs.ledger.read().task(T1), ("accept",))
            while not desk.yard.processes():
                await asyncio.sleep(0.02)
            desk.yard.paddock("cancel", "t1")
            runs.steer(runs.ledger.read())

    asyncio.run(drive())
    desk.assert_all_is_given_back()
    assert desk.yard.records(CheckEnded) == []

"""The review of a task as its page and its row tell it."""

from contextlib import closing

import pytest

from paddock.core import events as ev
from paddock.core.ids import TaskId
from paddock.core.intent.findings import waive_findings
from paddock.core.review import events as rv
from paddock.core.review.plan import next_action
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from paddock.views.board.page import LiveBoard
from paddock.views.difference import Difference, difference
from paddock.views.log.narration import describe
from paddock.views.tasks.page import LiveTask
from tests.core.review.loop import NOW, Loop, finds
from tests.views.eyes import LedgerEye, apply_difference, workspace_in

CONFIG = """\
engine = "scripted"
[land]
ci = "true"
approval = "review"
[agents.ann]
role = "reviewer"
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """With a log of its own, which nothing is read from: only the folder of a fleet is."""
    workspace = workspace_in(tmp_path_factory.mktemp("review") / "harbor", CONFIG)
    workspace.state_dir.mkdir(parents=True, exist_ok=True)
    with closing(SqliteStore(workspace.log.file, create=True)) as store:
        store.append(lambda _: [ev.Draft(ev.TaskAdded("a", "b"), TaskId("t1"))], Author("ana"))
    return workspace


def step(loop: Loop) -> None:
    loop.perform(next_action(loop.board, loop.now, loop.policy, NOW))


def test_a_page_has_each_finding_in_full_and_keeps_those_that_are_as_they_were(workspace: Workspace) -> None:
    loop = Loop(reviewers={"ann": finds("it loses data", "it is slow")})
    eye, live = LedgerEye(workspace, loop.ledger), LiveTask(loop.task)
    first = live.look(eye.sight())
    assert (first.findings, first.task.reason) == ({}, "round 1 of 3: next, ann reviews it")
    step(loop)
    found = live.look(eye.sight())
    assert [(one.id, one.claim, one.blocking) for one in found.findings.values()] == [
        ("f1", "it loses data", True),
        ("f2", "it is slow", True),
    ]
    [given] = found.verdicts.values()
    assert (given.by, given.head, given.round, given.objects) == ("ann", loop.head, 1, True)
    assert (found.task.open_findings, found.task.blocking_findings) == (2, 2)
    loop.ledger.write(*waive_findings(loop.board, ["f1"], "ana", "not here"))
    waived = live.look(eye.sight())
    assert waived.findings["f2"] is found.findings["f2"]
    assert (waived.findings["f1"].status, waived.findings["f1"].settled_why) == ("waived", "not here")
    change = difference(found, waived)
    assert change is not None
    assert list(change.rows["findings"]) == ["f1"]
    assert apply_difference(found, change) == waived == LiveTask(loop.task).look(eye.sight())


def test_a_row_changes_with_its_findings_and_no_other_row_does(workspace: Workspace) -> None:
    loop = Loop(reviewers={"ann": finds("it loses data")})
    other = loop.ledger.add()
    eye, live = LedgerEye(workspace, loop.ledger), LiveBoard()
    step(loop)
    before = live.look(eye.sight())
    assert before.tasks["t1"].reason == "round 1 of 3: f1 goes back to its worker"
    loop.ledger.write(*waive_findings(loop.board, ["f1"], "ana", ""))
    after = live.look(eye.sight())
    assert (before.tasks["t1"].open_findings, after.tasks["t1"].open_findings) == (1, 0)
    assert after.tasks[other] is before.tasks[other]
    assert apply_difference(before, difference(before, after) or Difference({}, {})) == after


def test_acceptance_checks_and_a_question_are_on_the_page(workspace: Workspace) -> None:
    loop = Loop()
    eye, live = LedgerEye(workspace, loop.ledger), LiveTask(loop.task)
    accept = ev.Acceptance((("make", "it so"),), (ev.AcceptFile("tests/a.py", "one\ntwo\n"),))
    loop.ledger.write(ev.Draft(ev.TaskEdited(accept=accept), loop.task))
    ended = rv.CheckEnded(loop.head, "ruff", False, 1, 2.0, "E501 \x1b[31mred")
    loop.ledger.write(ev.Draft(ended, loop.task))
    page = live.look(eye.sight())
    assert page.accept is not None
    assert (page.accept.commands, page.accept.files[0].lines) == (("make 'it so'",), 2)
    [check] = page.checks.values()
    assert (check.name, check.passed, check.head) == ("ruff", False, loop.head)
    assert "\x1b" not in check.output
    asking = loop.ledger.add()
    attempt = loop.ledger.start(asking)
    loop.ledger.write(ev.Draft(ev.QuestionAsked("zero,\nor an error?"), asking, attempt))
    asked = LiveTask(asking).look(eye.sight())
    assert asked.question is not None
    assert (asked.question.text, asked.task.need) == ("zero,\nor an error?", "answer")
    assert page.question is None


def test_a_review_is_narrated_in_plain_lines_without_its_minor_steps(workspace: Workspace) -> None:
    loop = Loop(reviewers={"ann": finds("it loses data", severity="error")})
    step(loop)
    step(loop)
    note = rv.FindingReported("f2", loop.head, "check:ruff", rv.Claim("long line", "a.py", 3, rv.Severity.NOTE))
    loop.ledger.write(
        ev.Draft(note, loop.task),
        ev.Draft(rv.CheckEnded(loop.head, "ruff", True, 0), loop.task),
        ev.Draft(rv.CheckEnded(loop.head, "accept", False, 2, 65.0), loop.task),
        ev.Draft(rv.FindingDisputed("f1", "it keeps\nthem"), loop.task),
        ev.Draft(rv.FindingSettled("f1", rv.Settlement.WAIVED, loop.head, "ana", "not here"), loop.task),
        ev.Draft(rv.FindingConfirmed("f1", rv.ConfirmedBy.REVERT), loop.task),
        ev.Draft(rv.ReviewMissed(("ann",), "reverted"), loop.task),
    )
    lines = [describe(one, loop.board) for one in loop.ledger.records if isinstance(one.event, rv.ReviewEvent)]
    assert [line for line in lines if line] == [
        "ann found f1 in a.py:1 (error, which blocks it): it loses data",
        "ann objects",
        "sent back after round 1 of its review, with f1",
        "its acceptance failed with exit 2 after 1m5s",
        "its worker disputes f1: it keeps them",
        "f1 was waived by ana: not here",
        "f1 was true, says a revert",
        "ann let it pass although it was wrong: reverted",
    ]
    shown = LiveTask(loop.task).look(LedgerEye(workspace, loop.ledger).sight()).timeline
    told = [row.words for row in shown.values()]
    assert "check ruff found f2 in a.py:3 (note): long line" in told
    assert "check ruff passed" in told
    steps = [row.step for row in shown.values() if row.step]
    assert steps[3:] == ["t1.2 reviews", "ann objects", "sent back, round 1", "t1.3 started", "turn 1: answers",
                         "delivered v2", "acceptance failed", "f1 waived"]  # fmt: skip

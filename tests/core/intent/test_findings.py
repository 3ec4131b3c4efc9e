"""What people decide about findings: all of it or nothing, and never twice."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.errors import Misuse, NotFound, PaddockError
from paddock.core.events import ConvoyAdded, Draft, TaskAdded
from paddock.core.ids import TaskId
from paddock.core.intent.findings import (
    MOST_FILED,
    confirm_findings,
    file_findings,
    file_reported,
    find_finding,
    waive_findings,
)
from paddock.core.intent.tasks import Known
from paddock.core.review.events import Claim, FindingReported, FindingRouted, Severity
from paddock.core.review.model import Status
from paddock.core.routing import RosterAgent
from tests.core.ledger import Ledger

HEAD = "a" * 40
KNOWN = Known(frozenset({"docs"}), roster=(RosterAgent("docs", owns=("docs/**",)),))
CLAIMS = {
    "f1": Claim("it leaks", "src/x.py", 3, Severity.ERROR),
    "f2": Claim("wrong page", "docs/x.md", 0, Severity.WARNING),
    "f3": Claim("as a whole", severity=Severity.NOTE),
}


@pytest.fixture
def ledger() -> Ledger:
    ledger = Ledger()
    ledger.write(Draft(ConvoyAdded("c")))
    task = ledger.add(convoy="c")
    ledger.attempt(task, "approval", head=HEAD)
    reported = (FindingReported(name, HEAD, "ann", claim, name == "f1") for name, claim in CLAIMS.items())
    ledger.write(*(Draft(event, task=task) for event in reported))
    return ledger


def waive(ledger: Ledger, *names: str) -> list[Draft]:
    return waive_findings(ledger.board, names, "ana", "known")


def confirm(ledger: Ledger, *names: str) -> list[Draft]:
    return confirm_findings(ledger.board, names, "")


def file(ledger: Ledger, *names: str) -> list[Draft]:
    return file_findings(ledger.board, names, KNOWN, CLAIMS.__getitem__)


@pytest.mark.parametrize("decide", [waive, confirm, file])
def test_a_decision_is_made_once_and_for_all_that_are_named_or_for_none(
    ledger: Ledger, decide: Callable[..., list[Draft]]
) -> None:
    with pytest.raises(NotFound, match="no finding `f9`: the newest is `f3`"):
        decide(ledger, "f1", "f9")
    drafts = decide(ledger, "f2", " F2 ", "f1")
    assert len({draft.event.id for draft in drafts if hasattr(draft.event, "id")}) == 2
    ledger.write(*drafts)
    with pytest.raises(PaddockError, match="`f1`"):
        decide(ledger, "f3", "f1")


def test_what_is_waived_keeps_who_and_why_and_blocks_no_more(ledger: Ledger) -> None:
    ledger.write(*waive(ledger, "f1"))
    found = ledger.board.reviews.findings["f1"]
    assert (found.status, found.settled_by, found.settled_why) == (Status.WAIVED, "ana", "known")
    assert ledger.board.reviews.blocking_of(TaskId("t1")) == []
    with pytest.raises(PaddockError, match="cannot be filed: it is waived"):
        file(ledger, "f1")
    ledger.write(*confirm(ledger, "f1"))
    assert ledger.board.reviews.reviewers["ann"].confirmed == 1


def test_tasks_are_for_who_owns_the_path_and_stay_in_the_convoy(ledger: Ledger) -> None:
    drafts = file(ledger, "f1", "f2", "f3")
    ledger.write(*drafts)
    tasks = [ledger.board.task(TaskId(name)) for name in ("t2", "t3", "t4")]
    assert [(task.agent, task.paths, task.convoy) for task in tasks] == [
        (None, ("src/x.py",), "c"),
        ("docs", ("docs/x.md",), "c"),
        (None, (), "c"),
    ]
    assert [ledger.board.reviews.findings[name].routed for name in CLAIMS] == ["t2", "t3", "t4"]


@pytest.mark.parametrize("files", ["error", "warning", "note", ""])
def test_an_audit_files_what_is_grave_enough(files: str) -> None:
    ledger = Ledger()
    ledger.write(Draft(TaskAdded("Audit", "look", files=files), task=TaskId("t1")))
    reported = [Draft(FindingReported(name, HEAD, "ann", claim), task=TaskId("t1")) for name, claim in CLAIMS.items()]
    drafts = file_reported(ledger.board, ledger.task("t1"), reported, KNOWN)
    ledger.write(*reported, *drafts)
    filed = [draft.event.id for draft in drafts if isinstance(draft.event, FindingRouted)]
    assert filed == list(CLAIMS)[: ("", "error", "warning", "note").index(files)]


def test_an_audit_that_finds_too_much_files_the_first_of_it() -> None:
    ledger = Ledger()
    ledger.write(Draft(TaskAdded("Audit", "look", files="note"), task=TaskId("t1")))
    reported = [
        Draft(FindingReported(f"f{number}", HEAD, "ann", CLAIMS["f1"]), task=TaskId("t1")) for number in range(1, 99)
    ]
    drafts = file_reported(ledger.board, ledger.task("t1"), reported, KNOWN)
    ledger.write(*reported, *drafts)
    assert ledger.board.next_task == MOST_FILED + 2


@given(st.text())
def test_any_word_is_a_finding_or_refused(word: str) -> None:
    with pytest.raises((Misuse, NotFound)):
        find_finding(Ledger().board, word)

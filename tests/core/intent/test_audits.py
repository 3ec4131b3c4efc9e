"""What an audit asks for: a review for each kind and reviewer, of exactly one commit."""

import pytest

from paddock.core.errors import Misuse
from paddock.core.events import ConvoyAdded, Draft, TaskAdded
from paddock.core.intent.audits import KINDS, Audited, AuditRequest, request_audit
from paddock.core.intent.tasks import Known
from paddock.core.routing import REVIEWER, RosterAgent
from paddock.core.tasks.vocabulary import Role
from tests.core.ledger import Ledger

HEAD, BASE = "a" * 40, "b" * 40
ROSTER = (
    RosterAgent("coder", place=0),
    RosterAgent("ann", REVIEWER, place=1),
    RosterAgent("bob", REVIEWER, labels=("security",), place=2),
)
KNOWN = Known(frozenset(one.name for one in ROSTER), frozenset({"claude"}), ROSTER)


def added(request: AuditRequest, known: Known = KNOWN) -> list[TaskAdded]:
    ledger = Ledger()
    drafts = request_audit(ledger.board, request, known)
    ledger.write(*drafts)
    [convoy] = [draft.event for draft in drafts if isinstance(draft.event, ConvoyAdded)]
    tasks = [draft.event for draft in drafts if isinstance(draft.event, TaskAdded)]
    assert {task.convoy for task in tasks} == {convoy.name}
    assert all(
        (task.role, task.start, task.files) == (Role.REVIEW, request.audited.head, request.files) for task in tasks
    )
    return tasks


def test_each_kind_has_a_review_by_who_fits_best_or_the_first() -> None:
    tasks = added(AuditRequest(Audited(HEAD), ("src/**",), ("correctness", "security", "wording"), files="error"))
    assert [(task.title, task.agent, task.paths, task.labels) for task in tasks] == [
        ("Audit correctness of the code at aaaaaaaaaa", "ann", ("src/**",), ("correctness",)),
        ("Audit security of the code at aaaaaaaaaa", "bob", ("src/**",), ("security",)),
        ("Audit wording of the code at aaaaaaaaaa", "ann", ("src/**",), ("wording",)),
    ]
    assert tasks[0].brief.startswith(f"{KINDS['correctness']}\nLook at the code as it is.")
    assert tasks[2].brief.startswith("Look for wording.\n")


def test_reviewers_that_are_named_look_at_every_kind_of_what_a_branch_changes() -> None:
    request = AuditRequest(
        Audited(HEAD, "feature", BASE), kinds=("tests", "docs"), agents=("ann", "bob"), engine="claude"
    )
    tasks = added(request)
    assert [(task.title, task.agent, task.engine) for task in tasks] == [
        (f"Audit {kind} of feature by {agent}", agent, "claude")
        for kind in ("tests", "docs")
        for agent in ("ann", "bob")
    ]
    assert f"Look only at what has changed since {BASE}: `git diff {BASE} {HEAD}`." in tasks[0].brief


def test_without_any_reviewer_the_default_engine_looks_for_whatever_is_wrong() -> None:
    [task] = added(AuditRequest(Audited(HEAD)), Known(frozenset(), frozenset({"claude"})))
    assert (task.title, task.agent, task.labels) == ("Audit of the code at aaaaaaaaaa", None, ())


def test_the_next_one_is_another_convoy() -> None:
    ledger = Ledger()
    names = []
    for _ in range(2):
        drafts: list[Draft] = request_audit(ledger.board, AuditRequest(Audited(HEAD)), KNOWN)
        ledger.write(*drafts)
        names += [draft.event.name for draft in drafts if isinstance(draft.event, ConvoyAdded)]
    assert len(set(names)) == 2


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (AuditRequest(Audited(HEAD), kinds=("a b",)), "kind"),
        (AuditRequest(Audited(HEAD), agents=("coder",)), "`coder` is not a reviewer"),
        (AuditRequest(Audited(HEAD), agents=("nobody",)), "nobody"),
        (AuditRequest(Audited(HEAD), engine="nothing"), "nothing"),
        (AuditRequest(Audited(HEAD), paths=("../x",)), "../x"),
    ],
)
def test_what_cannot_be_is_misuse(request_: AuditRequest, words: str) -> None:
    with pytest.raises(Misuse, match=words):
        request_audit(Ledger().board, request_, KNOWN)

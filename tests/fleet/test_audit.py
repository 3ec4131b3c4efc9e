"""`paddock audit`: what a reviewer finds in the code that is there becomes tasks, and ends with them."""

import json

from paddock.core.review.events import FindingReported, FindingRouted, FindingSettled, ReviewGiven
from paddock.core.tasks.vocabulary import Role
from tests.fleet.conftest import MakeYard
from tests.fleet.test_review_loop import critic, events

FIXERS = """
engine = "scripted"
[land]
approval = "none"
ci = "true"
[engines.code]
command = ["sh", "-c", "sed -i /two/d src/x.py && git commit -qam 'Fix x'"]
[engines.page]
command = ["sh", "-c", "sed -i /two/d docs/x.md && git commit -qam 'Fix the page'"]
[agents.coder]
engine = "code"
owns = ["src/**"]
[agents.writer]
engine = "page"
owns = ["docs/**"]
"""


def test_what_an_audit_finds_is_fixed_by_who_owns_it(make_yard: MakeYard) -> None:
    yard = make_yard()
    (yard.top / "paddock.toml").write_text(FIXERS + critic())
    for path in ("src/x.py", "docs/x.md"):
        (yard.top / path).parent.mkdir()
        (yard.top / path).write_text("one\ntwo BUG\n")
    yard.git("add", "-A")
    yard.git("commit", "-qm", "Work with defects")
    main = yard.git("rev-parse", "main")

    asked = json.loads(yard.paddock("audit", "--kinds", "correctness", "--file", "error", "--json"))
    assert asked == {**asked, "ids": ["t1"], "convoy": "audit-1"}
    assert (yard.task("t1").role, yard.task("t1").agent) == (Role.REVIEW, "critic")
    yard.run(code=0)

    assert [(one.by, one.head, one.findings) for one in events(yard, ReviewGiven)] == [("critic", main, 2)]
    assert [(one.claim.path, one.blocking) for one in events(yard, FindingReported)] == [
        ("docs/x.md", False),
        ("src/x.py", False),
    ]
    assert [(one.id, one.to) for one in events(yard, FindingRouted)] == [("f1", "t2"), ("f2", "t3")]
    tasks = [yard.task(name) for name in ("t1", "t2", "t3")]
    assert [(task.phase, task.agent) for task in tasks] == [
        ("done", "critic"),
        ("landed", "writer"),
        ("landed", "coder"),
    ]
    assert [task.convoy for task in tasks] == ["audit-1"] * 3
    settled = {one.id: (one.how.value, one.by, one.why) for one in events(yard, FindingSettled)}
    assert settled == {"f1": ("fixed", "t2", "landed"), "f2": ("fixed", "t3", "landed")}
    assert yard.paddock("findings") == "no open findings\n"
    assert yard.git("show", "main:src/x.py", "main:docs/x.md") == "one\none"
    yard.assert_nothing_is_left()

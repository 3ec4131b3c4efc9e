"""A goal on its way to main: planned, worked on with planted defects, reviewed, put right, approved, landed."""

import json

from paddock.core.events import AttemptStarted, PlanAccepted
from paddock.core.review.events import (
    FindingDisputed,
    FindingReported,
    FindingRouted,
    FindingSettled,
    ReviewGiven,
    ReviewPassed,
    ReviewSentBack,
)
from paddock.core.tasks.vocabulary import Role
from tests.fleet.conftest import MakeYard
from tests.fleet.test_review_loop import critic, events
from tests.fleet.yard import Step, Yard, commit, play, write

SETTINGS = """
engine = "scripted"
[engines.scripted]
args = ["--plays", "{plays}"]
[land]
approval = "review"
ci = "! grep -rq 'off by one' src"
[[land.gate]]
name = "code"
paths = ["src/**"]
[agents.coder]
owns = ["src/**", "tests/**"]
[agents.writer]
owns = ["docs/**"]
"""
COUNT = {"key": "count", "title": "Count words", "brief": "Count the words\nMOODS=agree", "paths": ["src/**"]}
TEST = {"key": "test", "title": "Test it", "brief": "Test it\nMOODS=blind", "paths": ["tests/**"], "after": ["count"]}
PLAN = {"convoy": "words", "title": "Count words", "tasks": [COUNT, TEST]}

FIRST = write("src/count.py", "count = len  # BUG: off by one\n")
MARK = write("src/mark.py", 'MARK = "BUG"\n')
FIXED = write("src/count.py", "count = len\n")
REFUTES: Step = {"say": "Fixed.\nPADDOCK-REFUTE: f3 it is the word that we look for", "turn": 2}
PLAYS: dict[str, list[Step]] = {
    "count-the-words": [
        FIRST,
        MARK,
        commit("Count"),
        {**FIXED, "turn": 2},
        {**commit("Count right"), "turn": 2},
        REFUTES,
    ],
    "test-it": [write("tests/check.sh", "true\n"), commit("Test it")],
    "a-review-of-t2-count-words-found-somethi": [write("docs/api.md", "It counts.\n"), commit("Say what it does")],
}
STORY = """\
t2      added: Count words
t2.1    started with scripted
t2.1    delivered: 1 commit (+2 −0 in 2 files)
t2.2    started a review by critic with critic
t2.2    critic found f1 in docs/api.md:1 (error, which blocks it): a bug: It does not count. BUG
t2.2    critic found f2 in src/count.py:1 (error, which blocks it): a bug: count = len # BUG: off by one
t2.2    critic found f3 in src/mark.py:1 (error, which blocks it): a bug: MARK = "BUG"
t2.2    critic objects: 3 found
t2      f1 became t4: the agent that owns the path fixes it
t2      sent back after round 1 of its review, with f2, f3
t2.3    continues with scripted where t2.1 ended
t2.3    1 message delivered
t2.3    its worker disputes f3: it is the word that we look for
t2.3    delivered: 2 commits (+2 −0 in 2 files)
t2.4    started a review by critic with critic
t2.4    f2 is fixed, says critic: looked at the line
t2.4    f3 is wrong after all, says critic: looked at the line
t2.4    critic has nothing against it: 2 found
t2      f1 is fixed, says t4: landed
t2      passed its review in round 2, seen by critic"""


def make_town(make_yard: MakeYard) -> Yard:
    """With a page that nobody's change touches and that is wrong."""
    yard = make_yard()
    plays = yard.folder / "plays"
    plays.mkdir()
    for name, steps in PLAYS.items():
        (plays / f"{name}.json").write_text(json.dumps(steps))
    (yard.top / "paddock.toml").write_text(SETTINGS.format(plays=plays) + critic())
    (yard.top / "docs").mkdir()
    (yard.top / "docs" / "api.md").write_text("It does not count. BUG\n")
    yard.git("add", "-A")
    yard.git("commit", "-qm", "Settings")
    return yard


def test_a_goal_reaches_main_without_its_defects_and_the_log_tells_how(make_yard: MakeYard) -> None:
    yard = make_town(make_yard)
    planned = json.loads(yard.paddock("plan", play({"answer": PLAN}), "--yes", "--json"))
    assert planned["ids"] == ["t2", "t3"]
    assert [one.convoy for one in events(yard, PlanAccepted)] == ["words"]
    assert [yard.task(name).agent for name in ("t2", "t3")] == ["coder", "coder"]
    yard.run()

    assert (yard.task("t2").phase, yard.task("t3").phase) == ("approval", "waiting")
    assert yard.task("t2").reason == "meets the gate `code`: touches src/count.py, src/mark.py"
    reported = {one.claim.path: one.id for one in events(yard, FindingReported, "t2")}
    assert reported == {"docs/api.md": "f1", "src/count.py": "f2", "src/mark.py": "f3"}
    assert [(one.id, one.to) for one in events(yard, FindingRouted, "t2")] == [("f1", "t4")]
    assert (yard.task("t4").agent, yard.task("t4").phase) == ("writer", "landed")
    assert yard.task("t2").after == ("t4",)
    assert [one.findings for one in events(yard, ReviewSentBack, "t2")] == [("f2", "f3")]
    assert [(one.id, one.why) for one in events(yard, FindingDisputed)] == [("f3", "it is the word that we look for")]
    settled = {one.id: (one.how.value, one.by) for one in events(yard, FindingSettled, "t2")}
    assert settled == {"f1": ("fixed", "t4"), "f2": ("fixed", "critic"), "f3": ("refuted", "critic")}
    first, second = events(yard, ReviewGiven, "t2")
    assert (first.objects, second.objects, second.head) == (True, False, yard.task("t2").head)
    assert first.head != second.head
    assert events(yard, ReviewPassed, "t2")[-1].by == ("critic",)
    started = events(yard, AttemptStarted, "t2")
    assert [one.role for one in started] == [Role.WORK, Role.REVIEW, Role.WORK, Role.REVIEW]
    assert (started[2].continues, yard.task("t2").attempts[2].session) == ("t2.1", yard.task("t2").attempts[0].session)
    assert yard.git("log", "--format=%s", "main", "--", "src") == "", "nothing of it lands before a person says so"

    told = yard.paddock("log", "--task", "t2").splitlines()
    assert "\n".join(line.split("  ", 1)[1] for line in told) == STORY

    yard.paddock("land", "t2", env={"USER": "ana"})
    yard.run(code=0)
    assert {yard.task(name).phase for name in ("t2", "t3", "t4")} == {"landed"}
    assert yard.git("show", "main:src/count.py") == "count = len"
    assert yard.git("show", "main:docs/api.md") == "It counts."
    keys = ("Reviewed", "Approved")
    named = {
        key: yard.git("log", f"--format=%(trailers:key=Paddock-{key},valueonly)", "main").split("\n") for key in keys
    }
    assert sorted(filter(None, named["Reviewed"])) == [f"{change} by critic" for change in ("t2@v3", "t3@v1", "t4@v1")]
    [approved] = filter(None, named["Approved"])
    assert approved.startswith("t2@v3 by ana@"), "policy let the others land"
    yard.assert_nothing_is_left()
    assert yard.unreachable_commits() == []

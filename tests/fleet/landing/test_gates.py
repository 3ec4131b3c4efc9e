"""Who lets a change land: gates that stop it for a person, reviewers that pass it, and what main tells of both."""

from paddock.core import events as ev
from paddock.core.ids import AttemptId, TaskId
from paddock.core.review import events as rv
from paddock.core.tasks.vocabulary import Outcome, Role, Step
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import Farm
from tests.fleet.yard import commit, write

GATES = """
[[land.gate]]
name = "schema"
paths = ["db/**"]
[[land.gate]]
kinds = ["risky"]
lines = 3
"""


def record(farm: Farm, *events: ev.Event, task: str, attempt: int | None = None) -> None:
    store = SqliteStore(farm.yard.log_path)
    of = AttemptId(f"{task}.{attempt}") if attempt is not None else None
    store.append(lambda _: [ev.Draft(event, task=TaskId(task), attempt=of) for event in events], Author("daemon"))
    store.close()


def deliver_for_review(farm: Farm, name: str, files: dict[str, str]) -> str:
    """The task's change is in review, as its one attempt has delivered it; its head."""
    branch, base = f"paddock/{name}-x", farm.main
    head = farm.branch(branch, files)
    started = ev.AttemptStarted(engine="scripted", base=base, branch=branch)
    ended = ev.AttemptEnded(Outcome.DELIVERED, Step.REVIEW, True, head=head, base=base, commits=1)
    record(farm, started, ended, task=name, attempt=1)
    return head


def pass_review(farm: Farm, name: str, head: str, *reviewers: str) -> None:
    by = reviewers or ("second",)
    for number, agent in enumerate(by, 2):
        started = ev.AttemptStarted(engine="scripted", base=head, branch="-", agent=agent, role=Role.REVIEW)
        given = rv.ReviewGiven(head, agent, 1, objects=False)
        ended = ev.AttemptEnded(Outcome.ANSWERED, Step.REVIEW, True)
        record(farm, started, given, ended, task=name, attempt=number)
    record(farm, rv.ReviewPassed(head, 1, by), task=name)


def told(farm: Farm, key: str, rev: str = "main") -> str:
    return farm.yard.git("log", "-1", f"--format=%(trailers:key=Paddock-{key},valueonly)", rev).strip()


def test_what_meets_a_gate_waits_for_a_person_who_is_named_in_main(make_farm: MakeFarm) -> None:
    farm = make_farm(GATES)
    farm.yard.add(write("db/schema.sql", "x\n"), commit())
    farm.yard.add(write("parts/long", "good\n" * 4), commit(), kind="risky")
    farm.yard.add(write("parts/short", "good\n"), commit(), kind="risky")
    farm.yard.run()

    found = [farm.yard.task(f"t{number}") for number in (1, 2, 3)]
    assert [task.phase for task in found] == ["approval", "approval", "landed"]
    assert [task.reason for task in found[:2]] == [
        "meets the gate `schema`: touches db/schema.sql",
        "meets a gate: is of kind risky, changes 4 lines, more than 3",
    ]
    assert told(farm, "Change").startswith("t3@v1 ")
    assert told(farm, "Approved") == told(farm, "Reviewed") == "", "policy did it"

    farm.branch("mine", {"db/more.sql": "y\n"})
    farm.yard.paddock("approve", "t1", env={"USER": "ana"})
    queued = farm.yard.paddock("land", "--branch", "mine", "--after", "t1", env={"USER": "ana"})
    assert "it meets the gate `schema`: touches db/more.sql" in queued
    farm.yard.run()
    approvals = farm.yard.git("log", "--first-parent", "--format=%(trailers:key=Paddock-Approved,valueonly)")
    assert sorted(line.partition("@")[0] for line in approvals.split("\n") if line) == ["mine", "t1"]
    assert approvals.count("by ana@") == 2
    farm.assert_green()


def test_what_reviewers_passed_lands_by_itself_in_exactly_that_version(make_farm: MakeFarm) -> None:
    farm = make_farm(GATES, approval="review")
    for title in ("passed", "revised", "gated"):
        farm.yard.paddock("add", title)
    passed = deliver_for_review(farm, "t1", {"parts/one": "good\n"})
    pass_review(farm, "t1", passed)
    pass_review(farm, "t2", deliver_for_review(farm, "t2", {"parts/two": "good\n"}))
    newer = farm.branch("newer", {"parts/two": "good\nbetter\n"})
    record(farm, ev.ChangeRevised(newer, farm.main), task="t2")
    pass_review(farm, "t3", deliver_for_review(farm, "t3", {"db/x.sql": "x\n"}))
    farm.yard.run()

    assert [farm.yard.task(f"t{number}").phase for number in (1, 2, 3)] == ["landed", "approval", "approval"]
    assert farm.yard.task("t3").reason == "meets the gate `schema`: touches db/x.sql"
    assert told(farm, "Change") == f"t1@v1 {passed}"
    assert (told(farm, "Reviewed"), told(farm, "Approved")) == ("t1@v1 by second", "")

    farm.yard.paddock("approve", "t3", env={"USER": "ana"})
    farm.yard.run()
    assert told(farm, "Reviewed") == "t3@v1 by second"
    assert told(farm, "Approved").startswith("t3@v1 by ana@")
    farm.assert_green()

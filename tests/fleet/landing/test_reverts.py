"""`paddock revert`: what landed is taken back through the queue, and its reviewers are known to have missed it."""

import json

import pytest

from paddock.core.ids import TaskId
from paddock.core.review import events as rv
from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import TEN_LINES
from tests.fleet.landing.test_gates import deliver_for_review, pass_review, record
from tests.fleet.yard import commit, write

SEVEN = TEN_LINES.replace("line 7\n", "line 7, as t1 has it\n")


@pytest.mark.parametrize("policy", ["merge", "rebase"])
def test_a_landed_change_is_taken_back_and_brought_back(make_farm: MakeFarm, policy: str) -> None:
    farm = make_farm(policy=policy)
    yard = farm.yard
    yard.add(write("ten.txt", SEVEN), commit("One"), write("parts/t1", "good\n"), commit("Two"), title="Improve seven")
    yard.run(code=0)
    yard.add(write("parts/t2", "good\n"), commit())
    yard.run(code=0)

    done = json.loads(yard.paddock("revert", "t1", "-m", "It was worse", "--json", env={"USER": "ana"}))
    assert (done["reverts"], done["branch"]) == ("t1", "paddock/revert-t1")
    assert any(words.startswith("t1: parts/t1") for words in done["queued"][0]["undoes"])
    twice = yard.paddock("revert", "t1", code=1)
    assert "the reverse of `t1` is in the merge queue already" in twice
    assert "refs/heads/paddock/revert-t1-2" not in yard.git("for-each-ref")
    yard.run(code=0)

    assert yard.git("show", "main:ten.txt") == TEN_LINES.strip()
    assert yard.git("ls-tree", "--name-only", "main", "parts/").split() == ["parts/t2"]
    told = yard.git("log", "-2", "--format=%B", "main")
    assert "Revert t1: Improve seven" in told
    assert "Paddock-Approved: paddock/revert-t1@v1 by ana@" in told
    body = yard.git("log", "-1", "--format=%B", "paddock/revert-t1")
    assert body.startswith("Revert t1: Improve seven\n\nIt was worse\n\nThis takes back t1@v1, which landed in ")
    again = yard.paddock("revert", "t1", code=1)
    assert "`t1` was reverted by `paddock/revert-t1`, which landed in `" in again
    shown = json.loads(yard.paddock("show", "t1", "--json"))
    assert shown["phase"] == "landed"
    assert (shown["reverted"]["by"], shown["reverted"]["landed"]) == ("paddock/revert-t1", True)
    assert "reverted  by paddock/revert-t1, landed in " in yard.paddock("show", "t1")

    yard.paddock("revert", "paddock/revert-t1")
    yard.run(code=0)
    assert yard.git("show", "main:ten.txt") == SEVEN.strip()
    farm.assert_green()


def test_its_reviewers_missed_it_once_unless_they_were_not_heard(make_farm: MakeFarm) -> None:
    farm = make_farm(approval="review")
    farm.yard.paddock("add", "one")
    head = deliver_for_review(farm, "t1", {"ten.txt": SEVEN})
    claims = [rv.FindingReported(f"f{n}", head, by, rv.Claim("wrong"), False) for n, by in ((1, "third"), (2, "third"))]
    waived = rv.FindingSettled("f1", rv.Settlement.WAIVED, head, "ana@host")
    record(farm, *claims, waived, task="t1")
    record(farm, rv.FindingSettled("f2", rv.Settlement.FIXED, head, "third"), task="t1")
    pass_review(farm, "t1", head, "second", "third")
    farm.yard.run()
    farm.branch("later", {"ten.txt": SEVEN.replace("as t1", "not as t1")})
    farm.yard.paddock("land", "--branch", "later")
    farm.yard.run()

    refused = farm.yard.paddock("revert", "t1", code=1)
    assert "`t1` cannot be reverted by itself: later work changed the same lines in ten.txt" in refused
    assert "revert the later change first" in refused
    farm.yard.paddock("revert", "later")
    farm.yard.run()
    assert not farm.yard.records(rv.ReviewMissed)

    told = farm.yard.paddock("revert", "t1", "-m", "broke seven")
    assert "passed by second: noted as missed" in told
    assert "findings that turn out to be true: f1\n" in told
    reviews = farm.yard.board().reviews
    tallies = {name: (one.missed, one.confirmed) for name, one in reviews.reviewers.items()}
    assert tallies == {"second": (1, 0), "third": (0, 1)}
    assert reviews.findings_of(TaskId("t1"))[0].confirmed == (rv.ConfirmedBy.REVERT,)
    farm.yard.paddock("queue", "cancel", "paddock/revert-t1")
    assert "missed" not in farm.yard.paddock("revert", "t1"), "what is known already is not counted twice"
    assert farm.yard.board().reviews.reviewers == reviews.reviewers

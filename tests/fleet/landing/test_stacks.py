"""Branches built on branches: they land in order, whatever the policy, and nobody pays for its base."""

import json

import pytest

from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import TEN_LINES, Farm

POLICIES = ("merge", "squash", "rebase")


def stacked(farm: Farm, *, bad: str = "") -> None:
    """Three branches, each on the one before, and all of them edit the same line."""
    text = TEN_LINES
    start = "main"
    for name in ("feature/low", "feature/mid", "feature/top"):
        text = text.replace("line 5", f"line 5 {name}")
        quality = "bad\n" if name == bad else "good\n"
        farm.branch(name, {"ten.txt": text, f"parts/{name.rpartition('/')[2]}": quality}, start)
        start = name


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("order", ["upwards", "downwards"])
def test_a_stack_lands_whole_in_any_order_of_queueing(make_farm: MakeFarm, policy: str, order: str) -> None:
    farm = make_farm(policy=policy)
    stacked(farm)
    names = ["feature/low", "feature/mid", "feature/top"]
    farm.land(*(names if order == "upwards" else reversed(names)))
    waits = {name: set(entry.waits_on) for name, entry in farm.queue.entries.items()}
    assert waits == {"feature/low": set(), "feature/mid": {names[0]}, "feature/top": {names[0], names[1]}}

    farm.yard.run(code=0)

    assert [old.id for old in farm.queue.decided] == names
    assert farm.outcomes() == dict.fromkeys(names, "landed")
    assert "line 5 feature/top feature/mid feature/low" in farm.yard.git("show", "main:ten.txt")
    subjects = farm.yard.git("log", "--no-merges", "--format=%s", f"{farm.first}..main").splitlines()
    assert sorted(subjects) == [f"Work on {name}" for name in names], "each commit once"
    farm.assert_green()
    farm.assert_at_rest()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_dependent_queued_after_its_base_landed_brings_only_its_own_commits(make_farm: MakeFarm, policy: str) -> None:
    farm = make_farm(policy=policy)
    stacked(farm)
    farm.land("feature/low")
    farm.yard.run(code=0)
    farm.push({"elsewhere": "by hand\n"})
    farm.land("feature/mid")
    farm.yard.run(code=0)

    assert farm.outcomes() == {"feature/low": "landed", "feature/mid": "landed"}
    subjects = farm.yard.git("log", "--no-merges", "--format=%s", f"{farm.first}..main").splitlines()
    assert sorted(subjects) == ["By hand", "Work on feature/low", "Work on feature/mid"]


def test_dependents_of_a_rejected_base_leave_with_that_reason_and_are_not_tested(farm: Farm) -> None:
    stacked(farm, bad="feature/low")
    farm.branch("other", {"parts/other": "good\n"})
    farm.land("feature/low", "feature/mid", "feature/top", "other")
    farm.yard.run()

    assert farm.outcomes() == {
        "feature/low": "rejected",
        "feature/mid": "cancelled",
        "feature/top": "cancelled",
        "other": "landed",
    }
    assert farm.decided("feature/top").reason == "it is stacked on `feature/low`, which was rejected"
    told = farm.yard.paddock("queue", "why", "feature/mid")
    assert "removed feature/mid from the queue: it is stacked on `feature/low`, which was rejected" in told
    assert "next: fix `feature/low`, rebase onto it, then `paddock land --branch feature/mid`" in told
    decided = {old["id"]: old for old in json.loads(farm.yard.paddock("queue", "--json"))["decided"]}
    assert decided["feature/mid"]["against"] == "feature/low"
    farm.assert_green()
    farm.assert_at_rest()


def test_a_bad_dependent_is_rejected_by_itself_and_its_base_lands(farm: Farm) -> None:
    stacked(farm, bad="feature/mid")
    farm.land("feature/low", "feature/mid", "feature/top")
    farm.yard.run()

    assert farm.outcomes() == {"feature/low": "landed", "feature/mid": "rejected", "feature/top": "cancelled"}
    farm.assert_green()


def test_a_base_that_grows_keeps_its_dependents_and_one_that_is_rewritten_loses_them(farm: Farm) -> None:
    stacked(farm)
    farm.land("feature/low", "feature/mid")
    farm.branch("feature/low", {"parts/more": "good\n"}, "feature/low")
    farm.land("feature/low")
    assert farm.queue.entries["feature/mid"].waits_on == ("feature/low",)
    farm.branch("a", {"parts/a": "good\n"})
    farm.branch("b", {"parts/b": "good\n"}, "a")
    farm.land("a", "b")
    farm.branch("a", {"parts/a": "rewritten\n"})
    farm.land("a")

    farm.yard.run()

    ends = {old.id: (old.version, old.outcome.value) for old in farm.queue.decided}
    assert ends == {
        "feature/low": (2, "landed"),
        "feature/mid": (1, "landed"),
        "a": (2, "landed"),
        "b": (1, "cancelled"),
    }
    assert "whose version 2 does not include the commits it is built on" in farm.decided("b").reason
    farm.assert_green()


def test_after_makes_a_change_wait_for_one_it_is_not_built_on(farm: Farm) -> None:
    for name in ("first", "second"):
        farm.branch(name, {f"parts/{name}": "good\n"})
    farm.land("first")
    queued = farm.yard.paddock("land", "--branch", "second", "--after", "first")
    assert "queued second" in queued
    assert "after first" in queued
    told = json.loads(farm.yard.paddock("queue", "--json"))["next"]
    assert [(entry["id"], entry["waits_on"]) for entry in told] == [("first", []), ("second", ["first"])]
    farm.yard.run(code=0)
    assert [old.id for old in farm.queue.decided] == ["first", "second"]

    farm.branch("third", {"parts/third": "good\n"})
    farm.yard.paddock("land", "--branch", "third", "--after", "first")
    assert farm.queue.entries["third"].waits_on == (), "it is in main already"


def test_what_cannot_be_waited_for_is_refused_with_the_next_step(farm: Farm) -> None:
    for name in ("first", "second"):
        farm.branch(name, {f"parts/{name}": "good\n"})
    said = farm.yard.paddock("land", "--branch", "second", "--after", "nowhere", code=1)
    assert "`nowhere` is not in the merge queue" in said
    assert "`paddock land --branch nowhere`" in said
    farm.land("first")
    farm.yard.paddock("land", "--branch", "second", "--after", "first")
    said = farm.yard.paddock("land", "--branch", "first", "--after", "second", code=1)
    assert "`first` would wait for `second` as asked, which waits for it in turn" in said
    assert "hint: `paddock queue cancel second`" in said
    said = farm.yard.paddock("land", "--branch", "first", "--after", "first", code=1)
    assert "`first` cannot wait for itself" in said
    assert farm.queue.entries["first"].change.version == 1
    farm.yard.paddock("queue", "cancel", "first")
    said = farm.yard.paddock("land", "--branch", "second", "--after", "first", code=1)
    assert "no longer in the merge queue (cancelled)" in said

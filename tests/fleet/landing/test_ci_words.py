"""What CI prints reaches whoever needs it: both streams in order, for people and agents."""

import json

from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import Farm
from tests.fleet.yard import commit, write

TALKS = r"""
echo "collecting 1 test"
printf '\033[31mwarning\033[0m: old API\n' >&2
if grep -rlx bad parts 2>/dev/null; then echo "Traceback: parts are bad" >&2; echo "1 failed"; exit 1; fi
echo "1 passed"
"""
PRINTED = ["collecting 1 test", "warning: old API", "parts/a", "Traceback: parts are bad", "1 failed"]


def rejected_farm(make_farm: MakeFarm) -> Farm:
    farm = make_farm(ci=TALKS)
    farm.yard.add(write("parts/a", "bad\n"), commit("Add a"), {"say": "done"})
    farm.yard.run(code=1)
    return farm


def test_a_traceback_on_standard_error_reaches_the_agent_and_the_person(make_farm: MakeFarm) -> None:
    farm = rejected_farm(make_farm)
    assert farm.yard.task().phase == "blocked"
    sent = [record.event.text for record in farm.yard.records() if record.event.kind == "message.sent"]  # type: ignore[attr-defined]
    assert len(sent) == 1
    assert sent[0].splitlines()[-5:] == PRINTED

    run = farm.decided("t1").runs[-1]
    for words in (("queue", "why", "t1"), ("show", "t1"), ("show", run), ("queue", "why", run), ("tail", run)):
        shown = [line.strip() for line in farm.yard.paddock(*words).splitlines()]
        place = shown.index(PRINTED[0])
        assert shown[place : place + 5] == PRINTED, words
    assert json.loads(farm.yard.paddock("show", "t1", "--json"))["failed_ci"] == {"run": run, "output": PRINTED}
    told = json.loads(farm.yard.paddock("show", run.upper(), "--json"))
    assert told["output"] == PRINTED
    assert (told["state"], told["exit"], told["members"][0]["id"]) == ("fail", 1, "t1")
    assert [step["name"] for step in told["steps"]] == ["ci"]
    lines = [json.loads(line) for line in farm.yard.paddock("tail", run, "--json").splitlines()]
    assert [line["text"] for line in lines] == PRINTED
    assert "\ufffd[31m" in farm.yard.paddock("tail", run, "--raw")
    assert "\x1b[31m" in farm.yard.paddock("tail", run, "--raw", "--unsafe")


def test_main_tells_its_own_story(make_farm: MakeFarm) -> None:
    farm = make_farm(ci=TALKS)
    assert "has not been checked yet" in farm.yard.paddock("queue", "why", "main")
    farm.push({"parts/by-hand": "bad\n"})
    farm.branch("one", {"parts/one": "good\n"}, start=farm.first)
    farm.land("one")
    farm.yard.run(code=1)
    shown = farm.yard.paddock("queue", "why", "main")
    assert "halted: main is red" in shown
    assert "  Traceback: parts are bad" in shown
    told = json.loads(farm.yard.paddock("queue", "why", "main", "--json"))
    assert told["halted"]["cause"] == "main_red"
    assert told["output"][-1] == "1 failed"
    assert told["verified_by"] is None

    farm.push({"parts/by-hand": "good\n"})
    farm.yard.run(code=0)
    told = json.loads(farm.yard.paddock("queue", "why", "main", "--json"))
    assert told["halted"] is None
    assert told["output"] == []
    assert told["verified_by"] is not None


CHECKS = """
[[land.checks]]
name = "lint"
run = "echo linting"
[[land.checks]]
name = "tests"
run = "echo testing >&2; sh ./ci.sh"
"""


def test_each_check_is_shown_under_its_name_and_what_never_ran_is_said_so(make_farm: MakeFarm) -> None:
    farm = make_farm(CHECKS, ci="")
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    farm.yard.run(code=0)
    assert farm.yard.paddock("tail", "r1").splitlines() == [
        "── lint",
        "linting",
        "── tests",
        "testing",
        "all parts are good",
    ]
    farm.yard.paddock("tail", "-f", "r1")
    for words in (("tail", "r99"), ("show", "r99"), ("queue", "why", "r99")):
        assert "there is no CI run `r99`: the newest is `r2`" in farm.yard.paddock(*words, code=1)
    assert "has never been in the merge queue" in farm.yard.paddock("queue", "why", "nothing", code=1)
    assert "is a CI run and has no prompt" in farm.yard.paddock("show", "r1", "--prompt", code=2)

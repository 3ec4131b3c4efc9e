"""Each attempt's tests against each other attempt's work: real commits, real CI in its sandbox."""

import json
from typing import Any

import pytest

from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Step, Yard, commit, write

RUN_ALL = "test:\n\t@for t in tests/*.sh; do sh $$t || { echo $$t failed; exit 1; }; done\n"
BASE_TEST = "test -f calc.sh\n"
CAREFUL = "case $1 in -*) echo negative; exit 0;; esac\necho $(($1 + 1))\n"
CARELESS = "echo $(($1 + 1))\n"


@pytest.fixture
def project(make_yard: MakeYard) -> Yard:
    yard = make_yard(PADDOCK_LAND_CI="make test")
    (yard.top / "tests").mkdir()
    for path, text in (("Makefile", RUN_ALL), ("calc.sh", "echo 0\n"), ("tests/base.sh", BASE_TEST)):
        (yard.top / path).write_text(text)
    yard.git("add", "--all")
    yard.git("commit", "--quiet", "-m", "A calculator and its tests")
    return yard


def solve(code: str, test: str, **more: str) -> list[Step]:
    """A change of the code, and of a test file that both attempts name the same."""
    return [write("calc.sh", code), write("tests/calc.sh", test), *(write(f, t) for f, t in more.items()), commit()]


CHECKS_BOTH = solve(CAREFUL, '[ "$(sh calc.sh 1)" = 2 ] && [ "$(sh calc.sh -1)" = negative ]\n')
CHECKS_ONE = solve(CARELESS, '[ "$(sh calc.sh 1)" = 2 ]\n')


def crosscheck(yard: Yard, *words: str, code: int = 0) -> dict[str, Any]:
    said = yard.paddock("traces", "crosscheck", *words, "--json", code=code)
    found: dict[str, Any] = json.loads(said[: said.rindex("}") + 1])
    return found


def verdicts(found: dict[str, Any]) -> dict[tuple[str, str], str]:
    return {(cell["tests"], cell["work"]): cell["verdict"] for cell in found["cells"]}


def test_work_that_passes_its_own_tests_and_fails_those_of_another_is_named(project: Yard) -> None:
    project.add(*CHECKS_BOTH)
    project.add(*CHECKS_ONE)
    project.run(code=0)
    found = crosscheck(project, "t1.1", "t2.1", code=1)
    assert verdicts(found) == {
        ("t1.1", "t1.1"): "pass",
        ("t2.1", "t2.1"): "pass",
        ("t1.1", "t2.1"): "fail",
        ("t2.1", "t1.1"): "pass",
    }
    assert found["broken"] == [{"work": "t2.1", "fails": ["t1.1"], "passes": []}]
    [failed] = [cell for cell in found["cells"] if cell["verdict"] == "fail"]
    assert "tests/calc.sh failed" in failed["output"]
    assert [one["tests"] for one in found["attempts"]] == [["tests/calc.sh"], ["tests/calc.sh"]]

    told = project.paddock("traces", "crosscheck", "t1.1", "t2.1", code=1)
    assert "t2.1 may be broken: it passes its own tests and fails those of t1.1" in told
    # Nothing is recorded, and no sandbox, run or ref is left.
    assert not list((project.log_path.parent / "runs").glob("*/trial-*"))
    assert project.git("for-each-ref", "--contains", found["attempts"][0]["head"], "refs/heads/main") == ""


def test_tests_that_fail_on_their_own_work_accuse_nobody(project: Yard) -> None:
    project.add(*solve(CARELESS, "false\n"))
    project.add(*CHECKS_ONE)
    project.run(code=0)
    found = crosscheck(project, "t1.1", "t2.1")
    assert verdicts(found)["t1.1", "t2.1"] == "fail"
    assert found["broken"] == []


def test_all_attempts_at_a_task_are_compared_and_those_without_work_are_left_out(project: Yard) -> None:
    steps = [
        *({**step, "attempt": 1} for step in CHECKS_BOTH),
        *({**step, "attempt": 2} for step in (write("calc.sh", CARELESS), commit("No tests"))),
        {"noop": "nothing to do", "attempt": 3},
    ]
    project.add(*steps)
    project.run(code=0)
    for _ in range(2):
        project.paddock("reject", "t1")
        project.run(code=None)
    found = crosscheck(project, "t1", code=1)
    assert found["broken"] == [{"work": "t1.2", "fails": ["t1.1"], "passes": []}]
    assert ("t1.2", "t1.1") not in verdicts(found)
    assert [one["attempt"] for one in found["left_out"]] == ["t1.3"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "which task?"),
        (("t9",), "there is no task `t9`"),
        (("t1.7",), "there is no attempt `t1.7`"),
        (("x",), "`x` is not a task id"),
        (("t1",), "it takes two attempts with work of their own to compare: t1.1 is the only one"),
        (("--label", "nightly"), "there is no batch `nightly`"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_its_reason(
    project: Yard, words: tuple[str, ...], complaint: str
) -> None:
    project.add(write("a.txt"), commit())
    project.run(code=0)
    code = 2 if complaint.startswith(("which", "`x`", "it takes")) else 1
    assert complaint in project.paddock("traces", "crosscheck", *words, code=code)

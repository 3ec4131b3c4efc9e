"""`paddock findings`: what is shown, what people decide, and what is refused."""

import msgspec
import pytest

from paddock.core import events as ev
from paddock.core.events import RequestRefused
from paddock.core.ids import AttemptId, TaskId
from paddock.core.review import events as rv
from tests.cli.conftest import Cli
from tests.cli.test_heads import deliver
from tests.cli.test_overview import record
from tests.cli.test_workers import marker

CONFIGURATION = """\
engine = "scripted"
[worktrees]
pool = 0
[land]
ci = "true"
[agents.docs]
owns = ["docs/**"]
"""
LEAK = rv.Claim("it leaks", "src/x.py", 41, rv.Severity.ERROR, "pytest -k leak\nfails", "close it", "R1")
PAGE = rv.Claim("says the\x1b[8m opposite", "docs/api.md", 0, rv.Severity.WARNING)


@pytest.fixture
def cli(fresh: Cli) -> Cli:
    """t1's change has a finding that blocks it and one that does not; t2's has none."""
    (fresh.top / "paddock.toml").write_text(CONFIGURATION)
    fresh.good("init", "--yes")
    fresh.good("add", "--file", "-", stdin=b"- one\n- two\n")
    head = deliver(fresh, "t1", 1, "one\n")
    reported = (
        rv.FindingReported("f1", head, "ann", LEAK, blocking=True),
        rv.FindingReported("f2", head, "check:lint", PAGE),
    )
    record(fresh, *(ev.Draft(event, task=TaskId("t1")) for event in reported))
    return fresh


def test_they_are_listed_shown_in_full_and_told_as_json(cli: Cli) -> None:
    listed = (
        "f1    t1    error   src/x.py:41  it leaks  ann · blocks\n"
        "f2    t1    warning docs/api.md  says the�[8m opposite  check:lint\n"
    )
    for words in (("findings",), ("findings", "t1"), ("findings", "list", "T1")):
        assert cli.good(*words).out == listed
    assert cli.good("findings", "t2").out == "no open findings\n"
    assert cli.shown("findings", "F1").splitlines()[:-1] == [
        "f1    t1    error   src/x.py:41  it leaks  ann · blocks",
        "  claim      it leaks",
        "  evidence   pytest -k leak",
        "             fails",
        "  suggestion close it",
    ]
    first, second = cli.good("findings", "--json").json()["findings"]
    head = cli.good("show", "t1", "--json").json()["head"]
    assert {**first, "reported": ""} == {
        "id": "f1",
        "task": "t1",
        "status": "open",
        "severity": "error",
        "blocking": True,
        "path": "src/x.py",
        "line": 41,
        "claim": "it leaks",
        "evidence": "pytest -k leak\nfails",
        "suggestion": "close it",
        "rule": "R1",
        "by": ["ann"],
        "head": head,
        "round": 1,
        "reported": "",
        "disputed": False,
        "dispute": "",
        "routed": None,
        "settled_by": "",
        "settled_why": "",
        "confirmed": [],
    }
    assert (second["claim"], second["blocking"], second["line"]) == ("says the�[8m opposite", False, 0)


def test_other_tools_read_them_as_sarif(cli: Cli) -> None:
    cli.good("findings", "waive", "f2", "-m", "so it is")
    [run] = cli.good("findings", "--format", "sarif").json()["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["R1", "review"]
    leak, page = run["results"]
    assert (leak["level"], leak["message"], leak["ruleIndex"]) == ("error", {"text": "it leaks"}, 0)
    [place] = leak["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "src/x.py"
    assert place["physicalLocation"]["region"] == {"startLine": 41}
    [waived] = page["suppressions"]
    assert waived["justification"].startswith("waived by ana@")
    assert waived["justification"].endswith(": so it is")


def test_what_is_waived_holds_nothing_up_and_what_is_confirmed_counts(cli: Cli) -> None:
    refused = cli("land", "t1")
    assert (refused.code, "f1" in refused.err) == (1, True)
    assert cli.good("findings", "confirm", "F2", "f2", "-m", "I tried it").out == "confirmed f2\n"
    assert cli.good("findings", "waive", "f1", "-m", "known\nfor long").out == (
        "waived f1\nnothing blocks t1 any more: `paddock land t1` lands it as it is\n"
    )
    assert cli.good("findings").out == "f2    t1    warning docs/api.md  says the�[8m opposite  check:lint\n"
    assert "  settled    waived by ana@HOST : known for long\n" in cli.shown("findings", "f1")
    assert "  confirmed  person\n" in cli.shown("findings", "f2")
    assert cli.good("findings", "waive", "f2", "--json").json()["ids"] == ["f2"]
    assert "  settled    waived by ana@HOST \n" in cli.shown("findings", "f2")
    assert cli.good("findings", "--all").out.startswith("f1    t1    error   src/x.py:41  it leaks  ann · waived\nf2 ")
    assert cli.good("findings").out == "no open findings\n"
    told = cli.shown("log", "--task", "t1")
    assert "f1 was waived by ana@HOST : known for long" in told
    assert "f2 was true, says a person: I tried it" in told
    cli.good("land", "t1")


def test_a_finding_becomes_the_task_of_who_owns_its_path(cli: Cli) -> None:
    said = cli.good("findings", "file", "f2", "F2", "f1").out.splitlines()
    assert said == ["added t3  Fix f2: says the�[8m opposite  for docs", "added t4  Fix f1: it leaks"]
    [page] = [task for task in cli.good("status", "--json").json()["tasks"] if task["id"] == "t3"]
    assert (page["agent"], page["title"]) == ("docs", "Fix f2: says the�[8m opposite")
    brief = cli.good("show", "t4", "--json").json()["brief"]
    assert brief.startswith("A review of t1 (one) found something in your paths.\n\nf1 `src/x.py:41` (error)\n")
    assert [one["routed"] for one in cli.good("findings", "--json").json()["findings"]] == ["t4", "t3"]
    assert "ann · blocks, → t4\n" in cli.good("findings").out


@pytest.mark.parametrize(
    ("words", "code", "error", "hint"),
    [
        (("f9",), 1, "there is no finding `f9`: the newest is `f2`", "`paddock findings list --all` lists them"),
        (("t9",), 1, "there is no task `t9`", ""),
        (("xyz",), 2, "`xyz`", ""),
        (("waive", "t1"), 2, "`t1` is not a finding", "findings look like `f7`; `paddock findings` lists them"),
        (("waive", "f1", "f9"), 1, "there is no finding `f9`", ""),
        (("waive", "f²"), 2, "`f²` is not a finding", ""),
        (("waive", "f1", "-m", "x" * 2_000_000), 2, "the reason", ""),
        (("confirm", "f1", "-m", "x" * 2_000_000), 2, "the reason", ""),
        (("confirm",), 2, "Missing argument", ""),
        (("file", "f"), 2, "`f` is not a finding", ""),
        (("--json", "--format", "sarif"), 2, "cannot be used together", "SARIF is JSON already"),
        (("--format", "csv"), 2, "csv", ""),
    ],
)
def test_a_wrong_word_is_told_and_changes_nothing(
    cli: Cli, words: tuple[str, ...], code: int, error: str, hint: str
) -> None:
    before = cli.log.read_bytes()
    said = cli("findings", *words)
    assert (said.code, said.out) == (code, "")
    assert error in said.err
    assert hint in said.err
    assert cli.log.read_bytes() == before


@pytest.mark.parametrize(
    ("verb", "error"),
    [
        ("waive", "`f1` is waived already"),
        ("confirm", "`f1` is confirmed already"),
        ("file", "`f1` is the task `t3` already"),
    ],
)
def test_nothing_is_decided_twice(cli: Cli, verb: str, error: str) -> None:
    cli.good("findings", verb, "f1")
    said = cli("findings", verb, "f1")
    assert (said.code, error in said.err) == (1, True)


def test_without_findings_it_says_so(fresh: Cli) -> None:
    fresh.good("init", "--yes")
    assert fresh.good("findings").out == "no open findings\n"
    assert fresh.good("findings", "--all").out == "no findings\n"
    assert msgspec.json.decode(fresh.good("findings", "--format", "sarif").out)["runs"][0]["results"] == []
    assert "there is no finding `f1`: there are none" in fresh("findings", "f1").err


def test_a_worker_cannot_wave_away_what_is_held_against_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    again = ev.AttemptStarted("scripted", "b" * 40, "paddock/t1")
    cli.good("reject", "t1", "-m", "no")
    record(cli, ev.Draft(again, task=TaskId("t1"), attempt=AttemptId("t1.2")))
    mark = marker(cli)
    with monkeypatch.context() as patch:
        patch.setenv("PADDOCK_ATTEMPT", "t1.2")
        patch.setenv("PADDOCK_MARKER", f"{mark}:t1.2")
        said = cli("findings", "waive", "f1", "-m", "I know better")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("error: `paddock findings waive` is not for agents: you run inside attempt t1.2\n")
    assert cli.good("findings", "f1", "--json").json()["findings"][0]["status"] == "open"
    [refused] = cli.good("log", "--kind", RequestRefused.kind, "--json").lines
    assert (refused["attempt"], refused["body"]["request"]) == ("t1.2", "findings waive")

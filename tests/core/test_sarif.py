"""SARIF of real tools becomes claims, and findings become SARIF that any reader takes."""

import json
import posixpath
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.ids import TaskId
from paddock.core.merge.pathnames import path_problem
from paddock.core.review.events import Claim, Severity
from paddock.core.review.model import Finding, Status
from paddock.core.review.sarif import CLAIM_LIMIT, MOST_CLAIMS, MOST_RESULTS, read_sarif
from paddock.core.review.sarif_document import UNNAMED_RULE, write_sarif

SAMPLES = Path(__file__).parent / "sarif"
ROOT = "/repo"


def seen(claim: Claim) -> tuple[str, int, str, str]:
    return claim.path, claim.line, claim.severity.value, claim.rule


@pytest.mark.parametrize(
    ("tool", "claims"),
    [
        ("ruff", [("src/app.py", 1, "error", "F401"), ("src/app.py", 8, "error", "F821")]),
        (
            "bandit",
            [
                ("src/app.py", 6, "error", "B602"),
                ("src/app.py", 2, "note", "B404"),
                ("src/app.py", 7, "note", "B101"),
            ],
        ),
        (
            "eslint",
            [
                ("src/app.js", 1, "error", "no-unused-vars"),
                ("src/app.js", 2, "error", "no-unused-vars"),
                ("src/app.js", 2, "error", "no-debugger"),
                ("src/app.js", 2, "error", "no-undef"),
                ("src/app.js", 2, "warning", "eqeqeq"),
            ],
        ),
        (
            "semgrep",
            [
                ("src/app.py", 7, "error", "no-assert"),
                ("src/app.py", 6, "warning", "no-shell"),
                ("src/app.py", 12, "warning", "no-shell"),
            ],
        ),
    ],
)
def test_what_a_tool_wrote_is_read_with_its_place_and_severity(
    tool: str, claims: list[tuple[str, int, str, str]]
) -> None:
    report = read_sarif((SAMPLES / f"{tool}.sarif").read_text(), ROOT)

    assert [seen(claim) for claim in report.claims] == claims
    assert report.problem == ""
    assert all(claim.claim for claim in report.claims)


def run_of(result: dict[str, Any], **more: Any) -> str:
    run = {"tool": {"driver": {"name": "x"}}, "results": [{"message": {"text": "bad"}, **result}], **more}
    return json.dumps({"version": "2.1.0", "runs": [run]})


def only(text: str) -> Claim:
    (claim,) = read_sarif(text, ROOT).claims
    return claim


def at(uri: str, **more: Any) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": uri, **more}, "region": {"startLine": 3}}
    return {"locations": [{"physicalLocation": place}]}


def test_a_rule_of_an_extension_gives_its_level_and_links_become_words() -> None:
    """As CodeQL writes it."""
    pack = {"name": "queries", "rules": [{"id": "py/path", "defaultConfiguration": {"level": "error"}}]}
    result = {
        "message": {"text": "This path depends on a [user-provided value](1), see [the docs](2)."},
        "rule": {"id": "py/path", "index": 0, "toolComponent": {"index": 0}},
        "relatedLocations": [{"id": 1}],
        **at("src/a.py", uriBaseId="%SRCROOT%", index=0),
    }
    claim = only(run_of(result, tool={"driver": {"name": "CodeQL"}, "extensions": [pack]}))

    assert seen(claim) == ("src/a.py", 3, "error", "py/path")
    assert claim.claim == "This path depends on a user-provided value, see [the docs](2)."


def test_a_message_is_looked_up_and_filled_in() -> None:
    rule = {"id": "R1", "messageStrings": {"default": {"text": "`{0}` hides {{{1}}}"}}}
    result = {"ruleId": "R1/sub", "message": {"id": "default", "arguments": ["x", "y"]}}

    assert only(run_of(result, tool={"driver": {"name": "x", "rules": [rule]}})).claim == "`x` hides {y}"


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("src/a.py", "src/a.py"),
        ("./src/../src/a%20b.py", "src/a b.py"),
        ("file:///repo/src/a.py", "src/a.py"),
        ("file://localhost/repo/src/a.py", "src/a.py"),
        ("file:/repo/src/a.py", "src/a.py"),
        ("/repo/src/a.py", "src/a.py"),
        ("/repository/src/a.py", ""),
        ("file:///etc/passwd", ""),
        ("../outside.py", ""),
        ("file:///C:/repo/a.py", ""),
        ("https://example.org/a.py", ""),
        ("file://[bad", ""),
        ("a%00b", ""),
        (".git/hooks/pre-commit", ""),
        ("%2e%2e/%2e%2e/etc/passwd", ""),
        ("", ""),
    ],
)
def test_only_files_of_the_repository_are_places(uri: str, path: str) -> None:
    claim = only(run_of(at(uri)))

    assert (claim.path, claim.line) == (path, 3 if path else 0)
    assert path or uri.replace("%00", "") in claim.evidence.replace("%00", "")


def test_a_base_may_be_relative_to_another_one() -> None:
    bases = {
        "SRC": {"uri": "src/", "uriBaseId": "ROOT"},
        "ROOT": {"uri": "file:///repo/"},
        "LOOP": {"uriBaseId": "LOOP"},
    }

    assert only(run_of(at("a.py", uriBaseId="SRC"), originalUriBaseIds=bases)).path == "src/a.py"
    assert only(run_of(at("a.py", uriBaseId="LOOP"), originalUriBaseIds=bases)).path == "a.py"


@pytest.mark.parametrize(
    "result",
    [
        {"kind": "pass"},
        {"kind": "notApplicable", "level": "none"},
        {"level": "none"},
        {"baselineState": "absent"},
        {"suppressions": [{"kind": "inSource"}]},
        {"suppressions": [{"kind": "external", "status": "accepted"}]},
    ],
)
def test_what_is_no_finding_is_left_out(result: dict[str, Any]) -> None:
    assert read_sarif(run_of(result), ROOT).claims == ()


@pytest.mark.parametrize("status", ["underReview", "rejected"])
def test_a_suppression_that_nobody_accepted_suppresses_nothing(status: str) -> None:
    assert only(run_of({"suppressions": [{"kind": "external", "status": status}]})).claim == "bad"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("ruff: command not found", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not SARIF"),
        ('{"version": "1.0.0", "runs": []}', "version 1.0.0"),
        (
            '{"runs": [{"invocations": [{"executionSuccessful": false, "exitCodeDescription": "no rules"}]}]}',
            "did not succeed: no rules",
        ),
    ],
)
def test_what_is_not_sarif_is_told_and_raises_nothing(text: str, problem: str) -> None:
    report = read_sarif(text, ROOT)

    assert problem in report.problem
    assert report.claims == ()


def test_too_many_findings_are_cut_and_the_gravest_stay() -> None:
    notes = [{"level": "note", "message": {"text": f"note {n}"}} for n in range(MOST_CLAIMS)]
    grave = {"level": "error", "message": {"text": "grave"}}
    report = read_sarif(json.dumps({"runs": [{"results": [*notes, grave, grave]}]}), ROOT)

    assert report.claims[0].claim == "grave"
    assert (len(report.claims), report.left_out) == (MOST_CLAIMS, 1)


@pytest.mark.parametrize(
    "run",
    [
        {"results": [{"message": {"text": "{0}" * 50_000, "arguments": ["a" * 50_000]}}]},
        {
            "results": [{"ruleId": f"a/{n}"} for n in range(20_000)],
            "tool": {"driver": {"rules": [{"id": str(n)} for n in range(20_000)]}},
        },
        {"results": [{"ruleIndex": 0}] * 4_000, "tool": {"driver": {"rules": [{"name": "x" * 4_000_000}]}}},
        {"results": [at("", index=n) for n in range(20_000)], "artifacts": [{}] * 20_000},
        {
            "results": [at("x", uriBaseId="A")] * 4_000,
            "originalUriBaseIds": {"A": {"uri": "a" * 4_000_000, "uriBaseId": "A"}},
        },
        {"results": [{"ruleId": "/" * 4_000_000}]},
    ],
    ids=["arguments", "rules", "one rule", "artifacts", "bases", "slashes"],
)
def test_what_stands_for_much_takes_no_longer_to_read_than_it_is_long(run: dict[str, Any]) -> None:
    report = read_sarif(json.dumps({"runs": [run]}), ROOT)
    assert all(len(claim.claim) <= CLAIM_LIMIT for claim in report.claims)
    assert report.claims


def test_so_many_results_that_some_would_not_be_looked_at_are_none() -> None:
    report = read_sarif(json.dumps({"runs": [{"results": [{}] * (MOST_RESULTS + 1)}]}), ROOT)
    assert (report.claims, report.problem) == ((), "it has 200,001 results; the limit is 200,000")


WORDS = (
    *("runs", "results", "tool", "driver", "rules", "rule", "id", "index", "ruleId", "ruleIndex", "message", "text"),
    *("arguments", "locations", "physicalLocation", "artifactLocation", "uri", "uriBaseId", "region", "startLine"),
    *("level", "kind", "suppressions", "status", "originalUriBaseIds", "invocations", "artifacts", "extensions"),
    "relatedLocations",
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(("error", "file:///repo/x", "../x")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
    max_leaves=30,
)


@given(st.text() | JSON.map(lambda tree: json.dumps({"runs": [tree]})) | JSON.map(json.dumps))
def test_nothing_that_a_tool_writes_can_raise(text: str) -> None:
    for claim in read_sarif(text, ROOT).claims:
        assert claim.claim.isprintable()
        assert not claim.path.startswith(("/", "../"))
        assert claim.line >= 0


LINES = st.text(st.characters(exclude_categories=("C", "Zl", "Zp", "Zs")), min_size=1, max_size=40)
PATHS = (
    st.lists(LINES, min_size=1, max_size=3)
    .map(lambda parts: "/".join(part.replace("/", "") for part in parts))
    .filter(lambda path: path == posixpath.normpath(path) and path_problem(path) is None and path[1:2] != ":")
)
CLAIMS = st.builds(
    Claim,
    claim=LINES,
    path=PATHS,
    line=st.integers(0, 100_000),
    severity=st.sampled_from(Severity),
    rule=st.sampled_from(("", "F401", "py/path-injection", "a b")),
)


def finding(number: int, status: Status = Status.OPEN) -> Finding:
    return Finding(
        id=f"f{number}", task=TaskId("t3"), seq=7, at=1.0, head="ab" * 20, by=("reviewer",), path="", line=0,
        severity=Severity.ERROR, claim="", status=status, settled_by="ann", settled_why="known",
    )  # fmt: skip


@given(st.lists(CLAIMS, max_size=6, unique_by=lambda claim: (claim.path, claim.line, claim.claim, claim.rule)))
def test_what_is_written_is_read_as_it_was(claims: list[Claim]) -> None:
    written = write_sarif([(finding(number), claim) for number, claim in enumerate(claims, 1)], "1.0")
    read = read_sarif(written, ROOT).claims

    def plain(claim: Claim) -> tuple[str, int, str, str, str]:
        return claim.path, claim.line, claim.severity.value, claim.claim, claim.rule or UNNAMED_RULE

    assert sorted(map(plain, read)) == sorted(map(plain, claims))


def test_what_is_written_is_valid_and_says_what_is_settled() -> None:
    claim = Claim("it breaks", "src/a.py", 3, Severity.ERROR, "see", "do", "F401")
    findings = [(finding(number, status), claim) for number, status in enumerate(Status, 1)]
    written = write_sarif([*findings, (finding(9), Claim("as a whole"))], "1.0")
    document = json.loads(written)

    jsonschema_rs.validate(json.loads((SAMPLES / "schema.json").read_text()), document)
    results = {one["properties"]["status"]: one for one in document["runs"][0]["results"][: len(findings)]}
    assert [name for name, one in results.items() if "suppressions" in one] == ["refuted", "waived", "outvoted"]
    assert results["waived"]["suppressions"][0]["justification"] == "waived by ann: known"
    assert results["fixed"]["baselineState"] == "absent"
    assert len({json.dumps(one["partialFingerprints"]) for one in results.values()}) == 1

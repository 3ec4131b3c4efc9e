"""The shipped workflows, from the command line to main: agents get what those before them found."""

import json
from pathlib import Path

from paddock.core.tasks.task import Phase
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Step, Yard, commit, write

GOAL = "Export as CSV"
COPY = """tr '\\0' '\\n' < /proc/$PPID/cmdline > "${PADDOCK_ANSWER:-docs/csv.md}" """
"""What an agent was really told is in its own command line."""


def give_play(folder: Path, first_line: str, *steps: Step) -> None:
    """What the scripted agent does whose brief begins like this."""
    slug = "-".join("".join(c if c.isalnum() else " " for c in first_line[:60].lower()).split())[:40]
    (folder / f"{slug}.json").write_text(json.dumps(list(steps)))


def give_plays(yard: Yard, head: str) -> None:
    plays = yard.folder / "plays"
    plays.mkdir()
    (yard.top / "paddock.toml").write_text(
        f'engine = "scripted"\n[land]\napproval = "none"\nci = "true"\n'
        f'[engines.scripted]\nargs = ["--plays", {json.dumps(str(plays))}]\n'
    )
    lines: dict[str, list[Step]] = {
        "Design this feature, so that two people can build it at the": [{"answer": "# Design\nOne function: to_csv."}],
        "Implement the design in the results below:": [
            write("src/csv.py"),
            commit("Add to_csv"),
            {"say": "It escapes."},
        ],
        "Write the tests for the design in the results below:": [write("tests/test_csv.py"), commit("Test to_csv")],
        "Document this feature for the people who use it:": [
            write("docs/csv.md"),
            {"run": ["sh", "-c", COPY]},
            commit("Document to_csv"),
        ],
    }
    finding = {"path": "src/a.py", "line": 3, "severity": "error", "claim": "it hangs", "evidence": "run it"}
    for name, found in {
        "wrong: code that": [finding],
        "somebody could abuse:": [],
        "done needlessly where": [],
    }.items():
        verb = "what is" if name.startswith("wrong") else "what" if name.startswith("some") else "work that is"
        lines[f"Look for {verb} {name}"] = [
            {"answer": {"head": head, "findings": found, "summary": f"{len(found)} found"}}
        ]
    lines["Three reviewers looked at the same code; their findings are"] = [{"run": ["sh", "-c", COPY]}]
    shipped = json.loads(yard.paddock("workflow", "list", "--json"))["workflows"]
    briefs = [step["brief"].splitlines()[0] for workflow in shipped for step in workflow["steps"]]
    for line, steps in lines.items():
        [brief] = [one for one in briefs if one.startswith(line)]
        give_play(plays, brief, *steps)


def test_a_feature_is_designed_built_and_documented_and_a_review_is_summed_up(make_yard: MakeYard) -> None:
    yard = make_yard()
    yard.git("branch", "topic")
    head = yard.git("rev-parse", "main")
    give_plays(yard, head)
    refused = yard.paddock("workflow", "run", "feature", code=2)
    assert "workflow `feature` needs a variable: `goal`, what the feature does" in refused
    assert "hint: add `-v goal=…`" in refused
    would = yard.paddock("workflow", "run", "feature", "-v", f"goal={GOAL}", "--dry-run")
    assert "would add 4 tasks to convoy feature-1" in would
    assert not yard.board().tasks

    review = json.loads(yard.paddock("workflow", "run", "code-review", "-v", "branch=topic", "--json"))
    assert (review["ids"], review["convoy"]) == (["t1", "t2", "t3", "t4"], "code-review-1")
    yard.run()
    assert [yard.task(name).phase for name in ("t1", "t2", "t3", "t4")] == [Phase.DONE] * 4
    assert yard.paddock("results", "t1") == "1 found\n- src/a.py:3 error: it hangs\n  evidence: run it\n"
    seen = yard.paddock("results", "t4")
    assert "> - src/a.py:3 error: it hangs" in seen
    assert "> No findings." in seen
    assert f"git diff HEAD...{head}" in seen, "an agent's repository has the commit, and no branch"
    assert yard.git("rev-parse", "main") == head, "what only reads changes nothing"

    feature = json.loads(yard.paddock("workflow", "run", "feature", "-v", f"goal={GOAL}", "--json"))
    assert feature["convoy"] == "feature-1"
    yard.run()
    phases = {name: yard.task(name).phase for name in feature["ids"]}
    assert phases == {"t5": Phase.DONE, "t6": Phase.LANDED, "t7": Phase.LANDED, "t8": Phase.LANDED}
    assert "> One function: to_csv." in yard.paddock("show", "t6", "--prompt")
    docs = yard.git("show", "main:docs/csv.md")
    for words in ("> - Add to_csv", "> - src/csv.py", "> It escapes.", "> - Test to_csv"):
        assert words in docs
    assert json.loads(yard.paddock("convoy", "list", "--json"))["convoys"][1]["done"] == 4
    results = json.loads(yard.paddock("results", "feature-1", "--json"))["results"]
    assert [one["role"] for one in results] == ["report", "work", "work", "work"]

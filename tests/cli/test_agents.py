"""`paddock agents`, `paddock route` and `paddock init --agents`, as a person meets them."""

import subprocess

import pytest

from paddock.config.starters import NAMES, starter_text
from paddock.core.review.model import ReviewerTally
from paddock.views.fleet.agents import view_yield
from tests.cli.conftest import Cli

OURS = ".paddock/agents"


def write(cli: Cli, name: str, text: str, folder: str = OURS) -> None:
    place = cli.top / folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def test_init_writes_five_agents_that_pass_their_own_check_and_overwrites_none(cli: Cli) -> None:
    cli.good("init", "--yes")
    write(cli, "docs.md", "mine\n")
    write(cli, "tester.md", "---\nkinds: x\n---\nclaude's\n", ".claude/agents")
    said = cli.good("init", "--yes", "--agents").out
    assert said.splitlines()[:2] == [
        f"wrote {OURS}/fixer.md, {OURS}/reviewer.md, {OURS}/planner.md",
        "kept tester, docs as you have them",
    ]
    assert (cli.top / OURS / "docs.md").read_text() == "mine\n"
    assert not (cli.top / OURS / "tester.md").exists()
    assert cli.good("init", "--agents", "--json").json()["agents"] == {"written": [], "kept": list(NAMES)}
    (cli.top / OURS / "docs.md").unlink()
    (cli.top / ".claude/agents/tester.md").unlink()
    cli.good("init", "--yes", "--agents")
    (cli.top / "paddock.toml").write_text('engine = "scripted"\n[land]\nci = "true"\napproval = "review"\n')
    (cli.top / "README.md").write_text("x")
    for words in (("add", "-A"), ("commit", "-qm", "Add agents")):
        subprocess.run(("git", *words), cwd=cli.top, check=True)
    assert cli.good("agents", "check").out == "agents: ok\n"
    rows = cli.good("agents", "list", "--json").json()["agents"]
    assert {row["name"]: row["role"] for row in rows} == {
        **dict.fromkeys(NAMES, "worker"),
        "reviewer": "reviewer",
        "planner": "planner",
    }
    assert all(row["engine"] == "scripted" and row["description"] for row in rows)


@pytest.mark.parametrize("name", NAMES)
def test_each_of_the_five_can_be_read_in_a_minute(name: str) -> None:
    """At 230 words a minute, front matter and all."""
    text = starter_text(name)
    assert len(text.encode()) < 1_800
    assert len(text.split()) <= 250
    assert "engine" not in text.split("---")[1]


def test_a_new_agent_is_a_file_to_edit_and_no_agent_is_overwritten(cli: Cli) -> None:
    cli.good("init", "--yes")
    assert cli.good("agents", "new", "parser").out.startswith(f"wrote {OURS}/parser.md: edit it")
    text = (cli.top / OURS / "parser.md").read_text()
    plain = "\n".join(line.removeprefix("# ") if ": " in line else line for line in text.splitlines()[2:])
    write(cli, "whole.md", f"---\n{plain}")
    shown = cli.good("agents", "show", "whole").out
    assert "owns        src/parser/**, docs/grammar.md" in shown
    assert "timeouts    turn 30m" in shown
    again = cli("agents", "new", "parser")
    assert (again.code, "there is an agent `parser` already" in again.err) == (2, True)
    assert cli("agents", "new", "../x").code == 2
    said = cli("agents", "show", "prser")
    assert (said.code, "did you mean `parser`?" in said.err) == (2, True)


def test_the_check_tells_all_that_is_wrong_at_once(cli: Cli) -> None:
    (cli.top / "paddock.toml").write_text(
        'engine = "codex"\n[land]\nci = "true"\napproval = "review"\n[review]\nreviewers = ["nobody"]\n'
        '[agents.toml]\nbrief = "x"\nowns = ["/etc/**"]\nengine = "cluade"\n'
    )
    cli.good("init", "--yes")
    write(cli, "bad.md", "---\nownes: a\n---\n")
    write(cli, "open.md", "---\nowns: a\n")
    write(cli, "long.md", f"---\nowns: nothing/**\nkinds: k\nmodel: unheard-of\ntools: Read\n---\n{'word ' * 500}")
    write(cli, "twin.md", "---\nowns: nothing/here/*\nkinds: k\n---\n")
    write(cli, "critic.md", "---\ndescription: Reviews code\nmodel: sonnet\n---\nx\n", ".claude/agents")
    said = cli("agents", "check", "--json")
    assert said.code == 1
    found = said.json()
    assert [one["words"] for one in found["problems"]] == [
        f"{OURS}/bad.md:2: unknown key `ownes`; did you mean `owns`?",
        f"{OURS}/open.md:1: the front matter is never closed; front matter is YAML between two lines of `---`",
        "owns: `/etc/**` is not a path inside the repository; paths are globs such as `src/api/**`",
        "its engine `cluade` is not an engine; did you mean `claude`?",
        "`[review] reviewers` names `nobody`, which is not an agent",
    ]
    warnings = "\n".join(f"{one['subject']}: {one['words']}" for one in found["warnings"])
    for words in (
        "long: its brief has 2,499 bytes, over 2,000: narrow is the point",
        "long: it owns `nothing/**`, which matches no file",
        "long: `tools` has no effect: codex cannot be told which tools it may use",
        "long: there is no price for `unheard-of`",
        "long: it owns `nothing/**`, and `twin` owns `nothing/here/*`",
        "long: it takes `k`, and so does `twin`",
        "twin: it has no brief",
        "critic: it seems to review, but is a worker: add `role: reviewer` to .claude/agents/critic.md",
    ):
        assert words in warnings
    assert "sonnet" not in warnings
    assert cli("agents", "check").out.splitlines()[0].startswith(f"problem  {OURS}/bad.md:2: unknown key")
    refused = cli("agents")
    assert (refused.code, f"{OURS}/bad.md:2" in refused.err) == (2, True)


def test_doctor_tells_of_agents_that_cannot_work(cli: Cli) -> None:
    (cli.top / "paddock.toml").write_text('[land]\nci = "true"\napproval = "review"\n')
    cli.good("init", "--yes")
    found = [one for one in cli("doctor", "--json").json()["findings"] if one["what"] == "agents"]
    assert [one["verdict"] for one in found] == ["problem"]
    assert "no agent has the role reviewer" in found[0]["detail"]


@pytest.mark.parametrize(
    ("tally", "words"),
    [
        (ReviewerTally(), "has not reviewed anything yet"),
        (ReviewerTally(1, 1, fixed=1, cost_usd=0.5), "1 review, 1 finding, 1 of them true, $0.50"),
        (ReviewerTally(9, 4, confirmed=1, missed=2), "9 reviews, 4 findings, 1 of them true, missed 2"),
        (ReviewerTally(4, 4), "4 reviews, 4 findings, 0 of them true"),
        (ReviewerTally(5, 0), "has found nothing true so far: 5 reviews, 0 findings, 0 of them true"),
        (ReviewerTally(2, 6, refuted=6), "has found nothing true so far: 2 reviews, 6 findings, 0 of them true"),
    ],
)
def test_a_reviewer_that_finds_nothing_true_is_shown_as_such(tally: ReviewerTally, words: str) -> None:
    assert view_yield(tally).words == words


def test_route_says_what_add_would_do(cli: Cli) -> None:
    (cli.top / "paddock.toml").write_text(
        '[agents.parser]\nowns = ["src/parser/**"]\n[agents.all]\nowns = ["src/**"]\nlabels = ["big"]\n'
        '[agents.critic]\nrole = "reviewer"\n'
    )
    cli.good("init", "--yes")
    told = cli.good("route", "Fix it", "--paths", "src/parser/a.py,src/parser/b.py", "--json").json()
    assert (told["agent"], told["why"][-1]) == ("parser", "it fits better than all")
    assert {one["name"]: one["fits"] for one in told["candidates"]} == {"parser": True, "all": True, "critic": False}
    assert cli.good("add", "Fix it", "--paths", "src/parser/a.py").out == "added t1  Fix it  for parser\n"
    assert cli.good("add", "Do it", "--label", "big,small").out == "added t2  Do it  for all\n"
    assert cli.good("route", "Do it", "--paths", "lib/x.c").out == (
        "no agent\n  no agent owns `lib/x.c`\n\nthe agents:\n  parser: it owns `src/parser/**` only\n"
        "  all: it owns `src/**` only\n  critic: it is a reviewer, not a worker\n"
    )
    row = next(task for task in cli.good("status", "--json").json()["tasks"] if task["id"] == "t2")
    assert row["labels"] == ["big", "small"]
    cli.good("edit", "t2", "--labels", "")
    assert cli.good("show", "t2", "--json").json()["labels"] == []
    assert cli("route", "x", "--label", "a" * 81).code == 2
    assert cli("route", "x", "--agent", "prser").code == 2


def test_a_task_file_may_set_labels(cli: Cli) -> None:
    (cli.top / "paddock.toml").write_text('[agents.slow]\nlabels = ["slow"]\n')
    cli.good("init", "--yes")
    cli.good("add", "--file", "-", stdin=b"defaults: {labels: [slow]}\ntasks: [one, {brief: two, labels: 'a, b'}]\n")
    rows = cli.good("status", "--json").json()["tasks"]
    assert [(row["agent"], row["labels"]) for row in rows] == [("slow", ["slow"]), (None, ["a", "b"])]
    said = cli("add", "--file", "-", "--label", "x", stdin=b"tasks: [one]\n")
    assert (said.code, "--label has no effect with --file" in said.err) == (2, True)

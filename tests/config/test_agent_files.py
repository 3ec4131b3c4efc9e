"""Agents as Markdown files: what they may say, and how each mistake is told with its file and line."""

from pathlib import Path

import pytest

from paddock.config.agents import BadAgentFile, scan_agent_files
from paddock.config.load import load_config
from paddock.config.schema import Agent, AgentTimeouts
from paddock.core.errors import Misuse

WHOLE = """\
---
name: parser
description: Keeps the parser
  and its grammar.
role: worker
engine: codex
model: gpt-5.2-codex
owns: src/parser/**, docs/grammar.md
kinds: [parser, grammar]
labels: area/parser
max_turns: 80
max_calls: 200
timeouts:
  turn: 10m
  silence: 90
budget: $2.50
tools: Read, Bash(git log:*, git show:*), Edit
fence: files
fresh: true
lease_owned: true
---
You own the parser.
"""


def write(top: Path, name: str, text: str | bytes, folder: str = ".paddock/agents") -> None:
    place = top / folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text.encode() if isinstance(text, str) else text)


def agents(top: Path) -> dict[str, Agent]:
    return load_config(top, {}).config.agents


def test_an_agent_file_says_all_that_a_table_may(tmp_path: Path) -> None:
    write(tmp_path, "any.md", WHOLE)
    assert agents(tmp_path) == {
        "parser": Agent(
            description="Keeps the parser and its grammar.",
            engine="codex",
            model="gpt-5.2-codex",
            brief="You own the parser.",
            owns=("src/parser/**", "docs/grammar.md"),
            kinds=("parser", "grammar"),
            labels=("area/parser",),
            max_turns=80,
            max_calls=200,
            timeouts=AgentTimeouts(turn=600.0, silence=90.0),
            attempt_usd=2.5,
            tools=("Read", "Bash(git log:*, git show:*)", "Edit"),
            fence="files",
            fresh=True,
            lease_owned=True,
        )
    }


@pytest.mark.parametrize(
    ("front", "place", "problem", "hint"),
    [
        ("ownes: a", 2, "unknown key `ownes`", "did you mean `owns`?"),
        ("model: x\nmaxTurns: 3", 3, "unknown key `maxTurns`", "did you mean `max_turns`?"),
        ("brief: x", 2, "`brief` is no key here", "the brief is the text below the front matter"),
        ("role: wroker", 2, "`role`: `wroker` is not one of worker, reviewer, planner", "`paddock agents new"),
        ("\nmax_turns: many", 3, "`max_turns`: Expected `int", "`paddock agents new"),
        ("owns: {a: b}", 2, "`owns`: Expected `array`", "write it as `owns: a, b` or `owns: [a, b]`"),
        ("budget: lots", 2, "`budget`: Expected `float", "`paddock agents new"),
        ("budget: -1", 2, "`budget`: Expected `float", "`paddock agents new"),
        ("budget: 1\nattempt_usd: 2", 2, "`budget` is another name of `attempt_usd`", "keep one of them"),
        ("timeouts:\n  trun: 10m", 3, "unknown key `timeouts.trun`", "did you mean `turn`?"),
        ("timeouts:\n  turn: soon", 3, "`timeouts.turn`: `soon` is not a duration", ""),
        ("timeouts: {turn: 5m, tool: -3}", 2, "`timeouts.tool`: -3 seconds is not between", ""),
        ("timeouts: 5m", 2, "`timeouts`: Expected `object`", "`paddock agents new"),
        ("owns: a\nowns: b", 3, "`owns` is there twice", "the first is in line 2"),
        ("name: a b", 2, "`a b` is not an agent name", "use 1 to 80 letters"),
        ("name: ../x", 2, "`../x` is not an agent name", "use 1 to 80 letters"),
        ("- a\n- b", 2, "the front matter is not a list of `key: value` lines", "front matter is YAML"),
        ("timeouts:\n\tturn: 5m", 3, "the line is indented with a tab", "YAML requires spaces there"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, front: str, place: int, problem: str, hint: str) -> None:
    write(tmp_path, "bad.md", f"---\n{front}\n---\nx\n")
    with pytest.raises(Misuse) as refused:
        agents(tmp_path)
    where = refused.value.message.split(": ")[0].split(":")
    assert where[:2] == [".paddock/agents/bad.md", str(place)]
    assert problem in refused.value.message
    assert (refused.value.hint or "").startswith(hint)


def test_front_matter_that_is_never_closed_is_no_brief(tmp_path: Path) -> None:
    write(tmp_path, "open.md", "---\nowns: a\n\nYou own a.\n-- -\n")
    with pytest.raises(Misuse, match=r"^\.paddock/agents/open\.md:1: the front matter is never closed$"):
        agents(tmp_path)


def test_windows_and_its_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    write(tmp_path, "a.md", b"\xef\xbb\xbf" + WHOLE.replace("\n", "\r\n").encode())
    crlf = agents(tmp_path)
    write(tmp_path, "a.md", WHOLE)
    assert crlf == agents(tmp_path)


@pytest.mark.parametrize("text", ["", "\n\n", "---\n---\n", "---\n---", "---\n# nothing\n---\n\n"])
def test_an_empty_file_is_an_agent_without_a_brief(tmp_path: Path, text: str) -> None:
    write(tmp_path, "plain.md", text)
    assert agents(tmp_path) == {"plain": Agent()}


def test_a_rule_below_the_front_matter_belongs_to_the_brief(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "---\nowns: a\n---\nFirst.\n\n---\n\nSecond.\n")
    assert agents(tmp_path)["a"].brief == "First.\n\n---\n\nSecond."


def test_two_files_of_one_name_are_refused_in_one_folder_only(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "---\nname: same\n---\nours\n")
    write(tmp_path, "x.md", "---\nname: same\n---\ntheirs\n", ".claude/agents")
    assert agents(tmp_path)["same"].brief == "ours"
    write(tmp_path, "b.md", "---\nmodel: x\nname: same\n---\n")
    with pytest.raises(Misuse, match=r"b\.md:3: the name `same` is that of \.paddock/agents/a\.md"):
        agents(tmp_path)


def test_a_file_too_large_for_a_brief_is_refused_and_one_of_claudes_is_skipped(tmp_path: Path) -> None:
    write(tmp_path, "big.md", "x" * 300_000, ".claude/agents")
    write(tmp_path, "a b.md", "x", ".claude/agents")
    loaded = load_config(tmp_path, {})
    assert loaded.config.agents == {}
    assert [warning.split(": ")[0] for warning in loaded.warnings] == [
        ".claude/agents/a b.md:1",
        ".claude/agents/big.md:1",
    ]
    write(tmp_path, "big.md", "x" * 300_000)
    with pytest.raises(Misuse, match=r"^\.paddock/agents/big\.md:1: it has 300,000 bytes; the limit is 262,144$"):
        agents(tmp_path)


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        (
            "name: critic\ntools: Read, Grep, Bash(git diff:*)\nmodel: haiku\ncolor: red",
            ("Read", "Grep", "Bash(git diff:*)"),
        ),
        ("name: critic\ntools:\n  - Read\n  - Grep\nmodel: haiku", ("Read", "Grep")),
        ('name: critic\ntools: "*"\nmodel: haiku\npermissionMode: plan', ()),
        ("name: critic\ndescription: Use it: when\ntools: Read\nmodel: haiku\nmaxTurns: 3", ("Read",)),
    ],
)
def test_a_file_of_claudes_works_as_it_is(tmp_path: Path, front: str, expected: tuple[str, ...]) -> None:
    write(tmp_path, "x.md", f"---\n{front}\n---\nYou review.\n", ".claude/agents")
    agent = agents(tmp_path)["critic"]
    assert (agent.engine, agent.model, agent.tools, agent.role) == ("claude", "haiku", expected, "worker")


def test_a_file_of_claudes_may_say_more_for_paddock(tmp_path: Path) -> None:
    front = "description: Reviews: all\nrole: reviewer\nengine: codex\nmax_turns: 9\nmodel: inherit"
    write(tmp_path, "x.md", f"---\n{front}\n---\nYou review.\n", ".claude/agents")
    agent = agents(tmp_path)["x"]
    assert (agent.engine, agent.model, agent.role, agent.max_turns) == ("codex", "", "reviewer", 9)


def test_every_bad_file_is_found_not_only_the_first(tmp_path: Path) -> None:
    for name in "abc":
        write(tmp_path, f"{name}.md", "---\nnope: 1\n---\n" if name != "b" else "fine")
    bad = [found.path for found in scan_agent_files(tmp_path) if isinstance(found, BadAgentFile)]
    assert bad == [".paddock/agents/a.md", ".paddock/agents/c.md"]


def test_deadlines_of_an_agent_are_durations_in_the_configuration_too(tmp_path: Path) -> None:
    (tmp_path / "paddock.toml").write_text('[agents.slow]\ntimeouts = { turn = "2h", tool = 5 }\n')
    assert agents(tmp_path)["slow"].timeouts == AgentTimeouts(turn=7200.0, tool=5.0)
    given = load_config(tmp_path, {}, {"agents.slow.timeouts.turn": "3h"}).config
    assert given.agents["slow"].timeouts.turn == 10800.0
    (tmp_path / "paddock.toml").write_text('[agents.slow.timeouts]\ntrun = "2h"\n')
    with pytest.raises(Misuse, match=r"unknown key `agents\.slow\.timeouts\.trun`"):
        agents(tmp_path)

"""Whole convoys from YAML, JSON and Markdown, and what is said about files that are wrong."""

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.config.taskfile import TASK_LIMIT, parse_task_file
from paddock.core import events as ev
from paddock.core.errors import Misuse
from paddock.core.intent.tasks import Batch, TaskSpec

YAML = """\
convoy: parser
title: A faster parser
defaults: {engine: claude, attempts: 2}
tasks:
  - key: lex
    title: Rewrite the lexer
    brief: |
      Rewrite it by hand.
      Keep its tests.
    paths: [src/lex/**]
    priority: 5
  - key: parse
    brief: Use the new lexer
    after: [lex, t3]
    engine: codex
  - just a brief
"""
MARKDOWN = """\
---
convoy: parser
defaults: {engine: claude, attempts: 2}
---
# A faster parser

Some words for people.

## Rewrite the lexer {#lex}
paths: src/lex/**
priority: 5

Rewrite it by hand.
Keep its tests.

## Use the new lexer
after: lex, t3
engine: codex

## just a brief
"""


def parts(batch: Batch) -> list[tuple[object, ...]]:
    return [(t.key, t.title, t.brief.strip(), t.after, t.priority, t.paths, t.engine, t.attempts) for t in batch.tasks]


def test_yaml_holds_a_whole_convoy() -> None:
    batch = parse_task_file(YAML, "tasks.yaml")
    assert (batch.convoy, batch.title) == ("parser", "A faster parser")
    brief = "Rewrite it by hand.\nKeep its tests."
    assert parts(batch) == [
        ("lex", "Rewrite the lexer", brief, (), 5, ("src/lex/**",), "claude", 2),
        ("parse", None, "Use the new lexer", ("lex", "t3"), 0, (), "codex", 2),
        (None, None, "just a brief", (), 0, (), "claude", 2),
    ]


def test_markdown_holds_the_same() -> None:
    batch = parse_task_file(MARKDOWN, "tasks.md")
    assert (batch.convoy, batch.title) == ("parser", "A faster parser")
    brief = "Rewrite it by hand.\nKeep its tests."
    assert parts(batch) == [
        ("lex", "Rewrite the lexer", brief, (), 5, ("src/lex/**",), "claude", 2),
        ("use-the-new-lexer", "Use the new lexer", "Use the new lexer", ("lex", "t3"), 0, (), "codex", 2),
        ("just-a-brief", "just a brief", "just a brief", (), 0, (), "claude", 2),
    ]


def test_json_may_be_a_plain_list_and_the_format_is_guessed_on_standard_input() -> None:
    text = json.dumps(["one", {"brief": "two", "after": "t1"}])
    for name in ("tasks.json", "standard input"):
        assert [task.brief for task in parse_task_file(text, name).tasks] == ["one", "two"]
    assert len(parse_task_file(MARKDOWN, "standard input").tasks) == 3
    assert len(parse_task_file(YAML, "standard input").tasks) == 3


def test_tasks_get_as_many_attempts_as_the_configuration_says_unless_they_say() -> None:
    batch = parse_task_file("- one\n- {brief: two, attempts: 9}\n", "tasks.yaml", attempts=5)
    assert [task.attempts for task in batch.tasks] == [5, 9]


def test_numbers_in_markdown_titles_and_keys_stay_text() -> None:
    (task,) = parse_task_file("## 2026\nkey: 7\nafter: 3\n\nGo.\n", "tasks.md").tasks
    assert (task.title, task.key, task.after) == ("2026", "7", ("3",))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.yaml", "tasks:\n  - a: [1\n", "t.yaml:3:1: "),
        ("t.yaml", "tasks:\n  - brief: a: b\n", "t.yaml:2:13: mapping values are not allowed"),
        ("t.yaml", "tasks:\n\t- x\n", "t.yaml:2:1: "),
        ("t.yaml", "a: \x07\n", "t.yaml: character "),
        ("t.yaml", "tasks: [{brief: x, title: 2026-13-40}]", "t.yaml: month must be in 1..12"),
        ("t.yaml", "!!python/object:os.system {}", "t.yaml:1:1: could not determine a constructor"),
        ("t.yaml", "--- a\n--- b\n", "t.yaml:2:1: but found another document"),
        ("t.json", '{"tasks": [,]}', "t.json:1:12: Expecting value"),
        ("t.json", '{"tasks":\n ["x"', "t.json:2:6: Expecting ',' delimiter"),
        ("t.json", "[" * 100_000, "t.json: nested too deeply"),
        ("t.yaml", "", "t.yaml: there are no tasks in it"),
        ("t.yaml", "tasks: []", "t.yaml: `tasks` is not a list of tasks"),
        ("t.yaml", "tasks: 3", "t.yaml: `tasks` is not a list of tasks"),
        ("t.yaml", "task: [x]", "t.yaml: there is no field `task`"),
        ("t.yaml", "- {breif: x}", "t.yaml: task 1: there is no field `breif`"),
        ("t.yaml", "- 3", "t.yaml: task 1: it is neither text nor a table of fields"),
        ("t.yaml", "- {brief: 3}", "t.yaml: task 1: `brief` is not text"),
        ("t.yaml", "- {brief: x, priority: high}", "t.yaml: task 1 (`x`): `priority` is not a whole number"),
        ("t.yaml", "- {brief: x, priority: true}", "t.yaml: task 1 (`x`): `priority` is not a whole number"),
        ("t.yaml", "- {brief: x, after: {a: b}}", "t.yaml: task 1 (`x`): `after` is not a list of strings"),
        ("t.yaml", "{defaults: 3, tasks: [x]}", "t.yaml: `defaults` is not a table of fields"),
        ("t.yaml", "{defaults: {brief: x}, tasks: [x]}", "t.yaml: defaults: there is no field `brief`"),
        ("t.md", "# Only a title\n", "t.md: there are no tasks in it"),
        ("t.md", "## A\npriority: soon\n\nx\n", "t.md: task 1 (`A`): `priority` is not a whole number"),
    ],
)
def test_a_wrong_file_is_misuse_that_names_file_and_place(name: str, text: str, message: str) -> None:
    with pytest.raises(Misuse) as refused:
        parse_task_file(text, name)
    assert refused.value.message.startswith(message)


def test_a_file_of_too_many_tasks_is_refused() -> None:
    with pytest.raises(Misuse, match="10,001 tasks; the limit is 10,000"):
        parse_task_file(json.dumps(["x"] * (TASK_LIMIT + 1)), "t.json")


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(["t.yaml", "t.json", "t.md", "-"]), st.text("-:{}[]#&*!|>'\"\n\t ,a1t\x07é", max_size=40))
def test_any_text_is_a_batch_or_misuse(name: str, text: str) -> None:
    with suppress(Misuse):
        assert all(isinstance(task, TaskSpec) for task in parse_task_file(text, name).tasks)


def accepted(text: str, name: str = "x.yaml") -> ev.Acceptance | None:
    return parse_task_file(text, name).tasks[0].accept


def test_what_must_pass_is_a_command_a_list_or_a_table() -> None:
    one = ev.Acceptance((("pytest", "-q"),))
    both = ev.Acceptance((("pytest", "-q"), ("sh", "-c", "a | b")), (ev.AcceptFile("tests/a.py", "x = 1\n"),))

    assert accepted("[{brief: x, accept: pytest -q}]") == one
    assert accepted("[{brief: x, accept: [pytest -q]}]") == one
    assert accepted("defaults: {accept: pytest -q}\ntasks: [x]") == one
    assert accepted("## Title\naccept: pytest -q\n\nDo it.", "x.md") == one
    assert accepted("[{brief: x, accept: null}]") is None
    table = {"commands": ["pytest -q", ["sh", "-c", "a | b"]], "files": {"tests/a.py": "x = 1\n"}}
    assert accepted(json.dumps([{"brief": "x", "accept": table}]), "x.json") == both
    files = {"files": table["files"]}
    assert accepted(json.dumps([{"brief": "x", "accept": [*table["commands"], files]}]), "x.json") == both


@pytest.mark.parametrize(
    ("accept", "what"),
    [
        ("5", "neither text nor a list of words"),
        ('{"command": "x"}', "there is no field `command`"),
        ('{"commands": ["x"], "files": ["a"]}', "`files` is not a table"),
        ('["a && b"]', "without a shell"),
        ('{"files": {"tests/x.py": ""}}', "nothing would run"),
        ('{"commands": ["x"], "files": {"../x": ""}}', "leads out of its folder"),
    ],
)
def test_what_cannot_be_run_is_refused_with_its_task(accept: str, what: str) -> None:
    with pytest.raises(Misuse) as refused:
        accepted(f'[{{"brief": "fix it", "accept": {accept}}}]', "x.json")
    assert refused.value.message.startswith("x.json: task 1 (`fix it`): `accept`: ")
    assert what in refused.value.message


def test_a_task_file_names_roles_and_inputs() -> None:
    text = "tasks: [{key: a, brief: Look, role: report}, {brief: Join, inputs: [a, t3]}]"
    specs = parse_task_file(text, "tasks.yaml").tasks
    assert [(one.role.value, one.inputs) for one in specs] == [("report", ()), ("work", ("a", "t3"))]
    with pytest.raises(Misuse, match=r"tasks\.yaml: task 1 .*no role `reporter`"):
        parse_task_file("tasks: [{brief: Look, role: reporter}]", "tasks.yaml")

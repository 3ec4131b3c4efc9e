"""Workflow files: what they may say, where they are found, and what is said about ones that are wrong."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.config.workflows import (
    FOLDER,
    STEP_LIMIT,
    WorkflowFile,
    find_workflow,
    list_workflows,
    parse_workflow,
    read_workflow_file,
)
from paddock.core.errors import Misuse, PaddockError
from paddock.core.intent.tasks import Known, add_tasks
from paddock.core.routing import RosterAgent
from paddock.core.tasks.vocabulary import Role
from paddock.core.workflow import Variable, choose_values, expand, with_known_kinds
from tests.core.ledger import Ledger

WHOLE = """\
description: Bring modules up to date
title: "Modules: {{ goal }}"
vars:
  goal: {required: true, description: what to do}
  modules: [core, web]
  base: {default: main, commit: true}
  depth: 3
steps:
  - name: look
    role: report
    commit: base
    brief: Look at {{goal}}, {{ depth }} deep.
  - name: change
    needs: look
    for_each: modules
    title: "Change {{ item }}"
    paths: ["src/{{ item }}/**"]
    accept: ["pytest tests/{{ item }}"]
    engine: codex
    kind: code
    attempts: 2
    priority: 5
    brief: |
      In {{ item }}:
      {{ goal }}
  - name: sum
    needs: [look, change]
    agent: docs
    brief: Sum up.
"""


def parse(text: str, name: str = "flow") -> object:
    return parse_workflow(WorkflowFile(name, f"{name}.yaml", text))


def test_a_workflow_says_what_becomes_of_its_variables_and_steps() -> None:
    workflow = parse_workflow(WorkflowFile("flow", "flow.yaml", WHOLE))
    assert workflow.variables == (
        Variable("goal", None, "what to do"),
        Variable("modules", "core,web"),
        Variable("base", "main", is_commit=True),
        Variable("depth", "3"),
    )
    look, change, join = workflow.steps
    assert (look.role, look.commit, change.for_each, join.agent) == (Role.REPORT, "base", "modules", "docs")
    batch = expand(workflow, choose_values(workflow, {"goal": "type it"}), attempts=4, engine="claude")
    assert [(one.key, one.inputs, one.engine, one.attempts) for one in batch.tasks] == [
        ("look", (), "claude", 4),
        ("change.1", ("look",), "codex", 2),
        ("change.2", ("look",), "codex", 2),
        ("sum", ("look", "change.1", "change.2"), "claude", 4),
    ]
    first, second = batch.tasks[:2]
    assert first.brief.startswith("Look at type it, 3 deep.\n\nThis is about commit `main`")
    assert (second.title, second.brief, second.paths) == ("Change core", "In core:\ntype it\n", ("src/core/**",))
    assert second.accept is not None
    assert second.accept.commands == (("pytest", "tests/core"),)
    assert batch.title == "Modules: type it"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "flow.yaml:1: a workflow is not a table"),
        ("steps: []", "flow.yaml:1: `steps` is not a list of steps"),
        ("description: x\nstep: []", "flow.yaml:2: unknown key `step`"),
        ("steps:\n  - name: a\n    breif: x", "flow.yaml:3: unknown key `breif`"),
        ("steps:\n  - name: a", "flow.yaml:2: step `a` has no `brief`"),
        ("steps:\n  - brief: a", "flow.yaml:2: a step has no `name`"),
        ("steps:\n  - {name: a b, brief: x}", "flow.yaml:2: `a b` is not a step name"),
        ("steps:\n  - {name: a, brief: x}\n  - {name: a, brief: y}", "flow.yaml:3: there are two steps `a`"),
        ("steps:\n  - name: a\n    brief: x\n    needs: [b]", "flow.yaml:4: step `a` needs `b`, which is no step"),
        (
            "steps:\n- {name: a, brief: x, needs: [b]}\n- {name: b, brief: x, needs: [a]}",
            "flow.yaml:2: steps wait for each other: a → b → a",
        ),
        ("steps:\n- {name: a, brief: x, needs: a}", "steps wait for each other: a → a"),
        ("steps:\n  - name: a\n    brief: |\n      one\n      two {{ x }}", "flow.yaml:5: there is no variable `x`"),
        ("steps:\n  - {name: a, brief: '{{ item }}'}", "flow.yaml:2: there is no variable `item`"),
        ("steps:\n  - {name: a, brief: '{{ x | upper }}'}", "there is no variable `x | upper`"),
        (
            "vars: {x: 1}\nsteps:\n  - {name: a, brief: x, agent: '{{ x }}'}",
            "flow.yaml:3: `agent` cannot have a variable",
        ),
        ("steps:\n  - {name: a, brief: x, for_each: y}", "flow.yaml:2: there is no variable `y`"),
        ("steps:\n  - {name: a, brief: x, for_each: []}", "flow.yaml:2: `for_each` is neither a list nor a variable"),
        ("steps:\n  - {name: a, brief: x, role: worker}", "flow.yaml:2: there is no role `worker`"),
        ("steps:\n  - {name: a, brief: x, attempts: many}", "flow.yaml:2: `attempts` is not a whole number"),
        ("steps:\n  - {name: a, brief: x, commit: y}", "flow.yaml:2: `commit` does not name a variable"),
        ("steps:\n  - {name: a, brief: x, accept: 'a | b'}", "flow.yaml:2: `accept`"),
        ("steps:\n  - {name: a, brief: [x]}", "flow.yaml:2: `brief` is not text"),
        ("vars: [x]\nsteps: [{name: a, brief: x}]", "flow.yaml:1: `vars` is not a table of names"),
        (
            "vars:\n  x: {required: true, default: y}\nsteps: [{name: a, brief: x}]",
            "flow.yaml:2: `x` is required and has a",
        ),
        ("vars:\n  item: y\nsteps: [{name: a, brief: x}]", "flow.yaml:2: `item` is the name of"),
        ("vars:\n  x: {requierd: true}\nsteps: [{name: a, brief: x}]", "flow.yaml:2: unknown key `requierd`"),
        ("steps: [{name: a, brief: x}]\nsteps: []", "flow.yaml:2: `steps` is there twice"),
        ("steps:\n\t- name: a", "flow.yaml:2: "),
        ("steps: !!python/object/apply:os.system ['true']", "flow.yaml:1: `python/object/apply:os.system` is not for"),
        ("steps: &s [*s]", "flow.yaml:1: "),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(text: str, said: str) -> None:
    with pytest.raises(Misuse) as refused:
        parse(text)
    assert said in refused.value.message


def test_aliases_that_multiply_are_refused_before_they_fill_the_memory() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(f'*{chr(97 + n)}' for _ in range(9))}]\n" for n in range(12)
    )
    with pytest.raises(Misuse, match="there is too much in it"):
        parse(bomb)


def test_there_is_a_limit_to_steps() -> None:
    steps = "".join(f"  - {{name: s{n}, brief: x}}\n" for n in range(STEP_LIMIT + 1))
    with pytest.raises(Misuse, match=f"the limit is {STEP_LIMIT}"):
        parse(f"steps:\n{steps}")


@given(st.text(alphabet="{}[]:-|>&*!? \n'\"#,%@`abs1", max_size=120))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    with suppress(Misuse):
        parse(text)


def test_a_file_of_the_repository_wins_over_a_shipped_one_and_a_broken_one_hides_no_other(tmp_path: Path) -> None:
    assert [(one.name, one.shipped) for one in list_workflows(tmp_path)] == [("code-review", True), ("feature", True)]
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    (folder / "feature.yaml").write_text("steps: [{name: a, brief: mine}]")
    (folder / "odd.yml").write_bytes(b"\xff\xfe")
    (folder / "notes.md").write_text("no workflow")
    found = {one.name: one for one in list_workflows(tmp_path)}
    assert list(found) == ["code-review", "feature", "odd"]
    assert found["feature"].hides
    assert not found["feature"].shipped
    assert parse_workflow(found["feature"]).source == f"{FOLDER}/feature.yaml"
    with pytest.raises(Misuse, match=r"odd\.yml: byte 1 is not UTF-8"):
        parse_workflow(found["odd"])
    with pytest.raises(PaddockError) as unknown:
        find_workflow(tmp_path, "featur")
    assert unknown.value.hint == "did you mean `feature`?"
    with pytest.raises(Misuse, match="cannot be read"):
        read_workflow_file(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    "known", [Known(), Known(frozenset({"fixer"}), roster=(RosterAgent("fixer", kinds=("code",)),))]
)
def test_every_shipped_workflow_becomes_tasks_in_any_repository(tmp_path: Path, known: Known) -> None:
    for file in list_workflows(tmp_path):
        workflow = parse_workflow(file)
        assert workflow.description
        assert all(one.description for one in workflow.variables)
        needed = {one.name: "do it" for one in workflow.variables if one.default is None}
        batch = with_known_kinds(workflow, expand(workflow, choose_values(workflow, needed)), known)
        ledger = Ledger()
        ledger.write(*add_tasks(ledger.board, batch, known))
        assert len(ledger.board.tasks) == len(workflow.steps)

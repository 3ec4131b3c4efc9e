"""Needs and labels of machines, wherever the configuration and task files have them."""

from pathlib import Path

import pytest

from paddock.config.load import load_config
from paddock.config.taskfile import parse_task_file
from paddock.core.errors import Misuse


def agent_file(top: Path, front: str) -> None:
    folder = top / ".paddock/agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trainer.md").write_text(f"---\n{front}\n---\nYou train.\n")


@pytest.mark.parametrize(
    "front",
    [
        "needs: gpu, os=linux",
        "needs: [gpu, os=linux]",
        "needs: ['gpu', 'os: linux']",
        "needs: [gpu, os: linux]",
        "needs: {gpu: true, os: linux}",
        "needs:\n  gpu: true\n  os: linux",
        "needs:\n  - gpu\n  - os: linux",
    ],
)
def test_an_agents_needs_may_be_written_in_any_form_of_yaml(tmp_path: Path, front: str) -> None:
    agent_file(tmp_path, front)
    assert load_config(tmp_path, {}).config.agents["trainer"].needs == ("gpu", "os=linux")


@pytest.mark.parametrize(
    ("front", "complaint"),
    [
        ("needs: a b", r"trainer.md:2: `needs`: `a b` is not a label that a node can have"),
        ("description: x\nneeds: [[gpu]]", r"trainer.md:3: `needs`: `\['gpu'\]` is not a label"),
        ("needs: 3", r"trainer.md:2: `needs`: `3` is neither a label nor a list of labels"),
        ("needs: {os: [linux, darwin]}", r"trainer.md:2: `needs`: `\['linux', 'darwin'\]` is not the value of a label"),
        ("needs: [os=linux, os=darwin]", r"trainer.md:2: `needs`: it needs `os=linux` and `os=darwin`"),
    ],
)
def test_bad_needs_of_an_agent_are_refused_with_file_and_line(tmp_path: Path, front: str, complaint: str) -> None:
    agent_file(tmp_path, front)
    with pytest.raises(Misuse, match=complaint):
        load_config(tmp_path, {})


@pytest.mark.parametrize(
    ("toml", "key"),
    [
        ('[sessions]\nlabels = ["a b"]', "sessions.labels"),
        ('[land]\nneeds = ["os="]', "land.needs"),
        ('[agents.trainer]\nneeds = ["!gpu"]', "agents.trainer.needs"),
    ],
)
def test_bad_labels_in_the_configuration_are_refused_with_their_key(tmp_path: Path, toml: str, key: str) -> None:
    (tmp_path / "paddock.toml").write_text(toml)
    with pytest.raises(Misuse, match=rf"paddock.toml: `{key}`: `.*` is not a label that a node can have"):
        load_config(tmp_path, {})


YAML = """\
defaults:
  needs: os=linux
tasks:
  - brief: one
  - brief: two
    needs: gpu
  - brief: three
    needs: {gpu: true, os: darwin}
  - brief: four
    needs: []
"""
MARKDOWN = "## Train it\nneeds: gpu, os=linux\n\nTrain it well.\n"
JSON = '{"tasks": [{"brief": "one", "needs": ["gpu", {"os": "linux"}]}]}'


def test_a_task_file_says_what_its_tasks_need() -> None:
    needs = [spec.needs for spec in parse_task_file(YAML, "plan.yaml").tasks]
    assert needs == [("os=linux",), ("gpu",), ("gpu=true", "os=darwin"), ()]
    assert parse_task_file(MARKDOWN, "plan.md").tasks[0].needs == ("gpu", "os=linux")
    assert parse_task_file(JSON, "plan.json").tasks[0].needs == ("gpu", "os=linux")


def test_needs_that_are_no_labels_are_refused_with_the_number_of_the_task() -> None:
    with pytest.raises(Misuse, match=r"plan.yaml: task 1 \(`one`\): `needs`: `3` is neither a label"):
        parse_task_file("tasks:\n  - brief: one\n    needs: 3\n", "plan.yaml")

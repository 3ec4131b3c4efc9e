"""Examples of files are read by the code that reads such files."""

from pathlib import Path

import pytest

from paddock.config.agents import AgentFile, scan_agent_files
from paddock.config.group import GroupFile, read_group_file
from paddock.config.load import load_config
from paddock.config.taskfile import parse_task_file
from tests.docs.markdown import PAGES, ROOT, Block, blocks, shown

CONVOYS = ROOT / "docs" / "how-to" / "convoys.md"
ENDINGS = {"yaml": ".yaml", "json": ".json", "markdown": ".md"}
TOML: dict[str, Block] = {
    f"{shown(page)}:{block.line}": block
    for page in PAGES
    for block in blocks(page)
    if block.language == "toml" and "[project." not in block.text
}
GROUP_FILES = {place: block for place, block in TOML.items() if "/groups/" in block.text.splitlines()[0]}
CONFIGS = {place: block for place, block in TOML.items() if place not in GROUP_FILES}


@pytest.mark.parametrize("language", ENDINGS)
def test_convoy_files_hold_the_same_convoy_in_every_format(language: str) -> None:
    (example,) = [block for block in blocks(CONVOYS) if block.language == language]
    batch = parse_task_file(example.text, f"tasks{ENDINGS[language]}", attempts=3)
    assert (batch.convoy, batch.title) == ("parser", "Make the parser strict")
    grammar, errors = batch.tasks[:2]
    assert grammar.key == "grammar"
    assert grammar.paths == ("docs/grammar.md",)
    assert errors.after == ("grammar",)
    assert "file, line and column" in errors.brief
    if language != "json":
        assert grammar.agent == "parser"
        assert errors.priority == 5
    if language != "markdown":
        assert batch.tasks[2].brief == "Remove the old parser."


@pytest.mark.parametrize("place", CONFIGS)
def test_configuration_examples_are_accepted(place: str, tmp_path: Path) -> None:
    (tmp_path / "paddock.toml").write_text(CONFIGS[place].text)
    assert load_config(tmp_path, environment={}).path is not None


@pytest.mark.parametrize("place", GROUP_FILES)
def test_examples_of_group_files_are_accepted(place: str, tmp_path: Path) -> None:
    (tmp_path / "team.toml").write_text(GROUP_FILES[place].text)
    assert read_group_file(tmp_path / "team.toml") != GroupFile()


def test_there_are_configuration_examples() -> None:
    assert len(CONFIGS) > 8
    assert len(GROUP_FILES) == 2


def test_the_agent_file_is_an_agent(tmp_path: Path) -> None:
    page = ROOT / "docs" / "how-to" / "agents-and-engines.md"
    (example,) = [block for block in blocks(page) if block.language == "markdown"]
    folder = tmp_path / ".paddock" / "agents"
    folder.mkdir(parents=True)
    (folder / "any.md").write_text(example.text)
    (agent,) = scan_agent_files(tmp_path)
    assert isinstance(agent, AgentFile)
    assert agent.name == "parser"
    assert agent.settings == {
        "engine": "claude",
        "owns": ["src/parser/**"],
        "brief": "You own the parser. Keep its public API stable.",
    }

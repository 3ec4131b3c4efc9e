"""docs/engines.md says what the code does."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from paddock.engines.command import PLACEHOLDERS
from paddock.engines.lost_session import find_lost_session
from paddock.engines.registry import BUILT_IN, load_engine
from paddock.engines.scripted import ScriptPlayer
from paddock.engines.settings import EngineSettings
from tests.engines.unit.conftest import read_table

PAGE = (Path(__file__).parents[3] / "docs" / "engines.md").read_text(encoding="utf-8")


def row_of(name: str, text: str) -> str:
    (row,) = re.findall(rf"^\| `{name}` \|(.*)\|$", text, re.MULTILINE)
    assert isinstance(row, str)
    return row


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def code_words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize("name", sorted(set(BUILT_IN) - {"scripted"}))
def test_the_table_tells_what_each_engine_lets_through(name: str) -> None:
    passage = import_module(f"paddock.engines.{name}").PASSAGE
    always, clouds, gateway = (cell.strip() for cell in row_of(name, section("Environment")).split("|"))
    told = [code_words(cloud) for cloud in clouds.split("; ")] if passage.clouds else []
    assert code_words(always) == list(passage.always)
    assert told == [[*cloud.flags, *cloud.models, *cloud.names] for cloud in passage.clouds]
    assert gateway


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_the_table_tells_whose_tokens_are_exact(name: str) -> None:
    tokens = row_of(name, section("Tokens")).split("|")[0].strip()
    by_test = {"aider": "a lower bound", "cn": "unknown"}
    assert tokens == by_test.get(name, "exact")
    assert (tokens != "unknown") is load_engine(name).capabilities.usage


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_the_table_tells_each_engines_capabilities(name: str) -> None:
    row = row_of(name, PAGE.partition('\n"Ours" means')[0])
    _, resumes, session, usage, cost, _ = (cell.strip() for cell in row.split("|"))
    can = load_engine(name).capabilities
    assert (resumes == "yes", session == "ours", usage == "yes", cost == "yes") == (
        can.resume,
        can.chooses_session_id,
        can.usage,
        can.cost,
    )


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_the_page_tells_what_binds_a_conversation_and_how_its_loss_is_worded(name: str) -> None:
    can = load_engine(name).capabilities
    rows = re.findall(rf"^\| `{name}` \| (bound|free):[^|]*\| ([^|]*) \| \d+ \|$", PAGE, re.MULTILINE)
    assert [kind == "bound" for kind, _ in rows] == ([can.bound_to_folder] if can.resume else [])
    for _, words in rows:
        assert all(find_lost_session(f"Error: {said}: 12-34") for said in re.findall(r"`([^`]*)`", words))


def test_every_step_of_the_scripted_agent_is_told() -> None:
    steps = {name.removeprefix("do_") for name in vars(ScriptPlayer) if name.startswith("do_")} | {"never_start"}
    assert {step for step in steps if f'"{step}"' not in PAGE and f"`{step}`" not in PAGE} == set()


def test_every_placeholder_is_told() -> None:
    assert set(re.findall(r"^\| `\{(\w+)\}` \|", PAGE, re.MULTILINE)) == set(PLACEHOLDERS)


def test_every_setting_is_told_and_the_examples_can_be_read(tmp_path: Path) -> None:
    told: set[str] = set()
    for block in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL):
        for name, table in tomllib.loads(block).get("engines", {}).items():
            settings = read_table(tmp_path, name, table)
            load_engine(name, {name: settings})
            told |= table.keys()
    assert set(EngineSettings.__struct_fields__) - told == set()

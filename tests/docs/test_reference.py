"""The reference says what the code says."""

import importlib.util
from types import ModuleType

import click
import pytest

from paddock.cli.registry import paddock
from paddock.config.fields import known_keys
from paddock.core.kinds import all_kinds
from tests.docs.markdown import ROOT

FOLDER = ROOT / "docs" / "reference"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "scripts" / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_up_to_date(maker: ModuleType) -> None:
    for name, text in maker.pages().items():
        assert (FOLDER / name).read_text(encoding="utf-8") == text, f"docs/reference/{name} is stale: run `make docs`"


def test_there_is_no_page_nobody_writes(maker: ModuleType) -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(maker.pages())


def test_every_key_of_the_configuration_is_explained(maker: ModuleType) -> None:
    text = maker.pages()["config.md"]
    for key in known_keys():
        assert f"`{key}`" in text or f"[[{key}]]" in text


def test_every_kind_of_event_is_listed(maker: ModuleType) -> None:
    text = maker.pages()["events.md"]
    for kind in all_kinds():
        assert f"## `{kind}`\n" in text


def test_every_command_has_help() -> None:
    ctx = click.Context(paddock)
    for name in paddock.list_commands(ctx):
        command = paddock.get_command(ctx, name)
        assert command is not None
        assert command.help, name

"""The reference says what the code says."""

import importlib.util
import re
from collections.abc import Iterator
from types import ModuleType

import click
import pytest

from paddock.cli.registry import paddock
from paddock.config.fields import known_keys
from paddock.core.kinds import all_kinds
from paddock.web.routes import ENDPOINTS
from tests.docs.markdown import ROOT

FOLDER = ROOT / "docs" / "reference"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "scripts" / "make_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "scripts")
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


def test_every_command_has_a_request_of_the_api_or_a_reason_why_not(maker: ModuleType) -> None:
    api_commands = maker.api_commands
    known = {(one.method, one.path) for one in ENDPOINTS} | {("GET", "/events")}
    assert sorted([*api_commands.REQUESTS, *api_commands.ELSEWHERE]) == sorted(command_names())
    for name, words in api_commands.REQUESTS.items():
        asked = requests_in(words)
        assert asked, name
        assert set(asked) <= known, name
    assert all(set(requests_in(why)) <= known for why in api_commands.ELSEWHERE.values())


def command_names(group: click.Group = paddock, prefix: str = "") -> Iterator[str]:
    """Every one that does something of its own."""
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield f"{prefix}{name}"
        if isinstance(command, click.Group):
            yield from command_names(command, f"{prefix}{name} ")


def requests_in(text: str) -> list[tuple[str, str]]:
    """Method and path of each."""
    return re.findall(r"`(GET|POST) ([^`]+)`", text)

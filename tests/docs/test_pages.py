"""What the pages refer to is there: other pages, headings, pictures, commands, options, variables."""

import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest

from paddock.cli.registry import COMMANDS, paddock
from tests.docs.markdown import PAGES, ROOT, anchors, blocks, commands, links, paddock_calls, prose, shown

LANGUAGES = {"console", "text", "toml", "yaml", "json", "markdown", "python", "sh", ""}
_INLINE = re.compile(r"`paddock( [^`\n]+)`")
_WORD = re.compile(r"[a-z][a-z-]*")


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_internal_links_lead_somewhere(page: Path) -> None:
    for number, target in links(page):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        other = (page.parent / name).resolve() if name else page
        assert other.exists(), f"{shown(page)}:{number}: there is no {target}"
        if anchor:
            assert anchor in anchors(other), f"{shown(page)}:{number}: there is no heading #{anchor} in {other.name}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        inside = [target.partition("#")[0] for _, target in links(page) if not re.match(r"[a-z]+:", target)]
        waiting += [(page.parent / name).resolve() for name in inside if name]
    assert {shown(page) for page in PAGES} - {shown(page) for page in reached} == set()


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_fenced_blocks_say_what_they_hold(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{shown(page)}:{block.line}: ```{block.language}"
        if block.language == "toml":
            tomllib.loads(block.text)


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_console_blocks_use_commands_and_options_that_exist(page: Path) -> None:
    for block in blocks(page):
        if block.language != "console":
            continue
        for command in commands(block):
            for call in paddock_calls(command.text):
                parse(call, f"{shown(page)}:{block.line}: $ {command.text}")


def parse(words: list[str], where: str) -> None:
    """As the command line would, without running anything."""
    command: click.Command = paddock
    parent = None
    rest = list(words)
    while True:
        try:
            ctx = command.make_context(command.name or "paddock", rest, parent=parent)
        except click.exceptions.Exit:
            return
        except click.ClickException as misuse:
            raise AssertionError(f"{where}: {misuse.format_message()}") from None
        rest = [*ctx._protected_args, *ctx.args]
        if not isinstance(command, click.Group) or not rest:
            return
        _, found, rest = command.resolve_command(ctx, rest)
        assert found is not None
        command, parent = found, ctx


def test_parsing_finds_what_does_not_exist() -> None:
    parse(["queue", "move", "t3", "--front"], "here")
    for words in (
        ["queue", "shove", "t3"],
        ["status", "--jsn"],
        ["stats"],
        ["show"],
        ["costs", "--by", "moon"],
    ):
        with pytest.raises((AssertionError, click.UsageError)):
            parse(words, "here")


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_commands_named_in_the_text_exist(page: Path) -> None:
    for number, line in prose(page):
        for call in _INLINE.findall(line):
            check_named(call.split(), f"{shown(page)}:{number}: `paddock{call}`")


def test_commands_named_by_the_program_exist() -> None:
    for source in sorted((ROOT / "src").rglob("*.py")):
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
            for call in _INLINE.findall(line):
                check_named(call.split(), f"{shown(source)}:{number}: `paddock{call}`")


def check_named(words: list[str], where: str) -> None:
    """The command, the command below it and the options, as far as they are spelled out."""
    command: click.Command = paddock
    ctx = click.Context(paddock)
    for word in words:
        if word == "--":
            return
        if word.startswith("-") and len(word) > 1:
            known = {name for option in command.params for name in (*option.opts, "--help", "-h", "--version")}
            assert word.strip("[]…,") in known, f"{where}: there is no {word}"
        elif isinstance(command, click.Group) and _WORD.fullmatch(word):
            found = command.get_command(ctx, word)
            assert found is not None, f"{where}: there is no command {word}"
            command = found


def test_every_command_is_listed_and_explained() -> None:
    text = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"## `paddock {name}`" in text


def test_the_readme_opens_with_a_sentence_and_the_two_commands() -> None:
    lines = [line for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines() if line.strip()]
    assert lines[0] == "# Paddock"
    code = [line.strip() for line in lines if line.startswith("    ")]
    assert [line.split("#")[0].strip() for line in code[:2]] == ["make demo", "make test"]
    assert lines.index(f"    {code[0]}") <= 3
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").rstrip().endswith("make test")


def test_pictures_are_self_contained() -> None:
    for picture in (ROOT / "docs").rglob("*.svg"):
        ElementTree.parse(picture)
        loaded = re.findall(r"""(?:url\(|href=["'])\s*["']?(https?:[^"')\s]+)""", picture.read_text(encoding="utf-8"))
        assert not loaded, f"{shown(picture)} loads {loaded}"

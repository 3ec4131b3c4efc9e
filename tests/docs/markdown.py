"""Just enough Markdown for the tests: fenced blocks with what stands before them, links, headings, commands."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = tuple(sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md")]))

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w-]*)$")
_HEREDOC = re.compile(r"<<'?(\w+)'?")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`[^`\n]+`")


def shown(page: Path) -> str:
    """A page's name in test ids and messages."""
    return str(page.relative_to(ROOT))


@dataclass(frozen=True, slots=True)
class Block:
    """`before` is the last line of prose above the fence; `line` is where the block begins."""

    language: str
    lines: tuple[str, ...]
    line: int
    before: str
    heading: str

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)


@dataclass(frozen=True, slots=True)
class Command:
    """What a person types, and what is printed after it."""

    text: str
    output: tuple[str, ...]


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    inside: list[str] | None = None
    language = before = heading = ""
    start = 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if inside is None and fence:
            inside, language, start = [], fence["language"], number
        elif inside is not None and fence and not fence["language"]:
            found.append(Block(language, tuple(inside), start, before, heading))
            inside, before = None, ""
        elif inside is not None:
            inside.append(line)
        elif line.startswith("#"):
            heading = line.lstrip("#").strip()
        elif line.strip():
            before = line.strip()
    assert inside is None, f"{shown(page)}:{start}: a fence is never closed"
    return found


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """Lines outside of fences, with their numbers."""
    inside = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if _FENCE.match(line):
            inside = not inside
        elif not inside:
            yield number, line


def links(page: Path) -> list[tuple[int, str]]:
    return [(number, target) for number, line in prose(page) for target in _LINK.findall(_CODE.sub("`…`", line))]


def anchors(page: Path) -> set[str]:
    """The names GitHub gives to headings."""
    names = set()
    for _, line in prose(page):
        if line.startswith("#"):
            words = line.lstrip("#").strip().lower()
            names.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return names


def commands(block: Block) -> list[Command]:
    """Lines that begin with `$ `; a here-document belongs to its command."""
    found: list[Command] = []
    rest = list(block.lines)
    while rest:
        line = rest.pop(0)
        assert line.startswith("$ "), f"line {block.line}: a console block begins with a command: {line}"
        text = line[2:]
        if heredoc := _HEREDOC.search(text):
            while rest[0] != heredoc[1]:
                text += f"\n{rest.pop(0)}"
            text += f"\n{rest.pop(0)}"
        output = []
        while rest and not rest[0].startswith("$ "):
            output.append(rest.pop(0))
        found.append(Command(text, tuple(output)))
    return found


def paddock_calls(command: str) -> list[list[str]]:
    """The arguments of every call of paddock in a shell command."""
    lexer = shlex.shlex(command.partition("\n")[0], posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = "#"
    calls: list[list[str]] = []
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word and set(word) <= set("();&|<>"):
            calls += _call(words)
            words = []
        else:
            words.append(word)
    return calls


def _call(words: list[str]) -> list[list[str]]:
    named = [word for word in words if not re.match(r"^[A-Z_]+=", word)]
    return [named[1:]] if named[:1] == ["paddock"] else []

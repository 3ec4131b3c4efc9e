"""Markdown with front matter: YAML between two lines of `---`, and the text below it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paddock.config.yaml_extent import check_extent
from paddock.core.errors import Misuse
from paddock.core.ids import printable

FORM = "front matter is YAML between two lines of `---`"
FIRST_LINE = 2
"""Of the front matter, in the file: the first is `---`."""
MOST_VALUES = 10_000
_PLAIN_LINE = re.compile(r"(?P<key>[\w-]+):\s*(?P<value>.*?)\s*$")
_FENCE = re.compile(r"(?m)^---[ \t]*$")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`lines` tells where in the file each key is; a key of a table in it is `table.key`."""

    values: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    body: str = ""


def read_front_matter(text: str, shown: str, *, lenient: bool = False) -> FrontMatter:
    """`shown` names the file in errors. A lenient reader takes what it can: it raises nothing, and reads front matter
    that is not YAML line by line. Otherwise raises Misuse with file and line."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    begin = _FENCE.match(text)
    if begin is None:
        return FrontMatter(body=text.strip())
    end = _FENCE.search(text, begin.end() + 1)
    if end is None:
        if lenient:
            return FrontMatter(body=text.strip())
        raise Misuse(f"{shown}:1: the front matter is never closed", FORM)
    front, body = text[begin.end() + 1 : end.start()], text[end.end() :].strip()
    try:
        values, lines = _read_yaml(front, shown)
    except Misuse:
        if not lenient:
            raise
        values, lines = _read_line_by_line(front)
    return FrontMatter(values, lines, body)


def _read_yaml(front: str, shown: str) -> tuple[dict[str, Any], dict[str, int]]:
    import yaml

    try:
        loader = yaml.SafeLoader(front)
        node = loader.get_single_node()
        if node is None:
            return {}, {}
        check_extent(node, MOST_VALUES, f"{shown}:{FIRST_LINE}")
        if not isinstance(node, yaml.MappingNode):
            line = node.start_mark.line + FIRST_LINE
            raise Misuse(f"{shown}:{line}: the front matter is not a list of `key: value` lines", FORM)
        lines = _lines_of(node, shown)
        return {str(key): value for key, value in loader.construct_document(node).items()}, lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{shown}:{mark.line + FIRST_LINE}:{mark.column + 1}" if mark else shown
        if mark is not None and _begins_with_tab(front, mark.line):
            raise Misuse(f"{place}: the line is indented with a tab", "YAML requires spaces there") from None
        hint = f"is a text with `:` or `#` in it unquoted? {FORM}"
        raise Misuse(f"{place}: {printable(str(error.problem or error.context), 200)}", hint) from None
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        problem = "nested too deeply" if isinstance(error, RecursionError) else printable(str(error), 200)
        raise Misuse(f"{shown}:{FIRST_LINE}: {problem}", FORM) from None


def _lines_of(mapping: Any, shown: str, prefix: str = "") -> dict[str, int]:
    import yaml

    lines: dict[str, int] = {}
    for key, value in mapping.value:
        name, line = f"{prefix}{key.value}", key.start_mark.line + FIRST_LINE
        if name in lines:
            raise Misuse(
                f"{shown}:{line}: `{printable(name, 80)}` is there twice", f"the first is in line {lines[name]}"
            )
        lines[name] = line
        if isinstance(value, yaml.MappingNode) and not prefix:
            lines |= _lines_of(value, shown, f"{name}.")
    return lines


def _begins_with_tab(text: str, line: int) -> bool:
    lines = text.split("\n")
    return line < len(lines) and "\t" in lines[line][: len(lines[line]) - len(lines[line].lstrip())]


def _read_line_by_line(front: str) -> tuple[dict[str, Any], dict[str, int]]:
    """claude accepts `description: Use this when: …`, which is not valid YAML, and writes it too."""
    found = [(number, _PLAIN_LINE.match(line)) for number, line in enumerate(front.split("\n"), FIRST_LINE)]
    pairs = [(number, match["key"], match["value"]) for number, match in found if match]
    return {key: value for _, key, value in pairs}, {key: number for number, key, _ in pairs}

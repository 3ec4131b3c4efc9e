"""YAML with the line of everything in it, for files that people write and get wrong.

Nothing is constructed: a value is text, a list or a table. Aliases are followed, up to a bound.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from paddock.core.errors import Misuse
from paddock.core.ids import printable

if TYPE_CHECKING:
    import yaml

MOST_VALUES = 20_000
DEEPEST = 20
_PLAIN = "tag:yaml.org,2002:"
_TAGS = frozenset(f"{_PLAIN}{name}" for name in ("str", "int", "float", "bool", "null", "timestamp", "seq", "map"))


@dataclass(frozen=True, slots=True)
class Lined:
    """`value` is text as it is written, None, a list or a table. `line` counts from 1 and is that of its key, where it
    has one; text begins in `text_line`."""

    value: "str | list[Lined] | dict[str, Lined] | None"
    line: int
    text_line: int = 0


def plain(lined: Lined, change: Callable[[str], str]) -> Any:
    """Without the lines, and with a change to each text."""
    match lined.value:
        case dict(table):
            return {name: plain(one, change) for name, one in table.items()}
        case list(items):
            return [plain(one, change) for one in items]
        case text:
            return text if text is None else change(text)


def texts_in(lined: Lined) -> Iterator[Lined]:
    match lined.value:
        case dict(table):
            for one in table.values():
                yield from texts_in(one)
        case list(items):
            for one in items:
                yield from texts_in(one)
        case str():
            yield lined


def read_lined(text: str, name: str) -> Lined:
    """`name` is shown in errors. Raises Misuse with the line."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node = yaml.compose(text, loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{name}:{mark.line + 1}" if mark else name
        raise Misuse(
            f"{place}: {error.problem or error.context}", "is a string with `:` or `#` in it unquoted, or a tab there?"
        ) from None
    except yaml.reader.ReaderError as error:
        raise Misuse(f"{name}: character {error.position + 1}: {error.reason}", "workflows are text") from None
    except RecursionError:
        raise Misuse(f"{name}: nested too deeply") from None
    if node is None:
        return Lined(None, 1)
    return _Reader(name).read(node, 0)


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._read = 0

    def read(self, node: "yaml.Node", depth: int) -> Lined:
        import yaml

        line = node.start_mark.line + 1
        self._read += 1
        if self._read > MOST_VALUES or depth > DEEPEST:
            self._refuse(line, "there is too much in it, or it refers to itself", "write it without aliases")
        if node.tag not in _TAGS:
            shown = printable(node.tag.removeprefix(_PLAIN), 60)
            self._refuse(line, f"`{shown}` is not for workflows", "they consist of text, lists and tables")
        match node:
            case yaml.MappingNode():
                return Lined(self._table(node, depth), line)
            case yaml.SequenceNode():
                return Lined([self.read(one, depth + 1) for one in node.value], line)
            case yaml.ScalarNode():
                if node.tag == f"{_PLAIN}null":
                    return Lined(None, line)
                return Lined(str(node.value), line, line + 1 if node.style in ("|", ">") else line)
            case _:
                self._refuse(line, "it is neither text nor a list nor a table")

    def _table(self, node: Any, depth: int) -> dict[str, Lined]:
        import yaml

        table: dict[str, Lined] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                self._refuse(line, "a key is not text")
            if key.value in table:
                self._refuse(line, f"`{printable(key.value, 60)}` is there twice", "keep one of them")
            table[key.value] = replace(self.read(value, depth + 1), line=line)
        return table

    def _refuse(self, line: int, problem: str, hint: str | None = None) -> NoReturn:
        raise Misuse(f"{self._name}:{line}: {problem}", hint)

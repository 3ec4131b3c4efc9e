"""What a filter says, as a tree; and the text of a tree, which parses to the same tree again."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from paddock.core.filter.fields import STUCK, TaskField, Values


class Operator(StrEnum):
    IS = "="
    IS_NOT = "!="
    BELOW = "<"
    AT_MOST = "<="
    ABOVE = ">"
    AT_LEAST = ">="

    @property
    def needs_order(self) -> bool:
        return self not in (Operator.IS, Operator.IS_NOT)


@dataclass(frozen=True, slots=True)
class WordPattern:
    """A word as typed; upper and lower case are the same. In a `wild` one, `*` is any text and `?` any character."""

    text: str
    wild: bool = False


@dataclass(frozen=True, slots=True)
class IdSpan:
    """Tasks by their numbers, both ends included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Quantity:
    """Seconds, dollars or a plain number, as its field says."""

    value: float


FilterValue: TypeAlias = WordPattern | IdSpan | Quantity


@dataclass(frozen=True, slots=True)
class Search:
    """Any of the words is found in one of the fields that tell of a task."""

    words: tuple[WordPattern, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One of the values fits; with `IS_NOT`, none does."""

    field: TaskField
    operator: Operator
    values: tuple[FilterValue, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    part: "Filter"


@dataclass(frozen=True, slots=True)
class Conjunction:
    """All parts hold; without any, everything matches."""

    parts: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    parts: tuple["Filter", ...]


Filter: TypeAlias = Search | Comparison | Negation | Conjunction | Disjunction

EVERYTHING = Conjunction(())
KEYWORDS = ("and", "or", "not")


def all_of(parts: Iterable[Filter]) -> Filter:
    """The parts joined by `and`; those that are joined so already are taken apart."""
    flat = [one for part in parts for one in (part.parts if isinstance(part, Conjunction) else (part,))]
    return flat[0] if len(flat) == 1 else Conjunction(tuple(flat))


def any_of(parts: Iterable[Filter]) -> Filter:
    """The same for `or`; at least one part."""
    flat = [one for part in parts for one in (part.parts if isinstance(part, Disjunction) else (part,))]
    return flat[0] if len(flat) == 1 else Disjunction(tuple(flat))


_PLAIN = re.compile(r"[\w./@+#][\w./@+#-]*")
_ID = re.compile(r"t[0-9].*", re.IGNORECASE)


def format_filter(tree: Filter) -> str:
    """Text that `parse_filter` makes the same tree of."""
    match tree:
        case Search(words):
            return ",".join(_format_word(word, alone=True) for word in words)
        case Comparison(field, operator, values):
            return f"{field.name}{operator}{','.join(_format_value(field, value) for value in values)}"
        case Negation(part):
            return f"not {_format_part(part)}"
        case Conjunction(parts):
            return " and ".join(_format_part(part) for part in parts)
        case Disjunction(parts):
            return " or ".join(_format_part(part) for part in parts)


def _format_part(part: Filter) -> str:
    text = format_filter(part)
    return f"({text})" if isinstance(part, Conjunction | Disjunction) else text


def _format_value(field: TaskField, value: FilterValue) -> str:
    match value:
        case WordPattern():
            return _format_word(value, alone=False)
        case IdSpan(first, last):
            return f"t{first}" if first == last else f"t{first}-t{last}"
        case Quantity(number) if field.values is Values.DURATION:
            milliseconds = round(number * 1000)
            return f"{milliseconds}ms" if milliseconds % 1000 else f"{milliseconds // 1000}s"
        case Quantity(number):
            return f"{number:.6f}".rstrip("0").rstrip(".")


def _format_word(word: WordPattern, *, alone: bool) -> str:
    """Quoted unless it is plain. A word that is `alone` must not be taken for an id or for a word of the language."""
    if word.wild:
        return word.text
    special = word.text.lower() in (*KEYWORDS, STUCK) or _ID.fullmatch(word.text) is not None
    if _PLAIN.fullmatch(word.text) and not (alone and special):
        return word.text
    escaped = word.text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

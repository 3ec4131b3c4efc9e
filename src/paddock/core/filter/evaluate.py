"""Whether something matches a filter: a task of the board, a row of a page, or whatever else has the fields.

A filter is made into a function once, and the function is called for each: nothing of the text is looked at again.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar, assert_never

from paddock.core.filter.fields import SEARCHED, Values
from paddock.core.filter.globs import matches_glob
from paddock.core.filter.tree import (
    Comparison,
    Conjunction,
    Disjunction,
    Filter,
    FilterValue,
    IdSpan,
    Negation,
    Operator,
    Quantity,
    Search,
    WordPattern,
)
from paddock.core.ids import TaskId, task_number

T = TypeVar("T")
Matches: TypeAlias = Callable[[T], bool]
_Fits: TypeAlias = Callable[[str], bool]

_BETWEEN = "\0"

_COMPARED: dict[Operator, Callable[[float, float], bool]] = {
    Operator.IS: operator.eq,
    Operator.IS_NOT: operator.eq,
    Operator.BELOW: operator.lt,
    Operator.AT_MOST: operator.le,
    Operator.ABOVE: operator.gt,
    Operator.AT_LEAST: operator.ge,
}


@dataclass(frozen=True, slots=True)
class FieldReaders(Generic[T]):
    """How the fields of one kind of thing are read: those in words, none of them empty, and those in numbers. A field
    that such a thing does not have is left out, and nothing is found in it."""

    words: Mapping[str, Callable[[T], Sequence[str]]]
    numbers: Mapping[str, Callable[[T], float | None]]


def compile_filter(tree: Filter, readers: FieldReaders[T]) -> Matches[T]:
    match tree:
        case Search(words):
            return _compile_search(words, readers)
        case Comparison():
            found = _compile_comparison(tree, readers)
            return _negated(found) if tree.operator is Operator.IS_NOT else found
        case Negation(part):
            return _negated(compile_filter(part, readers))
        case Conjunction(parts):
            tests = [compile_filter(part, readers) for part in parts]
            return lambda subject: all(test(subject) for test in tests)
        case Disjunction(parts):
            tests = [compile_filter(part, readers) for part in parts]
            return lambda subject: any(test(subject) for test in tests)
        case _:
            assert_never(tree)


def _negated(test: Matches[T]) -> Matches[T]:
    return lambda subject: not test(subject)


def _compile_search(words: tuple[WordPattern, ...], readers: FieldReaders[T]) -> Matches[T]:
    """Fields are looked through as one text, with a mark between them that no plain word has."""
    reads = [readers.words[name] for name in SEARCHED if name in readers.words]
    plain = [word.text.lower() for word in words if not word.wild and _BETWEEN not in word.text]
    others = [_contains(word) for word in words if word.wild or _BETWEEN in word.text]

    def matches(subject: T) -> bool:
        values: list[str] = []
        for read in reads:
            values += read(subject)
        text = _BETWEEN.join(values).lower()
        return any(word in text for word in plain) or any(test(value.lower()) for test in others for value in values)

    return matches


def _compile_comparison(tree: Comparison, readers: FieldReaders[T]) -> Matches[T]:
    if tree.field.values.is_amount:
        return _compile_amounts(tree, readers)
    read = readers.words.get(tree.field.name, _read_nothing)
    lacks = any(isinstance(value, WordPattern) and not value.text for value in tree.values)
    tests = [_fit(tree, value) for value in tree.values]

    def matches(subject: T) -> bool:
        values = read(subject)
        return any(test(value.lower()) for value in values for test in tests) if values else lacks

    return matches


def _compile_amounts(tree: Comparison, readers: FieldReaders[T]) -> Matches[T]:
    read = readers.numbers.get(tree.field.name, _read_no_number)
    compared = _COMPARED[tree.operator]
    amounts = [value.value for value in tree.values if isinstance(value, Quantity)]
    lacks = len(amounts) < len(tree.values)

    def matches(subject: T) -> bool:
        number = read(subject)
        return lacks if number is None else any(compared(number, amount) for amount in amounts)

    return matches


def _read_nothing(_: object) -> Sequence[str]:
    return ()


def _read_no_number(_: object) -> float | None:
    return None


def _fit(tree: Comparison, value: FilterValue) -> _Fits:
    match value:
        case IdSpan(first, last) if tree.operator.needs_order:
            compared = _COMPARED[tree.operator]
            return lambda name: compared(task_number(TaskId(name)), first)
        case IdSpan(first, last):
            return lambda name: first <= task_number(TaskId(name)) <= last
        case WordPattern() if tree.field.values is Values.TEXT and not value.wild and value.text:
            return _contains(value)
        case WordPattern(text, wild):
            wanted = text.lower()
            return (lambda word: matches_glob(wanted, word)) if wild else (lambda word: word == wanted)
        case _:
            return lambda _: False


def _contains(word: WordPattern) -> _Fits:
    wanted = word.text.lower()
    return (lambda value: matches_glob(f"*{wanted}*", value)) if word.wild else (lambda value: wanted in value)

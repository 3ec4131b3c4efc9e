"""Filters of every kind for properties, and one obvious way to evaluate them."""

from collections.abc import Mapping
from fnmatch import translate
from re import DOTALL, fullmatch

from hypothesis import strategies as st

from paddock.core.filter.fields import FIELDS, SEARCHED, TaskField, Values
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
    all_of,
    any_of,
)

ORDERS = [operator for operator in Operator if operator.needs_order]
EQUAL = [Operator.IS, Operator.IS_NOT]
_wild = st.from_regex(r"[a-z0-9_/]{0,3}[*?][a-z0-9_/*?-]{0,4}", fullmatch=True).map(
    lambda text: WordPattern(text, True)
)
_literal = st.text(max_size=6).map(WordPattern)
_searched = st.text(min_size=1, max_size=6).map(WordPattern)
_spans = st.tuples(st.integers(1, 30), st.integers(0, 9)).map(lambda pair: IdSpan(pair[0], sum(pair)))
_amounts = {
    Values.DURATION: st.integers(0, 86_400_000).map(lambda number: Quantity(number / 1000)),
    Values.MONEY: st.integers(0, 10**9).map(lambda number: Quantity(number / 10**6)),
    Values.NUMBER: st.integers(-1000, 1000).map(lambda number: Quantity(float(number))),
}


def _values(field: TaskField) -> st.SearchStrategy[FilterValue]:
    match field.values:
        case Values.CHOICE:
            known = st.sampled_from(field.choices).map(WordPattern)
            starts = st.sampled_from(field.choices).map(lambda word: WordPattern(f"{word[:2]}*", True))
            return known | starts | (st.just(WordPattern("")) if field.may_lack else st.nothing())
        case Values.IDS:
            return _spans | st.just(WordPattern("t1*", True))
        case Values.NAME:
            return _literal | _wild
        case Values.TEXT:
            return _wild | _searched
        case kind:
            return _amounts[kind] | (st.just(WordPattern("")) if field.may_lack else st.nothing())


@st.composite
def comparisons(draw: st.DrawFn) -> Filter:
    field = draw(st.sampled_from(list(FIELDS.values())))
    ordered = field.values is Values.DURATION or (field.values.has_order and draw(st.booleans()))
    if not ordered:
        values = draw(st.lists(_values(field), min_size=1, max_size=3))
        return Comparison(field, draw(st.sampled_from(EQUAL)), tuple(values))
    number = draw(st.integers(1, 30))
    bound: FilterValue = IdSpan(number, number) if field.values is Values.IDS else draw(_amounts[field.values])
    return Comparison(field, draw(st.sampled_from(ORDERS)), (bound,))


_leaves = comparisons() | st.lists(_searched | _wild, min_size=1, max_size=3).map(lambda words: Search(tuple(words)))


def _grow(parts: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(parts, min_size=2, max_size=3)
    return several.map(all_of) | several.map(any_of) | parts.map(Negation)


trees: st.SearchStrategy[Filter] = st.recursive(_leaves, _grow, max_leaves=8)


def naively(tree: Filter, told: Mapping[str, list[str] | float | None]) -> bool:
    """`told` has a list of words or a number for each field."""
    match tree:
        case Conjunction(parts):
            return False not in [naively(part, told) for part in parts]
        case Disjunction(parts):
            return True in [naively(part, told) for part in parts]
        case Negation(part):
            return not naively(part, told)
        case Search(words):
            values = [one for name in SEARCHED for one in told.get(name) or [] if isinstance(one, str)]  # type: ignore[union-attr]
            return any(_found(word, value, anywhere=True) for word in words for value in values)
        case Comparison(field, operator, values):
            if operator is Operator.IS_NOT:
                return not naively(Comparison(field, Operator.IS, values), told)
            return any(_compare(field, operator, value, told[field.name]) for value in values)


def _compare(field: TaskField, operator: Operator, value: FilterValue, told: list[str] | float | None) -> bool:
    match value:
        case WordPattern(""):
            return told in (None, [])
        case WordPattern():
            assert isinstance(told, list)
            anywhere = field.values is Values.TEXT and not value.wild
            return any(_found(value, one, anywhere=anywhere) for one in told)
        case IdSpan(first, last):
            assert isinstance(told, list)
            numbers = [int(one[1:]) for one in told]
            if operator is Operator.IS:
                return any(number in range(first, last + 1) for number in numbers)
            return any(_order(operator, number, first) for number in numbers)
        case Quantity(number):
            assert not isinstance(told, list)
            return told is not None and _order(operator, told, number)


def _order(operator: Operator, left: float, right: float) -> bool:
    holds = {"=": left == right, "<": left < right, ">": left > right}
    return any(holds[mark] for mark in operator.value)


def _found(word: WordPattern, text: str, *, anywhere: bool) -> bool:
    wanted, text = word.text.lower(), text.lower()
    if not word.wild:
        return wanted in text if anywhere else wanted == text
    pattern = f"*{wanted}*" if anywhere else wanted
    return fullmatch(translate(pattern.replace("[", "[[]")), text, DOTALL) is not None

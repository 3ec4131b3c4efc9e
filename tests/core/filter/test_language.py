"""One filter language: what is typed is understood, or refused with a caret under the spot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.columns import columns
from paddock.core.filter.errors import FilterError
from paddock.core.filter.evaluate import FieldReaders, compile_filter
from paddock.core.filter.fields import FIELDS, SYNONYMS, Values
from paddock.core.filter.globs import matches_glob
from paddock.core.filter.parser import MOST_CHARACTERS, MOST_DEPTH, parse_filter
from paddock.core.filter.tree import (
    Comparison,
    Conjunction,
    Disjunction,
    Filter,
    Negation,
    all_of,
    any_of,
    format_filter,
)
from tests.core.filter.trees import naively, trees

Told = dict[str, list[str] | float | None]

_words = st.lists(st.text("abt1*?/_ÄäB", min_size=1, max_size=4), max_size=2)
_told: dict[Values, st.SearchStrategy[list[str] | float | None]] = {
    Values.NAME: _words,
    Values.TEXT: _words,
    Values.IDS: st.lists(st.integers(1, 30).map(lambda number: f"t{number}"), max_size=2),
    Values.DURATION: st.floats(0, 90_000),
    Values.MONEY: st.none() | st.integers(0, 20).map(float),
    Values.NUMBER: st.integers(-5, 5).map(float),
}
_things: st.SearchStrategy[Told] = st.fixed_dictionaries(
    {
        field.name: st.lists(st.sampled_from(field.choices), max_size=1) if field.choices else _told[field.values]
        for field in FIELDS.values()
    }
)
READERS: FieldReaders[Told] = FieldReaders(
    words={name: lambda told, name=name: told[name] for name, one in FIELDS.items() if not one.values.is_amount},  # type: ignore[misc]
    numbers={name: lambda told, name=name: told[name] for name, one in FIELDS.items() if one.values.is_amount},  # type: ignore[misc]
)


def matches(tree: Filter, told: Told) -> bool:
    return compile_filter(tree, READERS)(told)


@given(trees)
def test_the_text_of_a_filter_says_the_same_again(tree: Filter) -> None:
    assert parse_filter(format_filter(tree)) == tree


@given(trees, _things)
def test_evaluation_agrees_with_the_obvious_way(tree: Filter, told: Told) -> None:
    assert matches(tree, told) == naively(tree, told)


@given(trees, trees, trees, _things)
def test_and_or_and_not_obey_the_laws_of_logic(one: Filter, two: Filter, three: Filter, told: Told) -> None:
    def same(left: Filter, right: Filter) -> None:
        assert matches(left, told) == matches(right, told)

    same(Negation(Conjunction((one, two))), Disjunction((Negation(one), Negation(two))))
    same(Negation(Disjunction((one, two))), Conjunction((Negation(one), Negation(two))))
    same(Negation(Negation(one)), one)
    same(all_of([one, any_of([two, three])]), any_of([all_of([one, two]), all_of([one, three])]))
    assert matches(any_of([one, Negation(one)]), told)


_marks = [
    '"',
    "'",
    "(",
    ")",
    "-",
    ",",
    "=",
    "!=",
    "<",
    ">=",
    ":",
    " and ",
    " or ",
    "not ",
    " ",
    "\n",
    "\x1b",
    "\\",
    "*",
]
_bits = ["phase", "age", "cost", "id", "2h", "$1", "ready", "stuck", "t3-t9", "漢", "e\u0301", "\u202e", "\ud800", "&&"]
_pieces = st.sampled_from([*_marks, *_bits])


def refusal_of(text: str) -> FilterError | None:
    try:
        parse_filter(text)
    except FilterError as error:
        return error
    return None


@given(st.text(max_size=40) | st.lists(_pieces, max_size=14).map("".join))
def test_any_text_is_a_filter_or_an_error_that_shows_where(text: str) -> None:
    error = refusal_of(text)
    if error is None:
        tree = parse_filter(text)
        assert parse_filter(format_filter(tree)) == tree
        return
    assert 0 <= error.start <= len(text)
    assert error.start < error.end
    problem, blank, line, caret = error.message.rsplit("\n", 3)
    assert problem.isprintable()
    assert blank == ""
    assert line.isprintable()
    assert set(caret.strip()) == {"^"}
    assert columns(line) <= 160
    assert len(caret) <= columns(line) + 1
    assert error.exit_code == 2


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("phase:ready,running", "phase=ready,running"),
        ("phase = ready , running", "phase=ready,running"),
        ("PHASE=Ready AND agent=x", "phase=Ready and agent=x"),
        ("a b -c", "a and b and not c"),
        ("-(a or b)", "not (a or b)"),
        ("not a b", "(not a) and b"),
        ("a or b and c", "a or (b and c)"),
        ("(a or (b or c))", "a or b or c"),
        ("t3-t9,T12", "id=t3-t9,t12"),
        ("t3..9", "id=t3-t9"),
        ("id:t4.2", "id=t4"),
        ("t3,parser", "id=t3 or parser"),
        ("stuck", "stuck=*"),
        ("-stuck", "not stuck=*"),
        ("title='fix \"it\"'", r'title="fix \"it\""'),
        ("age>1h30m", "age>5400s"),
        ("cost>$2", "cost>2.00"),
        ("label=or", 'label="or"'),
        ("model=a:b=c", 'model="a:b=c"'),
        ("priority>-1", "priority > -1"),
        ("don't", '"don\'t"'),
        ("a\n\tand b", "a and b"),
    ],
)
def test_one_thing_can_be_said_in_several_ways(text: str, same: str) -> None:
    assert parse_filter(text) == parse_filter(same)


@pytest.mark.parametrize(
    ("text", "problem", "spot"),
    [
        ("phase=bloked and x", "there is no phase `bloked`", "bloked"),
        ("a phasse=done", "there is no field `phasse`", "phasse"),
        ("outcome=zz*", "no outcome matches `zz*`", "zz*"),
        ("http://x", "there is no field `http`", "http"),
        ('"phase"=done', "the name of a field is not quoted", '"phase"'),
        ("=done", "a field must stand before `=`", "="),
        ("phase==done", "`==` is not a comparison", "=="),
        ("phase<done", "phase has no order", "<"),
        ("age=2h", "age is hardly ever an exact time", "="),
        ("age>2", "`2` is not a duration; write it like `90s`, `10m` or `1h30m`", "2"),
        ("cost>much", "`much` is not an amount of dollars", "much"),
        ("priority>1.5", "`1.5` is not a whole number", "1.5"),
        ("cost>1,2", "only = and != take several values", "2"),
        ("cost>''", "cost must be compared with one amount", "''"),
        ("id>t3-t4", "id must be compared with one task", "t3-t4"),
        ("id=t9-t3", "`t9-t3` is not a range: t9 comes after t3", "t9-t3"),
        ("id=x", "`x` is not a task id", "x"),
        ("phase=''", "every task has a phase", "''"),
        ("convoy= and x", "a value must follow `=`", "a"),
        ("phase=ready,", "a value must follow `,`", ""),
        ("a,!=b", "a value must follow `,`", "!"),
        ("a,<b", "a value must follow `,`", "<"),
        ("a or", "something must follow `or`", ""),
        ("not", "something must follow `not`", ""),
        ("a - b", "something must follow `-`", "-"),
        ("or a", "something must stand before `or`", "or"),
        ("(a or b", "this `(` is not closed", "("),
        ("a)", "this `)` closes nothing", ")"),
        ("()", "nothing stands inside the parentheses", ")"),
        ('say "no', "this quote is not closed", '"'),
        ('a"b"', "a quote must not stand inside a word", '"'),
        ('"a"b', "a blank must follow the quote", "b"),
        ('""', "an empty text is found everywhere", '""'),
        ("a && b", "`&&` is not a word of filters", "&&"),
        (",", "`,` stands alone", ","),
        ("(" * 60 + "a", "the filter is nested too deeply", "("),
        ("-" * 60 + "a", "the filter is nested too deeply", "-"),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, problem: str, spot: str) -> None:
    with pytest.raises(FilterError) as refused:
        parse_filter(text)
    assert refused.value.problem == problem
    assert text[refused.value.start : refused.value.end] == spot


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("phase=bloked", "did you mean `blocked`?"),
        ("agnet=x", "did you mean `agent`?"),
        ("status=done", "did you mean `phase`?"),
        ("role=reviewer", "did you mean `review`?"),
        ("outcome=crash", "did you mean `crashed`?"),
        ("zzz=1", "fields: id, title, phase,"),
        ("convoy=", '`convoy=""` finds tasks without one'),
    ],
)
def test_a_mistake_comes_with_what_was_probably_meant(text: str, hint: str) -> None:
    with pytest.raises(FilterError) as refused:
        parse_filter(text)
    assert str(refused.value.hint).startswith(hint)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("agent=fixer and phase=bloked", ["agent=fixer and phase=bloked", "                      ^^^^^^"]),
        ("日本 phase=漢字 x", ["日本 phase=漢字 x", "           ^^^^"]),
        ("e\u0301 phase=x", ["e\u0301 phase=x", "        ^"]),
        ("a\nphase=x\nb", ["phase=x", "      ^"]),
        ("\x1b[2J\tphase=\x07", ["�[2J phase=�", "           ^"]),
        ("a or", ["a or", "    ^"]),
        ("x" * 100 + " phase=y " + "z" * 100, [f"…{'x' * 52} phase=y {'z' * 28}…", " " * 60 + "^"]),
        ("phase=" + "y" * 100, ["phase=" + "y" * 59 + "…", "      " + "^" * 60]),
    ],
)
def test_a_caret_stands_under_the_spot_whatever_the_text(text: str, shown: list[str]) -> None:
    with pytest.raises(FilterError) as refused:
        parse_filter(text)
    assert refused.value.message.split("\n")[2:] == [f"    {line}" for line in shown]


def test_a_filter_has_a_bound_in_length_and_depth() -> None:
    parse_filter("a " * (MOST_CHARACTERS // 2))
    with pytest.raises(FilterError, match="the limit is 2,000"):
        parse_filter("a" * (MOST_CHARACTERS + 1))
    parse_filter("(" * MOST_DEPTH + "a" + ")" * MOST_DEPTH)


def test_an_empty_filter_matches_everything() -> None:
    assert matches(parse_filter("  \n "), {})


def test_no_pattern_takes_long() -> None:
    assert not matches_glob("*a" * 500 + "b", "a" * 20_000)


def test_what_people_call_a_field_elsewhere_is_a_field() -> None:
    assert set(SYNONYMS.values()) <= FIELDS.keys()
    assert not SYNONYMS.keys() & FIELDS.keys()


def test_the_example_of_each_field_is_a_filter_about_it() -> None:
    for field in FIELDS.values():
        tree = parse_filter(field.example)
        assert isinstance(tree, Comparison)
        assert tree.field is field

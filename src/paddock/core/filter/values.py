"""What a field is compared with: checked where it is typed, so that evaluation cannot fail."""

import re

from paddock.core.durations import parse_duration
from paddock.core.errors import Misuse
from paddock.core.filter.errors import FilterError
from paddock.core.filter.fields import TaskField, Values
from paddock.core.filter.globs import matches_glob
from paddock.core.filter.scanner import FilterWord
from paddock.core.filter.tree import FilterValue, IdSpan, Quantity, WordPattern
from paddock.core.ids import parse_task_span, printable
from paddock.core.wording import nearest

_MONEY = re.compile(r"\$?([0-9]{1,9}(?:\.[0-9]{1,6})?)")
_WHOLE = re.compile(r"-?[0-9]{1,9}")
_IDS = re.compile(r"t[1-9][0-9]{0,8}(?:\.[1-9][0-9]{0,5}|(?:-|\.\.)t?[1-9][0-9]{0,8})?")


def looks_like_ids(word: FilterWord) -> bool:
    """Whether a word without a field names tasks: `t3`, `t3-t9`."""
    return not word.quoted and _IDS.fullmatch(word.text.lower()) is not None


def read_pattern(word: FilterWord) -> WordPattern:
    return WordPattern(word.text, wild=not word.quoted and any(mark in word.text for mark in "*?"))


def read_value(field: TaskField, word: FilterWord, text: str) -> FilterValue:
    """Raises FilterError at the word."""
    pattern = read_pattern(word)
    if not word.text:
        if not field.may_lack:
            raise _error(f"every task has {_with_article(field)}", word, text)
        return pattern
    match field.values:
        case Values.CHOICE:
            _check_choice(field, pattern, word, text)
            return pattern
        case Values.IDS:
            return pattern if pattern.wild else read_ids(word, text)
        case Values.DURATION | Values.MONEY | Values.NUMBER:
            return Quantity(_read_amount(field, word, text))
        case _:
            return pattern


def read_ids(word: FilterWord, text: str) -> IdSpan:
    try:
        return IdSpan(*parse_task_span(word.text))
    except Misuse as error:
        raise _error(error.message, word, text, error.hint) from None


def _check_choice(field: TaskField, pattern: WordPattern, word: FilterWord, text: str) -> None:
    wanted = pattern.text.lower()
    if wanted in field.choices or (pattern.wild and any(matches_glob(wanted, one) for one in field.choices)):
        return
    near = None if pattern.wild else nearest(wanted, field.choices)
    known = f"{field.name} is one of {', '.join(field.choices)}"
    said = printable(pattern.text, 40)
    problem = f"no {field.name} matches `{said}`" if pattern.wild else f"there is no {field.name} `{said}`"
    raise _error(problem, word, text, f"did you mean `{near}`? {known}" if near else known)


def _read_amount(field: TaskField, word: FilterWord, text: str) -> float:
    said = printable(word.text, 40)
    if field.values is Values.DURATION:
        try:
            return round(parse_duration(word.text) * 1000) / 1000
        except ValueError as error:
            raise _error(str(error).replace(word.text, said), word, text) from None
    if field.values is Values.MONEY:
        if (found := _MONEY.fullmatch(word.text)) is None:
            raise _error(f"`{said}` is not an amount of dollars", word, text, "write it like `1.50` or `$2`")
        return float(found[1])
    if _WHOLE.fullmatch(word.text) is None:
        raise _error(f"`{said}` is not a whole number", word, text, f"write it like `{field.example}`")
    return float(word.text)


def _with_article(field: TaskField) -> str:
    return f"{'an' if field.name[0] in 'aeiou' else 'a'} {field.name}"


def _error(problem: str, word: FilterWord, text: str, hint: str | None = None) -> FilterError:
    return FilterError(problem, text, word.start, word.end, hint)

"""One search over tasks, the same for every edge; the browser's `lib/filter.js` does it with its own rows.

Words are divided by blanks, and quotes keep blanks together. Every word has to be found, in whatever case, somewhere in
one of the fields that tell of a task. `phase:running` looks at one field alone, which then is exactly that, or one of
several (`phase:ready,running`); `stuck` finds what looks stuck, and a minus in front turns a word round.
"""

import re
from collections.abc import Callable, Iterable

from paddock.views.board.rows import TaskRow

FIELDS = ("phase", "agent", "engine", "model", "convoy", "kind", "need", "id", "after")
SEARCHED = ("id", "title", "agent", "engine", "convoy", "reason", "step", "stuck", "phase", "need")
_WORD = re.compile(r'-?(?:[A-Za-z0-9_]+:)?"[^"]*"?|\S+')
Test = Callable[[TaskRow], bool]


def search_rows(rows: Iterable[TaskRow], text: str) -> list[TaskRow]:
    """Those that match, in their order; all for an empty text."""
    test = match_of(text)
    return [row for row in rows if test(row)]


def match_of(text: str) -> Test:
    """Whether a row matches."""
    tests = [_word_test(word) for word in words_of(text)]
    return lambda row: all(test(row) for test in tests)


def words_of(text: str) -> list[str]:
    words = (word.replace('"', "").lower() for word in _WORD.findall(text))
    return [word for word in words if word not in ("", "-")]


def _word_test(word: str) -> Test:
    if word.startswith("-") and len(word) > 1:
        test = _word_test(word[1:])
        return lambda row: not test(row)
    field, colon, wanted = word.partition(":")
    if colon and field in FIELDS:
        names = wanted.split(",")
        return lambda row: any(value in names for value in _values(row, field))
    if word == "stuck":
        return lambda row: bool(row.stuck)
    return lambda row: any(word in value for field in SEARCHED for value in _values(row, field))


def _values(row: TaskRow, field: str) -> list[str]:
    found = getattr(row, field)
    values = found if isinstance(found, tuple) else (found,)
    return ["" if value is None else str(value).lower() for value in values]

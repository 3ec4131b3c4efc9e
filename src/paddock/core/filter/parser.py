"""The one filter language: text in, a tree or an error with its place out.

    filter = either, or nothing, which matches everything
    either = both { "or" both }
    both   = part { [ "and" ] part }
    part   = "not" part | "-" part | "(" either ")" | field operator values | words
    words  = value { "," value }        tasks, where they are ids or ranges; else text to look for

docs/reference/filter.md has it for people. The browser's `lib/filter` reads the same language.
"""

from paddock.core.filter.errors import FilterError
from paddock.core.filter.fields import FIELDS, STUCK, SYNONYMS, TaskField, Values
from paddock.core.filter.scanner import BLANKS, FilterScanner, FilterWord
from paddock.core.filter.tree import (
    EVERYTHING,
    KEYWORDS,
    Comparison,
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
from paddock.core.filter.values import looks_like_ids, read_ids, read_pattern, read_value
from paddock.core.ids import printable
from paddock.core.wording import nearest

MOST_CHARACTERS = 2_000
MOST_DEPTH = 40

_OTHER_LANGUAGES = {"&&": "and", "&": "and", "||": "or", "|": "or", "!": "not"}
_ENDS_KEYWORD = ("", "(", ")", '"', "'", *BLANKS)
_QUOTE_IT = 'to look for it as text, quote it: `"…"`'


def parse_filter(text: str) -> Filter:
    """Raises FilterError, and nothing else, whatever the text."""
    if len(text) > MOST_CHARACTERS:
        problem = f"the filter has {len(text):,} characters; the limit is {MOST_CHARACTERS:,}"
        raise FilterError(problem, text, MOST_CHARACTERS, MOST_CHARACTERS + 1)
    return _FilterParser(text).parse()


class _FilterParser:
    def __init__(self, text: str) -> None:
        self.scanner = FilterScanner(text)
        self.before = ""
        """The mark or keyword that wants something behind it; empty where nothing does."""

    def parse(self) -> Filter:
        self.scanner.skip_blanks()
        if not self.scanner.here:
            return EVERYTHING
        tree = self._either(0)
        if self.scanner.here:
            raise self._error_here("this `)` closes nothing")
        return tree

    def _either(self, depth: int) -> Filter:
        parts = [self._both(depth)]
        while self._take_keyword("or"):
            parts.append(self._both(depth))
        return any_of(parts)

    def _both(self, depth: int) -> Filter:
        parts = [self._part(depth)]
        while not self._both_ends():
            self._take_keyword("and")
            parts.append(self._part(depth))
        return all_of(parts)

    def _both_ends(self) -> bool:
        self.scanner.skip_blanks()
        return self.scanner.here in ("", ")") or self._peek_keyword() == "or"

    def _part(self, depth: int) -> Filter:
        scanner = self.scanner
        scanner.skip_blanks()
        if depth > MOST_DEPTH:
            raise self._error_here("the filter is nested too deeply", f"at most {MOST_DEPTH} levels are read")
        if scanner.here in ("", ")"):
            raise self._missing()
        start = scanner.at
        if scanner.take("("):
            return self._inside(start, depth)
        if self._take_keyword("not"):
            return Negation(self._part(depth + 1))
        if scanner.here == "-":
            scanner.at += 1
            self.before = "-"
            if scanner.here in ("", *BLANKS):
                raise scanner.error("something must follow `-`", start, start + 1, "`-word` is what has no `word`")
            return Negation(self._part(depth + 1))
        return self._term()

    def _inside(self, opened: int, depth: int) -> Filter:
        self.before = "("
        inside = self._either(depth + 1)
        if not self.scanner.take(")"):
            raise self.scanner.error("this `(` is not closed", opened, opened + 1)
        self.before = ""
        return inside

    def _term(self) -> Filter:
        scanner = self.scanner
        if operator := scanner.peek_operator():
            raise self._error_here(f"a field must stand before `{operator}`", _list_fields(), len(operator))
        if keyword := self._peek_keyword():
            raise self._error_here(f"something must stand before `{keyword}`", _QUOTE_IT, len(keyword))
        word = scanner.read_word(is_value=False)
        if not word.text and not word.quoted:
            raise self._error_here(f"`{printable(scanner.here, 1)}` stands alone", _QUOTE_IT)
        self.before = ""
        if operator := scanner.peek_operator():
            return self._comparison(word, operator)
        if not word.quoted and (meant := _OTHER_LANGUAGES.get(word.text)):
            raise scanner.error(f"`{word.text}` is not a word of filters", word.start, word.end, f"write `{meant}`")
        return _search([word, *self._more_words()], scanner.text)

    def _more_words(self) -> list[FilterWord]:
        words = []
        while self.scanner.take(","):
            words.append(self._value(",", is_value=False))
        return words

    def _more_values(self) -> list[FilterWord]:
        words = []
        while self.scanner.take(","):
            words.append(self._value(","))
        return words

    def _comparison(self, name: FilterWord, typed: str) -> Filter:
        field = self._field(name)
        start = self.scanner.at
        operator = Operator.IS if typed == ":" else Operator(typed)
        self.scanner.at += len(typed)
        if self.scanner.here and self.scanner.here in "=<>":
            end = self.scanner.at + 1
            marks = self.scanner.text[start:end]
            raise self.scanner.error(f"`{marks}` is not a comparison", start, end, "write one of = != < <= > >=")
        if operator.needs_order and not field.values.has_order:
            hint = f"{field.name} is {field.values.value}: use = or !="
            raise self.scanner.error(f"{field.name} has no order", start, start + len(typed), hint)
        if not operator.needs_order and field.values is Values.DURATION:
            hint = f"ask for more or less: `{field.example}`"
            raise self.scanner.error(f"{field.name} is hardly ever an exact time", start, start + len(typed), hint)
        words = [self._value(typed, field), *self._more_values()]
        values = tuple(read_value(field, word, self.scanner.text) for word in words)
        if operator.needs_order:
            self._check_bound(field, words, values)
        return Comparison(field, operator, values)

    def _field(self, name: FilterWord) -> TaskField:
        if not name.quoted and (field := FIELDS.get(name.text.lower())) is not None:
            return field
        if name.quoted:
            problem = "the name of a field is not quoted"
        else:
            problem = f"there is no field `{printable(name.text, 40)}`"
        near = SYNONYMS.get(name.text.lower()) or nearest(name.text.lower(), FIELDS)
        hint = f"did you mean `{near}`? " if near else f"{_list_fields()}; "
        raise self.scanner.error(problem, name.start, name.end, f"{hint}{_QUOTE_IT}")

    def _value(self, before: str, field: TaskField | None = None, *, is_value: bool = True) -> FilterWord:
        """Keywords are values only where they stand right behind the mark: `phase= and …` lacks one."""
        glued = self.scanner.here not in ("", *BLANKS)
        self.scanner.skip_blanks()
        ends = ("", "(", ")", ",") if is_value else ("", "(", ")", ",", "-")
        is_compared = not is_value and bool(self.scanner.peek_operator())
        if self.scanner.here in ends or is_compared or (not glued and self._peek_keyword()):
            hint = f'`{field.name}=""` finds tasks without one' if field is not None and field.may_lack else None
            raise self._error_here(f"a value must follow `{before}`", hint)
        return self.scanner.read_word(is_value=is_value)

    def _check_bound(self, field: TaskField, words: list[FilterWord], values: tuple[FilterValue, ...]) -> None:
        if len(words) > 1:
            problem = "only = and != take several values"
            raise self.scanner.error(problem, words[1].start, words[-1].end, "join comparisons with `or`")
        value = values[0]
        is_one_task = isinstance(value, IdSpan) and value.first == value.last
        if not is_one_task and not isinstance(value, Quantity):
            what = "task" if field.values is Values.IDS else "amount"
            problem = f"{field.name} must be compared with one {what}"
            hint = f"write it like `{'id>=t10' if what == 'task' else field.example}`"
            raise self.scanner.error(problem, words[0].start, words[0].end, hint)

    def _peek_keyword(self) -> str:
        """A keyword that comes next, and is not the name of a field that is compared."""
        scanner = self.scanner
        scanner.skip_blanks()
        for keyword in KEYWORDS:
            end = scanner.at + len(keyword)
            if scanner.text[scanner.at : end].lower() == keyword and scanner.text[end : end + 1] in _ENDS_KEYWORD:
                return keyword
        return ""

    def _take_keyword(self, wanted: str) -> bool:
        if self._peek_keyword() != wanted:
            return False
        self.scanner.at += len(wanted)
        self.before = wanted
        return True

    def _missing(self) -> FilterError:
        if self.before == "(" and self.scanner.here == ")":
            return self._error_here("nothing stands inside the parentheses", _QUOTE_IT)
        if not self.before:
            return self._error_here("this `)` closes nothing")
        return self._error_here(f"something must follow `{self.before}`")

    def _error_here(self, problem: str, hint: str | None = None, length: int = 1) -> FilterError:
        return self.scanner.error(problem, self.scanner.at, self.scanner.at + length, hint)


def _search(words: list[FilterWord], text: str) -> Filter:
    """Ids among the words are tasks; `stuck` alone is a test of its own."""
    if empty := next((word for word in words if not word.text), None):
        raise FilterError("an empty text is found everywhere", text, empty.start, empty.end, "say what to look for")
    if len(words) == 1 and not words[0].quoted and words[0].text.lower() == STUCK:
        return Comparison(FIELDS[STUCK], Operator.IS, (WordPattern("*", wild=True),))
    spans = tuple(read_ids(word, text) for word in words if looks_like_ids(word))
    others = tuple(read_pattern(word) for word in words if not looks_like_ids(word))
    parts: list[Filter] = [Comparison(FIELDS["id"], Operator.IS, spans)] if spans else []
    return any_of([*parts, Search(others)] if others else parts)


def _list_fields() -> str:
    return f"fields: {', '.join(FIELDS)}"

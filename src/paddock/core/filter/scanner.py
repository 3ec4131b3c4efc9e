"""The words and marks of a filter, with their places in the text."""

from dataclasses import dataclass

from paddock.core.filter.errors import FilterError

BLANKS = " \t\n\v\f\r\u00a0\u3000"
OPERATORS = ("!=", "<=", ">=", "=", "<", ">", ":")
_ENDS_VALUE = frozenset(BLANKS + "(),")
_ENDS_WORD = _ENDS_VALUE | frozenset("=<>:")
_QUOTES = "\"'"


@dataclass(frozen=True, slots=True)
class FilterWord:
    """`start` and `end` are those of all that was typed, quotes included."""

    text: str
    start: int
    end: int
    quoted: bool = False


class FilterScanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def here(self) -> str:
        """The next character; empty at the end."""
        return self.text[self.at : self.at + 1]

    def skip_blanks(self) -> None:
        while self.here and self.here in BLANKS:
            self.at += 1

    def take(self, mark: str) -> bool:
        """Whether it comes next, blanks aside; then it is passed."""
        self.skip_blanks()
        found = self.here == mark
        self.at += found
        return found

    def peek_operator(self) -> str:
        """The one that comes next, blanks aside; empty if none does."""
        self.skip_blanks()
        return next((one for one in OPERATORS if self.text.startswith(one, self.at)), "")

    def read_word(self, *, is_value: bool) -> FilterWord:
        """The word that starts here; it is empty where none does. Only a value may have marks of the language in it."""
        if self.here and self.here in _QUOTES:
            return self._read_quoted(self.here)
        start = self.at
        while self.here and not self._ends(is_value=is_value):
            self.at += 1
        if self.here == '"':
            raise self.error(
                "a quote must not stand inside a word",
                self.at,
                self.at + 1,
                "quote the whole word, or put a blank between",
            )
        return FilterWord(self.text[start : self.at], start, self.at)

    def _ends(self, *, is_value: bool) -> bool:
        if self.here == '"':
            return True
        if is_value:
            return self.here in _ENDS_VALUE
        return self.here in _ENDS_WORD or self.text.startswith("!=", self.at)

    def _read_quoted(self, quote: str) -> FilterWord:
        """A backslash in front of a quote or of another backslash takes its meaning away."""
        start, letters = self.at, []
        self.at += 1
        while self.here != quote:
            if not self.here:
                raise self.error("this quote is not closed", start, start + 1, f"close it with {quote}")
            if self.here == "\\" and self.text[self.at + 1 : self.at + 2] in ("\\", '"', "'"):
                self.at += 1
            letters.append(self.here)
            self.at += 1
        self.at += 1
        if self.here and self.here not in _ENDS_WORD and not self.text.startswith("!=", self.at):
            raise self.error("a blank must follow the quote", self.at, self.at + 1)
        return FilterWord("".join(letters), start, self.at, quoted=True)

    def error(self, problem: str, start: int, end: int, hint: str | None = None) -> FilterError:
        return FilterError(problem, self.text, start, end, hint)

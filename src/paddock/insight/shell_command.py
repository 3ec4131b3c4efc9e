"""A shell command line as the commands in it: enough of a shell's grammar to see what is run, in linear time.

Nothing is expanded. What cannot be understood is a word like others, so that any text gives an answer.
"""

import re
from dataclasses import dataclass, replace

READ_CHARS = 6_000
MOST_COMMANDS = 40
MOST_WORDS = 80

# Each alternative consumes what it has looked at, so a text is walked once whatever is in it.
_TOKEN = re.compile(
    r"""
      (?P<blank>[ \t\r]+|\\\r?\n)
    | (?P<comment>\#[^\n]*)
    | (?P<here><<<?-?)
    | (?P<redirect>(?:[0-9]*|&)>>?[&|]?|[0-9]*<&?)
    | (?P<end>&&|\|\|?&?|;;?&?|&|\n|[()])
    | (?P<word>[^\s;&|<>()'"\\$`]+)
    | (?P<single>'[^']*'?)
    | (?P<double>"(?:[^"\\]|\\.)*"?)
    | (?P<escaped>\\.)
    | (?P<rest>.)
    """,
    re.VERBOSE | re.DOTALL,
)
# Words and nothing that a shell gives a meaning to: most commands are no more than that.
_PLAIN = re.compile(r"[\w \t./:=@%+,~^*?\[\]{}-]*\Z", re.ASCII)
_DOUBLE_ESCAPE = re.compile(r'\\(["\\$`\n])')


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """`writes` is the file that its output goes to, `appends` whether at its end. `document` is the text that the line
    itself gives it to read, None where there is none."""

    words: tuple[str, ...]
    writes: str = ""
    appends: bool = False
    document: str | None = None


class _CommandLine:
    """What has been read of a line so far."""

    def __init__(self) -> None:
        self.commands: list[ShellCommand] = []
        self.documents: list[tuple[str, int]] = []
        self.parts: list[str] = []
        self._begin()

    def _begin(self) -> None:
        self.words: list[str] = []
        self.awaits = ""
        self.writes = ""
        self.appends = False

    def end_word(self) -> None:
        if not self.parts:
            return
        word, self.parts = "".join(self.parts), []
        awaited, self.awaits = self.awaits, ""
        if awaited in ("<<", "<<-"):
            self.documents.append((word, len(self.commands)))
        elif ">" in awaited:
            if not awaited.startswith("2") and not awaited.endswith("&") and not word.startswith("/dev/"):
                self.writes, self.appends = word, ">>" in awaited
        elif not awaited and len(self.words) < MOST_WORDS:
            self.words.append(word)

    def end_command(self) -> None:
        self.end_word()
        if self.words or self.writes:
            self.commands.append(ShellCommand(tuple(self.words), self.writes, self.appends))
        self._begin()

    def take_documents(self, text: str, position: int) -> int:
        """Reads those that begin at this new line, and returns the place behind them."""
        for delimiter, command in self.documents:
            end = text.find(f"\n{delimiter}", position - 1)
            document = text[position:] if end < 0 else text[position : max(position, end)]
            position = len(text) if end < 0 else min(len(text), end + len(delimiter) + 1)
            if command < len(self.commands):
                self.commands[command] = replace(self.commands[command], document=document)
        self.documents = []
        return position


def split_commands(text: str) -> tuple[ShellCommand, ...]:
    """The commands of a line or script in their order, those of pipes and groups as well."""
    text = text[:READ_CHARS]
    if _PLAIN.match(text):
        words = text.split()
        return (ShellCommand(tuple(words[:MOST_WORDS])),) if words else ()
    line = _CommandLine()
    position = 0
    while len(line.commands) < MOST_COMMANDS and (token := _TOKEN.match(text, position)):
        kind, piece, position = token.lastgroup, token[0], token.end()
        if kind == "blank" or (kind == "comment" and not line.parts):
            line.end_word()
        elif kind in ("redirect", "here"):
            line.end_word()
            line.awaits = piece
        elif kind == "end":
            line.end_command()
            position = line.take_documents(text, position) if piece == "\n" else position
        else:
            if piece == "$" and text.startswith("(", position):
                position = _closing(text, position + 1)
                piece = text[token.start() : position]
            line.parts.append(_unquoted(kind, piece))
    line.end_command()
    return tuple(line.commands)


def _closing(text: str, position: int) -> int:
    """Behind the parenthesis that closes a substitution, or the end of the text."""
    depth = 1
    while position < len(text) and depth:
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
    return position


def _unquoted(kind: str | None, piece: str) -> str:
    match kind:
        case "single":
            return piece[1:].removesuffix("'")
        case "double":
            inner = piece[1:-1] if len(piece) > 1 and piece.endswith('"') else piece[1:]
            return _DOUBLE_ESCAPE.sub(r"\1", inner) if "\\" in inner else inner
        case "escaped":
            return piece[1:]
        case _:
            return piece

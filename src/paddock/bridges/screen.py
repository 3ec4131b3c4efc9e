"""What a terminal's screen shows: is the agent busy, does it ask something, is it ready for words?

A screen is never evidence that a message has arrived; it only tells what may be typed next.
"""

import re
from dataclasses import dataclass

from paddock.bridges.wording import core_of
from paddock.core.trace import RateLimited, clip
from paddock.engines.trouble import classify

DIALOG_LIMIT = 2_000
_BUSY = re.compile(r"\besc(?:ape)? to (?:interrupt|cancel the|stop)|ctrl[-+]c to (?:interrupt|stop)", re.IGNORECASE)
_MARKED = re.compile(r"^(?P<head>[\s│|]*[❯›▶>●○*]\s+)(?P<text>\S.*?)[\s│|]*$")
_NUMBER = re.compile(r"^\(?\d+[.)]\s+")
_HINT = re.compile(
    r"(?:enter|return|⏎|↵)\W+(?:to\s+)?(?:confirm|continue|select|submit|choose|accept|proceed)"
    r"|\besc(?:ape)?\W+(?:to\s+)?(?:cancel|exit|quit|reject|go back|deny|dismiss)",
    re.IGNORECASE,
)
_PRESS = re.compile(r"press (?:enter|return|any key)\b|\[(?P<yn>[yY]/[nN])\]|\((?P<yn2>[yY]/[nN])\)", re.IGNORECASE)
_PROMPT = re.compile(r"^[\s│|]*[❯›>](?:\s.*)?$")
_RETRY = re.compile(r"reconnecting|retrying|retry in", re.IGNORECASE)
_BLANK = re.compile(r"^[\s│|╭╮╰╯─━_▔▁]*$")


@dataclass(frozen=True, slots=True)
class Dialog:
    """`chosen` is the option that the terminal's mark is on; None where it has no marks and takes `keys`."""

    text: str
    options: tuple[str, ...]
    chosen: int | None = None
    keys: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The same for the same dialog, whichever option is marked."""
        return "\n".join((self.text, *self.options))


@dataclass(frozen=True, slots=True)
class PaneScreen:
    lines: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "PaneScreen":
        return cls(tuple(line.rstrip() for line in text.rstrip().splitlines()))

    @property
    def is_blank(self) -> bool:
        return not any(line.strip() for line in self.lines)

    @property
    def is_busy(self) -> bool:
        return any(_BUSY.search(line) for line in self.lines[-20:])

    @property
    def has_prompt(self) -> bool:
        return any(_PROMPT.match(line) for line in self.lines[-12:])

    @property
    def trouble(self) -> RateLimited | None:
        """Why a CLI says it calls its model again; it says so nowhere else."""
        for number, line in enumerate(self.lines[-20:], max(0, len(self.lines) - 20)):
            if _RETRY.search(line) and (found := classify(" ".join(self.lines[number : number + 2]).strip())):
                return found
        return None

    def shows(self, core: str) -> bool:
        """Whether the end of these words, or a sign for a long paste, is in the lower part of it."""
        return _has_end(self.lines[-25:], core)

    def input_shows(self, core: str) -> bool:
        """Whether they are still where words are typed: from the last sign for that on."""
        places = [at for at, line in enumerate(self.lines) if _PROMPT.match(line)]
        return _has_end(self.lines[places[-1] :] if places else self.lines[-6:], core)


def _has_end(lines: tuple[str, ...], core: str) -> bool:
    shown = core_of("".join(line.strip(" │|") for line in lines))
    return core[-24:] in shown or "[Pasted" in shown


def find_dialog(screen: PaneScreen) -> Dialog | None:
    """What the program waits for a person to choose, at the bottom of its screen."""
    hint = next((at for at in range(len(screen.lines) - 1, -1, -1) if _HINT.search(screen.lines[at])), None)
    if hint is not None and not _is_typed_below(screen, hint):
        marked = next((at for at in range(hint - 1, max(-1, hint - 30), -1) if _MARKED.match(screen.lines[at])), None)
        if marked is not None and (found := _options(screen.lines, marked, hint)) is not None:
            return found
        return Dialog(_text_above(screen.lines, hint + 1), ("Enter", "Escape"), keys=("Enter", "Escape"))
    return _plain_question(screen)


def _plain_question(screen: PaneScreen) -> Dialog | None:
    last = next((line for line in reversed(screen.lines) if line.strip()), "")
    found = _PRESS.search(last)
    if found is None or screen.is_busy:
        return None
    if found["yn"] or found["yn2"]:
        return Dialog(_text_above(screen.lines, len(screen.lines)), ("yes", "no"), keys=("y", "n"))
    return Dialog(_text_above(screen.lines, len(screen.lines)), ("Enter", "Escape"), keys=("Enter", "Escape"))


def _is_typed_below(screen: PaneScreen, hint: int) -> bool:
    """A place for words below: what looks like a dialog is then part of the conversation."""
    return any(_PROMPT.match(line) for line in screen.lines[hint + 1 :])


def _options(lines: tuple[str, ...], marked: int, hint: int) -> Dialog | None:
    mark = _MARKED.match(lines[marked])
    if mark is None or hint - marked > 30:
        return None
    column = len(mark["head"])
    first = marked
    while first > 0 and _belongs(lines[first - 1], column):
        first -= 1
    while first < marked and not _starts(lines[first], column):
        first += 1
    last = marked
    while last + 1 < hint and _belongs(lines[last + 1], column):
        last += 1
    rows = [at for at in range(first, last + 1) if at == marked or _starts(lines[at], column)]
    options = _told_apart([_NUMBER.sub("", lines[at][column:].strip(" │|")) for at in rows])
    if len(options) < 2:
        return None
    return Dialog(_text_above(lines, first), options, rows.index(marked))


def _told_apart(options: list[str]) -> tuple[str, ...]:
    """Each with a name of its own: whoever answers has only that to say which it is."""
    named: list[str] = []
    for number, option in enumerate(options, 1):
        named.append(f"{option} ({number})" if option in named else option)
    return tuple(named)


def _starts(line: str, column: int) -> bool:
    return not line[:column].strip(" │|") and bool(line[column : column + 1].strip())


def _belongs(line: str, column: int) -> bool:
    """An option, or more words about the one above."""
    return bool(line.strip()) and not line[:column].strip(" │|") and not _BLANK.match(line)


def _text_above(rows: tuple[str, ...], end: int) -> str:
    """The words of the dialog: up to a rule, or to the top."""
    taken: list[str] = []
    for line in reversed(rows[:end]):
        if taken and re.match(r"^[\s╭╮]*[─━▔═]{8,}", line):
            break
        if line.strip(" │|"):
            taken.append(line.strip(" │|"))
        if len(taken) >= 30:
            break
    if not taken:
        return ""
    lines = taken[::-1]
    asks = next((at for at in range(len(lines) - 1, 0, -1) if "?" in lines[at]), 0)
    # Where there is room for one line only, it is the question.
    return clip("\n".join((lines[asks], *lines[:asks], *lines[asks + 1 :])), DIALOG_LIMIT)

"""The window of a failed run: what the harness said, its last lines, its last failed steps, its last refused calls.

What only looks like an error is left out: commands as a terminal echoes them, frames of tracebacks, hints, attempts
that are tried again, and what is ticked off as done.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paddock.insight.failures.log_lines import STAMP, plain_line
from paddock.insight.failures.structured import texts_within
from paddock.insight.trace import KeptTrace, StepStatus

ERROR, OUTPUT, STEP, CALL = "error", "output", "step", "call"

LINE_CHARS = 4_000
CUT = " … "
FEW_LINES = 3
LATE_LINES = 15
CLOSING_LINES = 6
LAST_LINES = 2
WINDOW_LINES = 60
ERROR_LINES = 40
STEP_LINES = 6
NARROWEST_TERMINAL = 79
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_FRAME = "│┃║|╭╮╰╯├┤─━═╌❱×✖✗•*· \t"
_HINTS = (
    "hint:",
    "note:",
    "tip:",
    "help:",
    "see also",
    "[notice]",
    "npm notice",
    "if you ",
    "you can ",
    "try ",
)
_NOTHING = frozenset({"unset", "none", "null", "unknown", "n/a", "false", "error", "failed", "failure"})
_TRIED_AGAIN = (
    *("retrying", "will retry", "reconnecting", "trying again in"),
    *("resumed after", "recovered after", "succeeded after", "succeeded on attempt", "attempt 1/"),
)
_LAST_TRY = "retry(total=0"
_COMPARED = ("expected:", "received:", "actual:", "got:", "want:", "wanted:")
"""How test runners list what they wanted beside what they got."""
_PASSED = ("[ RUN ]", "[ OK ]", "--- PASS", "=== RUN", "PASS ", "ok ")
_ROUTINE = ("debconf: delaying", "debconf: unable to initialize", "warning: running pip as")
LAYER_ID = 12
SHORTEST_COMMIT, LONGEST_COMMIT = 7, 40
_HEX = frozenset("0123456789abcdef")
_DONE = ("✅", "✓", "✔", "☑")
_CODE = (
    "raise ",
    "except ",
    "except:",
    "return ",
    "def ",
    "class ",
    "import ",
    "from ",
    "if ",
    "elif ",
    "assert ",
    "throw ",
    "#",
)
_FRAMES = ('file "', "at ", "in <module>", "^^^", "~~~", "...<", "from /", "goroutine ", "stack backtrace")


@dataclass(frozen=True, slots=True)
class Line:
    """`where` is as in Evidence; `place` grows from the first of the window to the last. `is_word`: the harness says
    it in so few lines that each counts, whatever it says. `is_late`: not much came after it. `is_closing`: it is among
    the very last lines of the output, with which it ended."""

    text: str
    where: str
    place: int
    is_word: bool = False
    is_late: bool = True
    is_closing: bool = False

    @property
    def is_cut(self) -> bool:
        return CUT in self.text


def window_of(kept: KeptTrace, refused: Sequence[int] = ()) -> tuple[Line, ...]:
    """Steps first, then the output, then calls, and what the harness said last: it has seen the end. A terminal that
    stands where an error should is output."""
    error = kept.trace.error
    is_terminal = any(_is_shell(line.strip()) for line in error.splitlines())
    said = [line for line in _of_text(error, ERROR_LINES) if line.lower() not in _NOTHING]
    found = [(text, STEP) for text in _step_lines(kept)]
    found += [(text, OUTPUT) for text in _of_text(kept.trace.tail, WINDOW_LINES)]
    found += [(f"HTTP {status}", CALL) for status in refused[-3:]]
    found += [(text, OUTPUT if is_terminal else ERROR) for text in said]
    is_brief, late = len(said) <= FEW_LINES, len(found) - len(said) - LATE_LINES
    closing = max((place for place, (_, where) in enumerate(found) if where == OUTPUT), default=0) - CLOSING_LINES
    return tuple(
        Line(
            text,
            where,
            place,
            is_word=is_brief and where == ERROR,
            is_late=place >= late,
            is_closing=where == OUTPUT and place > closing,
        )
        for place, (text, where) in enumerate(found)
    )


def _step_lines(kept: KeptTrace) -> Iterator[str]:
    failed = (step for step in kept.closing if step.status is not StepStatus.OK and step.error)
    for step in failed:
        yield from _of_text(step.error, STEP_LINES)


def _of_text(text: str, most: int) -> list[str]:
    """The last lines, those that a terminal has broken put together again."""
    if not text:
        return []
    flat = [_flat(line) for line in _unbroken(texts_within(text)[-most:])]
    is_typed = any(map(_goes_on, flat)) and any(map(_is_prompt, flat))
    lines = [line.strip(_FRAME) for line in flat if not (is_typed and _goes_on(line))]
    kept = [line for line in lines if line and not _is_noise(line)]
    return [line for place, line in enumerate(kept) if place >= len(kept) - LAST_LINES or not _is_tried_again(line)]


def _unbroken(lines: list[str]) -> list[str]:
    width = max(map(len, lines), default=0)
    if width < NARROWEST_TERMINAL or sum(len(line) == width for line in lines) < 2:
        return lines
    whole: list[str] = []
    goes_on = False
    for line in lines:
        if goes_on and len(whole[-1]) < LINE_CHARS and STAMP.match(line) is None:
            whole[-1] += line
        else:
            whole.append(line)
        goes_on = len(line) == width and not line.endswith(("│", "╮", "╯", "─"))
    return whole


def _flat(line: str) -> str:
    return plain_line(" ".join(_COLOUR.sub("", line[:LINE_CHARS]).split()))


def _goes_on(line: str) -> bool:
    """More of a command that somebody types, over several lines."""
    return line.startswith("> ") or line == ">"


def _is_noise(line: str) -> bool:
    low = line[:80].lower()
    if low.startswith((*_HINTS, *_FRAMES, *_COMPARED, *_ROUTINE)) or _is_layer(low):
        return True
    ticked = not low.isascii() and any(mark in line[:8] for mark in _DONE)
    return ticked or _is_commit(low) or _is_code(low) or _is_prompt(line) or _has_passed(line)


def _is_commit(low: str) -> bool:
    """One of a list: `23503da Fix timeout handling`, `* 23503da …`."""
    name, _, title = low.lstrip("*|\\/ ").partition(" ")
    return (
        SHORTEST_COMMIT <= len(name) <= LONGEST_COMMIT and bool(title) and _HEX.issuperset(name) and not name.isalpha()
    )


def _has_passed(line: str) -> bool:
    """A test that went well, whatever it is about: as pytest, Rust, Go, GoogleTest and TAP tell it."""
    return line.startswith(_PASSED) or line.endswith((" ... ok", " PASSED")) or ("::" in line and " PASSED " in line)


def _is_layer(low: str) -> bool:
    """Of an image that is pulled, one that was there: `d10e53720af4: Already exists`."""
    name, _, rest = low.partition(": ")
    return rest == "already exists" and len(name) == LAYER_ID


def _is_tried_again(line: str) -> bool:
    """What somebody goes on to try matters only where nothing came of it: where it is the last that is heard."""
    low = line[:80].lower()
    return _LAST_TRY not in low and any(map(low.__contains__, _TRIED_AGAIN))


def _is_code(low: str) -> bool:
    """A line of a program that somebody reads, with or without its number, or that a traceback quotes."""
    number, mark, rest = low.partition(":")
    listed = mark and number.isdigit() and rest.startswith((" ", "\t"))
    return (rest.lstrip() if listed else low.lstrip("+-")).startswith(_CODE)


def _is_prompt(line: str) -> bool:
    """A command behind the prompt of a shell: `root@24cf:/app# make`, `$ make`."""
    return line.startswith(("$ ", "+ ", "% ")) or (line.startswith("# ") and not line[2:3].isupper()) or _is_shell(line)


def _is_shell(line: str) -> bool:
    if "@" not in line:
        return False
    head, mark, _ = line[:120].partition("# ")
    if not mark:
        head, mark, _ = line[:120].partition("$ ")
    return "@" in head and " " not in head and (bool(mark) or line.endswith(("#", "$")))

"""Can one path match two globs? Decided exactly, by walking both patterns as automata in step.

`*` and `?` stay inside a path segment, `**` alone in a segment spans any number of them (none too), `[a-z]`
and `[!a-z]` are classes, `{a,b}` alternatives, a backslash quotes. The answer errs on one side only: two globs
called disjoint never share a path. So a name without a wildcard at its end also stands for the folder of that
name, letters match in both cases (macOS), `[id]` may be meant as a class or as a folder of that name, and a
pattern that cannot be followed (`*/../x`, hundreds of alternatives) stands for every path.

Simpler rules err on that side too, and too often to be of use: of the eleven everyday pairs that the tests call
disjoint, comparing the texts before the first wildcard tells one apart, comparing segment by segment two.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

MAX_ALTERNATIVES = 64
LAST_CODE_POINT = 0x10FFFF

Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    """A single character out of inclusive code point ranges."""

    ranges: Ranges

    def meets(self, other: "OneOf") -> bool:
        return any(low <= high2 and low2 <= high for low, high in self.ranges for low2, high2 in other.ranges)


ANY_ONE = OneOf(((0, LAST_CODE_POINT),))
# None is `*` among the characters of a segment and `**` among the segments of a path.
Segment = tuple[OneOf | None, ...]
Path = tuple[Segment | None, ...]
EVERYTHING: Path = (None,)


def globs_overlap(first: str, second: str) -> bool:
    """False only if no path matches both patterns."""
    return any(_paths_meet(a, b) for a in _compile(first) for b in _compile(second))


def matches_path(pattern: str, path: str) -> bool:
    """False only if the pattern certainly does not match this path."""
    return globs_overlap(pattern, _quote(path))


def matches_file(pattern: str, path: str, *, cased: bool = False) -> bool:
    """`matches_path` for a path that is known to be a file: what would match only below it does not count. `cased`:
    a letter matches only as it is written."""
    parts = unicodedata.normalize("NFC", path).split("/")
    exact = tuple(_compile_segment(_quote(part), classes=False, cased=cased) for part in parts if part)
    return any(_paths_meet(compiled, exact) for compiled in _compile(pattern, cased=cased))


def _quote(path: str) -> str:
    return "".join(f"\\{char}" if char in "*?[]{},\\!" else char for char in path)


@lru_cache(maxsize=4096)
def _compile(pattern: str, *, cased: bool = False) -> tuple[Path, ...]:
    normal = unicodedata.normalize("NFC", pattern)
    readings = list(_expand_braces(normal)) if "{" in normal else [normal]
    if len(readings) > MAX_ALTERNATIVES:
        return (EVERYTHING,)
    paths = [_compile_path(reading, classes=True, cased=cased) for reading in readings]
    if "[" in normal or "{" in normal:
        paths.append(_compile_path(normal, classes=False, cased=cased))
    return tuple(dict.fromkeys(paths))


def _expand_braces(pattern: str) -> Iterator[str]:
    """Every alternative of `{a,b{c,d}}`, but not many past MAX_ALTERNATIVES. Unbalanced braces stay."""
    todo, found = [pattern], 0
    while todo and found <= MAX_ALTERNATIVES:
        current = todo.pop()
        group = _first_group(current)
        if group is None:
            found += 1
            yield current
        else:
            start, end, options = group
            todo.extend(current[:start] + option + current[end:] for option in options[: MAX_ALTERNATIVES + 1])
            if len(todo) > MAX_ALTERNATIVES * 4:
                yield from todo
                return


def _first_group(pattern: str) -> tuple[int, int, list[str]] | None:
    """Span and options of the first closed brace group that has a comma at its own level."""
    for start, char in enumerate(pattern):
        if char != "{" or _is_quoted(pattern, start):
            continue
        depth, cuts = 0, [start]
        for at in range(start, len(pattern)):
            if _is_quoted(pattern, at):
                continue
            depth += (pattern[at] == "{") - (pattern[at] == "}")
            if pattern[at] == "," and depth == 1:
                cuts.append(at)
            if depth == 0:
                cuts.append(at)
                break
        if depth == 0 and len(cuts) > 2:
            options = [pattern[a + 1 : b] for a, b in pairwise(cuts)]
            return start, cuts[-1] + 1, options
    return None


def _is_quoted(pattern: str, index: int) -> bool:
    backslashes = index - len(pattern[:index].rstrip("\\"))
    return backslashes % 2 == 1


def _compile_path(pattern: str, *, classes: bool, cased: bool) -> Path:
    segments: list[Segment | None] = []
    for text in pattern.split("/"):
        if text in ("", "."):
            continue
        if text == "..":
            if not segments or segments[-1] is None or None in segments[-1]:
                return EVERYTHING
            segments.pop()
        elif text == "**":
            if not segments or segments[-1] is not None:
                segments.append(None)
        else:
            segments.append(_compile_segment(text, classes=classes, cased=cased))
    if not segments:
        return EVERYTHING
    names_a_folder = pattern.endswith("/") or not _has_wildcard(pattern.rsplit("/", 1)[-1])
    if names_a_folder and segments[-1] is not None:
        segments.append(None)
    return tuple(segments)


def _has_wildcard(text: str) -> bool:
    return any(char in "*?[" and not _is_quoted(text, at) for at, char in enumerate(text))


def _compile_segment(text: str, *, classes: bool, cased: bool = False) -> Segment:
    atoms: list[OneOf | None] = []
    at = 0
    while at < len(text):
        char = text[at]
        end = _class_end(text, at) if char == "[" and classes else -1
        if end > 0:
            atoms.append(_compile_class(text[at + 1 : end], cased=cased))
            at = end
        elif char == "*":
            if not atoms or atoms[-1] is not None:
                atoms.append(None)
        elif char == "?":
            atoms.append(ANY_ONE)
        else:
            if char == "\\" and at + 1 < len(text):
                at += 1
            letter = ((ord(text[at]), ord(text[at])),)
            atoms.append(OneOf(letter if cased else _both_cases(letter)))
        at += 1
    return tuple(atoms)


def _class_end(text: str, start: int) -> int:
    """Index of the `]` that closes the class opened at start, or -1; a `]` in first place is a member."""
    first = start + 1
    if text[first : first + 1] in ("!", "^"):
        first += 1
    return text.find("]", first + 1)


def _compile_class(body: str, *, cased: bool) -> OneOf:
    negated = body[:1] in ("!", "^")
    members = body[1:] if negated else body
    if "\\" in members or "[:" in members:
        return ANY_ONE
    ranges: list[tuple[int, int]] = []
    at = 0
    while at < len(members):
        if members[at + 1 : at + 2] == "-" and at + 2 < len(members):
            ranges.append((ord(members[at]), ord(members[at + 2])))
            at += 3
        else:
            ranges.append((ord(members[at]), ord(members[at])))
            at += 1
    kept = tuple(sorted(r for r in ranges if r[0] <= r[1]))
    ranges_meant = _complement(kept) if negated else kept
    return OneOf(ranges_meant if cased else _both_cases(ranges_meant))


def _complement(ranges: Ranges) -> Ranges:
    holes: list[tuple[int, int]] = []
    low = 0
    for start, end in ranges:
        if start > low:
            holes.append((low, start - 1))
        low = max(low, end + 1)
    return (*holes, (low, LAST_CODE_POINT)) if low <= LAST_CODE_POINT else tuple(holes)


def _both_cases(ranges: Ranges) -> Ranges:
    """The ranges and the other case of their letters: all of ASCII, and single letters beyond it."""
    closed = list(ranges)
    for low, high in ranges:
        if low == high:
            closed.extend((ord(c), ord(c)) for c in (chr(low).lower(), chr(low).upper()) if len(c) == 1)
        for start, shift in ((ord("a"), -32), (ord("A"), 32)):
            first, last = max(low, start), min(high, start + 25)
            if first <= last:
                closed.append((first + shift, last + shift))
    return tuple(dict.fromkeys(closed))


def _paths_meet(first: Path, second: Path) -> bool:
    return _meet(first, second, _segments_meet)


@lru_cache(maxsize=16384)
def _segments_meet(first: Segment, second: Segment) -> bool:
    return _meet(first, second, OneOf.meets)


Part = TypeVar("Part", OneOf, Segment)


def _meet(
    first: Sequence[Part | None], second: Sequence[Part | None], parts_meet: Callable[[Part, Part], bool]
) -> bool:
    """Reachability in the product of both automata, one row of positions at a time."""
    row = _star_closure([True] + [False] * len(second), second)
    for part in first:
        if part is None:
            # A star may stand for nothing (keep the row) or swallow whatever the other pattern asks for next.
            stepped = row
            for j in range(len(second)):
                stepped[j + 1] = stepped[j + 1] or stepped[j]
        else:
            stepped = [False] * (len(second) + 1)
            for j, other in enumerate(second):
                if row[j] and other is None:
                    stepped[j] = True
                elif row[j] and other is not None and parts_meet(part, other):
                    stepped[j + 1] = True
        row = _star_closure(stepped, second)
        if not any(row):
            return False
    return row[-1]


def _star_closure(row: list[bool], pattern: Sequence[object]) -> list[bool]:
    """A star may match nothing: a position before one is also the position behind it."""
    for j, part in enumerate(pattern):
        if row[j] and part is None:
            row[j + 1] = True
    return row

"""What a patch does to tests: which come, which go, which are skipped, and what they assert no longer.

A test that moves to another place, or gets another name, is still there: it is known by its name anywhere in the
patch, or by most of its lines. Everything kept is bounded; past the bounds a test counts as what it looks like.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from paddock.insight.patches.asserts import count_weakened, statements
from paddock.insight.patches.languages import (
    CONVENTIONS,
    Conventions,
    Language,
    is_remark,
    is_test_file,
    language_of,
    names_tests,
)
from paddock.insight.patches.reading import Line, PatchedFile, PatchPart

MOST_TESTS = 20_000
BODY_LINES = 60
ALIKE_LINES = 20
ALIKE_SHARE = 0.5
MATCHED_CHARS = 500


@dataclass(slots=True)
class _Declared:
    """A test that was removed or added, with the lines that follow its declaration on its side of the patch."""

    name: str
    path: str
    body: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _FileTally:
    """`removed` and `added` are declared tests; `whole` is the sign of a file that went or came as one."""

    is_new: bool
    removed: int = 0
    added: int = 0
    whole: str = ""
    skips: Counter[str] = field(default_factory=Counter)
    asserts_gone: Counter[str] = field(default_factory=Counter)
    asserts_come: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class TestChanges:
    """`asserts_removed` are those that are gone for good, and those that are weaker now."""

    __test__ = False

    added: int = 0
    deleted: int = 0
    skipped: int = 0
    asserts_removed: int = 0


class TestTally:
    """Takes the parts of a patch in their order."""

    __test__ = False

    def __init__(self) -> None:
        self._gone: list[_Declared] = []
        self._come: list[_Declared] = []
        self._files: dict[str, _FileTally] = {}
        self._weakened = 0

    def take(self, part: PatchPart) -> None:
        language = language_of(part.file.path) or language_of(part.file.old_path or "")
        if language is None or not (is_test_file(part.file.path) or _was_test(part.file) or language is Language.RUST):
            return
        tally = self._files.setdefault(part.file.path, _FileTally(part.file.added))
        if not part.lines:
            tally.whole = _whole_sign(part.file)
            return
        conventions = CONVENTIONS[language]
        for declared, sign in _declarations(part, conventions):
            kept = self._gone if sign == "-" else self._come
            if len(kept) < MOST_TESTS:
                kept.append(declared)
            tally.removed += sign == "-"
            tally.added += sign == "+"
        self._take_skips(part.lines, conventions, tally)
        if is_test_file(part.file.path) or _was_test(part.file):
            self._take_asserts(part.lines, conventions, tally)

    def _take_skips(self, lines: Sequence[Line], conventions: Conventions, tally: _FileTally) -> None:
        for sign, text in lines:
            if sign == " ":
                continue
            seen = text[:MATCHED_CHARS]
            counts = not is_remark(seen, conventions) or seen.startswith(("//go:build", "// +build"))
            if counts and conventions.skips.search(seen):
                tally.skips[" ".join(seen.split())] += 1 if sign == "+" else -1

    def _take_asserts(self, lines: Sequence[Line], conventions: Conventions, tally: _FileTally) -> None:
        for block in _blocks(lines, conventions):
            gone, come = list(statements(block["-"])), list(statements(block["+"]))
            self._weakened += count_weakened(gone, come)
            tally.asserts_gone.update(gone)
            tally.asserts_come.update(come)

    def changes(self) -> TestChanges:
        deleted, added = _without_moved(self._gone, self._come)
        tallies = self._files.values()
        went = sum(tally.whole == "-" and not tally.removed for tally in tallies)
        came = sum(tally.whole == "+" and not tally.added for tally in tallies)
        deleted, added = deleted + max(0, went - came), added + max(0, came - went)
        return TestChanges(added, deleted, self._skipped(), self._asserts_lost() + self._weakened)

    def _skipped(self) -> int:
        """A new test that does not run everywhere skips nothing that ran before."""
        brings_back = bool(self._gone)
        counted: Counter[str] = Counter()
        for tally in self._files.values():
            if tally.is_new and not brings_back:
                continue
            counted.update(tally.skips)
        return max(0, sum(counted.values()))

    def _asserts_lost(self) -> int:
        """For each file, without those that went to another one."""
        everywhere: Counter[str] = Counter()
        for tally in self._files.values():
            everywhere.update(tally.asserts_come - tally.asserts_gone)
        lost = 0
        for tally in self._files.values():
            gone, come = tally.asserts_gone - tally.asserts_come, tally.asserts_come - tally.asserts_gone
            moved = gone & everywhere
            everywhere -= moved
            lost += max(0, (gone - moved).total() - (come - moved).total())
        return lost


def _whole_sign(file: PatchedFile) -> str:
    """Of a file that goes, comes, or is renamed to what nobody takes for a test."""
    was = file.old_path is not None and names_tests(file.old_path)
    is_one = names_tests(file.path) and not file.deleted
    return "" if was == is_one else "-" if was else "+"


def _was_test(file: PatchedFile) -> bool:
    return file.old_path is not None and is_test_file(file.old_path)


def _declarations(part: PatchPart, conventions: Conventions) -> Iterator[tuple[_Declared, str]]:
    """Each with its sign. One whose mark alone went or came counts like one that went or came whole."""
    marked: set[str] = set()
    open_by_sign: dict[str, _Declared] = {}
    for sign, text in part.lines:
        seen = text[:MATCHED_CHARS]
        signs = ("-", "+") if sign == " " else (sign,)
        if conventions.marks is not None and conventions.marks.search(seen):
            marked.update(signs)
        name = _name_of(seen, conventions)
        named = {one for one in signs if one in marked} if name is None else set()
        if named and conventions.names is not None and (found := conventions.names.search(seen)) is not None:
            marked -= named
            if sign != " " or len(named) == 1:
                declared = _Declared(found[1], part.file.path)
                one = sign if sign != " " else next(iter(named))
                open_by_sign = {**open_by_sign, one: declared}
                yield declared, one
            else:
                open_by_sign.clear()
        elif name is not None and sign != " ":
            open_by_sign[sign] = _Declared(name, part.file.path)
            yield open_by_sign[sign], sign
        elif name is not None:
            open_by_sign.clear()
        elif bare := seen.strip():
            for one in signs:
                if one in open_by_sign and len(open_by_sign[one].body) < BODY_LINES:
                    open_by_sign[one].body.append(bare)


def _name_of(text: str, conventions: Conventions) -> str | None:
    if conventions.declares is None or is_remark(text, conventions):
        return None
    found = conventions.declares.search(text)
    return None if found is None else next((group for group in found.groups() if group is not None), "")


def _blocks(lines: Sequence[Line], conventions: Conventions) -> Iterator[dict[str, list[str]]]:
    """Lines that changed together, by their sign and without remarks."""
    for changed, run in groupby(lines, key=lambda line: line[0] != " "):
        if changed:
            block: dict[str, list[str]] = {"-": [], "+": []}
            for sign, text in run:
                seen = text[:MATCHED_CHARS]
                if not is_remark(seen, conventions):
                    block[sign].append(seen)
            yield block


def _without_moved(gone: Sequence[_Declared], come: Sequence[_Declared]) -> tuple[int, int]:
    """How many went and how many came, apart from those that are only elsewhere or called otherwise."""
    names = Counter(one.name for one in come)
    left: list[_Declared] = []
    for one in gone:
        if names[one.name] > 0:
            names[one.name] -= 1
        else:
            left.append(one)
    fresh = [one for one in reversed(come) if _takes(names, one.name)]
    renamed = _count_renamed(left, fresh)
    return len(left) - renamed, len(fresh) - renamed


def _takes(names: Counter[str], name: str) -> bool:
    left = names[name] > 0
    names[name] -= left
    return left


def _count_renamed(gone: Sequence[_Declared], come: Sequence[_Declared]) -> int:
    """Lines that many tests have tell nothing, so each line leads to a few candidates only."""
    by_line: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(come):
        for line in set(one.body):
            if len(by_line[line]) < ALIKE_LINES:
                by_line[line].append(number)
    taken: set[int] = set()
    for one in gone:
        votes = Counter(number for line in set(one.body) for number in by_line[line] if number not in taken)
        best = next(iter(votes.most_common(1)), None)
        match = _renamed_in_place(one, come, taken) if best is None else best[0]
        if match is not None and (best is None or _alike(one, come[match])):
            taken.add(match)
    return len(taken)


def _renamed_in_place(gone: _Declared, come: Sequence[_Declared], taken: set[int]) -> int | None:
    """A test of which the patch shows nothing but its name, in a file where such a one came."""
    if gone.body:
        return None
    bare = (number for number, one in enumerate(come[:ALIKE_LINES]) if number not in taken and not one.body)
    return next((number for number in bare if come[number].path == gone.path), None)


def _alike(first: _Declared, second: _Declared) -> bool:
    one, other = Counter(first.body), Counter(second.body)
    return (one & other).total() >= ALIKE_SHARE * max((one | other).total(), 1)

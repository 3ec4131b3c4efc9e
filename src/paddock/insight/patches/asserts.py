"""What a test asserts, and how much: an exact value, a part of it, that there is something, or nothing at all."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import IntEnum

STATEMENT_LINES = 12
STATEMENT_CHARS = 2_000


class Strength(IntEnum):
    NOTHING = 0
    PRESENCE = 1
    PART = 2
    EXACT = 3


_ASSERTS = re.compile(
    r"\bassert\w*\s*[!(.\[]|\bassert\s|\bexpect\w*\s*[({!]|\b(?:EXPECT|ASSERT)_\w+|\b(?:REQUIRE|CHECK)\w*\s*\("
    r"|\brequire\.\w+\(|\b[tb]\.(?:Error|Fatal)f?\(|\bXCTAssert|\.should\b|\bmust_\w+|\brefute\w*\b|\bpytest\.raises\b"
    r"|\bAssert\.\w+|\.Should\(\)|^\s*(?:ok|is|isnt|like|is_deeply)\s*[( ]"
)
_NOTHING = re.compile(
    r"\bassert\w*[\s!(.]*(?:True|true|TRUE)?\(?\s*(?:True|true|TRUE|1)\s*[,);]*\s*(?:#.*)?$"
    r"|\bexpect\(\s*(true|1|null|undefined)\s*\)\.(?:to\w*)\(\s*\1?\s*\)|\bassert\s+(\w+)\s*==\s*\2\s*$|\bor\s+True\b"
    r"|\|\|\s*true\b|\bassert\w*\(\s*(\w+)\s*,\s*\3\s*\)"
)
_EXACT = re.compile(
    r"[^=!<>]==[^=]|===|\bis\s+(?:True|False|None)\b|(?i:assert_?(?:equals?|same|deep_?equal|array_?equal|is|raises\w*|throws\w*)\b)"
    r"|assert_(?:eq|matches)\b|\bassertEqual\w*|\bassert\w*Equal\w*\(|\bassert(?:Raises|Throws|Is)\w*\("
    r"|\.(?:to(?:Be|Equal|StrictEqual|HaveLength|Throw\w*|HaveBeenCalledWith|HaveBeenCalledTimes|Eq)|Equals?|EqualTo)\("
    r"|\.to\.(?:deep\.)?(?:equal|eql|eq|throw)\b|\b(?:eq|eql|raise_error)\b|_(?:EQ|STREQ|THROW\w*)\b|\.(?:Equal|Same|Exactly)\w*\("
    r"|\bmust_equal\b|\bpytest\.raises\b|\bassert_called(?:_once)?_with\b|\bis(?:_deeply)?\("
)
_PART = re.compile(
    r"\bin\b|[<>]=?|!=|\bisinstance\b|\b(?:startswith|endswith|startsWith|endsWith|contains?|includes?|match\w*)\b"
    r"|(?i:assert\w*(?:in|contains|match\w*|greater|less|regex)\w*\()|\.to(?:Contain|Match|Be(?:Greater|Less|Close))\w*\("
    r"|\.(?:Contains|Greater|Less|Regexp|InDelta)\w*\(|_(?:GT|GE|LT|LE|NE|NEAR)\b|\bapprox\b|\binclude\("
)
_PRESENCE = re.compile(
    r"\bis\s+not\s+None\b|!=\s*(?:None|null|nil|undefined)\b|\.to(?:BeDefined|BeTruthy|BeFalsy|BeNull|HaveBeenCalled)\(\)"
    r"|\.not\.to(?:BeNull|BeUndefined|Throw)\(|(?i:assert_?(?:is_?)?not_?(?:none|null|nil)\w*)|\.to\.(?:exist|be\.ok)\b"
)
_OPENING, _CLOSING = re.compile(r"[(\[{]"), re.compile(r"[)\]}]")


def strength_of(statement: str) -> Strength:
    text = statement.strip().rstrip(";")
    if _NOTHING.search(text):
        return Strength.NOTHING
    if _PRESENCE.search(text):
        return Strength.PRESENCE
    if _EXACT.search(text):
        return Strength.EXACT
    return Strength.PART if _PART.search(text) else Strength.PRESENCE


def statements(lines: Iterable[str]) -> Iterator[str]:
    """The asserting statements among these lines, each in one piece with single spaces."""
    rest = iter(lines)
    for line in rest:
        if not _ASSERTS.search(line):
            continue
        text, taken = line.strip(), 1
        while _depth(text) > 0 and taken < STATEMENT_LINES and len(text) < STATEMENT_CHARS:
            following = next(rest, None)
            if following is None:
                break
            text, taken = f"{text} {following.strip()}", taken + 1
        yield " ".join(text[:STATEMENT_CHARS].split())


def _depth(text: str) -> int:
    return len(_OPENING.findall(text)) - len(_CLOSING.findall(text))


def count_weakened(removed: Iterable[str], added: Iterable[str]) -> int:
    """How many of the asserts removed in one place are there in a weaker form: the strongest against the strongest, so
    that another order makes no difference. What was there before and still is does not count."""
    before, after = Counter(removed), Counter(added)
    gone = sorted(map(strength_of, (before - after).elements()), reverse=True)
    come = sorted(map(strength_of, (after - before).elements()), reverse=True)
    return sum(new < old for old, new in zip(gone, come, strict=False))

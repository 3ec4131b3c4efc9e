"""What differs between two failures that are alike: addresses, ids, times, paths, numbers, the task's own name.

A line is read word by word and each character a bounded number of times, whatever it says. A mask of a mask is itself.
"""

from functools import lru_cache

QUOTES = "'\"`"
_OPEN = "([{<=:,"
_QUOTED_CHARS = 160
_HEX = frozenset("0123456789abcdef")
_DIGITS = frozenset("0123456789")
_TIME = frozenset("0123456789:.,-+tz/")
_EDGES = "()[]{},;!?"
_MASKS = frozenset({"<q>", "<url>", "<path>", "<id>", "<time>", "<ip>", "<n>", "<task>"})
LONG_HEX = 12
SHORTEST_TASK = 4


def mask(line: str, task: str = "", *, keeps_quoted: bool = False) -> str:
    """In lower case. `keeps_quoted` leaves what is quoted, such as the name of a module, but for its numbers."""
    low = without_task(line.lower(), task)
    if not keeps_quoted:
        low = _without_quoted(low)
    return " ".join(_word(word) for word in low.split())


def without_task(line: str, task: str, *, but_words: bool = False) -> str:
    """In lower case if the task is named. `but_words`: a name that is a word, such as `disk`, may mean just that."""
    low = line.lower()
    named = [name for name in _spellings(task) if name in low and not (but_words and name.isalpha())]
    for name in named:
        low = low.replace(name, "<task>")
    return low if named else line


@lru_cache(maxsize=4096)
def _spellings(task: str) -> tuple[str, ...]:
    low = task.lower().strip()
    if len(low) < SHORTEST_TASK or "<" in low or low in "task":
        return ()
    flat = low.replace("_", "-").replace(".", "-")
    return tuple(dict.fromkeys((low, flat, flat.replace("-", "_"))))


def _without_quoted(text: str) -> str:
    """An apostrophe within a word quotes nothing."""
    parts: list[str] = []
    at, begun = 0, 0
    while at < len(text):
        mark = text[at]
        if mark in QUOTES and (at == 0 or text[at - 1].isspace() or text[at - 1] in _OPEN):
            end = text.find(mark, at + 1, at + _QUOTED_CHARS)
            if end > at + 1:
                parts += (text[begun:at], "<q>")
                at = begun = end + 1
                continue
        at += 1
    parts.append(text[begun:])
    return "".join(parts)


def _word(word: str) -> str:
    if word in _MASKS:
        return word
    core = word.strip(_EDGES)
    if not core or core in _MASKS:
        return word
    if "://" in core:
        return "<url>"
    bare = core.strip(":.'\"`")
    if bare in _MASKS:
        return word
    masked = _whole(bare)
    if masked:
        return masked
    return _numbers(word)


def _whole(core: str) -> str:
    """The mask that stands for all of it, or nothing."""
    if not core:
        return ""
    digits = sum(letter in _DIGITS for letter in core)
    if digits:
        if _is_ip(core):
            return "<ip>"
        if digits >= 4 and _TIME.issuperset(core) and (":" in core or core.count("-") >= 2):
            return "<time>"
        if _is_id(core, digits):
            return "<id>"
    if core[0] in "/~" and len(core) > 1:
        return "<path>"
    if core.count("/") >= 2 or (len(core) > 2 and core[1:3] == ":\\"):
        return "<path>"
    return ""


def _is_ip(core: str) -> bool:
    host = core.partition(":")[0].partition("/")[0].partition("->")[0]
    parts = host.split(".")
    return len(parts) == 4 and all(part.isdigit() and len(part) <= 3 for part in parts)


def _is_id(core: str, digits: int) -> bool:
    """A digest, a UUID, or letters and digits without a word: `req_011CSAeBzVu26t`."""
    bare = core.removeprefix("0x").replace("-", "").replace("_", "")
    if len(bare) >= LONG_HEX and _HEX.issuperset(bare):
        return True
    return len(bare) >= 16 and digits >= 4 and bare.isalnum()


def _numbers(word: str) -> str:
    if "<" in word or not any(letter in _DIGITS for letter in word):
        return word
    parts: list[str] = []
    for letter in word:
        if letter in _DIGITS:
            if not parts or parts[-1] != "<n>":
                parts.append("<n>")
        else:
            parts.append(letter)
    return "".join(parts).replace("<n>.<n>", "<n>").replace("<n>.<n>", "<n>")

"""What several runs fought over, or what they lacked: `port:8080`, `lock:/var/lib/dpkg/lock`, `library:libssl.so.3`."""

import re
from collections.abc import Iterator

_CLOCK = re.compile(r"(?<![0-9.])[0-2][0-9]:[0-5][0-9](?::[0-5][0-9])?(?![0-9])")
_HOST = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}|localhost|::1?", re.IGNORECASE)
_BEFORE = frozenset({"port", "bind", "listen", "listening"})
_STRIP = "()[]{},;.!?'\"`"
LONGEST = 120
_LIBRARY = re.compile(r"lib[\w+-]{1,60}\.so(?:\.\d+){0,4}")
_TOOLS = frozenset(
    "go rustc node npm pnpm yarn java gradle maven kotlin python ruby php elixir erlang dotnet swift xcode cmake bazel"  # noqa: SIM905
    " cuda numpy torch typescript".split()
)
_WORD = re.compile(r"[a-z]{2,20}")


def resource_of(line: str, sign: str) -> str:
    """Empty if the line does not name it."""
    if sign == "port-in-use":
        port = next(_ports(line), "")
        return f"port:{port}" if port else ""
    if sign == "lock-held":
        held = next(_paths(line), "") or next(_quoted(line), "")
        return f"lock:{held}" if held else "lock:database" if "database" in line.lower() else ""
    if sign == "name-in-use":
        name = next(_quoted(line), "")
        return f"name:{name}" if name else ""
    return ""


def lack_of(line: str, sign: str) -> str:
    """Of a line that says what is missing or does not fit; empty if it does not name it."""
    if sign in ("missing-library", "missing-module"):
        library = _LIBRARY.search(line)
        return f"library:{library[0]}" if library else ""
    if sign == "wrong-version":
        return next((f"version:{word}" for word in _WORD.findall(line.lower()) if word in _TOOLS), "")
    return ""


def _ports(line: str) -> Iterator[str]:
    """A number after the word port, or the one after a host."""
    words = [word.rstrip(":").strip(_STRIP).removesuffix("/tcp").removesuffix("/udp") for word in line.split()]
    for before, word in zip(["", *words], words, strict=False):
        names_it = before.lower().rstrip("=") in _BEFORE or _HOST.fullmatch(before)
        if names_it and _is_port(word.lstrip(":")):
            yield word.lstrip(":")
    for word in words:
        _, colon, after = word.rpartition(":")
        if colon and _is_port(after) and not _CLOCK.search(word):
            yield after
        elif word.lower().startswith("port=") and _is_port(word[5:]):
            yield word[5:]


def _is_port(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= 5 and 0 < int(word) < 65536


def _paths(line: str) -> Iterator[str]:
    for word in line.split():
        bare = word.strip(_STRIP + ":")
        if "/" in bare and "://" not in bare and len(bare) <= LONGEST:
            yield bare


def _quoted(line: str) -> Iterator[str]:
    for mark in "\"'`":
        parts = line.split(mark)
        yield from (part.lstrip("/") for part in parts[1:-1:2] if 0 < len(part) <= LONGEST)

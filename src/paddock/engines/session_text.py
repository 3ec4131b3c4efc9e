"""The file of a conversation whose format nobody has told us: what it says is known, but not who said it."""

import glob
from collections.abc import Iterator, Mapping
from typing import Any

from paddock.core.trace import Prompted, TraceEntry
from paddock.engines.jsonline import line_text, read_object
from paddock.engines.protocol import MAX_LINE_BYTES, Source

_DEEPEST = 20


def user_glob(pattern: str, env: Mapping[str, str]) -> str:
    """A glob of the settings as an absolute one."""
    return f"{glob.escape(env.get('HOME', ''))}/{pattern[2:]}" if pattern.startswith("~/") else pattern


class SessionTextParser:
    """Every line as words of the conversation; of a line of JSON, the texts in it."""

    def feed(self, line: bytes, source: Source = Source.STDOUT) -> Iterator[TraceEntry]:
        del source
        found = read_object(line)
        if found is not None:
            yield Prompted("\n".join(_texts(found.value, _DEEPEST)))
        elif line.strip():
            yield Prompted(line_text(line, MAX_LINE_BYTES))

    def close(self) -> Iterator[TraceEntry]:
        return iter(())


def _texts(value: Any, deepest: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value.encode("utf-8", "replace").decode("utf-8")
    elif deepest and isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _texts(member, deepest - 1)

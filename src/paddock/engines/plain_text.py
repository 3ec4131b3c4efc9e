"""Output without a format: every line is something the agent said."""

import re
from collections import deque
from collections.abc import Iterator

from paddock.core.trace import ERROR_LIMIT, ID_LIMIT, TEXT_LIMIT, SessionStarted, Text, TraceEntry
from paddock.engines.jsonline import line_text
from paddock.engines.protocol import Parser, Source
from paddock.engines.trouble import classify

# A refusal is believed only in the last words: a program that goes on talking has got over it, and one that
# merely prints the words "rate limit" in passing was never refused.
_LAST_WORDS = 3


class PlainTextParser:
    """`session_pattern` finds a conversation's id: its first group, or all it matched."""

    def __init__(self, session_pattern: re.Pattern[str] | None = None) -> None:
        self._pattern = session_pattern
        self._last: deque[str] = deque(maxlen=_LAST_WORDS)
        self._complaints: deque[str] = deque(maxlen=_LAST_WORDS)

    def feed(self, line: bytes, source: Source = Source.STDOUT) -> Iterator[TraceEntry]:
        text = line_text(line, TEXT_LIMIT)
        if not text.strip():
            return
        yield from self.find_session(text)
        if source is Source.STDOUT:
            self._last.append(text[:ERROR_LIMIT])
            yield Text(text)
        else:
            self._complaints.append(text[:ERROR_LIMIT])

    def find_session(self, text: str) -> Iterator[TraceEntry]:
        found = self._pattern.search(text[:ERROR_LIMIT]) if self._pattern else None
        if found:
            session = next((group for group in found.groups() if group), found[0])
            self._pattern = None
            yield SessionStarted(session[:ID_LIMIT])

    def close(self) -> Iterator[TraceEntry]:
        for line in (*self._complaints, *self._last):
            trouble = classify(line)
            if trouble is not None:
                yield trouble
                return


class SessionFinder:
    """Adds the search for a session id to a parser whose format does not carry one."""

    def __init__(self, inner: Parser, pattern: re.Pattern[str]) -> None:
        self._inner = inner
        self._finder = PlainTextParser(pattern)

    def feed(self, line: bytes, source: Source = Source.STDOUT) -> Iterator[TraceEntry]:
        yield from self._finder.find_session(line_text(line, ERROR_LIMIT))
        yield from self._inner.feed(line, source)

    def close(self) -> Iterator[TraceEntry]:
        yield from self._inner.close()

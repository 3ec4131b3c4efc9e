"""What `cn -p --format json` prints: one object with the answer at the end, or one on stderr with the error."""

from collections.abc import Iterator

from paddock.core.trace import ERROR_LIMIT, TEXT_LIMIT, End, Text, TraceEntry
from paddock.engines.jsonline import line_text, read_object
from paddock.engines.protocol import Source
from paddock.engines.trouble import describe_error


class CnParser:
    """An answer that is itself JSON is printed as it is, without a status: then having answered is the success."""

    def __init__(self) -> None:
        self._answered = False
        self._ended = False

    def feed(self, line: bytes, source: Source = Source.STDOUT) -> Iterator[TraceEntry]:
        event = read_object(line)
        if event is not None and event.text("status") == "error":
            message = event.text("message", limit=ERROR_LIMIT) or "error"
            self._ended = True
            yield describe_error(message, _leading_status(message))
            yield End(success=False, reason=message)
        elif source is not Source.STDOUT or not line.strip():
            return
        elif event is not None and event.text("status") == "success":
            self._ended = True
            yield Text(event.brief("response", limit=TEXT_LIMIT))
            yield End(success=True, reason="completed")
        else:
            self._answered = True
            yield Text(line_text(line, TEXT_LIMIT))

    def close(self) -> Iterator[TraceEntry]:
        if self._answered and not self._ended:
            yield End(success=True, reason="answered")


def _leading_status(message: str) -> int | None:
    """Errors read "401 Unauthorized …"."""
    head = message[:3]
    return int(head) if head.isascii() and head.isdigit() and message[3:4] in ("", " ") else None

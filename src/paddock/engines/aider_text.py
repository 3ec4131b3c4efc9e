"""What aider prints, and its analytics log.

The answer is plain text that ends with a line of token counts; that line is the only sign that the model has
answered at all, for the exit code is 0 even when every call was refused.
"""

from collections.abc import Iterator

from paddock.core import trace
from paddock.engines.jsonline import line_text, read_object
from paddock.engines.protocol import Source
from paddock.engines.trouble import describe_error

_BANNER = ("Aider v", "Main model: ", "Model: ", "Weak model: ", "Editor model: ", "Git repo: ", "Repo-map: ")
_ADVICE = ("The API provider", "Retrying in ", "HTTPSConnectionPool(")
_DEEDS = {"Applied edit to ": "edit", "Commit ": "commit"}


class AiderParser:
    def __init__(self) -> None:
        self._answer: list[str] = []
        self._length = 0
        self._answered = False
        self._has_answered = False
        self._deeds = 0
        self._error = ""

    def feed(self, line: bytes, source: Source = Source.STDOUT) -> Iterator[trace.TraceEntry]:
        if source is Source.LOG:
            yield from _sent_message(line)
        elif source is Source.STDOUT:
            text = line_text(line, trace.TEXT_LIMIT)
            if text.strip():
                yield from self._line(text)

    def close(self) -> Iterator[trace.TraceEntry]:
        if not self._answered:
            yield from self._flush(model_spoke=False)
        reason = "answered" if self._answered else self._error or "no answer from the model"
        yield trace.End(self._answered, reason)

    def _line(self, text: str) -> Iterator[trace.TraceEntry]:
        if text.startswith("litellm."):
            self._answered, self._error = False, trace.clip(text, trace.ERROR_LIMIT)
            yield from self._flush(model_spoke=False)
            yield describe_error(text)
        elif text.startswith("Model ") and text.endswith("has hit a token limit!"):
            self._answered, self._error = False, text
            yield trace.Error(text, trace.RequestFault.TOO_LONG)
        elif text.startswith("Tokens: ") and " sent, 0 received" in text:
            yield trace.Progress(text[: trace.STEP_LIMIT])
        elif text.startswith("Tokens: ") and " received" in text:
            self._answered = self._has_answered = True
            yield from self._flush(model_spoke=True)
        elif text.startswith((*_BANNER, *_ADVICE)):
            yield trace.Progress(text[: trace.STEP_LIMIT])
        elif self._has_answered and text.startswith(tuple(_DEEDS)):
            yield from self._deed(text)
        else:
            yield from self._remember(text)

    def _deed(self, text: str) -> Iterator[trace.TraceEntry]:
        """A commit after a failed call: the edits are in, and only the call for a commit message had failed."""
        prefix = next(start for start in _DEEDS if text.startswith(start))
        self._answered = self._answered or _DEEDS[prefix] == "commit"
        self._deeds += 1
        call = f"aider-{self._deeds}"
        yield trace.ToolCall(call, _DEEDS[prefix], text[len(prefix) :][: trace.STEP_LIMIT])
        yield trace.ToolResult(call, trace.ToolStatus.OK)
        if _DEEDS[prefix] == "commit":
            yield trace.Uncounted(why="aider does not report the call that writes its commit message")

    def _remember(self, text: str) -> Iterator[trace.TraceEntry]:
        if self._length + len(text) > trace.TEXT_LIMIT:
            yield from self._flush(model_spoke=False)
        self._answer.append(text)
        self._length += len(text) + 1
        yield trace.Progress("answer")

    def _flush(self, *, model_spoke: bool) -> Iterator[trace.TraceEntry]:
        text = trace.clip("\n".join(self._answer), trace.TEXT_LIMIT)
        self._answer, self._length = [], 0
        if text or model_spoke:
            yield trace.Text(text, model_spoke)


def _sent_message(line: bytes) -> Iterator[trace.TraceEntry]:
    event = read_object(line)
    if event is None or event.text("event") != "message_send":
        return
    properties = event.at("properties")
    tokens = trace.TokenUsage(
        input_uncached=properties.count("prompt_tokens"),
        output=properties.count("completion_tokens"),
        cost_usd=properties.price("cost"),
    )
    yield trace.Usage(tokens, trace.UsageScope.DELTA)

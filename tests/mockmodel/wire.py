"""What the four wire formats have in common: a request read into an `Ask`, a `Reply` written back."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from paddock.engines.prompt import CONTINUE
from tests.mockmodel.playlist import OPENING

Json = dict[str, Any]

OPENAI_ERRORS = {
    400: ("invalid_request_error", "invalid_request", "Invalid request."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided: mock-key."),
    429: ("rate_limit_error", "rate_limit_exceeded", "Rate limit reached for requests."),
    529: ("server_error", "server_overloaded", "The server is overloaded."),
}


@dataclass(frozen=True, slots=True)
class Ask:
    """One model request. `prompt` is the last thing the user said, `rounds` the tool calls made since."""

    model: str
    instructions: str
    prompt: str
    rounds: int
    tools: tuple[str, ...]
    streaming: bool
    user_texts: tuple[str, ...] = ()
    tool_results: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCall:
    name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class Tokens:
    """What one answer is billed for. `cached` input was read from a cache and is not among the `fresh`."""

    fresh: int = 0
    cached: int = 0
    output: int = 0

    @property
    def input(self) -> int:
        return self.fresh + self.cached

    def plus(self, other: Tokens) -> Tokens:
        return Tokens(self.fresh + other.fresh, self.cached + other.cached, self.output + other.output)


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    call: ToolCall | None = None
    tokens: Tokens = Tokens(100, 0, 10)


@dataclass(frozen=True, slots=True)
class Dialect:
    """One vendor's format. `write_stream` gives the frames of a whole answer, the first of which opens it."""

    name: str
    read: Callable[[str, Json], Ask]
    write_stream: Callable[[Ask, Reply], list[bytes]]
    write_whole: Callable[[Ask, Reply], Json]
    write_error: Callable[[int, str], Json]
    """Takes the status and a message; an empty message stands for the vendor's usual words."""
    write_stream_error: Callable[[str], bytes]


@dataclass(slots=True)
class Conversation:
    """Folds a message list into the last prompt and the tool rounds since it."""

    prompt: str = ""
    rounds: int = 0
    user_texts: tuple[str, ...] = ()
    tool_results: tuple[str, ...] = ()

    def user_said(self, text: str) -> None:
        if CONTINUE in text and OPENING not in text and self.prompt:
            # A model that is only told to go on goes on with what it was asked before.
            self.user_added(text)
            return
        self.prompt = text
        self.rounds = 0
        self.user_texts += (text,)

    def user_added(self, text: str) -> None:
        """Something typed while a tool ran; it arrives with the tool's result and starts nothing anew."""
        self.user_texts += (text,)

    def joined(self, text: str) -> None:
        """Said while it worked: something else to do only where it brings a playlist of its own."""
        if OPENING in text:
            self.user_said(text)
        else:
            self.user_added(text)

    def tool_answered(self, output: str) -> None:
        self.tool_results += (output,)


def frame(event: str | None, data: Json | str) -> bytes:
    body = data if isinstance(data, str) else json.dumps(data)
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {body}\n\n".encode()


def fresh_id(prefix: str) -> str:
    return f"{prefix}{uuid.uuid4().hex[:20]}"


def text_of(content: object) -> str:
    """The text in a message's content, whether a string or a list of typed parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(str(part["text"]) for part in content if isinstance(part, dict) and "text" in part)


def write_openai_error(status: int, message: str) -> Json:
    kind, code, words = OPENAI_ERRORS.get(status, ("server_error", "server_error", "The server had an error."))
    return {"error": {"type": kind, "code": code, "message": message or words, "param": None}}

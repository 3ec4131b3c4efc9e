"""Pushing spans to a collector over HTTP, as OTLP says: JSON or protobuf, and again where it asks for patience."""

import http.client
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from urllib.parse import unquote, urlsplit

import msgspec

from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import printable

TIMEOUT_SECONDS = 30.0
TRIES, FIRST_TRIES = 6, 3
"""How often a request is tried, the latter as long as the collector has never answered."""
LONGEST_PAUSE_SECONDS = 30.0
ANSWER_BYTES = 64 * 1024
PATH = "/v1/traces"
HEADERS_VARIABLE = "OTEL_EXPORTER_OTLP_HEADERS"
_AGAIN = frozenset({429, 502, 503, 504})
"""What OTLP has a sender try again."""


class PartialSuccess(msgspec.Struct, frozen=True, rename="camel"):
    rejected_spans: str | int = 0
    error_message: str = ""


class _Answer(msgspec.Struct, frozen=True, rename="camel"):
    partial_success: PartialSuccess | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    secure: bool
    host: str
    port: int | None
    path: str


@dataclass
class Collector:
    """`headers` go with every request. `pause` waits for so many seconds."""

    url: str
    content_type: str
    headers: Mapping[str, str]
    pause: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        self._place = _place_of(self.url)
        self._connection: http.client.HTTPConnection | None = None
        self._has_answered = False
        self.rejected = 0
        self.complaint = ""

    def push(self, body: bytes) -> None:
        """Raises PaddockError where the collector cannot be reached or refuses it."""
        problem, attempt = "", 0
        while attempt < (tries := TRIES if self._has_answered else FIRST_TRIES):
            attempt += 1
            try:
                status, wait, answer = self._ask(body)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                problem, wait = f"it cannot be reached: {str(error) or type(error).__name__}", None
            else:
                self._has_answered = True
                if 200 <= status < 300:
                    self._note(answer)
                    return
                problem = f"it answered {status} {printable(answer.decode('utf-8', 'replace').strip(), 200)}".rstrip()
                if status not in _AGAIN:
                    raise PaddockError(
                        f"the collector at `{self._shown}` takes no spans: {problem}",
                        f"check the URL, `--encoding`, and what {HEADERS_VARIABLE} has for it",
                    )
            if attempt < tries:
                self.pause(min(LONGEST_PAUSE_SECONDS, 0.5 * 2 ** (attempt - 1) if wait is None else wait))
        raise PaddockError(
            f"the collector at `{self._shown}` took no spans after {attempt} tries: {problem}",
            "is it running, and there?",
        )

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @property
    def _shown(self) -> str:
        """Without what may be secret in a URL."""
        place = self._place
        port = f":{place.port}" if place.port is not None else ""
        return printable(
            f"{'https' if place.secure else 'http'}://{place.host}{port}{place.path.partition('?')[0]}", 200
        )

    def _ask(self, body: bytes) -> tuple[int, float | None, bytes]:
        if self._connection is None:
            kind = http.client.HTTPSConnection if self._place.secure else http.client.HTTPConnection
            self._connection = kind(self._place.host, self._place.port, timeout=TIMEOUT_SECONDS)
        headers = {**self.headers, "Content-Type": self.content_type, "User-Agent": "paddock"}
        self._connection.request("POST", self._place.path, body, headers)
        response = self._connection.getresponse()
        answer = response.read(ANSWER_BYTES)
        if not response.isclosed():
            self.close()  # more than anybody wants to read
        return response.status, _seconds(response.getheader("Retry-After")), answer

    def _note(self, answer: bytes) -> None:
        """What it did not take, where it says so; in protobuf that is left to the collector's own log."""
        try:
            told = msgspec.json.decode(answer, type=_Answer).partial_success
        except (msgspec.MsgspecError, UnicodeError):
            return
        if told is not None and str(told.rejected_spans).isdigit():
            self.rejected += int(told.rejected_spans)
            self.complaint = told.error_message or self.complaint


def headers_from(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """`NAME=VALUE,NAME=VALUE`, as OpenTelemetry has it: a key on a command line would be seen by everybody."""
    text = (os.environ if environment is None else environment).get(HEADERS_VARIABLE, "")
    found = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = pair.partition("=")
        name, value = name.strip(), unquote(value.strip())
        if not equals or not name or not (name + value).isprintable():
            raise Misuse(f"{HEADERS_VARIABLE} is not NAME=VALUE, separated by commas", "e.g. `api-key=…`")
        found[name] = value
    return found


def _place_of(url: str) -> _Place:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or not url.isascii() or not url.isprintable():
        raise Misuse(f"--push: `{printable(url, 120)}` is no URL of a collector", "e.g. `http://localhost:4318`")
    if parts.username is not None or parts.password is not None:
        raise Misuse("--push: a URL with a name or password would be seen by everybody", f"use {HEADERS_VARIABLE}")
    path = parts.path if parts.path not in ("", "/") else PATH
    return _Place(parts.scheme == "https", parts.hostname, port, f"{path}?{parts.query}" if parts.query else path)


def _seconds(told: str | None) -> float | None:
    """Of a `Retry-After`: seconds, or a date."""
    if told is None:
        return None
    try:
        return max(0.0, float(told))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(told).timestamp() - time.time())
    except (TypeError, ValueError):
        return None

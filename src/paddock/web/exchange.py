"""What an endpoint is: how a request is read, strictly, and how an answer or a refusal is written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta

from paddock.core.board import Board
from paddock.core.errors import Misuse, NotFound, PaddockError
from paddock.core.ids import printable
from paddock.core.intent.landing import Outdated
from paddock.core.intent.workers import NotForWorkers
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import LogUnusable, Store
from paddock.views.document import Document, to_json_line
from paddock.web.gate import TurnedAway

Q = TypeVar("Q", bound=msgspec.Struct)
B = TypeVar("B")
MOST_PARAMETERS = 32
Count = Annotated[int, Meta(ge=0, le=2**53)]


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A query or a body: a field that nobody knows is a mistake of whoever asks."""


class NoQuery(Asked, frozen=True):
    pass


class NoBody(Asked, frozen=True):
    pass


class WorkThread(Enum):
    """Where an endpoint's work is done."""

    READER = "a thread that reads, with a log of its own"
    WRITER = "the one thread that writes"


@dataclass(frozen=True, slots=True)
class Visit(Generic[Q, B]):
    """One request at its endpoint. Only readers have a `store`: who writes opens the log for its one transaction."""

    workspace: Workspace
    path: Mapping[str, str]
    query: Q
    body: B
    now: float
    reading: Store | None = None

    @property
    def store(self) -> Store:
        assert self.reading is not None
        return self.reading

    @property
    def board(self) -> Board:
        return self.store.board()


@dataclass(frozen=True, slots=True)
class PlainText:
    """An answer that is not JSON, such as an agent's raw output. `content_range` is there if it is a part."""

    text: bytes
    content_type: str = "text/plain; charset=utf-8"
    content_range: str = ""


@dataclass(frozen=True, slots=True)
class Printed:
    """JSON as a command prints it, to the byte."""

    text: bytes


@dataclass(frozen=True)
class Endpoint(Generic[Q, B]):
    """One line of the API. `path` is below `/api/v1`; `answer` is what JSON the handler gives."""

    method: str
    path: str
    summary: str
    answer: Any
    handle: Callable[[Visit[Q, B]], object]
    query: type[Q]
    body: type[B]
    thread: WorkThread

    @property
    def name(self) -> str:
        """As programs that read the schema call it."""
        words = [word.strip("{}") for word in self.path.strip("/").replace(".", "/").split("/")]
        return "_".join((self.method.lower(), *words))


def read(
    path: str, summary: str, answer: Any, handle: Callable[[Visit[Q, NoBody]], object], query: type[Q]
) -> Endpoint[Q, NoBody]:
    return Endpoint("GET", path, summary, answer, handle, query, NoBody, WorkThread.READER)


def ask(
    path: str, summary: str, answer: Any, handle: Callable[[Visit[NoQuery, B]], object], body: type[B]
) -> Endpoint[NoQuery, B]:
    return Endpoint("POST", path, summary, answer, handle, NoQuery, body, WorkThread.WRITER)


class Complaint(msgspec.Struct, frozen=True, omit_defaults=True):
    """A refusal. `code` is for programs; `seen` and `now` are there where a version is outdated."""

    code: str
    message: str
    hint: str | None = None
    seen: str | None = None
    now: str | None = None


class ErrorAnswer(Document, frozen=True, kw_only=True):
    error: Complaint


@dataclass(frozen=True, slots=True)
class Problem:
    status: int
    complaint: Complaint

    def to_json(self) -> bytes:
        return to_json_line(ErrorAnswer(error=self.complaint))


def problem_of(error: Exception) -> Problem:
    """How an error is answered. What nobody expected is a 500 that tells nothing of the machine."""
    match error:
        case PaddockError():
            return Problem(status_of(error), complaint_about(error))
        case OSError():
            return Problem(503, Complaint("system", f"the system refused: {error.strerror or type(error).__name__}"))
        case _:
            words = f"internal error: {type(error).__name__}"
            return Problem(500, Complaint("internal", words, "this is a bug in Paddock: the server's log has more"))


def status_of(error: PaddockError) -> int:
    match error:
        case Misuse():
            return 400
        case NotFound():
            return 404
        case NotForWorkers():
            return 403
        case LogUnusable():
            return 503
        case _:
            return 409


_CODES = {400: "misuse", 403: "worker", 404: "unknown", 409: "refused", 503: "log"}


def complaint_about(error: PaddockError) -> Complaint:
    if isinstance(error, Outdated):
        return Complaint("outdated", error.message, error.hint, error.seen, error.now)
    return Complaint(_CODES[status_of(error)], error.message, error.hint)


def problem_at_the_door(turned: TurnedAway) -> Problem:
    return Problem(turned.status, Complaint(turned.code, turned.message, turned.hint))


def read_query(text: str, kind: type[Q]) -> Q:
    """Raises Misuse for what is unknown, said twice, or of another type. Only fields that are lists may be repeated."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), max_num_fields=MOST_PARAMETERS)
    except ValueError as error:
        raise Misuse(f"the query cannot be read: {printable(str(error))}", _DESCRIBED) from None
    lists = {field.name for field in msgspec.structs.fields(kind) if field.default == ()}
    said: dict[str, object] = {name: [] for name in lists}
    for name, value in pairs:
        if name in lists:
            said[name] = [*said[name], value]  # type: ignore[misc]
        elif name in said:
            raise Misuse(f"`{printable(name, 40)}` is given twice", "give each parameter once")
        else:
            said[name] = value
    try:
        return msgspec.convert(said, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Misuse(f"the query is wrong: {printable(str(error))}", _DESCRIBED) from None


def read_body(text: bytes, kind: type[B]) -> B:
    """Raises Misuse."""
    try:
        return msgspec.json.decode(text or b"{}", type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Misuse(f"the body is wrong: {printable(str(error))}", _DESCRIBED) from None
    except RecursionError:
        raise Misuse("the body is nested too deeply", _DESCRIBED) from None


_DESCRIBED = "`/api/v1/openapi.json` describes it"

"""What an endpoint of the API is, and how the query and the body of a request are read: strictly."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta

from paddock.core.board import Board
from paddock.core.errors import Misuse
from paddock.core.filter.parser import MOST_CHARACTERS
from paddock.core.ids import printable
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Store
from paddock.views.board.page import LiveBoard
from paddock.views.queue.picture import LiveQueue
from paddock.web.remembered import Remembered

Q = TypeVar("Q", bound=msgspec.Struct)
B = TypeVar("B")
MOST_PARAMETERS = 32
Count = Annotated[int, Meta(ge=0, le=2**53)]
FilterText = Annotated[str, Meta(max_length=MOST_CHARACTERS)]


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
    LABOURER = "one of the threads for what takes long: nobody who reads or writes waits for it"


@dataclass(frozen=True, slots=True)
class KnownViews:
    """Views that read the log once, and from then on what is new in it. They belong to one thread and its log."""

    board: LiveBoard = field(default_factory=LiveBoard)
    queue: LiveQueue = field(default_factory=LiveQueue)


@dataclass(frozen=True, slots=True)
class Visit(Generic[Q, B]):
    """One request at its endpoint. Only readers have a `store`: who writes opens the log for its one transaction.
    `known` is what the thread has made of that store before, `remembered` what took any thread long."""

    workspace: Workspace
    path: Mapping[str, str]
    query: Q
    body: B
    now: float
    reading: Store | None = None
    known: KnownViews = field(default_factory=KnownViews)
    remembered: Remembered = field(default_factory=Remembered)

    @property
    def store(self) -> Store:
        assert self.reading is not None
        return self.reading

    @property
    def board(self) -> Board:
        return self.store.board()


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


def read_long(
    path: str, summary: str, answer: Any, handle: Callable[[Visit[Q, NoBody]], object], query: type[Q]
) -> Endpoint[Q, NoBody]:
    """For what reads much or starts programs; it opens the log itself."""
    return Endpoint("GET", path, summary, answer, handle, query, NoBody, WorkThread.LABOURER)


def ask(
    path: str, summary: str, answer: Any, handle: Callable[[Visit[NoQuery, B]], object], body: type[B]
) -> Endpoint[NoQuery, B]:
    return Endpoint("POST", path, summary, answer, handle, NoQuery, body, WorkThread.WRITER)


def ask_long(
    path: str, summary: str, answer: Any, handle: Callable[[Visit[NoQuery, B]], object], body: type[B]
) -> Endpoint[NoQuery, B]:
    """For what works with git or waits for processes, and may take a minute."""
    return Endpoint("POST", path, summary, answer, handle, NoQuery, body, WorkThread.LABOURER)


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

"""The application: the endpoints of the table, the page and its files, all behind one check of who may ask."""

import asyncio
import re
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from paddock.core.errors import Misuse, PaddockError
from paddock.views.document import to_json_line
from paddock.web.access import JSON, ServerAccess
from paddock.web.access_control import AccessControl, RefuseWorker, answer_problem
from paddock.web.endpoint import Endpoint, NoBody, Printed, Visit, read_body, read_query
from paddock.web.openapi import describe_api
from paddock.web.pages import missing_page, page_routes
from paddock.web.peers import refuse_worker
from paddock.web.problems import Complaint, Problem, problem_of
from paddock.web.routes import ENDPOINTS, PREFIX, STREAM_PATH
from paddock.web.served_fleet import ServedFleet
from paddock.web.stream import EventStream, StreamQuery, last_event_id

MOST_BODY_BYTES = 1_000_000
BODY_SECONDS = 10.0


class BodyRefused(Exception):
    """A body that is too large or comes too slowly."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.problem = Problem(status, Complaint(code, message))


@dataclass(frozen=True, slots=True)
class Shown:
    """What a server shows. In `state_dir` are its token, and the note by which others find it."""

    app: ASGIApp
    refuse_worker: RefuseWorker
    state_dir: Path
    end_streams: Callable[[], None]
    close: Callable[[], None]
    repositories: tuple[str, ...] = ()

    def behind(self, access: ServerAccess) -> ASGIApp:
        return AccessControl(self.app, self.refuse_worker, access)


def show_fleet(fleet: ServedFleet) -> Shown:
    """One repository, at the addresses that the page's script knows."""
    refuse = partial(refuse_worker, fleet)
    return Shown(fleet_app(fleet), refuse, fleet.workspace.state_dir, fleet.broadcast.close, fleet.close)


def fleet_app(fleet: ServedFleet, root: str = "") -> ASGIApp:
    """`root` precedes its addresses where the server shows several."""
    routes: list[BaseRoute] = [*_api_routes(fleet, ENDPOINTS, root), *page_routes(fleet)]
    return plain_app(routes, root)


def plain_app(routes: Sequence[BaseRoute], root: str = "", home: str = "The board") -> ASGIApp:
    """What is not there, and what goes wrong, is told as everywhere. `home` is what is at the root."""

    async def not_found(request: Request, _error: Exception) -> Response:
        if not request.url.path.startswith(("/api/", "/static/")):
            return missing_page(request.url.path, root, home)
        complaint = Complaint("unknown", "there is nothing at this address", _LISTED)
        return answer_problem(Problem(404, complaint))

    return Starlette(
        routes=routes, exception_handlers={404: not_found, 405: _wrong_method, PaddockError: _refuse, OSError: _refuse}
    )


def _api_routes(
    fleet: ServedFleet,
    endpoints: Sequence[Endpoint],  # type: ignore[type-arg]
    root: str,
) -> list[BaseRoute]:
    schema = cache(lambda: to_json_line(describe_api(endpoints, root)))

    async def openapi(_request: Request) -> Response:
        return Response(schema(), media_type=JSON)

    async def events(request: Request) -> Response | EventStream:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        try:
            query = read_query(request.url.query, StreamQuery)
        except Misuse as misuse:
            return answer_problem(problem_of(misuse))
        seen = last_event_id(request.headers.get("last-event-id"))
        return EventStream(fleet.broadcast, fleet.threads.read, query, seen)

    table: list[BaseRoute] = [_route(fleet, endpoint) for endpoint in endpoints]
    table.append(Route(STREAM_PATH, events, methods=["GET"]))
    table.append(Route(f"{PREFIX}/openapi.json", openapi, methods=["GET"]))
    return table


def _route(fleet: ServedFleet, endpoint: Endpoint) -> Route:  # type: ignore[type-arg]
    async def serve(request: Request) -> Response:
        try:
            query = read_query(request.url.query, endpoint.query)
            body = NoBody() if endpoint.body is NoBody else read_body(await _body_of(request), endpoint.body)
            asked = (request.path_params, query, body, time.time())
            visit = Visit(fleet.workspace, *asked, remembered=fleet.remembered)
            return _answer(await fleet.answer(endpoint, visit))
        except BodyRefused as refusal:
            return answer_problem(refusal.problem)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:
            if not isinstance(error, (PaddockError, OSError)):
                traceback.print_exc(file=sys.stderr)
            return answer_problem(problem_of(error))

    # names of branches and of imported runs have slashes
    path = re.sub(r"^(/queue/.*\{\w+|/traces/\{\w+)\}", r"\1:path}", endpoint.path)
    return Route(f"{PREFIX}{path}", serve, methods=[endpoint.method], name=endpoint.name)


def _answer(answer: object) -> Response:
    text = answer.text if isinstance(answer, Printed) else to_json_line(answer)
    return Response(text, media_type=JSON)


async def _body_of(request: Request) -> bytes:
    """Raises BodyRefused. A body that is announced as too large is not read at all."""
    announced = request.headers.get("content-length", "0")
    large = BodyRefused(413, "too-large", f"the body may have {MOST_BODY_BYTES:,} bytes at most")
    if not announced.isdecimal() or int(announced) > MOST_BODY_BYTES:
        raise large
    text = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                text += part
                if len(text) > MOST_BODY_BYTES:
                    raise large
    except TimeoutError:
        raise BodyRefused(408, "too-slow", f"the body did not arrive within {BODY_SECONDS:.0f} s") from None
    return bytes(text)


async def _refuse(_request: Request, error: Exception) -> Response:
    return answer_problem(problem_of(error))


async def _wrong_method(request: Request, error: Exception) -> Response:
    words = f"this address cannot be asked with {request.method[:10]}"
    answer = answer_problem(Problem(405, Complaint("method", words, _LISTED)))
    if isinstance(error, HTTPException) and error.headers:
        answer.headers.update(error.headers)
    return answer


_LISTED = "`/api/v1/openapi.json` lists what there is"

"""Several repositories on one server: each has its pages and its API below `/r/NAME`, and `/` shows all of them."""

import asyncio
import time
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from paddock.core.errors import Misuse
from paddock.fleet.service.pages import shared_pages_folder
from paddock.views.document import iso, to_json_line
from paddock.web.access import JSON
from paddock.web.access_control import answer_problem
from paddock.web.addresses import split_address
from paddock.web.app import Shown, plain_app
from paddock.web.broadcast import PulseView
from paddock.web.endpoint import read_query
from paddock.web.overview import VIEW, Overview
from paddock.web.pages import closed_page, file_routes, missing_page, overview_page
from paddock.web.peers import refuse_worker
from paddock.web.problems import Complaint, Problem, problem_of
from paddock.web.repositories import ServedRepositories, ServedRepository
from paddock.web.routes import PREFIX, STREAM_PATH
from paddock.web.stream import PULSE_SECONDS, RETRY, StreamQuery, send_piece, stream_while_read

HOME = "The overview of all repositories"
_LISTED = f"`{PREFIX}/repositories` lists them; each has its own API below `/r/NAME{PREFIX}`"


def show_repositories(repositories: ServedRepositories) -> Shown:
    folder = shared_pages_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    overview = Overview(repositories)

    async def refuse(scope: Scope) -> Problem | None:
        one = repositories.by_name.get(split_address(scope["path"])[0])
        asked = one.fleet if one is not None else None
        if asked is None:
            return None  # there is nothing to steer at this address
        return await refuse_worker(asked, scope, [fleet for fleet in repositories.fleets if fleet is not asked])

    def end_streams() -> None:
        overview.close()
        repositories.end_streams()

    app = SeveralApp(repositories, overview)
    return Shown(app, refuse, folder, end_streams, repositories.close, repositories.identities)


class SeveralApp:
    """Hands each request to the repository that its address names, as if that were the only one."""

    def __init__(self, repositories: ServedRepositories, overview: Overview) -> None:
        self._repositories = repositories
        self._common = plain_app(_common_routes(repositories, overview), home=HOME)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name, path = split_address(scope["path"])
        if not name:
            await self._common(scope, receive, send)
            return
        within = {**scope, "path": path, "raw_path": path.encode()}
        await self._app_of(name, path)(within, receive, send)

    def _app_of(self, name: str, path: str) -> ASGIApp:
        one = self._repositories.by_name.get(name)
        is_data = path.startswith("/api/")
        if one is None:
            words = Complaint("unknown", "there is no such repository here", _LISTED)
            return answer_problem(Problem(404, words)) if is_data else missing_page(f"/r/{name}", home=HOME)
        if not path:
            return RedirectResponse(f"{one.root}/", 307)
        return one.app or _away(one, is_data=is_data)


def _away(one: ServedRepository, *, is_data: bool) -> ASGIApp:
    if is_data:
        return answer_problem(Problem(503, Complaint("log", one.trouble, one.hint or None)))
    return closed_page(one.name, one.trouble, one.hint)


def _common_routes(repositories: ServedRepositories, overview: Overview) -> list[BaseRoute]:
    async def listed(_request: Request) -> Response:
        with overview.watched():
            await overview.first()
            return Response(to_json_line(overview.document()), media_type=JSON)

    async def events(request: Request) -> Response | OverviewStream:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        try:
            query = read_query(request.url.query, StreamQuery)
            if set(query.view) - {VIEW}:
                raise Misuse(f"all repositories together have one live view: `{VIEW}`", _LISTED)
        except Misuse as misuse:
            return answer_problem(problem_of(misuse))
        return OverviewStream(overview, query)

    async def healthz(_request: Request) -> Response:
        """Says how many, not which."""
        fleets = [one.fleet for one in repositories]
        can = await asyncio.gather(*(fleet.threads.can_read() for fleet in fleets if fleet is not None))
        if sum(can) == len(fleets):
            return PlainTextResponse("ok\n")
        return PlainTextResponse(f"{len(fleets) - sum(can)} of {len(fleets)} logs cannot be read\n", 503)

    async def elsewhere(_request: Request) -> Response:
        words = Complaint("unknown", "this server shows several repositories", _LISTED)
        return answer_problem(Problem(404, words))

    return [
        Route("/", overview_page, methods=["GET"]),
        Route(f"{PREFIX}/repositories", listed, methods=["GET"]),
        Route(STREAM_PATH, events, methods=["GET"]),
        Route("/healthz", healthz, methods=["GET"]),
        Route("/api/{rest:path}", elsewhere),
        *file_routes(),
    ]


class OverviewStream:
    """What all repositories do, for one page, as long as it reads."""

    def __init__(self, overview: Overview, query: StreamQuery) -> None:
        self._overview = overview
        self._mark = next((have.rpartition(":")[2] for have in query.have if have.startswith(f"{VIEW}:")), "")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._overview.watched():
            await stream_while_read(receive, send, self._tell(send))

    async def _tell(self, send: Send) -> None:
        loop, overview = asyncio.get_running_loop(), self._overview
        await send_piece(send, RETRY + _pulse())
        await overview.first()
        pulse_at = loop.time() + PULSE_SECONDS
        while not overview.closed:
            changed = overview.changed
            piece = b"".join(overview.since(self._mark))
            self._mark = overview.mark
            if loop.time() >= pulse_at:
                piece += _pulse()
                pulse_at = loop.time() + PULSE_SECONDS
            if piece:
                await send_piece(send, piece)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout_at(pulse_at):
                    await changed.wait()


def _pulse() -> bytes:
    """The server is there; each repository tells for itself how it is."""
    return b"event: pulse\ndata: %s\n\n" % to_json_line(PulseView(iso(time.time()), 0, ""))

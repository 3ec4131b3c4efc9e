"""The page itself: one document for every address of it, its files, and the few pages that need no script."""

from html import escape
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from paddock.core.errors import PaddockError
from paddock.views.metrics import CONTENT_TYPE
from paddock.web.served_fleet import ServedFleet

STATIC = Path(__file__).parent / "static"
PAGES = ("/", "/queue", "/fleet", "/insight", "/log", "/new", "/tasks/{task}", "/convoys/{convoy}", "/runs/{run:path}")
"""Addresses that the page's own script knows."""
REVALIDATE = {"Cache-Control": "no-cache"}


class PageFiles(StaticFiles):
    """Asked for again each time, and sent again only when they have changed: an upgrade is seen at once."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        answer = await super().get_response(path, scope)
        answer.headers.update(REVALIDATE)
        return answer


async def page(_request: Request) -> Response:
    return FileResponse(STATIC / "index.html", media_type="text/html; charset=utf-8", headers=REVALIDATE)


async def overview_page(_request: Request) -> Response:
    """The same document with another script."""
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    return HTMLResponse(text.replace('src="/static/app.js"', 'src="/static/overview.js"'), headers=REVALIDATE)


async def favicon(_request: Request) -> Response:
    return FileResponse(STATIC / "favicon.svg", media_type="image/svg+xml", headers=REVALIDATE)


def file_routes() -> list[BaseRoute]:
    return [Route("/favicon.ico", favicon, methods=["GET"]), Mount("/static", PageFiles(directory=STATIC))]


def page_routes(fleet: ServedFleet) -> list[BaseRoute]:
    async def healthz(_request: Request) -> Response:
        if await fleet.threads.can_read():
            return PlainTextResponse("ok\n")
        return PlainTextResponse("the log cannot be read\n", 503)

    async def metrics(_request: Request) -> Response:
        try:
            return Response(await fleet.metrics(), headers={"Content-Type": CONTENT_TYPE})
        except PaddockError as error:
            return PlainTextResponse(f"{error.message}\n", 503)

    return [
        *(Route(path, page, methods=["GET"]) for path in PAGES),
        Route("/metrics", metrics, methods=["GET"]),
        Route("/healthz", healthz, methods=["GET"]),
        *file_routes(),
    ]


def locked_page() -> Response:
    """For who opens an address without the token."""
    words = (
        "This page needs its token: open the address that <code>paddock web</code> printed. "
        "Run <code>paddock web</code> again in the repository to see it; the server that is running stays."
    )
    return _plain_page("Locked", words, 401)


def missing_page(path: str, root: str = "", home: str = "The board") -> Response:
    """`root` precedes the addresses of its repository, where the server shows several; `home` is what is there."""
    shown = escape(f"{root}{path}"[:80])
    here = f'<a class="link" href="{root}/">{home}</a> is here.'
    return _plain_page("Not found", f"There is no page <code>{shown}</code>. {here}", 404)


def closed_page(name: str, trouble: str, hint: str) -> Response:
    """For a repository that cannot be shown, beside others that can."""
    help_words = f" {_marked(hint)}" if hint else ""
    words = (
        f'{_marked(trouble)}.{help_words} This page works as soon as it can be read. <a class="link" href="/">All '
        "repositories</a>"
    )
    return _plain_page(escape(name), words, 503)


def _marked(text: str) -> str:
    """Escaped, with what is between backticks as code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))


def _plain_page(title: str, words: str, status: int) -> Response:
    return HTMLResponse(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{title} · Paddock</title>'
        f'<link rel="stylesheet" href="/static/paddock.css"></head>'
        f'<body><main class="page"><h1>{title}</h1><p>{words}</p></main></body></html>\n',
        status,
    )

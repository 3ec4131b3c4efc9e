"""Every request comes in here: its headers are judged, its answer gets the headers that protect the page."""

import time
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from paddock.core.errors import PaddockError
from paddock.web.access import HEADERS, JSON, RequestHead, ServerAccess, denial_of, opens_with, shows_token, ticket_ends
from paddock.web.pages import locked_page
from paddock.web.problems import Problem, problem_of, problem_of_denial

COOKIE_SECONDS = 30 * 86400
RefuseWorker = Callable[[Scope], Awaitable[Problem | None]]
"""Of a request that changes something. May raise PaddockError."""


def answer_problem(problem: Problem) -> Response:
    return Response(problem.to_json(), problem.status, media_type=JSON)


class AccessControl:
    """Around the whole application: nothing is reached without it."""

    def __init__(self, app: ASGIApp, refuse_worker: RefuseWorker, access: ServerAccess) -> None:
        self._app, self._refuse_worker, self._access = app, refuse_worker, access
        self._used: dict[str, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        head = head_of(scope)
        answer = self._enter_by_address(scope, head) or self._deny(head)
        if answer is None and shows_token(self._access, head):
            scope["state"]["let_in"]()
        if answer is None and not head.is_safe:
            answer = await self._refuse_workers(scope)
        await (answer or self._app)(scope, receive, send_protected)

    def _enter_by_address(self, scope: Scope, head: RequestHead) -> Response | None:
        """The token in the address is exchanged for a cookie, and the address is shown without it."""
        text = scope["query_string"].decode("latin-1")
        if "token=" not in text or not head.is_page or head.path.startswith("/static/"):
            return None
        pairs = parse_qsl(text, keep_blank_values=True)
        said = next((value for name, value in pairs if name == "token"), "")
        access = self._access
        # Whoever may not come in by name or origin may not come in with a token either.
        denial = denial_of(access, head)
        if denial is not None and denial.code != "token":
            return None
        if access.token and not opens_with(access, head, said) and not self._uses_up(said):
            return None
        rest = urlencode([(name, value) for name, value in pairs if name != "token"])
        path = f"/{head.path.lstrip('/')}"
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        if access.token:
            answer.set_cookie(
                access.cookie, access.cookie_value, max_age=COOKIE_SECONDS, httponly=True, samesite="strict", path="/"
            )
        return answer

    def _uses_up(self, ticket: str) -> bool:
        """Whether it is good, which it is once."""
        now = time.time()
        self._used = {used: until for used, until in self._used.items() if until >= now}
        until = ticket_ends(self._access, ticket)
        if until < now or ticket in self._used:
            return False
        self._used[ticket] = until
        return True

    def _deny(self, head: RequestHead) -> Response | None:
        denial = denial_of(self._access, head)
        if denial is None:
            return None
        if denial.code == "token" and head.is_page:
            return locked_page()
        return answer_problem(problem_of_denial(denial))

    async def _refuse_workers(self, scope: Scope) -> Response | None:
        try:
            problem = await self._refuse_worker(scope)
        except (PaddockError, OSError) as error:
            problem = problem_of(error)
        return answer_problem(problem) if problem is not None else None


def head_of(scope: Scope) -> RequestHead:
    headers = Headers(scope=scope)
    hosts = headers.getlist("host")
    return RequestHead(
        method=scope["method"],
        path=scope["path"],
        host=hosts[0] if len(hosts) == 1 else None,
        origin=headers.get("origin"),
        site=headers.get("sec-fetch-site"),
        cookie=headers.get("cookie"),
        authorization=headers.get("authorization"),
        content_type=headers.get("content-type"),
    )

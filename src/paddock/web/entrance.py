"""Every request comes in here: its headers are judged, its answer gets the headers that protect the page."""

import time
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from paddock.web.exchange import Problem, problem_at_the_door
from paddock.web.gate import HEADERS, JSON, Knock, judge, opens_with, ticket_ends
from paddock.web.house import House
from paddock.web.pages import locked_page
from paddock.web.peers import refuse_worker

COOKIE_SECONDS = 30 * 86400


def answer_problem(problem: Problem) -> Response:
    return Response(problem.to_json(), problem.status, media_type=JSON)


class Entrance:
    """Around the whole application: nothing is reached without it."""

    def __init__(self, app: ASGIApp, house: House) -> None:
        self._app, self._house = app, house
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

        knock = knock_of(scope)
        answer = self._enter_by_address(scope, knock) or self._turn_away(knock)
        if answer is None and not knock.is_safe:
            answer = await self._refuse_workers(scope)
        await (answer or self._app)(scope, receive, send_protected)

    def _enter_by_address(self, scope: Scope, knock: Knock) -> Response | None:
        """The token in the address is exchanged for a cookie, and the address is shown without it."""
        text = scope["query_string"].decode("latin-1")
        if "token=" not in text or not knock.is_page or knock.path.startswith("/static/"):
            return None
        pairs = parse_qsl(text, keep_blank_values=True)
        said = next((value for name, value in pairs if name == "token"), "")
        door = self._house.door
        # Whoever may not come in by name or origin may not come in with a token either.
        turned = judge(door, knock)
        if turned is not None and turned.code != "token":
            return None
        if door.token and not opens_with(door, knock, said) and not self._uses_up(said):
            return None
        rest = urlencode([(name, value) for name, value in pairs if name != "token"])
        path = f"/{knock.path.lstrip('/')}"
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        if door.token:
            answer.set_cookie(
                door.cookie, door.cookie_value, max_age=COOKIE_SECONDS, httponly=True, samesite="strict", path="/"
            )
        return answer

    def _uses_up(self, ticket: str) -> bool:
        """Whether it is good, which it is once."""
        now = time.time()
        self._used = {used: until for used, until in self._used.items() if until >= now}
        until = ticket_ends(self._house.door, ticket)
        if until < now or ticket in self._used:
            return False
        self._used[ticket] = until
        return True

    def _turn_away(self, knock: Knock) -> Response | None:
        turned = judge(self._house.door, knock)
        if turned is None:
            return None
        if turned.code == "token" and knock.is_page:
            return locked_page()
        return answer_problem(problem_at_the_door(turned))

    async def _refuse_workers(self, scope: Scope) -> Response | None:
        problem = await refuse_worker(self._house, scope)
        return answer_problem(problem) if problem is not None else None


def knock_of(scope: Scope) -> Knock:
    headers = Headers(scope=scope)
    hosts = headers.getlist("host")
    return Knock(
        method=scope["method"],
        path=scope["path"],
        host=hosts[0] if len(hosts) == 1 else None,
        origin=headers.get("origin"),
        site=headers.get("sec-fetch-site"),
        cookie=headers.get("cookie"),
        authorization=headers.get("authorization"),
        content_type=headers.get("content-type"),
    )

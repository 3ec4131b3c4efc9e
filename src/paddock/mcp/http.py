"""The same server over streamable HTTP, on this machine only: one check of who may ask before every request.

The token of `paddock web` is a person's; an agent has its own, in its attempt's environment. Whatever token it shows,
a process of an attempt is that attempt's agent and nobody else: the kernel tells whose it is.
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import uvicorn
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from paddock.api.access import Access
from paddock.core.errors import Misuse, PaddockError
from paddock.core.intent.workers import NotForWorkers, Worker
from paddock.fleet.worker_token import attempt_of
from paddock.fleet.workspace import Workspace
from paddock.mcp.server import Call, build_server
from paddock.mcp.tools import call_tool
from paddock.sessions.peers import find_peer
from paddock.views.document import document, to_json_line
from paddock.web.access import JSON, LOOPBACK, Denial, RequestHead, ServerAccess, denial_of, is_loopback, shows_token
from paddock.web.token import token_of

PATH = "/mcp"
MOST_BODY_BYTES = 1_000_000
MOST_CONNECTIONS = 128
_ASKER = "paddock.asker"


def serve_http(access: Access, state_dir: Path, host: str, port: int, say: Callable[[str], None]) -> None:
    """Until a signal. `say` is told the address once it answers. Raises PaddockError."""
    if not is_loopback(host):
        raise Misuse(
            f"`{host}` is not an address of this machine alone", "use 127.0.0.1; `ssh -L` brings it to another machine"
        )
    listening = _bind(host, port)
    door = ServerAccess(host, listening.getsockname()[1], token_of(state_dir), LOOPBACK)
    server = build_server(lambda request: _call_of(access, request))
    app = server.streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, json_response=True, max_request_body_size=MOST_BODY_BYTES
    )
    logging.getLogger("mcp").setLevel(logging.ERROR)
    config = uvicorn.Config(
        Door(app, access, door),
        ws="none",
        lifespan="on",
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=3,
        limit_concurrency=MOST_CONNECTIONS,
    )
    shown = f"[{host}]" if ":" in host else host
    asyncio.run(_AnnouncedServer(config, lambda: say(f"http://{shown}:{door.port}{PATH}")).serve([listening]))


class _AnnouncedServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            self._ready()


def _bind(host: str, port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise PaddockError(f"cannot listen on {host}:{port}: {error.strerror}", "port 0 is any that is free") from None
    listening.set_inheritable(False)
    return listening


def _call_of(access: Access, request: Request) -> Call:
    theirs = access.seen_by(request.scope[_ASKER])
    return lambda name, arguments: call_tool(theirs, name, arguments)


@dataclass(frozen=True, slots=True)
class Door:
    """Around the whole application: nothing is reached without it."""

    app: ASGIApp
    access: Access
    server: ServerAccess

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        head = head_of(scope)
        denial = denial_of(replace(self.server, token=""), head)
        if denial is None:
            try:
                asker = await asyncio.to_thread(self._identify, head, _end(scope, "client"), _end(scope, "server"))
            except NotForWorkers as refusal:
                denial = Denial(403, "worker", refusal.message, refusal.hint or "")
            except PaddockError as error:
                denial = Denial(401, "token", error.message, error.hint or "")
            else:
                scope[_ASKER] = asker
        if denial is None:
            await self.app(scope, receive, send)
            return
        answer = Response(
            to_json_line(document(error=denial.message, hint=denial.hint)), denial.status, media_type=JSON
        )
        await answer(scope, receive, send)

    def _identify(self, head: RequestHead, client: tuple[str, int], server: tuple[str, int]) -> Worker | None:
        """None is a person. Raises NotForWorkers for an agent with the token of another, PaddockError without any."""
        workspace = Workspace(self.access.repo, via="mcp")
        named = self._shown_worker(workspace, head)
        peer = find_peer(client, server)
        if peer.is_gone:
            raise PaddockError("no process holds the connection any more", "keep it open until the answer is there")
        owner = peer.owner(workspace.marker) if peer.local else ""
        if owner and named is not None and named.owner != owner:
            refusal = NotForWorkers(
                "mcp for others",
                f"the token is that of {named.place}: you run inside attempt {owner}",
                "use your own, $PADDOCK_TOKEN",
            )
            workspace.seen_by(Worker(owner)).refuse(refusal)
            raise refusal
        return workspace.worker_named(owner) if owner else named

    def _shown_worker(self, workspace: Workspace, head: RequestHead) -> Worker | None:
        """Whose token it is; None for a person's."""
        if shows_token(self.server, head):
            return None
        scheme, _, credentials = (head.authorization or "").partition(" ")
        if scheme.lower() == "bearer":
            attempt = attempt_of(workspace.state_dir, workspace.board(), credentials.strip())
            if attempt is not None:
                return workspace.worker_named(attempt)
        raise PaddockError(
            "the token is missing or wrong, or its attempt has ended", "send `Authorization: Bearer TOKEN`"
        )


def head_of(scope: Scope) -> RequestHead:
    """As of a request for data, so that pages of other sites are refused whatever its method; one without a body needs
    no kind of it, and cookies count for nothing."""
    headers = Headers(scope=scope)
    hosts = headers.getlist("host")
    has_body = scope["method"] == "POST"
    return RequestHead(
        method=scope["method"],
        path=f"/api{scope['path']}",
        host=hosts[0] if len(hosts) == 1 else None,
        origin=headers.get("origin"),
        site=headers.get("sec-fetch-site"),
        authorization=headers.get("authorization"),
        content_type=headers.get("content-type") if has_body else JSON,
    )


def _end(scope: Scope, which: str) -> tuple[str, int]:
    found: Any = scope.get(which)
    return (str(found[0]), int(found[1])) if found else ("127.0.0.1", 0)

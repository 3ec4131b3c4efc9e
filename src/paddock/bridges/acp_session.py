"""Opening the conversation of a turn: which protocol is spoken, which login is there, new or resumed, which model."""

import asyncio
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paddock import __version__
from paddock.bridges.acp_agent import AgentProcess
from paddock.bridges.failure import BridgeFailed, ExitStatus
from paddock.core.trace import RateLimited, SessionStarted, TraceEntry, TroubleKind, clip, one_line
from paddock.engines.acp_order import AcpOrder
from paddock.engines.jsonline import Node
from paddock.engines.trouble import describe_error

if TYPE_CHECKING:
    from acp.connection import Connection

PROTOCOL_VERSION = 1
# A first start may have to unpack or download the agent, and MCP servers start with the session.
OPEN_SECONDS = 120.0
WORDS_LIMIT = 1_000
_AUTH_REQUIRED = -32000
_LOGIN_VARIABLES = {
    "openai-api-key": "OPENAI_API_KEY",
    "codex-api-key": "CODEX_API_KEY",
    "gemini-api-key": "GEMINI_API_KEY",
}


class AgentRefused(Exception):
    """An error that the agent answered with. `entry` is what it means for the fleet."""

    def __init__(self, method: str, code: int, message: str, data: object) -> None:
        detail = Node(data).brief(limit=WORDS_LIMIT) if data else ""
        self.words = clip(f"{message} {detail}".strip(), WORDS_LIMIT)
        super().__init__(f"{method}: {self.words}")
        self.code = code
        status = Node(data).whole("status") or Node(data).whole("statusCode")
        if code == _AUTH_REQUIRED:
            self.entry: TraceEntry = RateLimited(TroubleKind.AUTH, message=self.words)
        else:
            self.entry = describe_error(self.words, status)


@dataclass(frozen=True, slots=True)
class Opened:
    """`queues`: it takes a further prompt while one runs. `is_new`: what it tells of costs is this turn's alone."""

    session: str
    queues: bool
    is_new: bool
    started: SessionStarted


class AgentLink:
    """Requests to the agent, with a bound where an answer is due at once. Raises BridgeFailed or AgentRefused."""

    def __init__(self, agent: AgentProcess, connection: "Connection") -> None:
        self._agent = agent
        self._connection = connection

    async def ask(self, method: str, params: dict[str, Any], seconds: float | None = OPEN_SECONDS) -> Node:
        from acp.exceptions import RequestError

        try:
            return Node(await asyncio.wait_for(self._connection.send_request(method, params), seconds))
        except RequestError as error:
            raise AgentRefused(method, error.code, str(error), error.data) from error
        except TimeoutError as error:
            words = f"the agent `{self._agent.name}` did not answer {method} within {seconds:g} s"
            raise BridgeFailed(words, ExitStatus.PROTOCOL) from error
        except OSError as error:
            raise await self._agent.explain(method) from error

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        """A notification; an agent that is gone is noticed elsewhere."""
        try:
            await self._connection.send_notification(method, params)
        except OSError:
            return


async def open_session(link: AgentLink, order: AcpOrder) -> Opened:
    """Raises BridgeFailed or AgentRefused."""
    hello = await link.ask("initialize", _introduction())
    version = hello.whole("protocolVersion")
    if version != PROTOCOL_VERSION:
        told = f"version {version}" if version is not None else "no version"
        raise BridgeFailed(
            f"the agent speaks {told} of the Agent Client Protocol; Paddock speaks version {PROTOCOL_VERSION}",
            ExitStatus.PROTOCOL,
        )
    method, params = _opening(hello.at("agentCapabilities"), order)
    try:
        answer = await link.ask(method, params)
    except AgentRefused as refusal:
        if refusal.code == _AUTH_REQUIRED and (login := _find_login(hello)):
            await link.ask("authenticate", {"methodId": login})
            answer = await link.ask(method, params)
        elif order.session is not None and not isinstance(refusal.entry, RateLimited):
            raise _lost(order.session, refusal.words) from refusal
        else:
            raise
    session = answer.text("sessionId") or order.session or ""
    if not session:
        raise BridgeFailed(f"the agent answered {method} without a session id", ExitStatus.PROTOCOL)
    model = await _choose_model(link, session, answer, order.model)
    queues = any(part.flag("promptQueueing") for part in hello.children("agentCapabilities", "_meta"))
    return Opened(session, queues, order.session is None, SessionStarted(one_line(session, 200), model))


def _introduction() -> dict[str, Any]:
    """No files and no terminals are offered: the agent has its own tools, in the same worktree and the same fence, and
    nothing of it is only in an editor."""
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
        "clientInfo": {"name": "paddock", "title": "Paddock", "version": __version__},
    }


def _opening(can: Node, order: AcpOrder) -> tuple[str, dict[str, Any]]:
    place = {"cwd": order.cwd, "mcpServers": [_server(s.name, s.argv, s.env) for s in order.servers]}
    if order.session is None:
        return "session/new", place
    resumed = {**place, "sessionId": order.session}
    # Without the history, which a load would send once more.
    if can.has("sessionCapabilities", "resume"):
        return "session/resume", resumed
    if can.flag("loadSession"):
        return "session/load", resumed
    raise _lost(order.session, "the agent does not offer session/load")


def _server(name: str, argv: tuple[str, ...], env: dict[str, str]) -> dict[str, Any]:
    variables = [{"name": key, "value": value} for key, value in env.items()]
    return {"name": name, "command": argv[0], "args": list(argv[1:]), "env": variables}


def _lost(session: str, why: str) -> BridgeFailed:
    """In the words by which the fleet knows that a new conversation must begin (engines/lost_session.py)."""
    return BridgeFailed(f"Session not found: {session}: {why}", ExitStatus.FAILED)


def _find_login(hello: Node) -> str:
    """A way to log in that only needs variables which are set."""
    for method in hello.items("authMethods"):
        names = [variable.word("name") for variable in method.items("vars")]
        names = names or [_LOGIN_VARIABLES.get(method.word("id"), "")]
        if all(name and os.environ.get(name) for name in names):
            return method.word("id")
    return ""


async def _choose_model(link: AgentLink, session: str, opened: Node, wanted: str) -> str:
    """The model in use. Raises BridgeFailed where the one that is wanted is not offered."""
    option = next((o for o in opened.items("configOptions") if "model" in (o.text("category"), o.text("id"))), None)
    if option is not None:
        current, offered = option.word("currentValue"), list(_values(option))
        request = "session/set_config_option", {"configId": option.text("id")}, "value"
    else:
        current = opened.word("models", "currentModelId")
        offered = [(m.text("modelId"), m.text("name")) for m in opened.items("models", "availableModels")]
        request = "session/set_model", {}, "modelId"
    if not wanted or wanted == current:
        return current
    chosen = next((value for value, name in offered if wanted in (value, name)), None)
    if chosen is None:
        names = ", ".join(value for value, _ in offered[:20])
        raise BridgeFailed(
            f"unknown model `{wanted}`: the agent offers {names or 'no choice of models'}", ExitStatus.CONFIG
        )
    method, more, key = request
    await link.ask(method, {"sessionId": session, **more, key: chosen})
    return chosen


def _values(option: Node) -> list[tuple[str, str]]:
    """Those of groups, too."""
    found = []
    for one in option.items("options"):
        members = list(one.items("options")) or [one]
        found += [(member.text("value"), member.text("name")) for member in members]
    return [(value, name) for value, name in found if value]

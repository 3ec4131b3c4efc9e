"""What the bridge to an ACP agent is told of its turn, in a file that only the turn reads."""

from typing import Literal

import msgspec

from paddock.engines.protocol import ToolServer

Policy = Literal["allow", "ask", "deny"]


class AcpToolServer(msgspec.Struct, frozen=True):
    """An MCP server that the agent starts."""

    name: str
    argv: tuple[str, ...]
    env: dict[str, str] = {}

    @classmethod
    def of(cls, name: str, server: ToolServer) -> "AcpToolServer":
        return cls(name, server.argv, dict(server.env))


class AcpOrder(msgspec.Struct, frozen=True):
    """One turn. `session` names the conversation to resume. `messages` are those that the prompt tells.
    `mailbox` is where letters arrive while the turn runs. The agent gets the bridge's own environment."""

    argv: tuple[str, ...]
    cwd: str
    prompt: str
    session: str | None = None
    model: str = ""
    servers: tuple[AcpToolServer, ...] = ()
    permissions: Policy = "ask"
    mailbox: str | None = None
    messages: tuple[int, ...] = ()


def write_order(order: AcpOrder) -> str:
    return msgspec.json.encode(order).decode()


def read_order(data: bytes) -> AcpOrder:
    """Raises msgspec.DecodeError for what is no order."""
    return msgspec.json.decode(data, type=AcpOrder)

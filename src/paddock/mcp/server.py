"""The server that agents' clients talk to, with the official SDK: the list of tools, and calls of them in threads.

Who asks is not decided here: `Call` is one tool call by somebody, at the log or at a desk.
"""

import asyncio
import os
from collections.abc import Callable
from typing import Any

import mcp_types as types
import msgspec
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from paddock import __version__
from paddock.core.errors import PaddockError
from paddock.mcp.review_notes import note_finding, notes_file
from paddock.mcp.tools import TOOLS, ReportFinding, input_schema
from paddock.views.document import document, to_json_line

Call = Callable[[str, bytes], bytes]
"""A tool's name and its arguments as JSON; the result as JSON. Raises PaddockError."""
CallOf = Callable[[Any], Call]
"""The same for whoever made the HTTP request; of None, for whoever started the server."""

MOST_CALLS = 16
"""At once, of one server."""
INSTRUCTIONS = """\
Paddock runs a fleet of coding agents on this git repository. Use these tools to see how it stands, to share things \
that only one may use at a time, and, inside an attempt, to ask a person or to say that nothing needs to change. What \
is for people (approving, landing, stopping) is not here."""


def build_server(call_of: CallOf) -> Server[Any]:
    tools = [
        types.Tool(
            name=tool.name,
            description=tool.description,
            input_schema=input_schema(tool),
            annotations=types.ToolAnnotations(read_only_hint=tool.reads_only, open_world_hint=False),
        )
        for tool in TOOLS.values()
    ]
    places = asyncio.Semaphore(MOST_CALLS)

    async def list_tools(_ctx: Any, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = msgspec.json.encode(params.arguments or {})
        call = call_of(ctx.request)
        async with places:
            try:
                answer = await asyncio.to_thread(call, params.name, arguments)
            except PaddockError as error:
                return _refusal(error)
        return types.CallToolResult(
            content=[types.TextContent(text=answer.decode())], structured_content=msgspec.json.decode(answer)
        )

    return Server(
        "paddock",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _refusal(error: PaddockError) -> types.CallToolResult:
    words = f"{error.message}\n\nhint: {error.hint}" if error.hint else error.message
    told = document(error=error.message, hint=error.hint)
    return types.CallToolResult(content=[types.TextContent(text=words)], structured_content=told, is_error=True)


def with_notes(call: Call) -> Call:
    """A reviewing agent's findings stay beside its answer; everything else is asked."""

    def noting(name: str, arguments: bytes) -> bytes:
        file = notes_file(os.environ) if name == "report_finding" else None
        if file is None:
            return call(name, arguments)
        try:
            wish = msgspec.json.decode(arguments, type=ReportFinding)
        except msgspec.ValidationError as error:
            raise PaddockError(f"{name}: {error}", "tools/list has the schema of each tool") from None
        note_finding(file, wish.finding)
        return to_json_line(document(noted=True, then="it is part of your answer"))

    return noting


async def serve_stdio(call: Call) -> None:
    """Until standard input ends."""
    server = build_server(lambda _request: with_notes(call))
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())

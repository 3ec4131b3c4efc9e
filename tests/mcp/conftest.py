"""A repository with a log, and the SDK's own client at the other end of `paddock mcp`."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from mcp import Client, StdioServerParameters
from tests.cli.conftest import SOURCE, Cli, bare_top, cli, fresh, plain_environment
from tests.cli.test_lease import PATIENCE_SECONDS

__all__ = ["bare_top", "cli", "fresh", "plain_environment"]
Connect = Callable[..., AbstractAsyncContextManager[Client]]


def server_environment(**variables: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SOURCE), **variables}


@asynccontextmanager
async def by_stdio(cli: Cli, cwd: str | None = None, **variables: str) -> AsyncIterator[Client]:
    """`paddock mcp` as a client's child, with these variables besides."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "paddock", "mcp"],
        env=server_environment(**variables),
        cwd=cwd or str(cli.top),
    )
    async with Client(stdio_client(server), read_timeout_seconds=PATIENCE_SECONDS) as client:
        yield client


@dataclass(frozen=True, slots=True)
class HttpServer:
    url: str

    @asynccontextmanager
    async def connect(self, token: str) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECONDS) as http:
            async with Client(streamable_http_client(self.url, http_client=http)) as client:
                yield client


@pytest.fixture
def http_server(cli: Cli) -> Iterator[HttpServer]:
    process = subprocess.Popen(
        (sys.executable, "-P", "-m", "paddock", "mcp", "--http", "127.0.0.1:0"),
        cwd=cli.top,
        env=server_environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    yield HttpServer(process.stdout.readline().strip())
    process.terminate()
    process.wait(PATIENCE_SECONDS)
    process.stdout.close()


async def result(client: Client, tool: str, **arguments: Any) -> Any:
    """What a call that succeeds returns."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error, answer.content
    return "".join(getattr(part, "text", "") for part in answer.content)

"""Pages of other people, for `bench.web`: each takes the stream that a board takes, and is drawn on another machine.

    python -m bench.web_readers COUNT < {"host": …, "port": …, "token": …}

Says `open` once all are told something, and reads until it is ended.
"""

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

from bench.browser import Served

REQUEST = (
    "GET /api/v1/events?brief=1&view=board HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n"
    "Accept: text/event-stream\r\n\r\n"
)


@contextlib.contextmanager
def readers(site: Served, count: int) -> Iterator[None]:
    address = urlsplit(site.origin)
    told = json.dumps({"host": address.hostname, "port": address.port, "token": site.token})
    command = (sys.executable, "-m", "bench.web_readers", str(count))
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(told)
        process.stdin.close()
        if process.stdout.readline() != "open\n":
            raise RuntimeError("the streams of other pages could not be opened")
        yield
    finally:
        process.kill()
        process.wait()


async def main() -> None:
    told = json.load(sys.stdin)
    streams = await asyncio.gather(*(_open(told) for _ in range(int(sys.argv[1]))))
    print("open", flush=True)
    await asyncio.gather(*(_read(stream) for stream in streams))


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]
"""A writer that nobody keeps closes the connection."""


async def _open(told: dict[str, str]) -> Stream:
    reader, writer = await asyncio.open_connection(told["host"], told["port"])
    writer.write(REQUEST.format(**told).encode())
    status = await reader.readline()
    if b" 200 " not in status:
        raise RuntimeError(f"a stream was answered with {status!r}")
    return reader, writer


async def _read(stream: Stream) -> None:
    while await stream[0].read(65536):
        pass


if __name__ == "__main__":
    asyncio.run(main())

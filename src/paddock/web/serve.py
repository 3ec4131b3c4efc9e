"""The server's process: its socket, its ending, and what other processes are told about it."""

import asyncio
import contextlib
import errno
import logging
import os
import resource
import signal
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from paddock.core.errors import PaddockError
from paddock.fleet.service.pages import PageNote, find_pages, forget_page, note_page
from paddock.sessions.host import this_process
from paddock.web.access import LOOPBACK, ServerAccess, is_everywhere, is_loopback, make_ticket
from paddock.web.app import Shown
from paddock.web.connections import HEAD_BYTES, MOST_CONNECTIONS, PatientProtocol
from paddock.web.token import token_of

DEFAULT_PORT = 6174
NEXT_PORTS = 10
"""How many ports after the default one are tried."""


@dataclass(frozen=True, slots=True)
class ServerWish:
    """What was asked for. Without a `port` the usual one is taken, or one of the next; 0 is any that is free."""

    host: str = "127.0.0.1"
    port: int | None = None
    token: bool = True
    new_token: bool = False
    detached: bool = False


def running_page(state_dir: Path, wish: ServerWish, repositories: tuple[str, ...] = ()) -> PageNote | None:
    """The server that does what is wished already, and shows the same repositories."""
    for note in find_pages(state_dir):
        same = note.host == wish.host and wish.port in (None, note.port) and note.token == wish.token
        if same and note.repositories == repositories:
            return note
    return None


def address_of(state_dir: Path, note: PageNote) -> str:
    """With the token, for the person who runs it to open."""
    return f"{note.address}?token={token_of(state_dir)}" if note.token else note.address


def ticket_for(state_dir: Path, note: PageNote) -> str:
    """The address for a browser that is started with it: every user of this machine can read that command line."""
    if not note.token:
        return note.address
    return f"{note.address}?token={make_ticket(token_of(state_dir), time.time())}"


def bind(wish: ServerWish) -> socket.socket:
    """Raises PaddockError for a port that is taken, and for an address that is not this machine's."""
    ports = [wish.port] if wish.port is not None else [DEFAULT_PORT + step for step in range(NEXT_PORTS + 1)]
    family = socket.AF_INET6 if ":" in wish.host else socket.AF_INET
    taken: OSError | None = None
    for port in ports:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((wish.host, port))
            listening.listen(128)
        except OSError as error:
            listening.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise PaddockError(
                    f"`{wish.host}` is no address of this machine: {error.strerror or error}",
                    "use 127.0.0.1, or an address that `ip addr` lists",
                ) from None
            taken = error
            continue
        except OverflowError:
            listening.close()
            raise PaddockError(f"there is no port {port}", "ports go from 0 to 65535") from None
        listening.set_inheritable(False)
        return listening
    assert taken is not None
    raise _port_taken(ports, taken)


def _port_taken(ports: list[int], error: OSError) -> PaddockError:
    if error.errno == errno.EACCES:
        return PaddockError(
            f"this user may not use port {ports[0]}", "use one above 1023, or `--port 0` for a free one"
        )
    if len(ports) > 1:
        return PaddockError(f"ports {ports[0]} to {ports[-1]} are taken", "`paddock web --port 0` takes a free one")
    who = _holder_of(ports[0])
    return PaddockError(f"port {ports[0]} is taken{who}", "use another one, or `--port 0` for a free one")


def _holder_of(port: int) -> str:
    """Of other users' processes the system tells nothing."""
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        for one in psutil.net_connections("tcp"):
            if one.status == psutil.CONN_LISTEN and one.laddr and one.laddr.port == port and one.pid:
                return f" by `{psutil.Process(one.pid).name()}` (pid {one.pid})"
    return ""


def access_to(state_dir: Path, wish: ServerWish, port: int) -> ServerAccess:
    names = set(LOOPBACK) if is_loopback(wish.host) or is_everywhere(wish.host) else set()
    if not is_loopback(wish.host):
        here = socket.gethostname().lower()
        names |= {here, here.partition(".")[0], f"{here.partition('.')[0]}.local"}
        names |= set() if is_everywhere(wish.host) else {wish.host.lower()}
    token = token_of(state_dir, new=wish.new_token) if wish.token else ""
    return ServerAccess(wish.host, port, token, frozenset(names))


def allow_open_files(count: int) -> None:
    """As far as the system lets us: some give a process 256, and strangers could use them all up."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def serve(shown: Shown, wish: ServerWish, say: Callable[[PageNote, str], None], until: int | None = None) -> None:
    """Until a signal, or until the descriptor `until` is at its end. `say` is told once it answers."""
    listening = bind(wish)
    port = listening.getsockname()[1]
    access = access_to(shown.state_dir, wish, port)
    process, host = this_process("web"), wish.host
    note = PageNote(process, host, port, time.time(), wish.token, wish.detached, shown.repositories)
    allow_open_files(2 * MOST_CONNECTIONS)
    server = QuietServer(shown, access, lambda: say(note, access.token))
    path = note_page(shown.state_dir, note)
    try:
        asyncio.run(server.run_until(listening, until))
    finally:
        shown.close()
        forget_page(path.parent, note)


class QuietServer(uvicorn.Server):
    """Ends at once: streams are told to, and nothing waits for a page that stays open."""

    def __init__(self, shown: Shown, access: ServerAccess, ready: Callable[[], None]) -> None:
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        config = uvicorn.Config(
            shown.behind(access),
            http=PatientProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=5,
            limit_concurrency=MOST_CONNECTIONS,
            h11_max_incomplete_event_size=HEAD_BYTES,
        )
        super().__init__(config)
        self._shown, self._ready = shown, ready
        self._over = asyncio.Event()

    async def run_until(self, listening: socket.socket, until: int | None) -> None:
        loop = asyncio.get_running_loop()
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(signum, self.end)
        if until is not None:
            loop.add_reader(until, self._check_end, until)
        await self.serve([listening])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def main_loop(self) -> None:
        """Nothing is done by the clock: a server that nobody asks sleeps."""
        await self._over.wait()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # they are ours

    def end(self) -> None:
        self._shown.end_streams()
        self._over.set()
        self.should_exit = True

    def _check_end(self, descriptor: int) -> None:
        if not os.read(descriptor, 4096):
            asyncio.get_running_loop().remove_reader(descriptor)
            self.end()

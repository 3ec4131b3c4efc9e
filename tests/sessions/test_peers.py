"""Whose process is at the other end of a connection."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from paddock.sessions.ancestry import MARK_VARIABLE
from paddock.sessions.identity import HAS_PROCFS
from paddock.sessions.peers import find_peer, parse_address
from tests.warm import PATIENCE_SECONDS

HOLD = "import socket, sys; held = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); input()"
procfs = pytest.mark.skipif(not HAS_PROCFS, reason="there is no procfs here")


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE_SECONDS)
        yield server


@procfs
@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0100007F:1F90", ("127.0.0.1", 8080)),
        ("00000000000000000000000001000000:0050", ("::1", 80)),
        ("0000000000000000FFFF00000100007F:0050", ("127.0.0.1", 80)),
    ],
)
def test_addresses_of_procfs_are_read(text: str, address: tuple[str, int]) -> None:
    if sys.byteorder == "little":
        assert parse_address(text) == address


def test_the_process_at_the_other_end_is_found_while_it_holds_the_connection(listening: socket.socket) -> None:
    with closing(socket.create_connection(listening.getsockname())):
        ours, client = listening.accept()
        with ours:
            peer = find_peer(client, ours.getsockname())
    assert os.getpid() in peer.holders
    assert peer.local
    assert peer.owner("somebody") == ""


def test_a_process_belongs_to_the_attempt_whose_mark_it_or_an_ancestor_carries(listening: socket.socket) -> None:
    script = f'env -i {sys.executable} -c "$HOLD" {listening.getsockname()[1]}; true'
    marked = {"PATH": os.environ["PATH"], "HOLD": HOLD, MARK_VARIABLE: "other:t9.9 mine:t3.1"}
    with subprocess.Popen(["/bin/sh", "-c", script], env=marked, stdin=subprocess.PIPE) as agent:
        ours, client = listening.accept()
        with ours:
            peer = find_peer(client, ours.getsockname())
            assert (peer.owner("mine"), peer.owner("other"), peer.owner("nobody")) == ("t3.1", "t9.9", "")
        agent.communicate(b"\n")


@procfs
def test_a_connection_that_its_process_has_left_belongs_to_nobody(listening: socket.socket) -> None:
    left = socket.create_connection(listening.getsockname())
    ours, client = listening.accept()
    left.close()
    with ours:
        assert find_peer(client, ours.getsockname()).is_gone


LONELY_USER = 64_321


def _is_gone_while_on_its_way(listening: socket.socket) -> bool:
    """A connection that was sent to a socket which nobody reads from: it is open, and no process has it."""
    sender, receiver = socket.socketpair()
    with socket.socket() as sent, sender, receiver:
        sent.connect(listening.getsockname())
        ours, client = listening.accept()
        socket.send_fds(sender, [b"-"], [sent.fileno()])
        with ours:
            assert find_peer(client, ours.getsockname()).holders
            sent.close()
            return find_peer(client, ours.getsockname()).is_gone


@procfs
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user who has no other processes")
def test_a_connection_on_its_way_between_processes_belongs_to_nobody_though_those_of_others_hide(
    listening: socket.socket,
) -> None:
    _is_gone_while_on_its_way(listening)  # what the child needs is loaded
    child = os.fork()
    if child == 0:
        os.setuid(LONELY_USER)
        os._exit(0 if _is_gone_while_on_its_way(listening) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@procfs
def test_of_another_machine_nothing_is_known() -> None:
    peer = find_peer(("203.0.113.7", 5000), ("192.0.2.1", 80))
    assert not peer.local
    assert not peer.is_gone

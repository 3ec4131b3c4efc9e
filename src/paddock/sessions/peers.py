"""Whose process is at the other end of a connection? Asked of the kernel, because a client may say what it likes.

Only of connections within this machine can it be told. A process that does not show what it holds is suspected if it
is of the user who made the connection, and what it descends from is looked at instead.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from struct import pack

from paddock.sessions.ancestry import marks_of_process, owner_of_caller
from paddock.sessions.identity import HAS_PROCFS, read_proc

Address = tuple[str, int]
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


@dataclass(frozen=True, slots=True)
class Peer:
    """The processes that hold the other end; with none, `hidden` are those that may. `local` tells that it is of this
    machine at all; one that is and has neither has been closed by whoever opened it."""

    local: bool
    holders: tuple[int, ...] = ()
    hidden: tuple[int, ...] = ()

    @property
    def is_gone(self) -> bool:
        return self.local and not self.holders and not self.hidden

    def owner(self, marker: str) -> str:
        """The attempt or CI run of the log `marker` it belongs to; empty if none."""
        owners = (owner_of_caller(marks_of_process(pid), marker) for pid in self.holders or self.hidden)
        return next(filter(None, owners), "")


def find_peer(client: Address, server: Address) -> Peer:
    """`client` is the other end's address, `server` our own."""
    return _find_in_procfs(client, server) if HAS_PROCFS else _find_with_psutil(client, server)


def _find_in_procfs(client: Address, server: Address) -> Peer:
    wanted = (_plain(client), _plain(server))
    inode, user = next(((inode, user) for ends, inode, user in _connections() if ends == wanted), (None, -1))
    if inode is None:
        return Peer(local=ip_address(client[0]).is_loopback)
    if inode == 0:
        return Peer(local=True)  # nobody holds it any more
    holders, hidden = [], []
    link = f"socket:[{inode}]"
    for pid in (int(name) for name in os.listdir("/proc") if name.isdecimal()):
        try:
            if _holds(pid, link):
                holders.append(pid)
        except PermissionError:
            if _user_of(pid) == user:
                hidden.append(pid)
        except OSError:
            continue
    return Peer(True, tuple(holders), () if holders else tuple(hidden))


def _holds(pid: int, link: str) -> bool:
    with os.scandir(f"/proc/{pid}/fd") as entries:
        return any(_target(entry.path) == link for entry in entries)


def _target(path: str) -> str:
    try:
        return os.readlink(path)
    except FileNotFoundError:
        return ""


def _user_of(pid: int) -> int:
    """Who owns what procfs shows of a process that hides is no answer: it is root."""
    try:
        status = read_proc(f"/proc/{pid}/status")
    except OSError:
        return -1
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith(b"Uid:")), -1)


def _connections() -> Iterator[tuple[tuple[Address, Address], int, int]]:
    """The two ends of every TCP connection of this machine, the inode of its socket, and the user who made that."""
    for table in _TABLES:
        try:
            lines = read_proc(table).decode("ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            yield (parse_address(fields[1]), parse_address(fields[2])), int(fields[9]), int(fields[7])


def parse_address(text: str) -> Address:
    """As procfs writes them: words of 32 bits, each in the machine's own order, then the port."""
    words, _, port = text.partition(":")
    raw = b"".join(pack("=I", int(words[at : at + 8], 16)) for at in range(0, len(words), 8))
    address = IPv4Address(raw) if len(raw) == 4 else IPv6Address(raw)
    return _plain((str(address), int(port, 16)))


def _plain(address: Address) -> Address:
    """An IPv4 address in an IPv6 one is the IPv4 address."""
    found = ip_address(address[0].partition("%")[0])
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return str(mapped or found), address[1]


def _find_with_psutil(client: Address, server: Address) -> Peer:
    import psutil

    holders, hidden = [], []
    for process in psutil.process_iter():
        try:
            ends = [(one.laddr, one.raddr) for one in process.net_connections("tcp")]
        except psutil.AccessDenied:
            hidden.append(process.pid)
            continue
        except psutil.Error:
            continue
        if any((tuple(ours), tuple(theirs)) == (client, server) for ours, theirs in ends):
            holders.append(process.pid)
    local = bool(holders) or ip_address(client[0]).is_loopback
    return Peer(local, tuple(holders), () if holders else tuple(hidden))

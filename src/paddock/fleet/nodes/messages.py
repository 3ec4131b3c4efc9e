"""What the daemon, the placer and the nodes' managers say to each other, as bytes of MessagePack."""

from typing import TypeVar

import msgspec

from paddock.fleet.glance import AgentGlance
from paddock.fleet.nodes.hearsay import Place

FRAME_BYTES = 64 * 2**20
_LENGTH = 4
T = TypeVar("T")

encode = msgspec.msgpack.Encoder().encode


def decode(content: bytes, kind: type[T]) -> T:
    """Raises msgspec.DecodeError."""
    return msgspec.msgpack.decode(content, type=kind)


class NodeFacts(msgspec.Struct, frozen=True):
    """What a node's manager knows of its machine. `problem` is why no deputy works there, if none does; `worktrees`
    counts them by their state. `tools` are the versions of git, Python and the agent CLIs, as these tell them."""

    node: str
    version: str
    deputy: bool
    problem: str
    tools: dict[str, str]
    cores: int
    load: float
    free_memory_bytes: int
    memory_bytes: int
    free_disk_bytes: int
    worktrees: dict[str, int]


class NodeNews(msgspec.Struct, frozen=True):
    """What has happened on a node since its manager was asked last. `heard` are lines of hearsay, up to `place`."""

    facts: NodeFacts
    agents: dict[str, AgentGlance]
    heard: bytes
    place: Place


class FileAt(msgspec.Struct, frozen=True):
    """A file that a turn writes, `name` below the folder of its `owner`, and how much of it the reader has."""

    owner: str
    name: str
    offset: int


class ReadWish(msgspec.Struct, frozen=True):
    """`owners` are attempts and CI runs; of their files the reader has what `have` says, and nothing of others."""

    owners: tuple[str, ...]
    have: tuple[FileAt, ...]
    most_bytes: int


class Chunk(msgspec.Struct, frozen=True):
    """A part of a file. With `whole` it is all of a small file, which replaces what the reader has."""

    owner: str
    name: str
    offset: int
    content: bytes
    whole: bool = False


class ReadAnswer(msgspec.Struct, frozen=True):
    """`gone` are owners of which nothing is left there; without `more` the reader has all there was."""

    chunks: tuple[Chunk, ...]
    more: bool
    gone: tuple[str, ...]

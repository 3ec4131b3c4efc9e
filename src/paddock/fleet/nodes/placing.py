"""What the daemon asks of the placer, and what that answers: frames on a pipe, each a length and MessagePack."""

import msgspec

from paddock.fleet.nodes.messages import NodeNews


class Wish(msgspec.Struct, frozen=True):
    """A slot for `name`, an attempt or a CI run, on a node with these labels; only on `near`, where one is named."""

    name: str
    labels: dict[str, str] = {}
    near: str = ""


class NodeSeen(msgspec.Struct, frozen=True):
    """A node as Ray has it. `slots` are what it offers, of which `used` are taken, by whomever. `problem` is why it
    cannot be used."""

    name: str
    ray_id: str
    alive: bool
    slots: int
    used: int
    labels: dict[str, str]
    problem: str = ""


class Reserved(msgspec.Struct, frozen=True):
    """A slot that is kept for `name`; `node` is empty while Ray has none for it."""

    name: str
    node: str = ""


class Look(msgspec.Struct, frozen=True, tag="look"):
    """`order` is what every node is to know; `places` say up to where each node was heard. Those that `rest` are left
    alone: a manager would keep Ray's autoscaler from ending their machine."""

    order: bytes
    places: dict[str, bytes]
    rest: tuple[str, ...] = ()


class Looked(msgspec.Struct, frozen=True, tag="looked"):
    nodes: tuple[NodeSeen, ...]
    reserved: tuple[Reserved, ...]
    news: dict[str, NodeNews]


class Reserve(msgspec.Struct, frozen=True, tag="reserve"):
    """`avoid` are nodes that take nothing; `most` is how many slots of ours one node has at most, 0 for no limit."""

    wishes: tuple[Wish, ...]
    avoid: tuple[str, ...] = ()
    most: int = 0


class Reservations(msgspec.Struct, frozen=True, tag="reservations"):
    reserved: tuple[Reserved, ...]


class Release(msgspec.Struct, frozen=True, tag="release"):
    names: tuple[str, ...]


class Read(msgspec.Struct, frozen=True, tag="read"):
    """`wish` is a `ReadWish`, for one node."""

    node: str
    wish: bytes


class ReadDone(msgspec.Struct, frozen=True, tag="read_done"):
    """`answer` is a `ReadAnswer`; empty where the node did not answer."""

    answer: bytes


class Dismiss(msgspec.Struct, frozen=True, tag="dismiss"):
    """No node has anything of ours to do any more: its manager ends."""


class Done(msgspec.Struct, frozen=True, tag="done"):
    pass


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    problem: str


Request = Look | Reserve | Release | Read | Dismiss
Answer = Looked | Reservations | ReadDone | Done | Failed


class Asked(msgspec.Struct, frozen=True):
    number: int
    request: Request


class Answered(msgspec.Struct, frozen=True):
    number: int
    answer: Answer

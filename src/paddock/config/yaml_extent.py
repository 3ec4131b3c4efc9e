"""How much a YAML file comes to with its aliases followed: a few lines may stand for more than any machine holds."""

from typing import TYPE_CHECKING

from paddock.core.errors import Misuse

if TYPE_CHECKING:
    import yaml

_HINT = "write it without aliases"


def check_extent(node: "yaml.Node | None", most: int, name: str) -> None:
    """Raises Misuse for more than `most` values, and for what contains itself; RecursionError for what is too deep."""
    known: dict[int, int] = {}
    if node is not None and _extent(node, known, most) > most:
        raise Misuse(f"{name}: its aliases make it too large, or refer to themselves", _HINT)


def _extent(node: "yaml.Node", known: dict[int, int], most: int) -> int:
    """Each node is counted once, and added wherever it stands."""
    import yaml

    if id(node) in known:
        return known[id(node)]
    known[id(node)] = most + 1  # until it is known: what is met again meanwhile contains itself
    size = 1
    if isinstance(node, yaml.MappingNode):
        size += sum(_extent(part, known, most) for pair in node.value for part in pair)
    elif isinstance(node, yaml.SequenceNode):
        size += sum(_extent(part, known, most) for part in node.value)
    known[id(node)] = size
    return size
